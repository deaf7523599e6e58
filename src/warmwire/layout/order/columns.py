"""Reading order: a page cut along its gutters.

A gutter is an upright strip of white with text on both sides. Nothing crosses it, so what does cross (a wide
heading, a table, a figure over both columns) bounds it above and below, unless the text runs on past it (`floats`).
The page is cut at its best gutter into what is above, the left side, the right side and what is below, and each of
these again, until no gutter is left; what remains is one column.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from warmwire.layout.blocks.indexes import is_indexed
from warmwire.layout.order.floats import Item, Stretch, box_of, is_set_apart, is_text, joined
from warmwire.layout.page import Box, Element, Line
from warmwire.layout.rows import are_details, bounds, is_label, is_value, same_row, size_of
from warmwire.layout.tables.alignment import aligned_tables

MIN_GUTTER = 0.6
"""Narrowest gutter, in units of the body size: those of journals are one size wide, and commas hang over their margins.
With 0.8 one such comma parted both columns at its line."""

CLEAR = 1.5
"""A gutter so wide, in units of the body, is as good as any wider one: then the longest is best. With 3 the gutter
between short entries half-way down an index won over the one that all its entries share; with 1 to 2 none differs."""

ONE_EDGE = 0.3
"""Left edges no further apart than this, in units of the body as all lengths here, belong to one column."""
STRAY = 0.1
"""A gutter ends this far left of the edge that lines begin at: letters may reach over it a little."""
OVER = 3.0
"""What goes over a gutter does so by this much on both sides, a rule that bounds it and a line in its middle alike."""
LEAST_HEIGHT = 1.5
"""A gutter is at least so high, in units of the body: more than one line."""
DROP = 0.7
"""White that sets lines over both columns apart from these."""
ALIGNED = 0.5
"""Edges, or middles, that are the same differ by less."""
SAME_STEP = 1.15
"""A step from line to line is the same as that before up to this factor, ..."""
MOST_STEP = 2.2
"""... and less than this, in units of the line's size."""
LONGER = 3.0
"""A left column that ends so much below the right one goes on: what follows the right one is not its section."""
MARKER = 2.5
"""A column is wider than this: numbers and bullets of a list are not."""
LABEL = 40
"""Letters of half the labels of values, at most, ..."""
LABELS = 0.5
"""... the share of them that end as labels do, ..."""
VALUES = 0.6
"""... or else the share of values that are figures, ..."""
PAIRED = 0.7
"""... and the share of values that stand beside a label."""

MAX_ROUNDS = 4
"""Tables are looked for anew among what tables leave, so often at most: two that stand side by side take two."""


@dataclass(frozen=True, slots=True)
class _Gutter:
    score: float
    above: list[Item]
    left: list[Item]
    right: list[Item]
    below: list[Item]


@dataclass(slots=True)
class _Effort:
    """What may still be looked at: a page made to be endless is cut no further when it is used up."""

    left: int = 1_000_000


def columns(items: Sequence[Item], size: float, bars: Sequence[Box] = ()) -> list[list[Item]]:
    """Columns in reading order, each from top to bottom.

    Tables without rules are found on the way, before a gutter could part their columns, and stand as elements.
    `size` is the page's body size, `bars` level rules, which no
    gutter goes through.
    """
    effort = _Effort()
    found: list[list[Item]] = []
    parts = [list(items)]
    while parts:
        part = parts.pop()
        gutter, text = _best_gutters(part, size, bars, effort)
        count = len(part)
        part = _with_tables(part, size, worded=text is not None)
        if len(part) < count:
            gutter, text = _best_gutters(part, size, bars, effort)
        if text is not None:  # two columns of text are parted, and no table but of texts goes over both
            gutter = text
        if gutter is not None:
            parts += [half for half in (gutter.below, gutter.right, gutter.left, gutter.above) if half]
        elif part:
            found.append(sorted(part, key=lambda item: box_of(item).centre[1]))
    return found


def _with_tables(items: Sequence[Item], size: float, worded: bool) -> list[Item]:
    """`items` with the lines of each aligned table replaced by the table, or of those only that hold texts for sure."""
    items = list(items)
    for _ in range(MAX_ROUNDS):
        obstacles = [box_of(item) for item in items if isinstance(item, Element)]
        tables = aligned_tables([item for item in items if isinstance(item, Line)], size, obstacles, worded)
        if not tables:
            break
        used = {id(line) for found in tables for line in found.used}
        items = [*(item for item in items if id(item) not in used), *(found.element for found in tables)]
    return items


