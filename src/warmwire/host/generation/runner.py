"""What a session asks of whatever runs the model, and the way to run one in this process.

A runner takes a request when its turn comes, first in first out, and sends the encoded frames of the answer through
the `Outlet` of its session; it returns how the answer ended. Cancelling `run` tells the model to stop; its slot is
free again when the model really has stopped.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final, Protocol

from warmwire.errors import CancelledError, InternalError
from warmwire.models.interface import Capabilities, Finish, Model
from warmwire.models.run import run_model
from warmwire.wire.generation.messages import OutBlock, Request
from warmwire.wire.generation.response import ResponseWriter
from warmwire.wire.tasks import TaskRequest

_HIGH_WATER: Final = 1 << 20
"""Bytes of one answer that may wait for the event loop before its model is made to wait."""

_FLUSH_PAUSE: Final = 0.001
"""Seconds over which a fast model's deltas are gathered into one write; the first goes out at once."""


AnyRequest = Request | TaskRequest


def too_late(request: AnyRequest, timeout: float | None) -> InternalError:
    """What is said of a request whose time is over. A page is known to its client by the request's id."""
    return InternalError(
        f"request {request.id!r} was not answered within {timeout:g} s and was ended; the host's --request-timeout"
        " gives it more"
    )


class Outlet(Protocol):
    """Where an answer's frames go. Used from the event loop's thread only."""

    paused: bool
    """Whether the client is behind; send no more until `on_resume` is called."""

    on_pause: Callable[[], None] | None
    on_resume: Callable[[], None] | None

    def send(self, data: bytes | bytearray) -> None:
        """Send whole frames; `data` is the outlet's from now on."""


class Runner(Protocol):
    """Runs a model."""

    @property
    def name(self) -> str:
        """The backend named on done frames."""

    @property
    def capabilities(self) -> Capabilities:
        """What the model can do; known once `start` has returned."""

    @property
    def workers(self) -> int:
        """How many requests run at once."""

    async def start(self) -> None:
        """Load the model. Raises WarmwireError when it cannot be loaded."""

    def allocate(self, size: int) -> Any:
        """A writable buffer of exactly `size` bytes for a blob."""

    def free(self, request: AnyRequest) -> None:
        """Say that a request's blobs are no longer needed."""

    async def run(
        self, request: AnyRequest, writer: ResponseWriter, outlet: Outlet, timeout: float | None = None
    ) -> Finish:
        """Answer one request, in at most `timeout` seconds from when it starts to run. Raises RequestError."""

    async def close(self) -> None:
        """Stop everything at once."""


class ThreadRunner:
    """Runs a model on threads of this process: for handlers that are Python code of the caller's."""

    def __init__(self, model: Model, workers: int = 1) -> None:
        self._model = model
        self.workers = workers
        self._turns = asyncio.Semaphore(workers)
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="warmwire-model")
        import numpy as np  # not by hosts whose models are in other processes

        self._empty = partial(np.empty, dtype=np.uint8)

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def capabilities(self) -> Capabilities:
        return self._model.capabilities

    async def start(self) -> None:
        """The model came loaded."""

    def allocate(self, size: int) -> Any:
        return self._empty(size)  # on huge pages where the system has them: far fewer faults than a bytearray

    def free(self, request: AnyRequest) -> None:
        """Nothing to do: the handler may keep the pixels it was given."""

    async def run(
        self, request: AnyRequest, writer: ResponseWriter, outlet: Outlet, timeout: float | None = None
    ) -> Finish:
        loop = asyncio.get_running_loop()
        cancelled = threading.Event()
        await self._turns.acquire()
        gathered = _Gatherer(writer, outlet, cancelled, loop)
        future = loop.run_in_executor(
            self._threads, run_model, self._model, request, gathered.emit, gathered.put, cancelled
        )
        future.add_done_callback(lambda _: self._turns.release())
        try:
            async with asyncio.timeout(timeout) as limit:
                return await asyncio.shield(future)
        except (asyncio.CancelledError, TimeoutError):
            future.add_done_callback(_forget)
            expired = limit.expired()  # else a TimeoutError is the model's own
            del limit  # it holds the task, which keeps this frame in its cancellation
            if expired:
                raise too_late(request, timeout) from None
            raise
        finally:
            cancelled.set()
            gathered.finish()

    async def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


def _forget(future: asyncio.Future[Any]) -> None:
    """Nobody waits for it any more, so what it raises is nobody's."""
    if not future.cancelled():
        future.exception()


class _Gatherer:
    """Carries frames from a model's thread to the event loop.

    Waking the loop for each of many small deltas would cost more than the deltas, so after a wake-up it gathers for a
    moment. A model that is ahead of its client by the high-water mark waits in `emit`. One thread produces, one
    consumes, and each counter has one writer, so the hot path needs no lock.
    """

    def __init__(
        self, writer: ResponseWriter, outlet: Outlet, cancelled: threading.Event, loop: asyncio.AbstractEventLoop
    ) -> None:
        self._writer, self._outlet, self._cancelled, self._loop = writer, outlet, cancelled, loop
        self._frames: deque[bytes] = deque()
        self._produced = self._consumed = 0  # bytes
        self._room = threading.Event()
        self._awake = False
        outlet.on_resume = self._flush

    def emit(self, block: OutBlock) -> None:
        """Send one block. Called by the model, on its thread. Raises CancelledError once nobody listens."""
        if self._cancelled.is_set():
            raise CancelledError("the request was cancelled")
        self.put(self._writer.text(block.delta) if block.type == "text" else self._writer.block(block))

    def put(self, frame: bytes) -> None:
        """Send bytes of the wire. Called as `emit`."""
        self._frames.append(frame)
        self._produced += len(frame)
        if not self._awake:
            self._awake = True
            self._loop.call_soon_threadsafe(self._flush)
        while self._produced - self._consumed > _HIGH_WATER and not self._cancelled.is_set():
            self._room.clear()
            if self._produced - self._consumed > _HIGH_WATER and not self._cancelled.is_set():
                self._room.wait()

    def finish(self) -> None:
        """Send what is left; the model has returned, or its client has gone and `cancelled` is set."""
        self._outlet.on_resume = None
        self._send()
        self._room.set()

    def _flush(self) -> None:
        if self._outlet.paused:
            return  # still awake: on_resume comes here
        if self._send():
            self._loop.call_later(_FLUSH_PAUSE, self._flush)
            return
        self._awake = False
        if self._frames and not self._awake:  # produced between the look and the sleep
            self._awake = True
            self._flush()

    def _send(self) -> bool:
        frames = [self._frames.popleft() for _ in range(len(self._frames))]
        if frames:
            data = b"".join(frames)
            self._outlet.send(data)
            self._consumed += len(data)
            self._room.set()
        return bool(frames)
