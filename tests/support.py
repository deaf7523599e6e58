"""What the tests of the wire, the host and the clients share: bytes on the wire, a raw peer, hosts in this process."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from warmwire.host.generation.runner import ThreadRunner
from warmwire.host.generation.server import Host
from warmwire.host.serving import serving
from warmwire.models.interface import Capabilities, Finish
from warmwire.transport.dial import connect
from warmwire.transport.listen import Access, SocketPath
from warmwire.transport.paths import Surface, surface_addr
from warmwire.wire.generation.frames import FrameReader
from warmwire.wire.generation.messages import OutBlock, Request

COMMAND = [sys.executable, "-m", "warmwire"]
"""The command, as this Python runs it."""

DATA = Path(__file__).parent / "data"
FAULTY_PATH = os.pathsep.join([str(DATA / "faulty"), *filter(None, [os.environ.get("PYTHONPATH")])])
"""A PYTHONPATH on which the plug-in with the model `faulty` is installed."""

GOLDEN_REQUEST = (DATA / "inferd" / "page_request.bin").read_bytes()
GOLDEN_RESPONSE = (DATA / "inferd" / "page_response.bin").read_bytes()

LOOPS: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {"asyncio": asyncio.new_event_loop}
try:
    import uvloop
except ImportError:
    pass
else:
    LOOPS["uvloop"] = uvloop.new_event_loop

PATIENCE = 60.0
"""Seconds after which a test that waits for an event gives up; never waited when all is well."""


# ---------------------------------------------------------------------- bytes, made without the code under test


def uvarint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def frame(kind: int, payload: bytes) -> bytes:
    return uvarint(len(payload)) + bytes([kind]) + payload


def json_frame(value: Any) -> bytes:
    return frame(1, json.dumps(value).encode())


def text_body(text: str = "hello", *, id: str = "r", **more: Any) -> dict[str, Any]:
    """The JSON of a request with one user text."""
    message = {"role": "user", "content": [{"type": "text", "text": text}]}
    return {"wire_version": 1, "id": id, "messages": [message], **more}


def image_body(*ids: str, id: str = "r", width: int = 2, height: int = 1, **more: Any) -> dict[str, Any]:
    """The JSON of a request with images of `width` x `height` and one text."""
    content: list[dict[str, Any]] = [{"type": "image", "attachment_id": i} for i in ids]
    content.append({"type": "text", "text": "read"})
    attachments = [{"kind": "image", "id": i, "width": width, "height": height} for i in ids]
    message = {"role": "user", "content": content}
    return {"wire_version": 1, "id": id, "messages": [message], "attachments": attachments, **more}


def descriptor(id: str, length: int) -> bytes:
    return json_frame({"type": "attachment_blob", "attachment_id": id, "len": length})


def blob_pair(id: str, data: bytes) -> bytes:
    return descriptor(id, len(data)) + frame(2, data)


def random_image(height: int, width: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)


# ---------------------------------------------------------------------- a raw peer


class Peer:
    """A client that sends whatever it is told to and reads frames."""

    def __init__(self, path: str, *, timeout: float = PATIENCE) -> None:
        self.sock = connect(path, wait=timeout)
        self.sock.settimeout(timeout)
        self._frames = FrameReader()

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, *data: bytes) -> None:
        for piece in data:
            self.sock.sendall(piece)

    def shutdown(self) -> None:
        self.sock.shutdown(socket.SHUT_WR)

    def receive(self) -> dict[str, Any] | None:
        """The next response; None at the end of the stream."""
        while (item := self._frames.next_frame()) is None:
            try:
                count = self.sock.recv_into(self._frames.get_buffer())
            except ConnectionResetError:  # closed with our bytes unread: an end like any other
                count = 0
            if not count:
                return None
            self._frames.buffer_updated(count)
        kind, payload = item
        assert kind == 1
        response: dict[str, Any] = json.loads(bytes(payload))
        return response

    def answer(self) -> tuple[str, dict[str, Any]]:
        """The text and the terminal of the next answer."""
        parts = []
        while (response := self.receive()) is not None:
            if response["type"] != "frame":
                return "".join(parts), response
            if response["block"]["type"] == "text":
                parts.append(response["block"]["delta"])
        raise AssertionError(f"the stream ended without a terminal frame after {''.join(parts)!r}")

    def ask(self, text: str, **more: Any) -> tuple[str, dict[str, Any]]:
        self.send(json_frame(text_body(text, **more)))
        return self.answer()

    def at_end(self) -> bool:
        """Whether the host closes without another frame."""
        return self.receive() is None

    def close(self) -> None:
        self.sock.close()


class LinePeer:
    """The same for the sockets whose messages are lines."""

    def __init__(self, path: str, surface: Surface, *, timeout: float = PATIENCE) -> None:
        self.sock = connect(surface_addr(path, surface), wait=timeout)
        self.sock.settimeout(timeout)
        self._file = self.sock.makefile("rb")

    def __enter__(self) -> LinePeer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, *values: Any) -> None:
        """Send bytes as they are, and anything else as a line of JSON."""
        for value in values:
            self.sock.sendall(value if isinstance(value, bytes) else json.dumps(value).encode() + b"\n")

    def shutdown(self) -> None:
        self.sock.shutdown(socket.SHUT_WR)

    def receive(self) -> dict[str, Any] | None:
        """The next line; None at the end of the stream."""
        try:
            line = self._file.readline()
        except ConnectionResetError:
            return None
        if not line:
            return None
        if not line.endswith(b"\n"):  # the host went in the middle of a line
            return None
        value: dict[str, Any] = json.loads(line)
        return value

    def ask(self, value: Any) -> dict[str, Any]:
        self.send(value)
        answer = self.receive()
        assert answer is not None, "the host closed without an answer"
        return answer

    def at_end(self) -> bool:
        return self.receive() is None

    def close(self) -> None:
        self._file.close()
        self.sock.close()


# ---------------------------------------------------------------------- hosts in this process


class Script:
    """A model that does what a test tells it: `play(request, emit, cancelled)`, with a log of what happened."""

    name = "script"
    capabilities = Capabilities()

    def __init__(self, play: Callable[..., Finish | None] | None = None) -> None:
        self._play = play
        self.started: list[str] = []
        self.ended: list[str] = []

    def generate(self, request: Request, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> Finish:
        self.started.append(request.id)
        try:
            finish = self._play(request, emit, cancelled) if self._play else None
        finally:
            self.ended.append(request.id)
        return finish or Finish()


class Gate:
    """A model that waits in each request until the test opens it, and notices a cancel.

    The text of a request is its key; `running[key]` is set when it has started.
    """

    name = "gate"
    capabilities = Capabilities()

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._events: dict[tuple[str, str], threading.Event] = {}
        self.order: list[str] = []
        self.cancelled: list[str] = []

    def event(self, what: str, key: str) -> threading.Event:
        with self._lock:
            return self._events.setdefault((what, key), threading.Event())

    def wait_running(self, key: str) -> None:
        assert self.event("running", key).wait(PATIENCE), f"{key} never ran"

    def wait_ended(self, key: str) -> None:
        assert self.event("ended", key).wait(PATIENCE), f"{key} never ended"

    def open(self, key: str) -> None:
        self.event("open", key).set()

    def generate(self, request: Request, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> Finish:
        key = request.messages[-1].content[-1].text or ""
        self.order.append(key)
        emit(OutBlock("text", f"<{key}>"))
        self.event("running", key).set()
        gate = self.event("open", key)
        try:
            while not gate.wait(0.005):
                if cancelled.is_set():
                    self.cancelled.append(key)
                    return Finish()
            emit(OutBlock("text", f"</{key}>"))
            return Finish()
        finally:
            self.event("ended", key).set()


class HostThread:
    """A host in this process, on a loop of its own thread: of a model, or of the runner that `model()` makes."""

    def __init__(
        self,
        model: Any,
        path: str,
        *,
        loop: str = "asyncio",
        workers: int = 1,
        drain_timeout: float = PATIENCE,
        debug: bool = False,
        **options: Any,
    ) -> None:
        self.path = path
        self.host: Host
        self._model, self._workers, self._options = model, workers, options
        self._drain_timeout = drain_timeout
        self._ready = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(LOOPS[loop], debug), daemon=True)

    def __enter__(self) -> HostThread:
        self._thread.start()
        assert self._ready.wait(PATIENCE)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self.join()

    def peer(self, **options: Any) -> Peer:
        return Peer(self.path, **options)

    def stop(self) -> None:
        """Begin to drain."""
        if self._failure is None and not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self.stopping.set)

    def join(self) -> None:
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive(), "the host did not end"
        if self._failure is not None:
            raise self._failure

    def call(self, function: Callable[[], Any]) -> Any:
        """Call something in the host's loop."""

        async def run() -> Any:
            return function()

        return asyncio.run_coroutine_threadsafe(run(), self.loop).result(PATIENCE)

    def wait_outstanding(self, count: int) -> None:
        """Wait until so many requests run and wait."""
        eventually(lambda: self.call(lambda: self.host.activity.outstanding) == count, f"{count} requests outstanding")

    def _run(self, factory: Callable[[], asyncio.AbstractEventLoop], debug: bool) -> None:
        try:
            with asyncio.Runner(loop_factory=factory, debug=debug) as runner:
                runner.run(self._main())
        except BaseException as error:
            self._failure = error
            self._ready.set()

    async def _main(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.stopping = asyncio.Event()
        with SocketPath(self.path) as path:
            runner = self._model() if callable(self._model) else ThreadRunner(self._model, self._workers)
            self.host = Host(runner, **self._options)
            try:
                await runner.start()
                listening = path.bind()
                self._ready.set()
                await self.host.serve({Surface.GENERATION: listening}, self.stopping)
                path.unlink()
                await self.host.drain(self._drain_timeout)
            finally:
                await self.host.close()


class WholeHost(HostThread):
    """A host with all its sockets, admin included, as `warmwire serve` runs one."""

    def lines(self, surface: Surface) -> LinePeer:
        return LinePeer(self.path, surface)

    async def _main(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.stopping = asyncio.Event()
        runner = self._model() if callable(self._model) else ThreadRunner(self._model, self._workers)
        self.host = Host(runner, **self._options)
        async with serving(self.host, self.path, self.stopping, lambda _: self._ready.set(), {}, Access()):
            await self.host.drain(self._drain_timeout)


Start = Callable[..., HostThread]
StartWhole = Callable[..., WholeHost]
"""The types of the fixtures `start` and `start_whole`."""


# ---------------------------------------------------------------------- looking around


def open_descriptors(pid: int | str = "self") -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


def children(pid: int) -> set[int]:
    """The process ids of a process's children."""
    found = set()
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):  # a thread that has just ended
            found |= {int(child) for child in (task / "children").read_text().split()}
    return found


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def kill(pid: int) -> None:
    """End a process that this one has started, directly or not; one that has just gone has gone.

    Its id may be a stranger's by now. A descriptor stays with the process it was opened for, so that is asked whose
    child it is, and that is killed.
    """
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        if _is_ours(pid):
            signal.pidfd_send_signal(process, signal.SIGKILL)
    except ProcessLookupError:
        pass
    finally:
        os.close(process)


def _is_ours(pid: int) -> bool:
    """Whether a process descends from this one."""
    while pid > 1:
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            return False
        if pid == os.getpid():
            return True
    return False


def eventually(condition: Callable[[], Any], what: str = "the condition") -> Any:
    """Poll for something that no event announces; returns its first true value."""
    waiting = threading.Event()
    for _ in range(int(PATIENCE / 0.01)):
        if value := condition():
            return value
        waiting.wait(0.01)
    raise AssertionError(f"{what} did not come about within {PATIENCE:g} s")


@contextmanager
def without_privileges() -> Iterator[None]:
    """As a user who may not pass modes: root, if that is who runs the tests, becomes nobody for a moment."""
    if os.getuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@contextmanager
def socket_pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(PATIENCE)
        theirs.settimeout(PATIENCE)
        yield ours, theirs
