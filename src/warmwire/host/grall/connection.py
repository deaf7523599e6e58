"""One client of the grall wire: its commands in, its schedule's text out.

When the client does not read, its connection has no turns, and its own commands wait, until it does; nobody else
notices. What it asked for is answered after it has closed its sending side.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from typing import Any, Protocol, cast

from warmwire.errors import ErrorCode
from warmwire.host.activity_log import record
from warmwire.host.base import SHUTTING_DOWN, Activity
from warmwire.host.failure import trace_of
from warmwire.host.grall.named import NamedGeneration
from warmwire.host.grall.options import GrallOptions
from warmwire.host.grall.pacing import Pacing
from warmwire.host.grall.turns import TURN, Ring, Schedule
from warmwire.host.hangup import HangupWatch
from warmwire.wire.grall import (
    PONG,
    Close,
    Command,
    CommandReader,
    Delay,
    End,
    New,
    Ping,
    Unknown,
    encode_err,
    unknown_opcode,
)

log = logging.getLogger("warmwire.host")


class GrallOwner(Protocol):
    """A grall host, as its connections see it."""

    activity: Activity
    draining: bool

    @property
    def options(self) -> GrallOptions:
        """How it answers."""

    @property
    def hangups(self) -> HangupWatch:
        """Tells of clients that have gone."""

    @property
    def ring(self) -> Ring:
        """Where connections wait for their turns."""

    @property
    def buffer(self) -> memoryview:
        """Where commands are read into; what is read is dealt with before anything else is."""

    def accept(self, connection: Any) -> bool:
        """Take in a new connection; False for another user's."""

    def forget(self, connection: Any) -> None:
        """A connection has ended."""

    def generation(self, command: New) -> NamedGeneration:
        """What a client asks for, as the options want it."""

    def begin(self, *, ends: bool) -> None:
        """One more generation runs."""

    def end(self, *, ends: bool) -> None:
        """It does no more."""


