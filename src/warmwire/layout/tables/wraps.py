"""Which lines of text make one row of a table.

Cells wrap, labels take two lines with their figures beside the middle, and a table may set its rows no further apart
than its lines. No single sign tells: so every way to part the lines into rows is weighed by what would be odd about
it, and the least odd is taken. Odd within a row are two figures one above the other, a line that broke off although
the next word had room and no comma ends it, and a step wider than lines have; odd between two rows are a line that
begins small below one that is full, and a step as narrow as lines have; odd of a row is that it has no label, or
nothing else.

The way is found from the top: the best that ends at each line follows from the best that ended before its row.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from warmwire.layout.page import Line
from warmwire.layout.rows import is_value, size_of

MOST = 16
"""Most lines of text in one row."""

# How odd something is. What is certain (two figures in one cell) outweighs all else that one column may say; the others
# were set on made tables of twelve rulings, each moved until its neighbours' kinds of tables fell.
STACKED = 2.0
"""Two figures in one cell."""
EARLY = 1.0
"""A line of a cell that broke off although there was room for the next word; letters of another weight."""
FAR = 1.5
"""A step within a row that is wider than those of lines."""
SMALL = 1.0
"""A row that begins small below a full line."""
CLOSE = 0.8
"""A step between rows that is one of lines."""
BLANK = 0.6
"""A row without a label."""
ALONE = 0.25
"""A label without anything beside it."""
JOINED = 0.3
"""Each line that is joined to a row: where nothing tells, lines are rows."""

SHORT = 3
"""A text of fewer letters is a mark, as figures are: "x", "–", "ja"."""
BEGUN = 0.12
"""Share of a column's lines that begin with no small letter, at least, for these to tell where cells begin."""
ROOM = 0.5
"""White that a line has left over beyond the next word if it broke off early, in units of its size."""
JUMP = 1.12
"""Steps of lines and of rows differ by that factor at least."""
HALF = 0.8
"""A step of less than that share of the lines' own is one within a row whose cells are set in its middle."""
SURE = 0.1
"""Share of the rows known by their figures that may stand as close as lines, for the steps to tell anything."""


@dataclass(slots=True)
class _Piece:
    """A line in its column, and what is odd about it with the one above in the same row, and in another."""

    row: int
    line: Line
    is_wide: bool
    above: int = -1
    within: float = 0.0
    between: float = 0.0


def table_rows(
    rows: Sequence[Sequence[Line]], span_of: Callable[[Line], tuple[int, int]], cuts: Collection[int] = ()
) -> list[list[int]]:
    """The numbers of `rows` of text, from top to bottom, with those together that are one row of the table.

    `span_of` tells the first and the last column of a line. At `cuts`, numbers of rows, a row begins for sure.
    """
    if len(rows) < 2:
        return [[i] for i in range(len(rows))]
    columns: dict[int, list[_Piece]] = {}
    for i, row in enumerate(rows):
        for line in row:
            first, last = span_of(line)
            column = columns.setdefault(first, [])
            column.append(_Piece(i, line, last > first, column[-1].row if column else -1))
    labels = columns.pop(min(columns))
    others = list(columns.values())
    middles = [sum(line.box.centre[1] for line in row) / len(row) for row in rows]
    limit, is_sure = _limit(labels, others)
    for column in (labels, *others):
        _weigh(column, limit if is_sure else math.inf)
    return _best(labels, others, middles, limit, cuts)


def _is_figure(text: str) -> bool:
    """Whether a text is a number, or a mark in its place."""
    return is_value(text) or len(text) < SHORT or not any(map(str.isalpha, text))


def _are_stacked(above: _Piece, below: _Piece) -> bool:
    return _is_figure(above.line.text) and _is_figure(below.line.text)


