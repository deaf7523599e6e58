"""Files of records that are only ever appended to, one line each, so that a crash costs the last one at most.

A line is a checksum and the record, which has no line break in it. One that was torn, by a full disk or a lost machine,
or damaged otherwise, is no record; the next one begins on a line of its own.
"""

from __future__ import annotations

import errno
import os
from hashlib import blake2b
from typing import Final

_BYTES: Final = 8
_LETTERS: Final = 2 * _BYTES


def pack(record: bytes) -> bytes:
    """A record as a line."""
    return _sum(record) + b" " + record + b"\n"


def unpack(line: bytes) -> bytes | None:
    """The record of a line, None where it is not whole."""
    record = line[_LETTERS + 1 : -1]
    return record if line.endswith(b"\n") and _sum(record) == line[:_LETTERS] else None


def append(file: int, data: bytes) -> None:
    """Write to the end of an open file, and to the disk. Raises OSError, also where only a part could be written."""
    if os.write(file, data) < len(data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    os.fsync(file)


def _sum(record: bytes) -> bytes:
    return blake2b(record, digest_size=_BYTES).hexdigest().encode()
