"""Numbers of several bytes in a byte array, and the order of contexts; what the loops share.

This file is never compiled: compiled loops take the same functions from `memory.pxd`, where they are C and inlined.
"""

from __future__ import annotations


def wrap(x: int) -> int:
    """`x` modulo 2**64, which C does by itself."""
    return x & 0xFFFFFFFFFFFFFFFF


def low(x: int) -> int:
    """The lower half of `x`."""
    return x & 0xFFFFFFFF


def load8(a: memoryview, o: int) -> int:
    """The eight bytes at `o`, lowest first."""
    return int.from_bytes(a[o : o + 8], "little")


def load4(a: memoryview, o: int) -> int:
    """The four bytes at `o`, lowest first."""
    return int.from_bytes(a[o : o + 4], "little")


def store8(a: memoryview, o: int, w: int) -> None:
    """Put eight bytes at `o`, lowest first."""
    a[o : o + 8] = w.to_bytes(8, "little")


def store4(a: memoryview, o: int, w: int) -> None:
    """Put four bytes at `o`, lowest first."""
    a[o : o + 4] = w.to_bytes(4, "little")


def order(a: memoryview, i: int, b: memoryview, j: int, depth: int) -> int:
    """-1, 0 or 1: the `depth` bytes before `a[i]` against those before `b[j]`, last byte first.

    Compiled, it reads up to seven bytes further to the left than the contexts reach.
    """
    x = int.from_bytes(a[i - depth : i], "little")
    y = int.from_bytes(b[j - depth : j], "little")
    return (x > y) - (x < y)
