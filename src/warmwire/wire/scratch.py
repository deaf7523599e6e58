"""Buffers through which small messages pass.

A reader needs one only while it holds bytes that it has not made messages of, and most connections are idle most of
the time. So buffers are lent: a reader takes one when it is asked where bytes belong, and gives it back when it has
used them up. A few spare ones are kept, for the same few are enough for any number of connections that take turns.
"""

from __future__ import annotations

from typing import Final

SCRATCH: Final = 64 << 10
"""Bytes of a buffer, and so the most that is received at a time while no large payload is under way."""

_MOST_SPARE: Final = 8

_spare: Final[list[bytearray]] = []


def lend() -> bytearray:
    """A buffer of `SCRATCH` bytes; what is in it means nothing."""
    try:
        return _spare.pop()
    except IndexError:
        return bytearray(SCRATCH)


def give_back(buffer: bytearray) -> None:
    """Say that a buffer from `lend` is no longer used."""
    if len(_spare) < _MOST_SPARE:
        _spare.append(buffer)
