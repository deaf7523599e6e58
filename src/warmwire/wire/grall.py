"""The grall wire, both sides, without I/O.

    client to server                                server to client
    1 ping                                          1 pong                  once on connect, then per ping
    2 new    name seed u32 limit u32 delay          2 gen    name token     up to four bytes of one generation
    3 end    name                                   3 end    name           that generation has ended by itself
    4 delay  name u32 delay                         4 err    message
    5 close

An opcode is one byte; a number is big-endian u32; name, seed, token and message are a u32 length and so many bytes.
Limits are bytes, delays milliseconds. Both readers take bytes in any pieces and give what is complete; a length is
checked against its cap as soon as it is known, so that nothing is kept for one that is too large.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import Final

import numpy as np

from warmwire.errors import FrameTooLargeError, ProtocolError, WarmwireError
from warmwire.wire.grall_limits import MAX_NAME, MAX_SEED, MAX_TOKEN, TOKEN

MAX_U32: Final = (1 << 32) - 1

PONG: Final = b"\x01"

_U32: Final = Struct(">I")
_TWO_U32: Final = Struct(">II")
_BULK: Final = 16
"""From so many equal frames on, numpy is quicker than a loop."""
_BULK_MOST: Final = 2048


@dataclass(frozen=True, slots=True)
class Ping:
    """Asks for a pong."""


@dataclass(frozen=True, slots=True)
class New:
    """Starts a generation; `limit` 0 is no limit, `delay` the milliseconds between its tokens."""

    name: bytes
    seed: bytes = b""
    limit: int = 0
    delay: int = 0


@dataclass(frozen=True, slots=True)
class End:
    """To the server: stop that generation, silently. From it: that generation ended by itself."""

    name: bytes


@dataclass(frozen=True, slots=True)
class Delay:
    """Changes the delay of a generation."""

    name: bytes
    delay: int


@dataclass(frozen=True, slots=True)
class Close:
    """Stop everything on this connection and close it."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """An opcode that means nothing. The server says so and reads on."""

    opcode: int


@dataclass(frozen=True, slots=True)
class Pong:
    """The connection is ready, or answers a ping."""


@dataclass(frozen=True, slots=True)
class Gen:
    """Text of one generation: `tokens` tokens that came in one piece, which may cut a character at its end."""

    name: bytes
    data: bytes
    tokens: int = 1


@dataclass(frozen=True, slots=True)
class Err:
    """The server complains."""

    message: bytes


Command = Ping | New | End | Delay | Close | Unknown
Event = Pong | Gen | End | Err


class _WireReader:
    """Keeps what is incomplete, and the fault that ended the stream if there was one."""

    def __init__(self) -> None:
        self._pending = bytearray()
        self._at = 0
        self.fault: WarmwireError | None = None
        """Why nothing more is read: a ProtocolError or FrameTooLargeError. The connection is to be closed."""

    @property
    def pending(self) -> int:
        """Bytes held of an incomplete command; at the end of input they are what was cut off."""
        return len(self._pending)

    def _feed(self, data: bytes | bytearray | memoryview) -> None:
        self._pending += data
        self._at = 0

    def _keep(self, at: int) -> None:
        del self._pending[:at]

    def _number(self) -> int:
        """The next u32. Raises _Incomplete."""
        at = self._at
        if len(self._pending) - at < 4:
            raise _Incomplete
        self._at = at + 4
        return int(_U32.unpack_from(self._pending, at)[0])

    def _sequence(self, what: str, cap: int) -> bytes:
        """The next length and its bytes. Raises _Incomplete, or FrameTooLargeError before anything of it is kept."""
        size = self._number()
        if size > cap:
            raise FrameTooLargeError(f"{what} too long - {size} bytes, at most {cap}")
        at = self._at
        if len(self._pending) - at < size:
            raise _Incomplete
        self._at = at + size
        return bytes(self._pending[at : at + size])


class _Incomplete(Exception):
    pass


class CommandReader(_WireReader):
    """The server's side: bytes from a client to commands."""

    def __init__(self, *, max_name: int = MAX_NAME, max_seed: int = MAX_SEED) -> None:
        super().__init__()
        self._max_name = max_name
        self._max_seed = max_seed

    def feed(self, data: bytes | bytearray | memoryview) -> list[Command]:
        """The commands that `data` completes, in order. Then look at `fault`."""
        commands: list[Command] = []
        if self.fault is not None:
            return commands
        self._feed(data)
        done = 0
        try:
            while done < len(self._pending):
                commands.append(self._command())
                done = self._at
        except _Incomplete:
            pass
        except FrameTooLargeError as error:
            self.fault = error
            done = len(self._pending)
        self._keep(done)
        return commands

    def _command(self) -> Command:
        opcode = self._pending[self._at]
        self._at += 1
        match opcode:
            case 1:
                return Ping()
            case 2:
                name = self._sequence("name", self._max_name)
                seed = self._sequence("seed", self._max_seed)
                return New(name, seed, self._number(), self._number())
            case 3:
                return End(self._sequence("name", self._max_name))
            case 4:
                return Delay(self._sequence("name", self._max_name), self._number())
            case 5:
                return Close()
            case _:
                return Unknown(opcode)


