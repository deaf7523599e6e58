"""What stands around a page's text: running heads and feet.

A running line is told by no single sign. It stands near the page's edge, apart from the text by more white than rows
of the page stand apart by, is small, carries a page number, a notice, a rule. Each sign has its points, and what a
running line hardly is (prose, a label and its value, bold type) has points against it. The rows at an edge are taken
block by block from the outside in, as long as each block has points enough. A line without any sign but its
repetition is left to those who see every page.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Final

from warmwire.layout.order.folios import Sign, are_notes, goes_on, is_address, is_content, sign_of
from warmwire.layout.page import Box, Line
from warmwire.layout.rows import bounds, rows_of, size_of

# Set on the edges of 158 pages whose running lines are known, read from files and from scans: 145 of 148 are found, and
# 9 lines besides that the notes do not name, most of them notices, addresses and page numbers all the same.
ENOUGH: Final = 4
"""Points that make a block of rows a running head or foot."""
DEPTHS: Final = ((0.065, 2), (0.11, 1), (0.15, 0))
"""How far a block reaches into the page, as a share of its height, and the points for it."""
WHITES: Final = ((2.0, 3), (1.2, 2), (0.6, 1))
"""White between the block and the text beyond what the page's rows usually have, in body sizes, and the points."""
RULED: Final = 2
"""Points for a rule between the block and the text."""
SMALL: Final = 1
CONTENT: Final = 3
"""Points against what running lines do not say (`is_content`, `goes_on`), for each row."""
BOLD: Final = 1
"""Points against each row of bold type, unless it is one with the most white: it may head the text."""
MORE_ROWS: Final = 1
"""Points against every row but one that has no sign of its own."""

SMALLER: Final = 0.93
"""Type is small from this on, in body sizes."""
LARGER: Final = 1.15
"""A block with larger type, in body sizes, is a title or a letterhead, unless ..."""
LARGEST_APART: Final = 1.3
"""... it is hardly larger than that, not bold, and has all points for its place and for white."""
LARGEST_FOLIO: Final = 2.0
FAR: Final = 1.5
"""White, in body sizes, that makes a number alone a page number wherever the page's text ends: article classes of TeX
leave 1.6 to 2.0 over it, a sixth of the page from its foot."""
CENTRED: Final = 0.06
"""Such a number stands this close to the middle of the page's text, as a share of its width."""

SET_OFF: Final = 1.3
"""How much more white than inside the page sets off a line that has no other sign, ..."""
RARE: Final = 0.05
"""... but for this share of the whites there."""

MOST_RUNS: Final = 3
"""Runs of a running line without a page number: left, middle and right; more are a row of a table."""
MOST_ROWS: Final = 4
MOST_LETTERS: Final = 0.3
"""Share of a page's letters that running lines never reach: a page is there for its text."""

_TABLE: Final = ""
"""What stands for the text of a table, which is never running."""

Row = Sequence[Line]


@dataclass(slots=True)
class Furniture:
    """The lines of a page told apart: running heads, running feet, and the text between."""

    head: list[Line]
    foot: list[Line]
    text: list[Line]


def furniture(
    lines: Sequence[Line],
    height: float,
    size: float,
    rules: Sequence[Box] = (),
    tables: Sequence[Box] = (),
) -> Furniture:
    """Tell running heads and feet from text: the blocks of rows nearest to an edge that have points enough.

    `tables` are the places of text that is none of `lines`, and content for sure.
    """
    rows: list[Row] = [*rows_of(lines)]
    rows = sorted([*rows, *([Line(box, _TABLE)] for box in tables)], key=lambda row: bounds(x.box for x in row).top)
    if len(rows) < 2 or height <= 0 or size <= 0:
        return Furniture([], [], list(lines))
    top = _Edge(rows, True, height, size, rules)
    bottom = _Edge(rows[::-1], False, height, size, rules)
    head = [line for row in top.running() for line in row]
    taken = {id(line) for line in head}
    foot = [line for row in reversed(list(bottom.running())) for line in row if id(line) not in taken]
    taken |= {id(line) for line in foot}
    return Furniture(head, foot, [line for line in lines if id(line) not in taken])


