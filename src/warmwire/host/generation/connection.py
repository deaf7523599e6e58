"""What every connection of a host does, whatever is spoken on it.

`states` has the states that it goes through. While an answer is under way nothing is read: requests written ahead wait
in the kernel, and a half-close is seen in its turn. A full close is noticed by the hang-up watch.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import Callable
from typing import Any, Final, Generic, Protocol, TypeVar, cast

import msgspec

from warmwire.errors import ErrorCode, InternalError, ProtocolError, QueueFullError, WarmwireError
from warmwire.host.activity_log import record
from warmwire.host.failure import ModelError, trace_of
from warmwire.host.generation.owner import Owner
from warmwire.host.generation.states import CONNECTION, ConnectionEvent, ConnectionState
from warmwire.host.states import after
from warmwire.models.interface import Finish

R = TypeVar("R", bound=Any)
"""A request; it has an `id`."""

R_co = TypeVar("R_co", bound=Any, covariant=True)

log = logging.getLogger("warmwire.host")

_LOW_WATER, _HIGH_WATER = 64 << 10, 256 << 10
"""Bytes that may wait in the connection's write buffer before its model is made to wait."""

_LINGER: Final = 2.0
"""Seconds for which input is read and thrown away after a fatal error: closing with input unread would make the
client's next write fail before it has read the error frame."""

_SCRAP: Final = memoryview(bytearray(64 << 10))
"""Where input goes once it is no longer read, of every connection."""


class RequestSource(Protocol[R_co]):
    """The sans-I/O reader of one wire."""

    def get_buffer(self) -> memoryview:
        """Where the next bytes belong."""

    def buffer_updated(self, count: int, /) -> None:
        """So many bytes have been written there."""

    def receive_eof(self) -> None:
        """The peer will send nothing more. Raises WarmwireError."""

    def next_request(self) -> R_co | None:
        """The next complete request. Raises WarmwireError; the connection must then be closed."""

    def abandon(self) -> R_co | None:
        """The request whose blobs have not all come, if any; nothing more of it will be taken."""

    @property
    def request_id(self) -> str:
        """The id to echo when reading fails."""

    @property
    def unfinished(self) -> bool:
        """Whether a part of a request has been received, and not all of it."""