class EventReader(_WireReader):
    """The client's side: bytes from a server to events. Tokens of one name that arrive together become one `Gen`."""

    def __init__(self, *, max_name: int = MAX_NAME, max_token: int = MAX_TOKEN) -> None:
        super().__init__()
        self._max_name = max_name
        self._max_token = max_token

    def feed(self, data: bytes | bytearray | memoryview) -> list[Event]:
        """The events that `data` completes, in order. Then look at `fault`."""
        events: list[Event] = []
        if self.fault is not None:
            return events
        self._feed(data)
        done = 0
        name = b""
        tokens: list[bytes] = []
        count = 0
        try:
            while done < len(self._pending):
                event = self._event(done)
                if isinstance(event, Gen) and (event.name == name or not tokens):
                    name = event.name
                    tokens.append(event.data)
                    count += event.tokens
                else:
                    if tokens:
                        events.append(Gen(name, b"".join(tokens), count))
                        tokens, count = [], 0
                    if isinstance(event, Gen):
                        name, tokens, count = event.name, [event.data], event.tokens
                    else:
                        events.append(event)
                done = self._at
        except _Incomplete:
            pass
        except ProtocolError as error:
            self.fault = error
            done = len(self._pending)
        if tokens:
            events.append(Gen(name, b"".join(tokens), count))
        self._keep(done)
        return events

    def _event(self, start: int) -> Event:
        opcode = self._pending[start]
        self._at = start + 1
        match opcode:
            case 1:
                return Pong()
            case 2:
                name = self._sequence("name", self._max_name)
                body = self._at + 4
                token = self._sequence("token", self._max_token)
                return self._more(start, body, Gen(name, token))
            case 3:
                return End(self._sequence("name", self._max_name))
            case 4:
                return Err(self._sequence("message", self._max_token))
            case _:
                raise ProtocolError(f"the server sent opcode {opcode}, which means nothing; this is no grall server")

    def _more(self, start: int, body: int, first: Gen) -> Gen:
        """`first` with the frames behind it that differ from it only in their token, if those are many."""
        head, size = body - start, self._at - start
        rows = min((len(self._pending) - start) // size, _BULK_MOST)
        last = start + (_BULK - 1) * size
        if rows < _BULK or self._pending[last : last + head] != self._pending[start:body]:
            return first
        frames = np.frombuffer(self._pending, np.uint8, rows * size, start).reshape(rows, size)
        same = (frames[:, :head] == frames[0, :head]).all(axis=1)
        count = rows if same.all() else int(same.argmin())
        self._at = start + count * size
        return Gen(first.name, frames[:count, head:].tobytes(), count)


def encode_command(command: Command) -> bytes:
    """The bytes of a command."""
    match command:
        case Ping():
            return b"\x01"
        case New(name, seed, limit, delay):
            return b"\x02" + _sequence(name) + _sequence(seed) + _TWO_U32.pack(limit, delay)
        case End(name):
            return b"\x03" + _sequence(name)
        case Delay(name, delay):
            return b"\x04" + _sequence(name) + _U32.pack(delay)
        case Close():
            return b"\x05"
        case Unknown(opcode):
            return bytes([opcode])


def encode_tokens(name: bytes, text: bytes | memoryview) -> bytes:
    """Gen frames for `text`, cut into tokens of four bytes; only the last may be shorter."""
    head = b"\x02" + _sequence(name) + _U32.pack(TOKEN)
    whole = len(text) // TOKEN
    frames = np.empty((whole, len(head) + TOKEN), np.uint8)
    frames[:, : len(head)] = np.frombuffer(head, np.uint8)
    frames[:, len(head) :] = np.frombuffer(text, np.uint8, whole * TOKEN).reshape(whole, TOKEN)
    rest = bytes(text[whole * TOKEN :])
    return frames.tobytes() + (b"\x02" + _sequence(name) + _sequence(rest) if rest else b"")


def encode_end(name: bytes) -> bytes:
    """The frame that says that a generation ended by itself."""
    return b"\x03" + _sequence(name)


def encode_err(message: bytes) -> bytes:
    """An error frame."""
    return b"\x04" + _sequence(message)


def unknown_opcode(opcode: int) -> bytes:
    """The error frame for an opcode that means nothing, in the reference's words."""
    return encode_err(f"unknown opcode - {opcode}".encode())


def _sequence(data: bytes) -> bytes:
    return _U32.pack(len(data)) + data
