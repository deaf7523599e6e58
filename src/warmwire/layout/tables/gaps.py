"""Runs of text that are several cells, told by the rows next to them.

Words of a line stand closer than cells, but how close cells may stand no length tells: in a narrow table the white
between two heads is little more than a wide space. The rows above and below tell. Where they have white between two
cells, and a line has its own wide gap in that white, the line has two cells there; one in each white that it goes
over. Amounts in one run, wide gaps between them, are cells wherever they stand.

Only lines that know where their words are can be cut; the gaps of others are guesses.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

from warmwire.layout.page import Box, Line
from warmwire.layout.rows import SIGNS, is_value, rows_of, size_of
from warmwire.layout.splits import split_in_gaps, words_at

WIDE = 0.55
"""Narrowest gap between two cells in one run, in units of its size: spaces have 0.25 to 0.4, in a justified line
0.55; in 14 tables whose cells files gave as one run the narrowest white was 0.8."""
BROAD = 1.1
"""... and in units of the line's own letters: a typewriter's space is as wide as these."""
AMOUNT = 0.25
"""The same between two amounts, of which nobody takes one for two where a neighbour has white."""
EVEN = 0.8
"""Gaps of one kind differ by less than this factor; spaces in a cell are narrower than this, of those between cells."""
ASKED = 3
"""Rows of several cells that are asked, the nearest ones above or below."""
REACH = 8
"""... among so many rows: names of groups and second lines of entries lie between."""
NEAR = 3.5
"""Rows further apart than that, middle to middle and in units of the size, are not of one table."""

BEYOND = 3.0
"""A head is wider than what is under it, by less than that; a caption over two narrow columns is by more."""
_MARKS = SIGNS | frozenset("%-–—―−*.…")
"""What stands in cells beside amounts, or in their place."""
_White = tuple[float, float]


def split_rows(lines: Sequence[Line]) -> list[Line]:
    """`lines` with those cut in which neighbouring rows, or their own amounts, tell several cells apart."""
    rows = [[part for line in row for part in _amounts(line)] for row in rows_of(lines)]
    cut = [[part for line in row for part in _cells(line, rows, i)] for i, row in enumerate(rows)]
    return [line for row in cut for line in row]


def _amounts(line: Line) -> list[Line]:
    """A run of amounts as its amounts; a sign of money stays with what follows it."""
    words = line.text.split()
    if len(words) < 2 or not all(_is_amount(word) for word in words) or sum(map(is_value, words)) < 2:
        return [line]
    gaps = [
        (left + right) / 2
        for word, (left, right) in zip(words, _gaps(line), strict=False)
        if right - left >= WIDE * size_of(line) and word not in SIGNS
    ]
    return split_in_gaps(line, gaps, WIDE * size_of(line))


def _least(line: Line) -> float:
    """The narrowest gap in a line that may be one between two cells."""
    words = line.text.split()
    if len(words) > 1 and all(map(is_value, words)):
        return AMOUNT * size_of(line)
    return max(WIDE * size_of(line), BROAD * line.box.width / len(line.text))


def _is_amount(word: str) -> bool:
    return is_value(word) or word in _MARKS


def _cells(line: Line, rows: Sequence[Sequence[Line]], place: int) -> list[Line]:
    below, above = rows[place + 1 : place + 1 + REACH], rows[max(0, place - REACH) : place]
    if max(sum(len(row) > 1 for row in side) for side in (below, above)) < 2:
        return [line]  # no two rows of several: nobody to ask, as all over a page of prose
    gaps = _gaps(line)
    least = _least(line)
    wide = [gap for gap in gaps if gap[1] - gap[0] >= least]
    if not wide:
        return [line]
    for whites in (_whites(line, below), _whites(line, above[::-1])):
        chosen = _chosen(gaps, wide, whites)
        if chosen:
            return split_in_gaps(line, [(left + right) / 2 for left, right in chosen], least)
    return [line]


def _gaps(line: Line) -> list[_White]:
    """The white between each two words of a line that knows them."""
    return [(left, right) for (_, left), (right, _) in pairwise(words_at(line))]


def _chosen(gaps: Sequence[_White], wide: Sequence[_White], whites: Sequence[_White]) -> list[_White]:
    """The gaps that part cells: those above a step in their widths that lie in `whites`, each in one of its own."""
    widths = sorted((right - left for left, right in gaps), reverse=True)
    least = min(right - left for left, right in wide)
    steps = [below for above, below in pairwise(widths) if below < EVEN * above and above >= least]
    for step in [*([0.0] if widths[-1] >= least else []), *reversed(steps)]:
        found = [gap for gap in gaps if gap[1] - gap[0] > step]
        homes = [[white for white in whites if min(gap[1], white[1]) > max(gap[0], white[0])] for gap in found]
        if found and all(len(home) == 1 for home in homes) and len({home[0] for home in homes}) == len(found):
            return found
    return []


def _whites(line: Line, rows: Iterable[Sequence[Line]]) -> list[_White]:
    """White between cells that the nearest rows of several share, within a line's extent: two rows at least."""
    shared: list[_White] = []
    left, right = math.inf, -math.inf
    asked, middle = 0, line.box.centre[1]
    for row in rows:
        step = abs(row[0].box.centre[1] - middle)
        if step > NEAR * size_of(line):
            break
        middle = row[0].box.centre[1]
        here = [one.box for one in row if one.box.right > line.box.left and one.box.left < line.box.right]
        if len(here) < 2:
            continue
        own = _between(here)
        shared = _common(shared, own) if asked else own
        left, right = min(left, row[0].box.left), max(right, row[-1].box.right)
        asked += 1
        if asked == ASKED:
            break
    beyond = max(left - line.box.left, line.box.right - right)
    return shared if asked > 1 and beyond < BEYOND * size_of(line) else []


def _between(boxes: Sequence[Box]) -> list[_White]:
    return [(a.right, b.left) for a, b in pairwise(boxes) if b.left > a.right]


def _common(some: Sequence[_White], others: Sequence[_White]) -> list[_White]:
    return [(max(a, c), min(b, d)) for a, b in some for c, d in others if min(b, d) > max(a, c)]