class GrallConnection(asyncio.BufferedProtocol):
    """One connection of a grall host."""

    surface = "grall"

    def __init__(self, host: GrallOwner) -> None:
        self._host = host
        options = host.options
        self._reader = CommandReader(max_name=options.max_name, max_seed=options.max_seed)
        self.schedule = Schedule(host.ring, self, whole=options.pacing == Pacing.CONNECTION)
        self._finishing = False
        """Whether the client has closed its sending side: nothing more will be asked."""
        self._fd: int | None = None
        self._transport: asyncio.Transport
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    # ------------------------------------------------------------------ what the loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        if not self._host.accept(self):
            self._transport.abort()
            return
        self._transport.set_write_buffer_limits(high=0)
        self.resize(TURN)
        self._transport.write(PONG)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._host.buffer

    def buffer_updated(self, nbytes: int) -> None:
        replies: list[bytes] = []
        closing = False
        for command in self._reader.feed(self._host.buffer[:nbytes]):
            if isinstance(command, Close):
                closing = True
                break
            self._obey(command, replies)
        if (fault := self._reader.fault) is not None and not closing:
            record("request_unreadable", logging.WARNING, surface=self.surface, code=fault.code)
            replies.append(encode_err(str(fault).encode()))
            closing = True
        if replies:
            self._transport.write(b"".join(replies))
        if closing:
            self.close()

    def eof_received(self) -> bool:
        """A client that only stops sending still gets what it asked for."""
        self._finishing = True
        if not self.schedule.running:
            return False
        self._fd = self.sock().fileno()
        self._host.hangups.add(self._fd, self.drop)  # nobody reads any more, so nobody would notice a full close
        return True

    def pause_writing(self) -> None:
        self.schedule.pause()
        if not self._finishing:
            self._transport.pause_reading()  # or the answers to its commands would pile up

    def resume_writing(self) -> None:
        if not self._finishing:
            self._transport.resume_reading()
        self.schedule.resume()

    def connection_lost(self, error: Exception | None) -> None:
        self._stop_all()
        if self._fd is not None:
            self._host.hangups.remove(self._fd, self.drop)
        self._host.forget(self)
        if not self.closed.done():
            self.closed.set_result(None)

    # ------------------------------------------------------------------ what the host calls

    def sock(self) -> socket.socket:
        """What is connected."""
        return cast("socket.socket", self._transport.get_extra_info("socket"))

    def waiting(self) -> int:
        """Bytes that the client has not taken from us yet."""
        return self._transport.get_write_buffer_size()

    def abort(self, message: str) -> None:
        """Close, if a generation is under way. The wire has a word for a generation that ended, none for one cut."""
        if self.schedule.running:
            self.close()

    def close(self) -> None:
        """End every generation, send what is waiting, and close."""
        self._stop_all()
        self._transport.close()

    def drop(self) -> None:
        """Close without sending what is waiting."""
        self._transport.abort()

    # ------------------------------------------------------------------ what the schedule calls

    def send(self, frames: bytes, tokens: int) -> None:
        """Send frames with so many tokens in them."""
        if not self._transport.is_closing():
            self._host.activity.sent += tokens
            self._transport.write(frames)

    def resize(self, size: int) -> None:
        """Let the kernel hold about `size` bytes."""
        self.sock().setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, size)

    def ended(self, named: NamedGeneration) -> None:
        """A generation has come to its end, and the frame that says so has been sent."""
        self._host.activity.answered += 1
        self._host.end(ends=named.finite)
        reason = "max_tokens" if named.generation.remaining == 0 else "end_turn"
        self._record("request_done", named, stop_reason=reason)
        if self._finishing and not self.schedule.running:
            self._transport.close()

    def failed(self, error: Exception) -> None:
        """Making text has failed, which is a fault of ours. The client is told, and the connection is closed."""
        log.error("a generation failed", exc_info=error)
        trace = trace_of(error)
        for named in self.schedule.running.values():
            self._record("request_failed", named, code=ErrorCode.INTERNAL, error=trace.error, traceback=trace.places)
            self._host.end(ends=named.finite)
        self.schedule.clear()
        self.send(encode_err(f"the host failed: {trace.error}".encode()), 0)
        self.close()

    # ------------------------------------------------------------------ commands

    def _obey(self, command: Command, replies: list[bytes]) -> None:
        match command:
            case Ping():
                replies.append(PONG)
            case New():
                if (refusal := self._begin(command)) is not None:
                    replies.append(encode_err(refusal + b" - " + command.name))
            case End(name):
                if (named := self.schedule.remove(name)) is not None:
                    self._cancelled(named)
            case Delay(name, delay):
                self.schedule.set_delay(name, delay / 1000)
            case Unknown(opcode):
                replies.append(unknown_opcode(opcode))

    def _begin(self, command: New) -> bytes | None:
        """Begin a generation; returns why not, if it cannot be."""
        running = self.schedule.running
        if command.name in running:
            return self._refuse(ErrorCode.INVALID_REQUEST, command, b"generation is still running")
        if self._host.draining:
            return self._refuse(ErrorCode.BACKEND_UNAVAILABLE, command, SHUTTING_DOWN.encode())
        if len(running) >= self._host.options.max_generations:
            self._host.activity.refused += 1
            return self._refuse(ErrorCode.QUEUE_FULL, command, b"too many generations")
        named = self._host.generation(command)
        self._host.begin(ends=named.finite)
        self.schedule.add(named)
        return None

    def _refuse(self, code: ErrorCode, command: New, why: bytes) -> bytes:
        record("request_failed", logging.WARNING, surface=self.surface, req_id=_text(command.name), code=code)
        return why

    def _cancelled(self, named: NamedGeneration) -> None:
        self._host.end(ends=named.finite)
        self._record("request_cancelled", named)

    def _stop_all(self) -> None:
        for named in self.schedule.clear():
            self._cancelled(named)

    def _record(self, event: str, named: NamedGeneration, **fields: Any) -> None:
        seconds = round(time.monotonic() - named.began, 4)
        req_id = _text(named.name)
        record(event, surface=self.surface, req_id=req_id, seconds=seconds, output_bytes=named.made, **fields)


def _text(name: bytes) -> str:
    return name.decode("utf-8", "replace")
