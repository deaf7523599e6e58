"""All targets, their inputs, and what is asked of every one."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from tests.fuzz import files, wires
from tests.fuzz.damage import pieces
from tests.fuzz.target import CORPUS, Outcome, Wrong

TARGETS = wires.TARGETS | files.TARGETS


def inputs(name: str) -> list[bytes]:
    """Everything that a target begins with."""
    return TARGETS[name].seeds + [path.read_bytes() for path in sorted((CORPUS / name).glob("*"))]


def agree(read: Callable[[Iterator[bytes]], Outcome], data: bytes, rng: random.Random) -> None:
    """Read the input as one and in pieces. Raises whatever is wrong."""
    whole, parted = read(iter([data])), read(pieces(data, rng))
    if whole != parted:
        raise Wrong(f"whole: {whole}\nin pieces: {parted}")
