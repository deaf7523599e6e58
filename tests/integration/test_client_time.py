"""Clients and time: what they wait for and for how long, and that a fast answer leaves the event loop to others."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tests.client_support import DELTA, DONE, Clients, scripted_server
from tests.support import LOOPS, PATIENCE, Gate, Start
from warmwire.client import AsyncClient, Client, DialError, Local, TimedOutError, UsageError, dial
from warmwire.errors import CancelledError
from warmwire.models.interface import PageModel
from warmwire.transport.conn import Conn

FLOOD = 300
"""Pieces of a thousand deltas: some seconds' reading, so that what waits for its end comes too late."""


def flood(conn: Conn) -> None:
    conn.read_request()
    with contextlib.suppress(OSError):
        for _ in range(FLOOD):
            conn.sock.sendall(DELTA * 1000)
        conn.sock.sendall(DONE)


def run(coroutine: Any, loop_name: str) -> Any:
    with asyncio.Runner(loop_factory=LOOPS[loop_name]) as runner:
        return runner.run(coroutine)


# ---------------------------------------------------------------------- fairness


def test_a_timeout_ends_the_reading_of_a_fast_answer(path: str, loop_name: str) -> None:
    async def main() -> int:
        count = 0
        async with AsyncClient(path) as client, await client.ask("x") as stream:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.2):
                    async for _ in stream:
                        count += 1
        return count

    with scripted_server(path, flood):
        assert 0 < run(main(), loop_name) < FLOOD * 1000


def test_another_task_cancels_a_fast_answer(path: str, loop_name: str) -> None:
    async def main() -> int:
        count, begun = 0, asyncio.Event()
        async with AsyncClient(path) as client, await client.ask("x") as stream:

            async def cancel() -> None:
                await begun.wait()
                stream.cancel()

            cancelling = asyncio.create_task(cancel())
            try:
                async for _ in stream:
                    begun.set()
                    count += 1
            except CancelledError:
                await cancelling
        return count

    with scripted_server(path, flood):
        assert 0 < run(main(), loop_name) < 50_000


# ---------------------------------------------------------------------- a host that takes no connections


@pytest.fixture
def full(path: str) -> Iterator[str]:
    """The path of a host that has been stopped, with as many waiting as there is room for."""
    with contextlib.ExitStack() as stack:
        listening = stack.enter_context(socket.socket(socket.AF_UNIX))
        listening.bind(path)
        listening.listen(0)
        with contextlib.suppress(BlockingIOError):
            while True:
                waiting = stack.enter_context(socket.socket(socket.AF_UNIX))
                waiting.setblocking(False)
                waiting.connect(path)
        yield path


@pytest.mark.parametrize("wait", [0, 1.5])
def test_a_host_without_room_for_a_connection_is_given_up(client_class: Clients, full: str, wait: float) -> None:
    begun = time.monotonic()
    with (
        pytest.raises(DialError, match="it hangs, or somebody has stopped it"),
        client_class(full, wait=wait) as client,
    ):
        client.connect()
    assert 0.5 < time.monotonic() - begun < PATIENCE


def test_room_that_is_made_is_used(client_class: Clients, path: str) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen(0)
        first = socket.socket(socket.AF_UNIX)
        first.connect(path)
        asyncio.run(_accept_later(listening, lambda: client_class(path, wait=PATIENCE)))
        first.close()


async def _accept_later(listening: socket.socket, make: Callable[[], Any]) -> None:
    def connect() -> None:
        with make() as client:
            client.connect()

    connecting = asyncio.create_task(asyncio.to_thread(connect))
    await asyncio.sleep(0.05)  # long enough for a refusal; if it comes later, this tests less
    for _ in range(2):
        (await asyncio.to_thread(listening.accept))[0].close()
    await connecting


# ---------------------------------------------------------------------- deadlines


def test_a_timeout_cancels_with_what_had_come(client_class: Clients, start: Start) -> None:
    gate = Gate()
    host = start(gate)
    with client_class(host.path, timeout=0.5) as client:
        with pytest.raises(TimedOutError, match=r"not whole within 0\.5 s") as caught:
            client.ask("k").text()
        assert caught.value.partial == "<k>"
        gate.wait_ended("k")
        assert gate.cancelled == ["k"]
        gate.open("next")
        assert client.ask("next", timeout=PATIENCE).text() == "<next></next>"


def test_a_request_may_have_a_timeout_of_its_own(client_class: Clients, start: Start) -> None:
    gate = Gate()
    host = start(gate)
    with client_class(host.path, timeout=PATIENCE) as client, pytest.raises(TimedOutError, match=r"0\.3 s"):
        client.ask("k", timeout=0.3).text()
    gate.wait_ended("k")


def test_a_fast_answer_is_cut_off_too(client_class: Clients, path: str) -> None:
    with (
        scripted_server(path, flood),
        client_class(path, timeout=0.3) as client,
        pytest.raises(TimedOutError) as caught,
    ):
        client.ask("x").text()
    assert caught.value.partial.startswith("half half ")


def test_a_request_that_nobody_takes_is_given_up(client_class: Clients, path: str) -> None:
    """Its blobs do not fit the kernel's buffers and the host reads none."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        with client_class(path, timeout=0.3) as client, pytest.raises(TimedOutError):
            client.ask("x" * (16 << 20))


def test_vectors_are_not_waited_for_for_ever(client_class: Clients, path: str) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path.replace(".sock", ".embed.sock"))
        listening.listen()

        async def ask() -> None:
            async with AsyncClient(path, timeout=0.3) as client:
                await client.embed(["x"])

        with pytest.raises(TimedOutError):
            asyncio.run(ask())
        with Client(path, timeout=0.3) as client, pytest.raises(TimedOutError):
            client.embed(["x"])


@pytest.mark.parametrize("timeout", [0, -1, float("nan")])
def test_a_timeout_is_a_time(timeout: float) -> None:
    for make in (Client, AsyncClient):
        with pytest.raises(UsageError, match="a timeout is a number of seconds above 0"):
            make("/nowhere", timeout=timeout)


class Stuck:
    """A handler that reads for ever, until it is told to stop."""

    name = "stuck"

    def generate(self, image: Any, prompt: str, max_tokens: int | None, emit: Any, cancelled: threading.Event) -> None:
        emit("half a page")
        assert cancelled.wait(PATIENCE)


def test_both_engines_give_a_page_up(path: str, start: Start) -> None:
    host = start(PageModel(Stuck()))
    page = np.zeros((9, 9, 3), np.uint8)
    for engine in (Local(Stuck(), timeout=0.3), dial(host.path, timeout=0.3)):
        with engine, pytest.raises(TimedOutError, match=r"0\.3 s") as caught:
            engine.read(page)
        assert caught.value.partial == "half a page"