class Connection(asyncio.BufferedProtocol, Generic[R]):
    """One connection of a host. Subclasses say how a request is answered and what an error looks like."""

    surface: str
    """What is spoken here, for the log."""

    def __init__(self, host: Owner, reader: RequestSource[R]) -> None:
        self._host = host
        self._reader = reader
        self._request_id = ""
        self.state = ConnectionState.READING
        self._transport: asyncio.Transport
        self._answer: asyncio.Task[None] | None = None
        self._stall: asyncio.TimerHandle | None = None
        self._lingering: asyncio.TimerHandle | None = None
        self._written = 0
        self._partial = 0
        self._late: asyncio.TimerHandle | None = None
        self._drained = asyncio.Event()
        self._drained.set()
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.paused = False
        self.on_pause: Callable[[], None] | None = None
        self.on_resume: Callable[[], None] | None = None

    # ------------------------------------------------------------------ the connection

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is none by inheritance
        self._fd: int = transport.get_extra_info("socket").fileno()
        if not self._host.accept(self):
            self._transport.abort()
            return
        self._transport.set_write_buffer_limits(_HIGH_WATER, _LOW_WATER)
        self._advance()

    def connection_lost(self, exc: Exception | None) -> None:
        self._move(ConnectionEvent.LOST)
        self._host.hangups.remove(self._fd, self.drop)
        self._cancel()
        self._answer = None  # one that never began keeps its cancellation, and with it us
        for timer in (self._stall, self._lingering):
            if timer is not None:
                timer.cancel()
        self._nothing_partial()
        self._drained.set()
        self._abandon()
        self._host.forget(self)
        if not self.closed.done():
            self.closed.set_result(None)

    def sock(self) -> socket.socket:
        """What is connected."""
        return cast("socket.socket", self._transport.get_extra_info("socket"))

    def close(self) -> None:
        """Cancel what is under way and close once the client has taken what was sent."""
        self._cancel()
        self._transport.close()

    def abort(self, message: str) -> None:
        """End an answer under way with an error frame, as far as the client takes it, then close."""
        if self._answer is not None:
            self._cancel()
            self.end(self.error(self._request_id, ErrorCode.BACKEND_UNAVAILABLE, message))
            self._transport.close()

    def _move(self, event: ConnectionEvent) -> None:
        self.state = after(CONNECTION, self.state, event)

    # ------------------------------------------------------------------ reading

    def get_buffer(self, sizehint: int) -> memoryview:
        return _SCRAP if self.state is ConnectionState.LINGERING else self._reader.get_buffer()

    def buffer_updated(self, nbytes: int) -> None:
        if self.state is ConnectionState.LINGERING:
            return
        self._reader.buffer_updated(nbytes)
        self._partial += nbytes
        self._host.partial += nbytes
        if self.state is ConnectionState.READING:
            self._advance()

    def eof_received(self) -> bool:
        if self.state is ConnectionState.READING:
            try:
                self._reader.receive_eof()
            except WarmwireError as error:
                self._fail(error)
            else:
                self._advance()  # the end may have made the last request whole
        return self._answer is not None

    def _advance(self) -> None:
        """Begin the next request that has arrived whole."""
        try:
            request = self._reader.next_request()
        except WarmwireError as error:
            self._fail(error)
        except OSError as error:
            log.error("no buffer for a request: %s", error.strerror)
            self._fail(InternalError(f"the host has no buffer for the request's attachments: {error.strerror}"))
        else:
            if request is not None or not self._reader.unfinished:
                self._nothing_partial()
            else:
                self._expect_the_rest()
            if request is not None:
                self._begin(request)

    def _expect_the_rest(self) -> None:
        """A part of a request is here: what comes slowly, or never, must not hold memory for ever."""
        if self._host.partial > self._host.max_partial:
            most = self._host.max_partial >> 20
            self._fail(QueueFullError(f"unfinished requests of all clients exceed {most} MiB; try again later"))
        elif self._late is None and self._host.read_timeout:
            self._late = asyncio.get_running_loop().call_later(self._host.read_timeout, self._came_too_late)

    def _came_too_late(self) -> None:
        self._late = None
        self._fail(ProtocolError(f"the request was not whole within {self._host.read_timeout:g} s"))

    def _nothing_partial(self) -> None:
        self._host.partial -= self._partial
        self._partial = 0
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _fail(self, error: WarmwireError) -> None:
        """Answer what cannot be read on, and close gently."""
        self._move(ConnectionEvent.FAULT)
        self._nothing_partial()
        self.send(self.error(self._reader.request_id, error.code, str(error)))
        record("request_unreadable", logging.WARNING, surface=self.surface, code=error.code)
        self._abandon()
        self._linger()

    def _abandon(self) -> None:
        """Give back the buffers of a request that will never be whole."""
        if (request := self._reader.abandon()) is not None:
            self._host.runner.free(request)

    def _linger(self) -> None:
        if not self._transport.is_closing():
            self._transport.write_eof()
            self._lingering = asyncio.get_running_loop().call_later(_LINGER, self._transport.abort)

    # ------------------------------------------------------------------ answering

    def _begin(self, request: R) -> None:
        self._move(ConnectionEvent.REQUEST)
        self._transport.pause_reading()
        self._host.hangups.add(self._fd, self.drop)
        self._answer = asyncio.get_running_loop().create_task(self._run(request))
        # Not in the task: one that is cancelled before it begins runs no line, not even a `finally`.
        self._answer.add_done_callback(lambda _: self._host.runner.free(request))

    async def _run(self, request: R) -> None:
        """Answer one request, then read the next."""
        try:
            keep = await self._respond(request)
            await self.flushed()
        finally:
            self._host.hangups.remove(self._fd, self.drop)
            self._answer = None
        if self.state is not ConnectionState.ENDING:
            return  # the client has left, and the model failed over it
        self._move(ConnectionEvent.TAKEN if keep else ConnectionEvent.TAKEN_LAST)
        if not keep:
            self._linger()
        if not self._transport.is_closing():
            self._transport.resume_reading()
            if keep:
                self._advance()

    async def _respond(self, request: R) -> bool:
        """Write one answer; returns whether the connection lives on."""
        self._request_id = request.id
        began = time.monotonic()
        try:
            finish = await self.answer(request)
        except WarmwireError as error:
            self.end(self.error(request.id, error.code, str(error)))
            failure: dict[str, Any] = {}
            if isinstance(error, ModelError):
                log.debug("the model failed on request %r\n%s", request.id, error.trace.text)
                failure = {"error": error.trace.error, "traceback": error.trace.places}
            self._record("request_failed", request, began, logging.WARNING, code=error.code, **failure)
        except asyncio.CancelledError:
            self._record("request_cancelled", request, began)
            raise
        except Exception as error:
            log.exception("request %r failed", request.id)
            self.end(self.error(request.id, ErrorCode.INTERNAL, f"{type(error).__name__}: {error}"))
            trace = trace_of(error)
            failure = {"error": trace.error, "traceback": trace.places}
            self._record("request_failed", request, began, logging.ERROR, code=ErrorCode.INTERNAL, **failure)
        else:
            usage = msgspec.to_builtins(finish.usage)
            self._record("request_done", request, began, stop_reason=finish.stop_reason, **usage)
        return not self._host.draining

    def _record(self, event: str, request: R, began: float, level: int = logging.INFO, **fields: Any) -> None:
        seconds = round(time.monotonic() - began, 4)
        sizes = self.measure(request)
        record(event, level, surface=self.surface, req_id=request.id, seconds=seconds, **sizes, **fields)

    async def answer(self, request: R) -> Finish:
        """Check, admit and answer one request. Raises WarmwireError."""
        raise NotImplementedError

    def measure(self, request: R) -> dict[str, int]:
        """How much is asked for: counts, for the log."""
        raise NotImplementedError

    def error(self, request_id: str, code: ErrorCode, message: str) -> bytes:
        """The message that says so on this wire."""
        raise NotImplementedError

    def drop(self) -> None:
        """End at once, whatever the client has not taken."""
        self._cancel()
        self._transport.abort()

    def _cancel(self) -> None:
        if self._answer is not None:
            self._answer.cancel()

    # ------------------------------------------------------------------ writing

    def send(self, data: bytes | bytearray) -> None:
        if not self._transport.is_closing():
            self._host.activity.sent += 1
            self._written += len(data)
            self._transport.write(data)

    def end(self, data: bytes) -> None:
        """Send the message that ends an answer. There is exactly one: any further is not sent."""
        if self.state is ConnectionState.ANSWERING:
            self._move(ConnectionEvent.TERMINAL)
            self.send(data)

    async def flushed(self) -> None:
        """Wait until the client's socket has taken everything."""
        self._set_limits(0, 0)
        try:
            await self._drained.wait()
        finally:
            self._set_limits(_HIGH_WATER, _LOW_WATER)

    def _set_limits(self, high: int, low: int) -> None:
        if not self._transport.is_closing():  # uvloop raises for a transport that has been closed
            self._transport.set_write_buffer_limits(high, low)

    def pause_writing(self) -> None:
        self.paused = True
        self._drained.clear()
        self._watch_stall()
        if self.on_pause is not None:
            self.on_pause()

    def resume_writing(self) -> None:
        self.paused = False
        self._drained.set()
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None
        if self.on_resume is not None:
            self.on_resume()

    def _watch_stall(self) -> None:
        if self._host.write_timeout:
            self._stall = asyncio.get_running_loop().call_later(self._host.write_timeout, self._stalled, self._taken())

    def _taken(self) -> int:
        """Bytes that the system has taken from us so far."""
        return self._written - self._transport.get_write_buffer_size()

    def _stalled(self, taken: int) -> None:
        if self._taken() > taken:
            self._watch_stall()  # slow, but it reads; a trickle shows only when it has emptied a buffer of the kernel's
            return
        log.warning("a client read nothing for %g s and was dropped", self._host.write_timeout)
        self.drop()
