"""Lines of JSON: the framing of the embeddings, rerank and admin sockets.

`LineReader` is sans-I/O like `FrameReader`, with the same cap and the same shell: receive into `get_buffer()`, say
`buffer_updated(n)`, take lines with `next_line()`. A last line without its newline counts.
"""

from __future__ import annotations

from typing import Final

from warmwire.errors import FrameTooLargeError
from warmwire.wire.generation.frames import pour
from warmwire.wire.generation.messages import MAX_FRAME
from warmwire.wire.scratch import SCRATCH, give_back, lend

_NOTHING: Final = bytearray()


class LineReader:
    """Turns received bytes into lines of at most 64 MiB, without their newline."""

    def __init__(self, cap: int = MAX_FRAME) -> None:
        self._cap = cap
        self._buffer = _NOTHING
        self._start = self._searched = self._end = 0
        self._at_eof = False

    def get_buffer(self) -> memoryview:
        """Where the next bytes belong: a writable view, never empty."""
        if self._buffer is _NOTHING:
            self._buffer = lend()
        elif self._end == len(self._buffer):
            rest = self._buffer[self._start : self._end]
            if self._start < len(self._buffer) // 2:
                self._buffer = bytearray(2 * len(self._buffer))
            self._buffer[: len(rest)] = rest
            self._searched -= self._start
            self._start, self._end = 0, len(rest)
        return memoryview(self._buffer)[self._end :]

    def buffer_updated(self, count: int) -> None:
        """Say that `count` bytes have been written at the start of the last `get_buffer()`."""
        self._end += count

    def receive_data(self, data: bytes | memoryview) -> list[bytes]:
        """Take bytes that were received elsewhere; returns the lines they complete."""
        return list(pour(data, self.get_buffer, self.buffer_updated, self.next_line))

    def receive_eof(self) -> None:
        """Say that the peer will send nothing more: what is left is the last line."""
        self._at_eof = True

    @property
    def in_line(self) -> bool:
        """Whether bytes of a line have been received that is not whole."""
        return self._start < self._end

    def next_line(self) -> bytes | None:
        """The next whole line, or None when more bytes are needed. Raises FrameTooLargeError."""
        if self._start == self._end:
            self._give_back()
            return None
        at = self._buffer.find(b"\n", self._searched, self._end)
        if at < 0 and not self._at_eof:
            self._searched = self._end
            if self._end - self._start > self._cap:
                raise FrameTooLargeError(f"line exceeds {self._cap} byte cap")
            return None
        stop = self._end if at < 0 else at
        if stop - self._start > self._cap:
            raise FrameTooLargeError(f"line exceeds {self._cap} byte cap")
        line = bytes(memoryview(self._buffer)[self._start : stop])
        self._start = self._searched = stop if at < 0 else at + 1
        return line

    def _give_back(self) -> None:
        """Everything has been used; the memory of one long line is not held for ever."""
        if len(self._buffer) == SCRATCH:
            give_back(self._buffer)
        self._buffer = _NOTHING
        self._start = self._searched = self._end = 0
