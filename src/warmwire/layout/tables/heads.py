"""Heads of a table: which lines are its head, and which of them stand over several columns.

A head ends where figures begin. Its lines are set over each other, each in its column, with the label's own head in one
of them. A head over several columns stands over their middle, is as wide as several, or has a rule of its own below it
that is; what it stands over follows under it. All else in one column is one cell, however many lines it takes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from statistics import median

from warmwire.layout.page import Box, Line
from warmwire.layout.rows import is_period, is_value, size_of
from warmwire.layout.tables.found import OVER, Slot
from warmwire.layout.tables.strips import Strip, columns_of

LEADING = 1.7
"""Lines of one head are no further apart, in units of their size: 1.0 to 1.6 where text is set so."""
UNDERLINE = 1.3
"""A rule below a head is no further from its middle, in units of its height."""
INSET = 0.3
"""A rule may reach that far into the white beside its columns, in units of the body."""
APART = 0.97
"""Lines of a head that are as far apart as rows, by that share at least, are rows."""
SOLID = 1.35
"""Rows closer than that, in units of the body, are set as lines are: they tell nothing of lines in a head, unless these
fill all columns."""
MOST = 7
"""Lines of a head."""

Span = tuple[int, int]


def head_rows(rows: Sequence[Sequence[Line]], strips: Sequence[Strip]) -> int:
    """How many of `rows`, from the top, are lines of the head: 0 where nothing tells that there are several."""
    depth = next((i for i, row in enumerate(rows) if _has_figures(row, strips)), 0)
    while depth > 1 and all(columns_of(line.box, strips)[0] == 0 for line in rows[depth - 1]):
        depth -= 1  # a label names a group of rows, unless more of the head is below it
    if not 1 < depth <= MOST:
        return 0
    steps = [_middle(below) - _middle(above) for above, below in pairwise(rows[:depth])]
    size = min(size_of(line) for row in rows[:depth] for line in row)
    return depth if max(steps) < LEADING * size else 0


def head_slots(
    rows: Sequence[Sequence[Line]],
    strips: Sequence[Strip],
    size: float,
    pitch: float = math.inf,
    rules: Iterable[Box] = (),
) -> tuple[list[Slot], int]:
    """The cells of a head of some lines, and how many rows they take.

    `pitch` is the step from row to row below it; `rules` are those that may underline a head.
    """
    levels = _levels(rows, strips, size, pitch, list(rules))
    placed = {id(line) for level in levels for lines in level.values() for line in lines}
    rest = [line for row in rows for line in row if id(line) not in placed]
    depth = len(levels) + 1
    slots = [Slot(r, a, 1, b - a + 1, lines) for r, level in enumerate(levels) for (a, b), lines in level.items()]
    for column in range(len(strips) + 1):
        above = [r for r, level in enumerate(levels) if any(a <= column <= b for a, b in level)]
        place = above[-1] + 1 if above else 0 if _has_spans(levels) else depth - 1
        slots += [Slot(r, column, 1, 1, []) for r in range(place) if r not in above]
        own = [line for line in rest if columns_of(line.box, strips)[0] == column]
        slots.append(Slot(place, column, depth - place, 1, own))
    return slots, depth if any(rows) else 0


def _has_spans(levels: Sequence[Mapping[Span, object]]) -> bool:
    return any(first < last for level in levels for first, last in level)


def pitch_of(rows: Iterable[Sequence[Line]]) -> float:
    """The usual step from row to row of a table; no number of lines is as wide where there are too few rows."""
    steps = [below - above for above, below in pairwise(map(_middle, rows))]
    return median(steps) if len(steps) > 1 else math.inf


def stands_over(row: Sequence[Line], strips: Sequence[Strip], size: float) -> bool:
    """Whether a row's heads, a label's own aside, stand over several columns each."""
    return bool(_spans_over([line for line in row if columns_of(line.box, strips)[0] > 0], strips, size))


def _levels(
    rows: Sequence[Sequence[Line]], strips: Sequence[Strip], size: float, pitch: float, rules: Sequence[Box]
) -> list[dict[Span, list[Line]]]:
    """For each row of a head above its last, from the top, which columns its heads stand over, and their lines.

    Those are rows of heads over several columns, and rows as far from the next as rows below the head are.
    """
    levels: list[dict[Span, list[Line]]] = []
    for place, (row, following) in enumerate(pairwise(rows)):
        below = {columns_of(line.box, strips)[0] for other in rows[place + 1 :] for line in other}
        spans = _spans_of(row, strips, size, rules)
        spans = {(a, b): lines for (a, b), lines in spans.items() if sum(a <= c <= b for c in below) > 1}
        full = len(row) == len(following) == len(strips) + 1
        if not spans and _middle(following) - _middle(row) >= APART * (pitch if full else max(pitch, SOLID * size)):
            spans = {(c, c): [line] for line in row for c in columns_of(line.box, strips)[:1]}
        if not spans or any(one[1] >= other[0] for one, other in pairwise(sorted(spans))):
            continue
        if levels and set(spans) <= set(levels[-1]):  # the next line of heads that take several
            for span, lines in spans.items():
                levels[-1][span] += lines
        else:
            levels.append(spans)
    return levels


def _spans_of(
    row: Sequence[Line], strips: Sequence[Strip], size: float, rules: Sequence[Box]
) -> dict[Span, list[Line]]:
    """The columns that heads of a row stand over, where these are several."""
    heads = [line for line in row if columns_of(line.box, strips)[1] > 0]
    spans = [_own_span(line, heads, strips, size, rules) for line in heads]
    if all(first == last for first, last in spans):
        spans = _spans_over(heads, strips, size)
    found: dict[Span, list[Line]] = {}
    for span, line in zip(spans, heads, strict=False):
        if span[0] < span[1]:
            found.setdefault(span, []).append(line)
    return found


def _own_span(line: Line, heads: Sequence[Line], strips: Sequence[Strip], size: float, rules: Sequence[Box]) -> Span:
    """The columns that a head, or the rule under it alone, reaches over."""
    first, last = columns_of(line.box, strips)
    for rule in rules:
        if not 0 <= rule.centre[1] - line.box.centre[1] < UNDERLINE * line.box.height:
            continue
        under = [head for head in heads if rule.left - size < head.box.left and head.box.right < rule.right + size]
        if under == [line]:
            inset = Box(rule.left + INSET * size, rule.top, rule.right - INSET * size, rule.bottom)
            reached = columns_of(inset, strips)
            first, last = min(first, reached[0]), max(last, reached[1])
    return first, last


def _spans_over(row: Sequence[Line], strips: Sequence[Strip], size: float) -> list[Span]:
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
    """Whether a row's label, or half of the rest, is figures; years may be heads."""
    figures: list[bool] = []
    for line in row:
        is_figure = is_value(line.text) and not is_period(line.text)
        if columns_of(line.box, strips)[0] > 0:
            figures.append(is_figure)
        elif is_figure:
            return True
    return bool(figures) and 2 * sum(figures) >= len(figures)


def _middle(lines: Sequence[Line]) -> float:
    return median(line.box.centre[1] for line in lines)
