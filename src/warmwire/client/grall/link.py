"""One grall connection, as both clients use it: names to inboxes, pings to waiters. Lives in one event loop.

A consumer that does not take its text must not stop the others on the connection, nor may its text pile up. The wire
has no "wait", but it has delays: over a mark the link sets the generation's delay to the longest there is, and when
the consumer has taken what waits, back to what it asked for.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import threading
from collections import deque
from collections.abc import Callable
from typing import Final, cast

from warmwire.errors import (
    CancelledError,
    InvalidRequestError,
    ProtocolError,
    StreamLostError,
    UsageError,
    WarmwireError,
)
from warmwire.transport.dial import DIAL_WAIT, connect_async
from warmwire.wire.grall import (
    MAX_U32,
    Close,
    Command,
    Delay,
    End,
    Err,
    Event,
    EventReader,
    Gen,
    New,
    Ping,
    Pong,
    encode_command,
)
from warmwire.wire.grall_limits import MAX_SEED

MAX_BACKLOG: Final = 1 << 20
"""Bytes that may wait for a consumer before its generation is held."""


class Inbox:
    """What has arrived for one generation. `put` and `end` belong to the link, `take` to the consumer's thread.

    `notify` is called, in the link's thread, when there is something new.
    """

    def __init__(self, command: New, notify: Callable[[], None]) -> None:
        self.command: Final = command
        self.delay = command.delay
        self.held = False
        self.ended = False
        self._notify = notify
        self._lock = threading.Lock()
        self._pieces: deque[bytes] = deque()
        self._backlog = 0
        self._error: WarmwireError | None = None

    @property
    def backlog(self) -> int:
        """Bytes that wait."""
        return self._backlog

    def put(self, data: bytes) -> int:
        """Add text; returns the bytes that wait."""
        with self._lock:
            self._pieces.append(data)
            self._backlog += len(data)
            backlog = self._backlog
        self._notify()
        return backlog

    def end(self, error: WarmwireError | None = None) -> None:
        """Nothing more will come, because of `error` if there is one. The first call counts."""
        if not self.ended:
            self._error = error
            self.ended = True
            self._notify()

    def take(self) -> bytes | None:
        """Everything that waits; b"" for nothing yet, None at the end. Raises the error that ended it, at its place."""
        ended = self.ended  # before looking: what came first is not to be missed
        with self._lock:
            data = b"".join(self._pieces)
            self._pieces.clear()
            self._backlog = 0
        if data or not ended:
            return data
        if self._error is not None:
            raise self._error
        return None

    def drop(self) -> None:
        """Forget what waits."""
        with self._lock:
            self._pieces.clear()
            self._backlog = 0


_READ: Final = 16 << 10
"""Bytes of events dealt with before other tasks of the loop have their turn: a thousand short ones, some milliseconds.
By itself the loop would hand over sixteen times as many at once."""


class GrallLink(asyncio.BufferedProtocol):
    """The connection. `closed` says whether it is of no more use."""

    def __init__(self, addr: str, max_backlog: int | None) -> None:
        self._addr = addr
        self._max_backlog = max_backlog
        self._loop = asyncio.get_running_loop()
        self._reader = EventReader()
        self._buffer = memoryview(bytearray(_READ))
        self._inboxes: dict[bytes, Inbox] = {}
        self._pings: deque[asyncio.Future[None]] = deque()
        self._numbers = itertools.count(1)
        self._complaint = ""
        self.closed = False
        self.greeting: Final[asyncio.Future[None]] = self._loop.create_future()
        self._pings.append(self.greeting)
        self._transport: asyncio.Transport

    @classmethod
    async def open(
        cls, addr: str | os.PathLike[str], wait: float = DIAL_WAIT, max_backlog: int | None = None
    ) -> GrallLink:
        """Connect and wait for the greeting, `wait` seconds for each. Raises DialError, ProtocolError."""
        path = os.fspath(addr)
        sock = await connect_async(path, wait=wait, start="warmwire ipc MODEL {path}")
        loop = asyncio.get_running_loop()
        transport, link = await loop.create_unix_connection(lambda: cls(path, max_backlog), sock=sock)
        try:
            await asyncio.wait_for(asyncio.shield(link.greeting), wait)
        except TimeoutError:
            transport.abort()
            raise ProtocolError(f"{path} is silent: no grall server, or one too busy to greet in {wait:g} s") from None
        except BaseException:
            transport.abort()
            raise
        return link

    # ------------------------------------------------------------------ what clients call

    def fresh_name(self) -> bytes:
        """A short name that this connection has not used."""
        return b"g%d" % next(self._numbers)

    def start(self, inbox: Inbox) -> None:
        """Begin a generation. Raises UsageError for a name that is running or a seed no server takes."""
        if inbox.command.name in self._inboxes:
            raise UsageError(f"a generation named {inbox.command.name!r} is running on this connection")
        self._check_open()
        self._inboxes[inbox.command.name] = inbox
        self._send(inbox.command)

    def cancel(self, inbox: Inbox) -> None:
        """Stop a generation and forget what waits of it."""
        if self._inboxes.pop(inbox.command.name, None) is not None and not self.closed:
            self._send(End(inbox.command.name))
        inbox.drop()
        inbox.end()

    def set_delay(self, inbox: Inbox, delay: int) -> None:
        """Change the delay; one that is held keeps to it once it goes on."""
        inbox.delay = delay
        if not inbox.held and inbox.command.name in self._inboxes:
            self._send(Delay(inbox.command.name, delay))

    def release(self, inbox: Inbox) -> None:
        """The consumer has taken what waited: go on."""
        if inbox.held:
            inbox.held = False
            if inbox.command.name in self._inboxes:
                self._send(Delay(inbox.command.name, inbox.delay))

    async def ping(self) -> float:
        """Seconds until the server answers, behind whatever it sent before. Raises StreamLostError."""
        self._check_open()
        waiter: asyncio.Future[None] = self._loop.create_future()
        self._pings.append(waiter)
        begun = self._loop.time()
        self._send(Ping())
        await waiter
        return self._loop.time() - begun

    def close(self) -> None:
        """Stop every generation and close."""
        if not self.closed:
            self._send(Close())
            self._lose(CancelledError("the connection was closed by this side"))
            self._transport.abort()

    # ------------------------------------------------------------------ what the loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        for event in self._reader.feed(self._buffer[:nbytes]):
            self._handle(event)
        if (fault := self._reader.fault) is not None:
            self._lose(ProtocolError(f"{self._addr}: {fault}"))
            self._transport.abort()

    def connection_lost(self, error: Exception | None) -> None:
        why = f": {self._complaint or error}" if self._complaint or error else ""
        self._lose(StreamLostError(f"the server at {self._addr} closed the connection{why}"))

    # ------------------------------------------------------------------ inside

    def _handle(self, event: Event) -> None:
        match event:
            case Gen(name, data):
                if (inbox := self._inboxes.get(name)) is not None:
                    backlog = inbox.put(data)
                    if self._max_backlog is not None and backlog > self._max_backlog and not inbox.held:
                        inbox.held = True
                        self._send(Delay(name, MAX_U32))
            case End(name):
                if (inbox := self._inboxes.pop(name, None)) is not None:
                    inbox.end()
            case Pong():
                if self._pings and not (waiter := self._pings.popleft()).done():
                    waiter.set_result(None)
            case Err(message):
                self._complain(message)

    def _complain(self, message: bytes) -> None:
        """Our server names the generation it complains of at the end; other complaints explain a close."""
        self._complaint = message.decode("utf-8", "replace")
        inbox = self._inboxes.pop(message.rpartition(b" - ")[2], None)
        if inbox is not None:
            inbox.end(InvalidRequestError(self._complaint))

    def _send(self, command: Command) -> None:
        self._transport.write(encode_command(command))

    def _check_open(self) -> None:
        if self.closed:
            raise StreamLostError(f"the connection to {self._addr} is closed")

    def _lose(self, error: WarmwireError) -> None:
        if self.closed:
            return
        self.closed = True
        for inbox in self._inboxes.values():
            inbox.end(error)
        self._inboxes.clear()
        for waiter in self._pings:
            if not waiter.done():
                waiter.set_exception(error)
        self._pings.clear()


def new_command(name: bytes, seed: str | bytes, limit: int, delay: int) -> New:
    """The command that starts a generation. Raises UsageError for numbers or a seed that the wire cannot carry."""
    raw = seed.encode() if isinstance(seed, str) else bytes(seed)
    if len(raw) > MAX_SEED:
        raise UsageError(f"the seed is {len(raw)} bytes long; servers take at most {MAX_SEED}")
    for what, number in (("limit", limit), ("delay", delay)):
        if not 0 <= number <= MAX_U32:
            raise UsageError(f"{what} {number} is outside 0 to {MAX_U32}")
    return New(name, raw, limit, delay)
