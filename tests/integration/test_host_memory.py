"""What connections cost a host, and that closing one gives all of it back, with Python's cyclic collector off."""

from __future__ import annotations

import asyncio
import gc
import re
import socket
import weakref
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast

import pytest

from tests.conftest import Serve
from tests.support import (
    HostThread,
    Peer,
    Script,
    Start,
    StartWhole,
    descriptor,
    eventually,
    image_body,
    json_frame,
    text_body,
    uvarint,
)
from warmwire.client import AsyncClient, Client
from warmwire.client.generation.aio import AsyncConn
from warmwire.client.generation.shared import Reply
from warmwire.host.workers.pool import WorkerPool
from warmwire.transport.conn import Conn
from warmwire.transport.paths import Surface
from warmwire.wire.generation.frames import FrameReader
from warmwire.wire.generation.messages import OutBlock
from warmwire.wire.generation.request import RequestReader
from warmwire.wire.lines import LineReader
from warmwire.wire.tasks import TaskReader

pytestmark = [
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads memory in /proc"),
    pytest.mark.usefixtures("no_collector"),
]


def say_hello(request: Any, emit: Callable[[OutBlock], None], cancelled: Any) -> None:
    emit(OutBlock("text", "hello"))


def memory(what: str, pid: int | str = "self") -> int:
    """Bytes of one line of /proc/PID/status."""
    match = re.search(rf"^{what}:\s+(\d+) kB$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    assert match
    return int(match[1]) << 10


# ---------------------------------------------------------------------- given back


def cut_uploads(host: HostThread, clients: int, size: int) -> None:
    """Clients that have sent all but the last byte of a blob, and leave together."""
    with ExitStack() as stack:
        peers = [stack.enter_context(host.peer()) for _ in range(clients)]
        for peer in peers:
            peer.send(json_frame(image_body("a")), descriptor("a", size), uvarint(size), b"\x02", bytes(size - 1))
        assert memory("RssShmem") > clients * size * 0.9


def test_uploads_cut_short_are_given_back_at_once(start: Start, loop_name: str) -> None:
    host = start(lambda: WorkerPool("echo", 1, threads=1), loop=loop_name)
    size, clients = 40 << 20, 6
    before = memory("RssShmem")
    for _ in range(2):
        cut_uploads(host, clients, size)
        eventually(lambda: not host.call(lambda: host.host.connections), "the end of all sessions")
        kept = host.call(lambda: cast(WorkerPool, host.host.runner).look()).segment_bytes
        assert memory("RssShmem") - before < kept + size


def owned(thing: Any, *kinds: type) -> list[Any]:
    """A thing, and those of some kinds that it and they refer to."""
    found = [thing]
    for one in found:
        near = [*gc.get_referents(one), *getattr(one, "__dict__", {}).values()]
        found += [other for other in near if isinstance(other, kinds) and not any(other is known for known in found)]
    assert {type(one) for one in found[1:]} == {*kinds}
    return found


def hold(objects: Any) -> list[weakref.ref[Any]]:
    return [weakref.ref(thing) for thing in objects]


def all_gone(references: list[weakref.ref[Any]]) -> bool:
    return bool(references) and not any(reference() for reference in references)


@pytest.mark.parametrize("end", ["close", "cut", "junk", "cancel"])
def test_nothing_of_a_connection_outlives_it(start: Start, loop_name: str, end: str) -> None:
    host = start(Script(say_hello), loop=loop_name)
    with host.peer() as peer:
        assert peer.ask("x")[1]["type"] == "done"
        [session] = host.call(lambda: list(host.host.connections))
        held = hold(owned(session, RequestReader, FrameReader))
        del session
        if end == "cut":
            peer.send(json_frame(image_body("a")), descriptor("a", 1 << 20), uvarint(1 << 20), b"\x02", b"abc")
        elif end == "junk":
            peer.send(b"\x01\x09")
            assert (peer.receive() or {})["type"] == "error"
        elif end == "cancel":
            peer.send(json_frame(text_body("y")))
    eventually(lambda: all_gone(held), "the end of the connection's objects")


@pytest.mark.parametrize("surface", [Surface.EMBEDDINGS, Surface.ADMIN])
def test_nothing_of_a_line_connection_outlives_it(start_whole: StartWhole, surface: Surface) -> None:
    host = start_whole(lambda: WorkerPool("echo", 1, threads=1))
    if surface is Surface.EMBEDDINGS:
        ours, theirs = socket.socketpair()

        async def adopt() -> Any:
            return await host.host.adopt(theirs, surface)

        session = asyncio.run_coroutine_threadsafe(adopt(), host.loop).result()
        held = hold(owned(session, TaskReader, LineReader))
        del session
        ours.close()
    else:
        seen: list[Any] = []
        with host.lines(surface) as peer:
            assert peer.receive()
            seen += [o for o in gc.get_objects() if type(o).__name__ == "_Subscriber"]
        held = hold(seen)
        seen.clear()
    eventually(lambda: all_gone(held), "the end of the connection's objects")


def test_nothing_of_a_client_outlives_it(start: Start) -> None:
    host = start(Script(say_hello))
    for end in (lambda stream: stream.text(), lambda stream: stream.cancel(), lambda stream: None):
        with Client(host.path) as client:
            stream = client.ask("x")
            end(stream)
            held = hold([client, *owned(stream, Conn, FrameReader, Reply)])
        del client, stream
        assert all_gone(held)


def test_nothing_of_an_async_client_outlives_it(start: Start) -> None:
    host = start(Script(say_hello))

    async def use(end: str) -> list[weakref.ref[Any]]:
        async with AsyncClient(host.path) as client:
            stream = await client.ask("x")
            if end == "read":
                assert await stream.text() == "hello"
            elif end == "cancel":
                stream.cancel()
            return hold([client, *owned(stream, AsyncConn, FrameReader, Reply)])

    for end in ("read", "cancel", "leave"):
        assert all_gone(asyncio.run(use(end)))


# ---------------------------------------------------------------------- idle


def test_an_idle_connection_costs_little(serve: Serve) -> None:
    """Connections that have been used: 16 KB each, where one of everything that is needed at work would be many times
    that."""
    host = serve("echo", "--queue", "1000")
    count = 400

    def use(stack: ExitStack) -> None:
        for _ in range(count):
            assert stack.enter_context(Peer(host.path)).ask("x")[1]["type"] == "done"

    with Peer(host.path) as first:
        first.ask("warm")
    before = memory("VmRSS", host.pid)
    with ExitStack() as stack:
        use(stack)
        assert (memory("VmRSS", host.pid) - before) / count < 16 << 10
