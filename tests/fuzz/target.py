"""What a target is: sound inputs, a reader of bytes that come in parts, and the modules that it is about.

A reader gives what it made and how it ended: "end", or an error of the documented tree. Any other exception, and
`Wrong`, is a failure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warmwire.errors import WarmwireError

Outcome = tuple[list[Any], str]

CORPUS = Path(__file__).parent.parent / "data" / "fuzz"
"""A folder for each target with inputs that are none of `seeds`: small sound ones, and those that once failed."""


@dataclass(frozen=True)
class Target:
    """Something to fuzz. `modules` are names below `warmwire`, a package's own for all in it."""

    seeds: list[bytes]
    read: Callable[[Iterator[bytes]], Outcome]
    modules: tuple[str, ...]


class Wrong(Exception):
    """A reader broke its promise."""


def outcome(run: Callable[[list[Any]], None]) -> Outcome:
    """What a run gave, and how it ended."""
    got: list[Any] = []
    try:
        run(got)
    except WarmwireError as error:
        return got, f"{type(error).__name__}: {error}"
    return got, "end"
