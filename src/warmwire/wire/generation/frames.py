"""Frames of the generation wire: `uvarint payload length · 1 byte type · payload`.

`FrameReader` is sans-I/O. The shell asks `get_buffer()` where the next bytes belong, receives into that view, says
`buffer_updated(n)` and then takes frames with `next_frame()` until it returns None. A small frame passes through a
scratch buffer, which the reader has only while there is something in it; the payload of a large one is received
straight into its final buffer, which for blobs the caller supplies. Lengths are checked before anything is allocated.
After a `ProtocolError` the position in the stream is lost and the reader must be thrown away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from warmwire.errors import FrameTooLargeError, ProtocolError
from warmwire.wire.generation.messages import FRAME_BLOB, FRAME_JSON, MAX_FRAME
from warmwire.wire.scratch import give_back, lend

T = TypeVar("T")

MAX_VARINT = 5
"""Most bytes of a frame's length."""

_FIRST_CHUNK = 1 << 20
"""A JSON payload's buffer starts with at most this and doubles, so that a length alone costs nothing."""

_NOTHING = bytearray()


WireFrame = tuple[int, Any]
"""Type and payload. A blob's payload is the buffer its `open_blob` gave, a JSON payload bytes or a bytearray."""


def encode_header(kind: int, length: int) -> bytes:
    """Length and type of a frame, to be followed by exactly `length` bytes. Raises FrameTooLargeError."""
    if length > MAX_FRAME:
        raise FrameTooLargeError(f"frame of {length} bytes exceeds {MAX_FRAME} byte cap")
    if length < 0x80:
        return bytes((length, kind))
    out = bytearray()
    while length >= 0x80:
        out.append(length & 0x7F | 0x80)
        length >>= 7
    out += bytes((length, kind))
    return bytes(out)


def encode_frame(kind: int, payload: bytes) -> bytes:
    """A whole frame. Raises FrameTooLargeError."""
    return encode_header(kind, len(payload)) + payload


def pour(
    data: bytes | bytearray | memoryview,
    get_buffer: Callable[[], memoryview],
    buffer_updated: Callable[[int], None],
    take: Callable[[], T | None],
) -> Iterator[T]:
    """Copy `data` into a reader's buffers; yields what `take` makes of it."""
    rest = memoryview(data)
    while rest:
        room = get_buffer()
        count = min(len(room), len(rest))
        room[:count] = rest[:count]
        buffer_updated(count)
        rest = rest[count:]
        while (item := take()) is not None:
            yield item