class _Edge:
    """The rows of a page from one edge inwards."""

    def __init__(self, rows: Sequence[Row], at_top: bool, height: float, size: float, rules: Sequence[Box]) -> None:
        self.rows = rows
        self.at_top = at_top
        self.height = height
        self.size = size
        self.rules = sorted((rule.centre[1], rule.width) for rule in rules)
        self.boxes = [bounds(line.box for line in row) for row in rows]
        self.whites = [self._white(outer, inner) for outer, inner in pairwise(self.boxes)]
        self.usual = min(median(self.whites), size)
        """White between rows of this page; a page of few rows far apart has none that is usual."""

    def running(self) -> Iterator[Row]:
        """The rows that are running lines, from the outside in."""
        tables = any(line.text == _TABLE for row in self.rows for line in row)
        letters = math.inf if tables else MOST_LETTERS * sum(len(line.text) for row in self.rows for line in row)
        first = taken = 0
        for last in range(min(MOST_ROWS, len(self.rows) - 1)):
            if self.rows[last][0].text == _TABLE:
                return
            apart = self._is_apart(last)
            if not apart and _sign(self.rows[last]) is not Sign.FOLIO:
                continue
            fits = sum(len(line.text) for row in self.rows[: last + 1] for line in row) <= letters
            if fits and self._is_running(self.rows[first : last + 1], last):
                yield from self.rows[taken : last + 1]
                taken = last + 1
            elif apart:
                return
            if apart:
                first = last + 1

    def _white(self, outer: Box, inner: Box) -> float:
        return inner.top - outer.bottom if self.at_top else outer.top - inner.bottom

    def _is_apart(self, last: int) -> bool:
        """Whether a block ends with this row: more white than usual or a rule follows."""
        return self._excess(last) >= WHITES[-1][0] or self._is_ruled(last)

    def _excess(self, last: int) -> float:
        return (self.whites[last] - self.usual) / self.size

    def _is_ruled(self, last: int) -> bool:
        outer, inner = self.boxes[last], self.boxes[last + 1]
        low, high = sorted((outer.centre[1], inner.centre[1]))
        least = 0.4 * max(outer.width, inner.width)
        between = self.rules[bisect_right(self.rules, (low, math.inf)) : bisect_left(self.rules, (high, -math.inf))]
        return any(width > least for _, width in between)

    def _is_running(self, block: Sequence[Row], last: int) -> bool:
        """Whether a block that ends with the row `last` has points enough."""
        signs = [_sign(row) for row in block]
        box = self.boxes[last]
        depth = (box.bottom if self.at_top else self.height - box.top) / self.height
        place = next((points for most, points in DEPTHS if depth <= most), None)
        if place is None:
            return signs == [Sign.FOLIO] and len(block[0]) == 1 and self._is_far(last)
        if len(block) <= last and (max(signs) is Sign.NONE or not place):
            return False  # behind a running line stands the text, unless something speaks against it
        if not self.at_top and are_notes([row[0].text for row in block]):
            return False
        white = next((points for least, points in WHITES if self._excess(last) >= least), 0)
        bold = all(line.bold for row in block for line in row)
        most = (place, white) == (DEPTHS[0][1], WHITES[0][1])
        if self._is_large(block, signs, LARGEST_APART if most and not bold else LARGER):
            return False
        points = place + white + max(signs) + RULED * self._is_ruled(last)
        points += SMALL * (max(size_of(line) for row in block for line in row) <= SMALLER * self.size)
        points -= BOLD * len(block) * (bold and (white < WHITES[0][1] or len(block) > 1))
        points -= MORE_ROWS * max(0, sum(sign < Sign.NAMED for sign in signs) - 1)
        points -= CONTENT * sum(self._is_content(row, sign) for row, sign in zip(block, signs, strict=True))
        if place < DEPTHS[0][1] and max(signs) is Sign.NONE and not self._is_set_off(last):
            return False
        return points >= ENOUGH

    def _is_set_off(self, last: int) -> bool:
        """Whether hardly any white inside the page comes near the one here: a page of few things far apart has such."""
        inside = self.whites[last + 1 : -2]  # without those of the other edge's running lines
        return sum(SET_OFF * white > self.whites[last] for white in inside) <= RARE * len(inside)

    def _is_far(self, last: int) -> bool:
        """Whether a row stands far below, or above, a text that does not reach the edge, and in the middle of it."""
        box, text = self.boxes[last], bounds(self.boxes)
        centred = abs(box.centre[0] - text.centre[0]) < CENTRED * text.width
        return centred and self._excess(last) >= FAR and len(self.rows) > 2 * MOST_ROWS

    def _is_large(self, block: Sequence[Row], signs: Sequence[Sign], most: float) -> bool:
        return any(
            size_of(line) > (LARGEST_FOLIO if sign >= Sign.NAMED else most) * self.size
            for row, sign in zip(block, signs, strict=True)
            for line in row
        )

    def _is_content(self, row: Row, sign: Sign) -> bool:
        if sign is Sign.FOLIO:
            return False
        if len(row) > 2 and all(sign_of(line.text) is Sign.FOLIO for line in row):  # the figures of an axis
            return True
        if len(row) > MOST_RUNS and sign < Sign.NAMED:
            return True
        if any(is_content(line.text) or (self.at_top and is_address(line.text)) for line in row):
            return True
        return sign < Sign.NAMED and any(goes_on(line.text) for line in row)


def _sign(row: Row) -> Sign:
    """What a row's words say: those of its runs, a page number at either end of a few, or all as one line."""
    each = [sign_of(line.text) for line in row]
    if all(sign is Sign.FOLIO for sign in each):
        return (Sign.FOLIO, Sign.NAMED, Sign.NONE)[min(len(row), 3) - 1]
    if Sign.FOLIO in (each[0], each[-1]) and len(row) <= MOST_ROWS:
        return Sign.NAMED
    whole = sign_of(" ".join(line.text for line in row))
    return min(max(whole, *each), Sign.NAMED)
