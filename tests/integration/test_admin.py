"""The admin socket: what it tells, in which order, to whom, and for how long."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from typing import Any

import pytest

from tests.support import (
    LOOPS,
    PATIENCE,
    Gate,
    LinePeer,
    Script,
    StartWhole,
    WholeHost,
    eventually,
    json_frame,
    open_descriptors,
    text_body,
)
from warmwire.client import AsyncClient, BackendUnavailableError, Client, DialError, InputError, StreamLostError
from warmwire.host.admin import Admin
from warmwire.host.generation.runner import ThreadRunner
from warmwire.host.hangup import HangupWatch
from warmwire.models.echo import EchoModel
from warmwire.models.interface import Capabilities, Finish
from warmwire.transport.listen import SocketPath
from warmwire.transport.paths import Surface, surface_addr
from warmwire.wire.admin import HostEvent
from warmwire.wire.generation.messages import OutBlock

IDLE: dict[str, Any] = {
    "workers": 1,
    "capacity": 11,
    "outstanding": 0,
    "answered": 0,
    "refused": 0,
    "sent": 0,
    "idle": pytest.approx(0, abs=PATIENCE),
}


class SlowRunner(ThreadRunner):
    """Loads its model when told to, well or not."""

    def __init__(self, model: Any, go: threading.Event, failure: Exception | None = None) -> None:
        super().__init__(model)
        self._go, self._failure = go, failure

    async def start(self) -> None:
        while not self._go.is_set():
            await asyncio.sleep(0.005)
        if self._failure is not None:
            raise self._failure


@contextmanager
def loading(path: str, model: Any = None, *, failure: Exception | None = None, **options: Any) -> Iterator[Any]:
    """A host that is loading its model; `go()` lets it end."""
    go = threading.Event()
    host = WholeHost(lambda: SlowRunner(model or EchoModel(), go, failure), path, **options)
    thread = threading.Thread(target=host.__enter__)
    thread.start()
    host.go = go.set  # type: ignore[attr-defined]
    eventually(lambda: os.path.exists(surface_addr(path, Surface.ADMIN)), "the admin socket")
    try:
        yield host
    finally:
        go.set()
        thread.join(PATIENCE)
        host.stop()
        if failure is None:
            host.join()


def told(peer: LinePeer, count: int) -> list[dict[str, Any]]:
    events = [peer.receive() for _ in range(count)]
    assert all(event is not None and event["id"] == "admin" and event["type"] == "status" for event in events)
    return [{k: v for k, v in event.items() if k not in ("id", "type")} for event in events if event is not None]


# ---------------------------------------------------------------------- the order of things


def test_a_newcomer_hears_capabilities_then_the_state_then_activity(start_whole: StartWhole, loop_name: str) -> None:
    class Able(Script):
        name = "able"
        capabilities = Capabilities(
            vision=True, audio=True, audio_sample_rate=16000, tools=True, thinking=True, embed=True, rerank=True,
            accelerator="cuda", gpu_layers=7, device_name="a card", vram_total_bytes=1 << 33,
        )  # fmt: skip

    with start_whole(Able(), loop=loop_name).lines(Surface.ADMIN) as peer:
        assert told(peer, 3) == [
            {
                "status": "capabilities",
                "backend": "able",
                "wire_version": 1,
                "v2": True,
                "vision": True,
                "audio": True,
                "audio_sample_rate": 16000,
                "tools": True,
                "thinking": True,
                "embed": True,
                "rerank": True,
                "accelerator": "cuda",
                "gpu_layers": 7,
                "device_name": "a card",
                "vram_total_bytes": 1 << 33,
            },
            {"status": "ready"},
            {"status": "activity", **IDLE},
        ]


def test_what_a_model_has_not_is_left_out(start_whole: StartWhole) -> None:
    with start_whole(EchoModel()).lines(Surface.ADMIN) as peer:
        (capabilities,) = told(peer, 1)
        assert capabilities.keys().isdisjoint({"rerank", "audio_sample_rate", "device_name", "vram_total_bytes"})
        assert (capabilities["audio"], capabilities["embed"], capabilities["gpu_layers"]) == (False, False, 0)


@pytest.mark.parametrize("loop", sorted(LOOPS))
def test_the_whole_life_of_a_host(path: str, loop: str) -> None:
    gate = Gate()
    with loading(path, gate, loop=loop) as host, LinePeer(path, Surface.ADMIN) as peer:
        assert told(peer, 1) == [{"status": "loading_model", "phase": "checking_local", "path": "gate"}]
        with LinePeer(path, Surface.ADMIN) as late:
            assert told(late, 1)[0]["status"] == "loading_model"
        with pytest.raises(DialError):
            Client(path, wait=0).connect()
        host.go()
        assert [event["status"] for event in told(peer, 2)] == ["capabilities", "ready"]
        Client(path, wait=0).connect()  # ready means that the socket is there
        with host.peer() as running:
            running.send(json_frame(text_body("k")))
            gate.wait_running("k")
            host.stop()
            events = [peer.receive() or {}]
            while events[-1].get("status") == "activity":
                events.append(peer.receive() or {})
            assert events[-1]["status"] == "draining"
            with LinePeer(path, Surface.ADMIN) as late:  # also who comes only now
                assert [event["status"] for event in told(late, 3)] == ["capabilities", "draining", "activity"]
            gate.open("k")
            running.answer()
        while (event := peer.receive()) is not None:
            assert event["status"] == "activity"
    assert not os.path.exists(surface_addr(path, Surface.ADMIN))


def test_activity_is_told_while_and_after_a_request_runs(start_whole: StartWhole, loop_name: str) -> None:
    go = threading.Event()

    def play(request: Any, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> Finish:
        while not go.wait(0.01):
            emit(OutBlock("text", "more "))
        return Finish()

    host = start_whole(Script(play), loop=loop_name, queue_depth=0)
    with host.lines(Surface.ADMIN) as peer, host.peer() as running:
        told(peer, 3)
        running.send(json_frame(text_body("k")))
        seen = told(peer, 2)  # of the change, and once more while nothing changes
        assert [event["outstanding"] for event in seen] == [1, 1]
        assert all(later["sent"] > earlier["sent"] for earlier, later in pairwise(seen))
        with host.lines(Surface.ADMIN) as late:
            assert told(late, 3)[2]["outstanding"] == 1
        go.set()
        assert running.answer()[1]["type"] == "done"
        while (event := told(peer, 1)[0])["outstanding"]:
            pass
        assert (event["answered"], event["refused"], event["capacity"]) == (1, 0, 1)


# ---------------------------------------------------------------------- subscribers of all kinds


def test_two_hundred_and_fifty_six_subscribers_hear_everything(start_whole: StartWhole, loop_name: str) -> None:
    host = start_whole(EchoModel(), loop=loop_name)
    with ExitStack() as stack:
        peers = [stack.enter_context(host.lines(Surface.ADMIN)) for _ in range(256)]
        for peer in peers:
            assert [event["status"] for event in told(peer, 3)] == ["capabilities", "ready", "activity"]
        with host.peer() as client:
            client.ask("hello")
        for peer in peers:
            assert told(peer, 1)[0]["answered"] == 1
        host.stop()
        for peer in peers:
            assert told(peer, 1) == [{"status": "draining"}]
            assert peer.at_end()


def test_a_subscriber_may_close_its_sending_side_and_talk_to_itself(start_whole: StartWhole, loop_name: str) -> None:
    host = start_whole(EchoModel(), loop=loop_name)
    with host.lines(Surface.ADMIN) as half, host.lines(Surface.ADMIN) as talker:
        half.shutdown()
        talker.send(b"what is this?\n" * 100_000)
        told(half, 3)
        told(talker, 3)
        with host.peer() as client:
            client.ask("hello")
        assert told(half, 1)[0]["answered"] == 1
        assert told(talker, 1)[0]["answered"] == 1


def test_subscribers_that_leave_an_idle_host_leave_nothing(start_whole: StartWhole, loop_name: str) -> None:
    host = start_whole(EchoModel(), loop=loop_name)
    with host.lines(Surface.ADMIN) as peer:
        told(peer, 3)
    before = eventually(lambda: open_descriptors())
    for n in range(200):
        peer = host.lines(Surface.ADMIN)
        if n % 2:
            told(peer, 3)
        peer.close()
    eventually(lambda: open_descriptors() <= before, "the end of all descriptors")


class AdminThread:
    """An `Admin` of its own, so that events can be had at will."""

    def __init__(self, path: str, loop: str, uids: set[int] | None = None) -> None:
        self.path = path
        self._uids = {os.getuid()} if uids is None else uids
        self._factory = LOOPS[loop]
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> AdminThread:
        self._thread.start()
        assert self._started.wait(PATIENCE)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(PATIENCE)

    def publish(self, details: dict[str, Any]) -> None:
        async def run() -> None:
            self._admin.publish(HostEvent.LOADING_MODEL, details)

        asyncio.run_coroutine_threadsafe(run(), self._loop).result(PATIENCE)

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=self._factory) as runner:
            runner.run(self._main())

    async def _main(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        self._admin = Admin(self._uids, HangupWatch())
        with SocketPath(surface_addr(self.path, Surface.ADMIN)) as claimed:
            serving = asyncio.create_task(self._admin.serve(claimed.bind()))
            self._started.set()
            await self._stop.wait()
            self._admin.close()
            serving.cancel()
            await asyncio.sleep(0)


def test_a_subscriber_that_does_not_read_is_dropped_and_others_are_not(path: str, loop_name: str) -> None:
    with AdminThread(path, loop_name) as admin:
        with LinePeer(path, Surface.ADMIN) as slow, LinePeer(path, Surface.ADMIN) as quick:
            told(slow, 1)
            told(quick, 1)
            for n in range(500):  # five megabytes, more than any socket holds
                admin.publish({"phase": "verify", "path": "x" * 10_000, "n": n})
                assert told(quick, 1)[0]["n"] == n
            heard = 0  # by the slow one: what was on its way when it was dropped, then the end
            while (event := slow.receive()) is not None:
                assert event["n"] == heard
                heard += 1
            assert 0 < heard < 500
        with LinePeer(path, Surface.ADMIN) as back:
            assert told(back, 1)[0]["n"] == 499


def test_another_user_hears_nothing(path: str, loop_name: str) -> None:
    with AdminThread(path, loop_name, uids=set()), LinePeer(path, Surface.ADMIN) as peer:
        assert peer.at_end()


# ---------------------------------------------------------------------- clients


@pytest.fixture(params=["sync", "async"])
def call(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """`call(path, method, ...)` of either client."""

    def sync(path: str, method: str, *args: Any, wait: float = PATIENCE) -> Any:
        with Client(path, wait=wait) as client:
            found = getattr(client, method)(*args)
            return list(found) if method == "events" else found

    async def go(path: str, method: str, *args: Any, wait: float) -> Any:
        async with AsyncClient(path, wait=wait) as client:
            found = getattr(client, method)(*args)
            return [event async for event in found] if method == "events" else await found

    def asynchronous(path: str, method: str, *args: Any, wait: float = PATIENCE) -> Any:
        return asyncio.run(go(path, method, *args, wait=wait))

    return sync if request.param == "sync" else asynchronous


class TestClients:
    def test_status(self, start_whole: StartWhole, call: Callable[..., Any]) -> None:
        host = start_whole(EchoModel())
        status = call(host.path, "status")
        assert (status.state, status.details, status.activity) == ("ready", {}, IDLE)
        assert [c["backend"] for c in status.capabilities] == ["echo"]

    def test_status_while_loading(self, path: str, call: Callable[..., Any]) -> None:
        with loading(path):
            status = call(path, "status")
            assert (status.state, status.capabilities, status.activity) == ("loading_model", [], None)
            assert status.details == {"phase": "checking_local", "path": "echo"}

    def test_events_until_the_end(self, start_whole: StartWhole, call: Callable[..., Any]) -> None:
        host = start_whole(EchoModel())
        with host.lines(Surface.ADMIN) as peer:
            told(peer, 3)
            threading.Timer(0.2, host.stop).start()
            events = call(host.path, "events")
        assert [event["status"] for event in events] == ["capabilities", "ready", "activity", "draining"]

    def test_wait_ready(self, path: str, call: Callable[..., Any]) -> None:
        with loading(path) as host:
            with pytest.raises(BackendUnavailableError, match=r"not ready within 0\.05 s"):
                call(path, "wait_ready", 0.05)
            threading.Timer(0.1, host.go).start()
            call(path, "wait_ready", PATIENCE)
            Client(path, wait=0).connect()
            call(path, "wait_ready", PATIENCE)  # at once

    def test_wait_ready_for_a_host_that_comes_later(self, path: str, call: Callable[..., Any]) -> None:
        host = WholeHost(EchoModel(), path)
        timer = threading.Timer(0.3, host.__enter__)
        timer.start()
        call(path, "wait_ready", PATIENCE)
        timer.join(PATIENCE)
        host.__exit__()

    def test_wait_ready_for_a_host_that_cannot_load(self, path: str, call: Callable[..., Any]) -> None:
        with loading(path, failure=InputError("no such model")) as host:
            with LinePeer(path, Surface.ADMIN) as peer:
                told(peer, 1)
            threading.Timer(0.1, host.go).start()
            with pytest.raises(BackendUnavailableError, match="ended before it was ready"):
                call(path, "wait_ready", PATIENCE)
            with pytest.raises(InputError, match="no such model"):
                host.join()

    def test_nobody_there(self, path: str, call: Callable[..., Any]) -> None:
        for method in ("status", "events"):
            with pytest.raises(DialError, match=rf"s\.admin\.sock .*warmwire serve MODEL --socket {path}$"):
                call(path, method, wait=0)
            with pytest.raises(DialError, match=r"--socket /nowhere/\{x\}/inferd\.sock$"):
                call("/nowhere/{x}/inferd.sock", method, wait=0)

    def test_hosts_of_another_make(self, path: str, call: Callable[..., Any]) -> None:
        lines = [
            {"id": "admin", "status": "capabilities", "type": "status", "backend": "a"},
            {"id": "admin", "status": "capabilities", "type": "status", "backend": "b", "embed": True, "new": {}},
            {"id": "admin", "status": "resting", "type": "status", "phase": "sleep"},
        ]
        with fake_admin(path, b"".join(json.dumps(line).encode() + b"\n" for line in lines), hold=True):
            status = call(path, "status")
        assert (status.state, status.details, status.activity) == ("resting", {"phase": "sleep"}, None)
        assert [c["backend"] for c in status.capabilities] == ["a", "b"]

    @pytest.mark.parametrize("data", [b"", b'{"status":"capabilities"}\n', b'{"status":"capab'])
    def test_a_host_that_ends_before_its_state(self, path: str, call: Callable[..., Any], data: bytes) -> None:
        with fake_admin(path, data), pytest.raises(Exception, match=r"ended before|cannot be read") as raised:
            call(path, "status")
        assert data.endswith(b"capab") or isinstance(raised.value, StreamLostError)

    def test_a_host_that_hangs(self, path: str, call: Callable[..., Any]) -> None:
        with fake_admin(path, b"", hold=True), pytest.raises(BackendUnavailableError, match=r"in 0\.1 s: it hangs"):
            call(path, "status", 0.1)


@contextmanager
def fake_admin(path: str, data: bytes, *, hold: bool = False) -> Iterator[None]:
    """A socket that tells `data` to whoever comes first, and closes unless told to hold on."""
    ended = threading.Event()

    def serve(listening: socket.socket) -> None:
        sock, _ = listening.accept()
        with sock:
            sock.sendall(data)
            if hold:
                ended.wait(PATIENCE)

    with SocketPath(surface_addr(path, Surface.ADMIN)) as claimed, claimed.bind() as listening:
        listening.setblocking(True)
        listening.settimeout(PATIENCE)
        thread = threading.Thread(target=serve, args=(listening,))
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join(PATIENCE)
