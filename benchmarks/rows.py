"""What a benchmark gives: rows that can be read, drawn and compared with those of another version.

A figure from a machine that others use says little by itself. So ours stands beside a peer, or beside a limit such as a
bare copy of the same bytes, measured in the same run and in turn with it, and what counts is the ratio of each pair,
always ours to theirs. Of many pairs the row has the median, and the quartiles as the spread; of few, all of it. A
module of this folder gives its rows by `rows(budget)`, an iterator, so that what is done is kept when it is stopped.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import linear_regression, median, quantiles
from typing import Final, Literal, TypeVar

import msgspec

T = TypeVar("T")
FEW: Final = 12
"""Below so many values chance alone often parts the quartiles of two runs: in one of six for three values."""
Scale = Literal["quick", "full", "long"]


class Budget(msgspec.Struct, frozen=True):
    """What a group of rows may take: seconds of the clock, and how large it makes what it measures."""

    seconds: float
    scale: Scale = "full"

    @property
    def quick(self) -> bool:
        return self.scale == "quick"

    def share(self, part: float) -> float:
        """Seconds of a part of the group, a tenth kept back for starting and stopping."""
        return 0.9 * part * self.seconds


class Spread(msgspec.Struct, frozen=True):
    """A median between its quartiles, or between the least and the most of few values; and of how many it is."""

    low: float
    middle: float
    high: float
    count: int = 1

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        if len(values) < FEW:
            low, middle, high = min(values), median(values), max(values)
        else:
            low, middle, high = quantiles(values, n=4, method="inclusive")
        return cls(low, middle, high, len(values))


class Row(msgspec.Struct, frozen=True, tag=True):
    """One figure of ours, and what it is measured by; `ratio` is ours to theirs, pair by pair."""

    group: str
    name: str
    unit: str
    ours: Spread
    more: bool
    """Whether more is better."""
    beside: str = ""
    """The peer or limit."""
    theirs: float | None = None
    ratio: Spread | None = None
    wanted: float | None = None
    """At least so much where more is better, else at most."""
    wanted_of: Literal["ours", "ratio"] = "ours"
    points: tuple[tuple[float, float], ...] = ()
    """Of a growth, how much took how long."""
    axes: tuple[str, str] = ("", "")

    @property
    def judged(self) -> Spread:
        """What a later version is compared by."""
        return self.ratio or self.ours

    @property
    def met(self) -> bool | None:
        """Whether it is as wanted; None where nothing is."""
        if self.wanted is None:
            return None
        spread = self.ratio if self.wanted_of == "ratio" and self.ratio else self.ours
        return spread.middle >= self.wanted if self.more else spread.middle <= self.wanted


class Note(msgspec.Struct, frozen=True, tag=True):
    """What could not be measured, and why."""

    group: str
    text: str


Rows = Iterator[Row | Note]


def paired(
    group: str,
    name: str,
    unit: str,
    beside: str,
    pairs: Iterable[tuple[float, float]],
    *,
    more: bool,
    wanted: float | None = None,
    wanted_of: Literal["ours", "ratio"] = "ratio",
) -> Row:
    """A row of (ours, theirs) pairs that were measured in turn, in `unit`."""
    ours, theirs = zip(*pairs, strict=True)
    ratio = Spread.of([a / b for a, b in zip(ours, theirs, strict=True)])
    return Row(group, name, unit, Spread.of(ours), more, beside, median(theirs), ratio, wanted, wanted_of)


def alone(group: str, name: str, unit: str, values: Sequence[float], *, more: bool, wanted: float | None = None) -> Row:
    """A row that has nothing beside it."""
    return Row(group, name, unit, Spread.of(values), more, wanted=wanted)


def exact(group: str, name: str, beside: str, both: tuple[float, float], count: int) -> Row:
    """A row of a measure from 0 to 1, ours and theirs, that comes out the same each time; of so many documents."""
    ours, theirs = both
    ratio = Spread(ours / theirs, ours / theirs, ours / theirs, count) if theirs else None
    return Row(group, name, "", Spread(ours, ours, ours, count), True, beside, theirs, ratio)


def growth(
    group: str, name: str, axes: tuple[str, str], points: Sequence[tuple[float, float]], *, wanted: float | None = None
) -> Row:
    """How cost grows with size: the exponent, 1 where twice as much takes twice as long, 0 where size does not matter.

    It is the slope of the line through the logarithms, its spread the standard error of that slope.
    """
    xs, ys = ([math.log(value) for value in axis] for axis in zip(*points, strict=True))
    slope, start = linear_regression(xs, ys)
    centre = sum(xs) / len(xs)
    apart = sum((x - centre) ** 2 for x in xs)
    left = sum((y - start - slope * x) ** 2 for x, y in zip(xs, ys, strict=True))
    error = math.sqrt(left / max(1, len(xs) - 2) / apart)
    spread = Spread(slope - error, slope, slope + error, len(points))
    return Row(group, name, "exponent", spread, False, wanted=wanted, points=tuple(points), axes=axes)


LEAST_PAIRS: Final = 3


def in_turn(
    one: Callable[[], T],
    other: Callable[[], T],
    seconds: float,
    *,
    least: int = LEAST_PAIRS,
    most: int = 60,
    warm: bool = True,
) -> list[tuple[T, T]]:
    """What both give, pair by pair, each of them first in turn, until the seconds are over.

    One of each that does not count goes before, if `warm`.
    """
    until = time.monotonic() + seconds
    if warm:
        one(), other()
    pairs: list[tuple[T, T]] = []
    while len(pairs) < least or (len(pairs) < most and time.monotonic() < until):
        if len(pairs) % 2:
            second = other()
            pairs.append((one(), second))
        else:
            pairs.append((one(), other()))
    return pairs


def timed(action: Callable[[], object]) -> float:
    """Seconds that it takes."""
    begun = time.perf_counter()
    action()
    return time.perf_counter() - begun