class FrameReader:
    """Turns received bytes into frames.

    `open_blob(length)` is called when a blob frame's header has been read and returns the writable buffer of exactly
    that many bytes for its payload; it may raise `ProtocolError` to refuse. Without it blobs land in bytearrays.
    """

    def __init__(self, open_blob: Callable[[int], Any] = bytearray) -> None:
        self._open_blob = open_blob
        self._scratch = _NOTHING
        self._view = memoryview(self._scratch)
        self._start = self._end = 0
        # The large payload under way: its frame type, its length, its buffer, and how much of that is filled.
        self._kind = self._length = self._filled = 0
        self._payload: Any = None
        self._target: memoryview | None = None
        self.at_eof = False

    def get_buffer(self) -> memoryview:
        """Where the next bytes belong: a writable view, never empty."""
        if self._target is not None:
            if self._filled == len(self._target):
                self._grow()
            return self._target[self._filled :]
        if self._scratch is _NOTHING:
            self._scratch = lend()
            self._view = memoryview(self._scratch)
        elif self._start and self._end > len(self._scratch) // 2:
            rest = self._view[self._start : self._end].tobytes()
            self._scratch[: len(rest)] = rest
            self._start, self._end = 0, len(rest)
        return self._view[self._end :]

    def buffer_updated(self, count: int) -> None:
        """Say that `count` bytes have been written at the start of the last `get_buffer()`."""
        if self._target is not None:
            self._filled += count
        else:
            self._end += count

    def receive_data(self, data: bytes | bytearray | memoryview) -> list[WireFrame]:
        """Take bytes that were received elsewhere; returns the frames they complete."""
        return list(pour(data, self.get_buffer, self.buffer_updated, self.next_frame))

    def receive_eof(self) -> None:
        """Say that the peer will send nothing more. Raises ProtocolError in the middle of a frame."""
        self.at_eof = True
        if self._target is not None:
            raise ProtocolError(f"malformed frame: ended after {self._filled} of {self._length} payload bytes")
        if self._start < self._end:
            raise ProtocolError("malformed frame: ended inside the frame")

    @property
    def in_frame(self) -> bool:
        """Whether bytes of a frame have been received that is not whole."""
        return self._target is not None or self._start < self._end

    def next_frame(self, open_blob: Callable[[int], Any] | None = None) -> WireFrame | None:
        """The next complete frame, or None when more bytes are needed. Raises ProtocolError.

        `open_blob` counts for this call: whoever owns a reader can be asked for buffers without being held by it.
        """
        if self._target is not None:
            return self._finish_large()
        scratch, at, end = self._scratch, self._start, self._end
        if at == end:
            self._give_back()
            return None
        length, at = scratch[at], at + 1
        if length >= 0x80:
            length, at = self._long_length(at - 1)
            if not at:
                return None
        if length > MAX_FRAME:
            raise FrameTooLargeError(f"frame exceeds {MAX_FRAME} byte cap")
        if at == end:
            return None
        kind, at = scratch[at], at + 1
        if kind != FRAME_JSON and kind != FRAME_BLOB:
            raise ProtocolError(f"malformed frame: unknown frame type 0x{kind:02x}")
        stop = at + length
        if kind == FRAME_JSON and stop <= end:
            self._start = stop
            return kind, bytes(self._view[at:stop])
        return self._start_payload(kind, length, at, open_blob or self._open_blob)

    def _give_back(self) -> None:
        """Everything in the scratch buffer has been used."""
        if self._scratch is not _NOTHING:
            give_back(self._scratch)
            self._scratch = _NOTHING
            self._view = memoryview(_NOTHING)
            self._start = self._end = 0

    def _long_length(self, at: int) -> tuple[int, int]:
        """A length of several bytes and the place after it; the place is 0 when bytes are missing."""
        value = 0
        for i in range(MAX_VARINT):
            if at + i == self._end:
                return 0, 0
            byte = self._scratch[at + i]
            value |= (byte & 0x7F) << (7 * i)
            if byte < 0x80:
                return value, at + i + 1
        raise ProtocolError(f"malformed frame: length does not end within {MAX_VARINT} bytes")

    def _start_payload(self, kind: int, length: int, at: int, open_blob: Callable[[int], Any]) -> WireFrame | None:
        if kind == FRAME_JSON and length <= len(self._scratch) // 2:
            return None  # it fits the scratch buffer: wait there
        if kind == FRAME_BLOB:
            self._payload = open_blob(length)
        else:
            self._payload = bytearray(min(length, _FIRST_CHUNK))
        target = memoryview(self._payload).cast("B")
        have = min(self._end - at, len(target))
        target[:have] = self._view[at : at + have]
        self._start = at + have
        self._kind, self._length, self._filled, self._target = kind, length, have, target
        if self._start == self._end:
            self._give_back()
        return self._finish_large()

    def _grow(self) -> None:
        """Double a JSON payload's buffer; only that kind can be full and unfinished."""
        bigger = bytearray(min(self._length, 2 * self._filled))
        bigger[: self._filled] = self._payload
        self._payload, self._target = bigger, memoryview(bigger)

    def _finish_large(self) -> WireFrame | None:
        if self._filled < self._length:
            return None
        payload = self._payload
        self.drop_payload()
        return self._kind, payload

    def drop_payload(self) -> None:
        """Hold no buffer of a large payload any more; in the middle of one, nothing more can be read."""
        self._payload = self._target = None