def _best_gutters(
    items: Sequence[Item], size: float, bars: Sequence[Box], effort: _Effort
) -> tuple[_Gutter | None, _Gutter | None]:
    """The best gutter, and the best one between two columns of text.

    Stretches are looked at from the one that promises most, until none can be better than what was found.
    """
    ordered = sorted(items, key=lambda item: box_of(item).centre[1])
    best: _Gutter | None = None
    text: _Gutter | None = None
    for place in sorted(_places(ordered, size, bars, effort), key=lambda place: place[:4], reverse=True):
        promise, start, end, x, lifted = place
        if (text is not None and text.score >= promise) or effort.left <= 0:
            break
        effort.left -= len(ordered) + 10 * (end - start)
        gutter = _gutter(ordered, Stretch(ordered, start, end, x, lifted), size)
        if gutter is not None and (best is None or gutter.score > best.score):
            best = gutter
        if gutter is not None and (text is None or gutter.score > text.score):
            text = gutter if is_text(gutter.left) and is_text(gutter.right) else text
    return best, text


_Place = tuple[float, int, int, float, tuple[Item, ...]]


def _places(ordered: Sequence[Item], size: float, bars: Sequence[Box], effort: _Effort) -> list[_Place]:
    """Where gutters may be: the most each may score, its first item and the one after its last, its right end, and the
    floats that it goes past.

    One for each stretch of the page that nothing crosses, left of each edge that items begin at, and for those that
    go on past floats.
    """
    if len(ordered) < 3:
        return []
    boxes = np.array([(box.left, box.top, box.right, box.bottom) for box in map(box_of, ordered)])
    middles = (boxes[:, 1] + boxes[:, 3]) / 2

    def promise(start: int, end: int) -> float:
        return CLEAR * size * float(boxes[start:end, 3].max() - boxes[start:end, 1].min())

    found: list[_Place] = []
    edge = float("-inf")
    for left in np.sort(boxes[:, 0]).tolist():
        if left - edge <= ONE_EDGE * size or effort.left <= 0:
            continue
        edge = left
        effort.left -= len(ordered)
        x = edge - STRAY * size
        strip = x - MIN_GUTTER * size  # what reaches into the narrowest gutter bounds it as well
        crossing = np.flatnonzero((boxes[:, 0] < x) & (boxes[:, 2] > strip)).tolist()
        stops = [(i, i + 1) for i in crossing]
        crossed = [bar.centre[1] for bar in bars if bar.left < strip - OVER * size and bar.right > x + OVER * size]
        stops += [(place, place) for place in np.searchsorted(middles, crossed).tolist()]
        whole: list[tuple[int, int]] = []
        start = 0
        for end, following in [*sorted(stops), (len(ordered), len(ordered))]:
            if end - start >= 2:
                whole.append((start, end))
            start = max(start, following)
        found += [(promise(a, b), a, b, x, ()) for a, b in whole if b - a >= 3]
        if len(whole) > 1 and crossing:
            effort.left -= len(ordered)
            past = joined(ordered, whole, x, size)
            found += [(promise(s.start, s.end), s.start, s.end, x, tuple(s.lifted)) for s in past]
    return found


def _gutter(ordered: Sequence[Item], stretch: Stretch, size: float) -> _Gutter | None:
    left, right = stretch.left, stretch.right
    if len(left) + len(right) < 3 or not left or not right:
        return None
    above, below = list(ordered[: stretch.start]), list(ordered[stretch.end :])
    _yield_opening(above, left, right, size)
    if not left or not right:
        return None
    _yield_section(left, right, below, size)
    if below:
        _yield_headings(left, right, below, size)
    if not left or not right:
        return None
    one, other = bounds(map(box_of, left)), bounds(map(box_of, right))
    width = other.left - one.right
    height = min(one.bottom, other.bottom) - max(one.top, other.top)
    shared_left = [item for item in left if box_of(item).bottom > other.top and box_of(item).top < other.bottom]
    shared_right = [item for item in right if box_of(item).bottom > one.top and box_of(item).top < one.bottom]
    if width < MIN_GUTTER * size or height < LEAST_HEIGHT * size or not _is_column(shared_left, size):
        return None
    if not _is_column(shared_right, size) or _reads_across(shared_left, shared_right):
        return None
    return _Gutter(height * min(width, CLEAR * size), above, left, right, [*stretch.lifted, *below])


