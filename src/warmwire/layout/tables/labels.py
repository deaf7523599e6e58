"""Heads of a table without rules: lines of one, and those over several columns.

Heads are set over several lines, each in its column, with the label's own head in one of the lines at most. A head over
several columns is a row of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from warmwire.layout.page import Line
from warmwire.layout.rows import is_period, is_value, size_of
from warmwire.layout.tables.strips import Strip, columns_of

LEADING = 1.4
"""Lines of one head are no further apart, in units of their size: 1.0 to 1.25 in 9 reports."""
OVER = 1.5
"""A head over several columns stands over their middle, this near to it, in units of the body."""
MOST = 4
"""Lines of a head."""


def head_rows(rows: Sequence[Sequence[Line]], strips: Sequence[Strip]) -> int:
    """How many of `rows`, from the top, are the lines of one head: 0 where nothing tells that there are several."""
    depth = next((i for i, row in enumerate(rows) if _has_figures(row, strips)), 0)
    if not 1 < depth <= MOST:
        return 0
    head = rows[:depth]
    spans = [columns_of(line.box, strips) for row in head for line in row]
    labelled = sum(any(columns_of(line.box, strips)[0] == 0 for line in row) for row in head)
    steps = [_middle(below) - _middle(above) for above, below in pairwise(head)]
    size = min(size_of(line) for row in head for line in row)
    one = labelled <= 1 and all(first == last for first, last in spans) and max(steps) < LEADING * size
    return depth if one else 0


def spans_over(row: Sequence[Line], strips: Sequence[Strip], size: float) -> list[tuple[int, int]]:
    """First and last column under each head of a row that stands over several columns; nothing where it does not.

    Each column belongs to the nearest head, and each head stands over the middle of its columns, two or more of them.
    """
    count = len(strips) + 1
    if not row or count < 3 or any(columns_of(line.box, strips)[0] == 0 for line in row):
        return []
    starts, ends = [end for _, end in strips], [*(start for start, _ in strips[1:]), math.nan]
    ends[-1] = starts[-1] + (ends[-2] - starts[-2])  # the last is taken to be as wide as the one before
    own: list[list[int]] = [[] for _ in row]
    for column, (start, end) in enumerate(zip(starts, ends, strict=True), 1):
        near = min(range(len(row)), key=lambda i: abs(row[i].box.centre[0] - (start + end) / 2))
        own[near].append(column)
    for line, columns in zip(row, own, strict=True):
        if len(columns) < 2:
            return []
        middle = (starts[columns[0] - 1] + ends[columns[-1] - 1]) / 2
        if abs(line.box.centre[0] - middle) > OVER * size:
            return []
    return [(columns[0], columns[-1]) for columns in own]


def _has_figures(row: Sequence[Line], strips: Sequence[Strip]) -> bool:
    """Whether half of a row, its label apart, is figures; years may be heads."""
    cells = [line.text for line in row if columns_of(line.box, strips)[0] > 0]
    return bool(cells) and 2 * sum(is_value(text) and not is_period(text) for text in cells) >= len(cells)


def _middle(lines: Sequence[Line]) -> float:
    return median(line.box.centre[1] for line in lines)
