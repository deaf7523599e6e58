"""Blobs in shared memory.

A page is received straight into an anonymous memory file that its worker maps by descriptor, so it is copied once,
by the kernel, from the client's buffer. Used segments are kept for the next page: their memory is already there. One
that is too small for the next page makes room for its successor, so that about as many are kept as were once in use
together, however the sizes of pages vary.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from typing import Any

_KEEP, _KEEP_BYTES = 32, 64 << 20
"""Most segments kept for reuse, and most bytes of them together; each also holds two descriptors."""


class Segment(mmap.mmap):
    """A mapped memory file; `fd` is its descriptor, to be sent to a worker."""

    fd = -1

    def __del__(self) -> None:
        if self.fd >= 0:  # nobody gave it back
            self.discard()

    @classmethod
    def create(cls, size: int) -> Segment:
        """A new segment of `size` bytes. Raises OSError when the system has no memory to give."""
        if hasattr(os, "memfd_create"):
            fd = os.memfd_create("warmwire-blob", os.MFD_CLOEXEC)
        else:
            with tempfile.TemporaryFile() as file:
                fd = os.dup(file.fileno())
        try:
            os.ftruncate(fd, size)
            segment = cls(fd, size)
        except BaseException:
            os.close(fd)
            raise
        segment.fd = fd
        return segment

    def discard(self) -> None:
        """Close the descriptor; the mapping goes with its last view."""
        os.close(self.fd)
        self.fd = -1


class SegmentPool:
    """Gives out segments and takes them back."""

    def __init__(self) -> None:
        self._free: list[Segment] = []

    @property
    def count(self) -> int:
        """How many are kept for reuse."""
        return len(self._free)

    @property
    def bytes(self) -> int:
        """How large they are together."""
        return sum(map(len, self._free))

    def allocate(self, size: int) -> memoryview:
        """A writable view of exactly `size` bytes whose `obj` is its Segment."""
        for i, segment in enumerate(self._free):
            if size <= len(segment) <= 2 * size + (1 << 20):
                return memoryview(self._free.pop(i))[:size]
        outgrown = [segment for segment in self._free if len(segment) < size]
        if outgrown:
            smallest = min(outgrown, key=len)
            self._free.remove(smallest)
            smallest.discard()
        return memoryview(Segment.create(max(size, 1)))[:size]

    def free(self, data: Any) -> None:
        """Take back what `allocate` gave; anything else is ignored."""
        segment = data.obj if isinstance(data, memoryview) else None
        if not isinstance(segment, Segment) or segment.fd < 0:
            return
        if len(self._free) < _KEEP and self.bytes + len(segment) <= _KEEP_BYTES:
            self._free.append(segment)
        else:
            segment.discard()

    def close(self) -> None:
        """Give everything back to the system."""
        while self._free:
            self._free.pop().discard()


def map_private(fd: int, size: int) -> mmap.mmap:
    """A worker's view of a segment: writable, its writes its own. Takes over `fd`.

    Raises ValueError when the file is shorter than `size`: touching the missing part would kill the process.
    """
    try:
        if os.fstat(fd).st_size < size:
            raise ValueError(f"a segment of {os.fstat(fd).st_size} bytes cannot hold {size}")
        return mmap.mmap(fd, size, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE)
    finally:
        os.close(fd)
