"""Upright strips of white that part the columns of rows, and which columns a box reaches into."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from warmwire.layout.page import Box

Strip = tuple[float, float]
"""Left and right end of a strip."""

CROSSED = 0.1
"""So many of the rows may cross a strip: a long entry, a head over two columns, a total's label."""
FEW = 4
"""With fewer rows than that, none may: too few to tell an exception from the rule."""
REACHED = 0.3
"""A box reaches into a column when it covers that much of the column's text, or that much of it lies there, or as much
as it is high: a long line begins in its column however far it goes."""


def white_strips(rows: Sequence[Sequence[Box]], least: float) -> list[Strip]:
    """Strips at least `least` wide between the boxes of rows, from left to right, that two rows or more have text on
    both sides of."""
    events = sorted((x, step) for row in rows for box in row for x, step in ((box.left, 1), (box.right, -1)))
    return [strip for strip in clear_strips(events, len(rows), least) if _parts(rows, strip) >= 2]


def clear_strips(events: Iterable[tuple[float, int]], count: int, least: float) -> list[Strip]:
    """Strips at least `least` wide that hardly any of `count` rows cross, from left to right.

    `events` are the edges of the rows' boxes from left to right: each with 1 where a box begins, -1 where it ends.
    """
    allowed = 0 if count < FEW else max(1, int(CROSSED * count))
    strips: list[Strip] = []
    covered, start = 0, None
    for x, step in events:
        covered += step
        if covered <= allowed and start is None:
            start = x
        elif covered > allowed and start is not None:
            if x - start >= least:
                strips.append((start, x))
            start = None
    return strips


def _parts(rows: Sequence[Sequence[Box]], strip: Strip) -> int:
    middle = (strip[0] + strip[1]) / 2
    return sum(any(box.right <= middle for box in row) and any(box.left >= middle for box in row) for row in rows)


def columns_of(box: Box, strips: Sequence[Strip]) -> tuple[int, int]:
    """First and last column that a box reaches into: those of whose text, or of the box, it covers a good part.

    A head may be wider than the figures under it and lie in the white on both sides; what lies in white alone
    belongs to the nearer column.
    """
    first = bisect_right(strips, box.left, key=lambda strip: strip[0])
    last = bisect_left(strips, box.right, key=lambda strip: strip[1])
    reached = [c for c in range(first, last + 1) if _reaches(box, strips, c)]
    if reached:
        return reached[0], reached[-1]
    column = bisect_right(strips, box.centre[0], key=lambda strip: (strip[0] + strip[1]) / 2)
    return column, column


def _reaches(box: Box, strips: Sequence[Strip], column: int) -> bool:
    start = strips[column - 1][1] if column else -math.inf
    end = strips[column][0] if column < len(strips) else math.inf
    return min(box.right, end) - max(box.left, start) > min(REACHED * min(box.width, end - start), box.height)
