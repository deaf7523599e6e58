"""The `.gril` file, version 1: its frame, and how a new one takes the place of an old one.

    "GRIL"  u8 version = 1  u32 depth  u32 contexts  u32 weights      17 bytes, little-endian
    per context: u8 weights - 1, `depth` context bytes (oldest first), then per weight u8 byte, u32 count
    "LIRG"

Contexts ascend by their bytes read from the last back, weights by byte; no count is zero and those of one context
sum to less than 2**32.
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import FileIO
from typing import Final

from warmwire.errors import InputError, UsageError
from warmwire.system import files

MAX_DEPTH: Final = 255
"""Longest context, bytes."""

TRAILER: Final = b"LIRG"
_HEADER: Final = struct.Struct("<4sB3I")
HEADER_SIZE: Final = _HEADER.size
_MOST: Final = (1 << 32) - 1


@dataclass(frozen=True, slots=True)
class Header:
    """What a file says of itself, and what its size must therefore be."""

    depth: int
    nodes: int
    weights: int

    @property
    def file_size(self) -> int:
        """Bytes of the whole file."""
        return HEADER_SIZE + self.nodes * (1 + self.depth) + self.weights * 5 + len(TRAILER)

    def pack(self) -> bytes:
        """The first 17 bytes. Raises InputError for more contexts or weights than the format can count."""
        if max(self.nodes, self.weights) > _MOST:
            raise InputError(f"the model would have {self.weights:,} weights; the file format ends at {_MOST:,}")
        return _HEADER.pack(b"GRIL", 1, self.depth, self.nodes, self.weights)


def parse_header(start: bytes, size: int, name: str) -> Header:
    """Check the first bytes of a file of `size` bytes. Nothing is believed that the size does not confirm."""
    if len(start) < HEADER_SIZE or start[:4] != b"GRIL":
        raise InputError(f"{name}: not a model (a .gril file starts with GRIL)")
    _, version, depth, nodes, weights = _HEADER.unpack_from(start)
    if version != 1:
        raise InputError(f"{name}: model format version {version}; this program reads version 1")
    if not 1 <= depth <= MAX_DEPTH:
        raise InputError(f"{name}: depth {depth} is outside 1 to {MAX_DEPTH}")
    if nodes == 0:
        raise InputError(f"{name}: the model is empty; train it on some text")
    header = Header(depth, nodes, weights)
    if header.file_size != size:
        kind = "truncated" if size < header.file_size else "too long"
        raise InputError(f"{name}: {kind}: {size:,} bytes, its header promises {header.file_size:,}")
    if not nodes <= weights <= 256 * nodes:
        raise InputError(f"{name}: damaged: {nodes:,} contexts cannot have {weights:,} weights")
    return header


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[FileIO]:
    """`files.replacing` for a model.

    Raises InputError where it cannot be written, UsageError where `path` is something other than a file.
    """
    try:
        if os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode):
            raise UsageError(f"cannot write a model to {path}: it is not a regular file")
        with files.replacing(path) as file:
            yield file
    except OSError as error:
        raise InputError(
            f"cannot write {path}: {error.strerror or error}; what was there before is unchanged"
        ) from error
