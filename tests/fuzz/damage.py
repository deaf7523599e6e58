"""Sound bytes made unsound, and bytes cut into pieces as a socket cuts them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

INTERESTING = [
    b"\x00",
    b"\xff",
    b"\x80" * 5,
    b"\xff\xff\xff\xff\x7f",
    b'"',
    b"{",
    b"[" * 2000,
    b"<",
    b">",
    b"</",
    b"1" * 400,
    b"9" * 5000,  # more digits than Python reads
]


def damage(data: bytes, rng: random.Random) -> bytes:
    """A few bytes changed, dropped, moved or added."""
    out = bytearray(data)
    for _ in range(rng.randint(0, 6)):
        at, count = rng.randint(0, len(out)), rng.randint(1, 8)
        match rng.randrange(7):
            case 0:
                out[at : at + 1] = rng.randbytes(1)
            case 1 if at < len(out):
                out[at] ^= 1 << rng.randrange(8)
            case 2:
                del out[at : at + count]
            case 3:
                out[at:at] = rng.randbytes(count)
            case 4:
                out[at:at] = rng.choice(INTERESTING)
            case 5:
                other = rng.randint(0, len(out))
                out[at:at] = out[other : other + rng.randint(1, 60)]
            case 6 if rng.random() < 0.3:
                del out[at:]
    return bytes(out)


def pieces(data: Any, rng: random.Random) -> Iterator[Any]:
    at = 0
    while at < len(data):
        step = rng.choice([1, 2, 7, 100, 5000])
        yield data[at : at + step]
        at += step