def _yield_opening(above: list[Item], left: list[Item], right: list[Item], size: float) -> None:
    """Move to what is above the lines over both sides that belong there although they are narrow.

    That is a short line that ends a wide paragraph, and one in the middle of the page, under a title.
    """
    whole = bounds(box_of(item) for item in (*left, *right))
    while above and (left or right):
        side = left if left and (not right or box_of(left[0]).top <= box_of(right[0]).top) else right
        item, others = side[0], [box_of(other).top for other in (*left, *right) if other is not side[0]]
        if not isinstance(item, Line) or not others or min(others) < item.box.bottom:
            return
        step = item.box.centre[1] - box_of(above[-1]).centre[1]
        drop = min(others) - item.box.bottom
        ends = side is left and _ends_paragraph(above, item, step) and drop > DROP * size
        centres = (whole.centre[0], box_of(above[-1]).centre[0])
        central = any(abs(item.box.centre[0] - centre) < ALIGNED * size for centre in centres)
        apart = item.box.left - whole.left > OVER * size and drop > DROP * size
        if not (ends or (central and apart)):
            return
        above.append(side.pop(0))


def _ends_paragraph(above: Sequence[Item], item: Line, step: float) -> bool:
    """Whether a line goes on with the lines above, which are wider, as the last of a paragraph."""
    if len(above) < 2 or not all(isinstance(one, Line) for one in above[-2:]):
        return False
    last, before = box_of(above[-1]), box_of(above[-2])
    return (
        0 < step < SAME_STEP * (last.centre[1] - before.centre[1])
        and abs(item.box.left - last.left) < ALIGNED * size_of(item)
        and step < MOST_STEP * size_of(item)
    )


def _yield_section(left: list[Item], right: list[Item], below: list[Item], size: float) -> None:
    """Move what follows columns that end side by side to what is below, if it begins with a heading.

    It may be narrow enough to lie under the left column alone, and is still read after the right one. But where text
    runs on to that column's right edge, it is the column that goes on.
    """
    foot = max(box_of(item).bottom for item in right)
    edge = max(box_of(item).right for item in left)
    for i in range(1, len(left)):
        if box_of(left[i - 1]).bottom > foot + LONGER * size:
            return  # the left column goes on: the right one is what follows it
        if box_of(left[i]).top > foot and is_set_apart(left[i], size):
            if sum(box_of(item).right > edge - size for item in left[i:]) > 2:
                return
            below[:0] = left[i:]
            del left[i:]
            return


def _yield_headings(left: list[Item], right: list[Item], below: list[Item], size: float) -> None:
    """Move headings at the foot of the left side, under all of the right side, to what follows: they open it."""
    foot = max(box_of(item).bottom for item in right)
    while left and box_of(left[-1]).top > foot and is_set_apart(left[-1], size):
        below.insert(0, left.pop())


def _is_column(items: list[Item], size: float) -> bool:
    """Whether items can be one side of a gutter: two rows at least, and wider than list markers are."""
    if any(isinstance(item, Element) for item in items):
        return True
    wide = any(box_of(item).width > MARKER * size for item in items)
    return wide and len(items) > 1 and not all(same_row(box_of(items[0]), box_of(item)) for item in items)


def _reads_across(left: list[Item], right: list[Item]) -> bool:
    """Whether two sides are labels and their values, which are read row by row and not side by side."""
    lines = [item for item in left if isinstance(item, Line)]
    values = [item for item in right if isinstance(item, Line)]
    if len(lines) < len(left) or len(values) < len(right):
        return False
    if median(len(line.text) for line in lines) > LABEL:
        return False
    if all(2 * sum(is_indexed(line.text) for line in side) >= len(side) for side in (lines, values)):
        return False  # columns of an index
    if are_details([value.text for value in values]):
        return False
    labels = sum(is_label(line.text) for line in lines) >= LABELS * len(lines)
    if not labels and sum(is_value(value.text) for value in values) < VALUES * len(values):
        return False
    return _paired(values, lines) >= PAIRED * len(values)


def _paired(values: Sequence[Line], lines: Sequence[Line]) -> int:
    """How many of `values` have one of `lines` in their row."""
    ordered = sorted(lines, key=lambda line: line.box.centre[1])
    middles = [line.box.centre[1] for line in ordered]
    count = 0
    for value in values:
        place = bisect_left(middles, value.box.centre[1])
        count += any(same_row(value.box, line.box) for line in ordered[max(0, place - 2) : place + 2])
    return count