def _limit(labels: Sequence[_Piece], others: Sequence[Sequence[_Piece]]) -> tuple[float, bool]:
    """The step up to which lines may be of one row, and whether those above are none: whether steps are of two kinds.

    They say nothing where rows that are known by their figures stand as close as others.
    """
    labelled = [piece.row for piece in labels]
    steps = [_step(a, b) for a, b in pairwise(labels)]
    for column in others:  # where no label stands between: what is empty in a row makes no wider step
        steps += [
            _step(a, b)
            for a, b in pairwise(column)
            if bisect_right(labelled, a.row) == bisect_right(labelled, b.row - 1)
        ]
    steps = sorted(step for step in steps if step > 0)
    if not steps:
        return 0.0, False
    known = [_step(a, b) for column in (labels, *others) for a, b in pairwise(column) if _are_stacked(a, b)]
    few = max(2, len(steps) // 20)
    for place, (below, above) in enumerate(pairwise(steps), 1):
        if place < few or above < JUMP * below:
            continue
        limit = math.sqrt(below * above)
        if sum(step <= limit for step in known) <= SURE * len(known):
            return limit, True
        break
    return HALF * steps[min(few, len(steps)) - 1], False


def _step(above: _Piece, below: _Piece) -> float:
    return below.line.box.centre[1] - above.line.box.centre[1]


def _weigh(column: Sequence[_Piece], limit: float) -> None:
    """Say of each line of a column how odd it is in one row with the line above, and how odd in another."""
    width = max((piece.line.box.width for piece in column if not piece.is_wide), default=0.0)
    others = [piece.line.text for piece in column[1:]]  # the first may be a head
    all_small = sum(map(_is_small, others)) > len(others) * (1 - BEGUN)
    for above, piece in pairwise(column):
        if _are_stacked(above, piece):
            piece.within += STACKED
        elif above is column[0] and _is_figure(piece.line.text):
            piece.within += EARLY  # a head
        elif (
            not above.line.text.rstrip().endswith((",", "，"))
            and above.line.box.width + first_word(piece.line) + ROOM * size_of(above.line) < width
        ):
            piece.within += EARLY
        elif not all_small and _is_small(piece.line.text):
            piece.between += SMALL
        piece.within += FAR if _step(above, piece) > limit else 0.0
        piece.within += EARLY if above.line.bold != piece.line.bold or above.is_wide or piece.is_wide else 0.0


def _is_small(text: str) -> bool:
    return text.lstrip()[:1].islower()


def first_word(line: Line) -> float:
    """About the width of a line's first word and the space before it."""
    words = line.text.split(maxsplit=1)
    return (len(words[0]) + 1) * line.box.width / max(len(line.text), 1) if words else 0.0


def _best(
    labels: Sequence[_Piece],
    columns: Sequence[Sequence[_Piece]],
    middles: Sequence[float],
    limit: float,
    cuts: Collection[int],
) -> list[list[int]]:
    """The least odd way to part lines of text into rows."""
    count = len(middles)
    rows: list[list[_Piece]] = [[] for _ in range(count)]
    below: list[list[_Piece]] = [[] for _ in range(count)]  # what stands right under each, in its column
    for piece in (piece for column in (labels, *columns) for piece in column):
        rows[piece.row].append(piece)
        if piece.above >= 0:
            below[piece.above].append(piece)
    labelled = {piece.row for piece in labels}
    others = {piece.row for column in columns for piece in column}
    blank = BLANK if 2 * len(labelled) >= count else 0.0
    costs, starts = [0.0], [0]
    for end in range(count):
        best, best_start = math.inf, end
        within = between = 0.0
        has_label = has_others = False
        for start in range(end, max(-1, end - MOST), -1):
            has_label, has_others = has_label or start in labelled, has_others or start in others
            between += sum(piece.between for piece in rows[start])
            for piece in (piece for piece in below[start] if piece.row <= end):
                within, between = within + piece.within, between - piece.between
            if within > best:
                break
            cost = costs[start] + within + between + JOINED * (end - start)
            cost += (0.0 if has_label or not start else blank) + (0.0 if has_others else ALONE)
            cost += CLOSE if start and start not in cuts and middles[start] - middles[start - 1] <= limit else 0.0
            if cost < best:
                best, best_start = cost, start
            if start in cuts:
                break
        costs.append(best)
        starts.append(best_start)
    return _parts(starts)


def _parts(starts: Sequence[int]) -> list[list[int]]:
    """The rows, of which `starts` has the beginning of the one that ends before each place."""
    found: list[list[int]] = []
    end = len(starts) - 1
    while end:
        found.append(list(range(starts[end], end)))
        end = starts[end]
    return found[::-1]
