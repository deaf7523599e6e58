"""Level rules of one extent that follow each other, and the rows between them: what may be a table of a book."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from warmwire.layout.page import Box, Line
from warmwire.layout.rows import (
    rows_of,
)

MIN_WIDTH = 8.0
"""A rule shorter than that, in units of the body, underlines a word."""
MIN_WHITE = 0.35
"""Narrowest white between two columns where four rows or more agree on it; else it is MIN_GAP."""
MAX_BREAK = 2.0
"""A rule drawn in pieces goes on over gaps up to that; two tables side by side stand further apart."""
SEAM = 0.7
"""Pieces of one rule stand nearer to each other, in units of the body; tables side by side do not."""
MAX_EMPTY = 3.0
"""Rules with nothing between them belong to one table up to that distance, as the two of a double rule do."""
MAX_ALONE = 2.5
"""Most height of a row between two rules with one line in it, which names the rows that follow."""


@dataclass(slots=True)
class RuleChain:
    """Rules of one extent from top to bottom, and the rows of lines between each and the next."""

    rules: list[Box]
    bands: list[list[list[Line]]]

    @property
    def rows(self) -> list[list[Line]]:
        return [row for band in self.bands for row in band]

    @property
    def lines(self) -> list[Line]:
        return [line for band in self.bands for row in band for line in row]


def joined_rules(levels: Sequence[Box], size: float) -> list[Box]:
    """Rules with those in one line that touch or nearly do made one: a table's rule is often drawn cell by cell.

    Where rules of two pieces are broken at one place, and none goes over it, two tables stand side by side.
    """
    rows: list[list[Box]] = []
    for rule in sorted(levels, key=lambda rule: (round(rule.centre[1] / (0.2 * size)), rule.left)):
        last = rows[-1][-1] if rows else None
        if last is None or abs(last.centre[1] - rule.centre[1]) >= 0.3 * size:
            rows.append([rule])
        elif rule.left - last.right < SEAM * size:
            rows[-1][-1] = last.union(rule)
        else:
            rows[-1].append(rule)
    seams = [
        (left.right, right.left)
        for left, right in (row for row in rows if len(row) == 2)
        if min(left.width, right.width) > MIN_WIDTH * size
    ]
    whole = [rule for row in rows for rule in row]
    joined: list[Box] = []
    for row in rows:
        joined.append(row[0])
        for left, right in pairwise(row):
            alike = sum(abs(left.right - a) < 0.5 * size and abs(right.left - b) < 0.5 * size for a, b in seams)
            crossed = any(rule.left < left.right and rule.right > right.left for rule in whole)
            if right.left - left.right < MAX_BREAK * size and not (len(row) == 2 and alike > 1 and not crossed):
                joined[-1] = joined[-1].union(right)
            else:
                joined.append(right)
    return joined


def chains_of(rules: Sequence[Box], lines: Sequence[Line], size: float) -> list[RuleChain]:
    """Rules of one extent with rows of cells between them."""
    extents: list[list[Box]] = []
    for rule in sorted(rules, key=lambda rule: (rule.left, rule.top)):
        alike = next((e for e in reversed(extents[-40:]) if _same_extent(e[0], rule, size)), None)
        if alike is None:
            extents.append([rule])
        else:
            alike.append(rule)
    chains = []
    for extent in (extent for extent in extents if len(extent) > 1):
        extent.sort(key=lambda rule: rule.centre[1])
        chain = RuleChain(extent[:1], [])
        left, right = extent[0].left - size, extent[0].right + size
        inside = sorted(
            (line for line in lines if left < line.box.centre[0] < right), key=lambda line: line.box.centre[1]
        )
        for above, below in pairwise(extent):
            band = rows_of(line for line in inside if above.centre[1] < line.box.centre[1] < below.centre[1])
            empty = below.centre[1] - above.centre[1] > MAX_EMPTY * size
            if not _is_tabular(band, below.centre[1] - above.centre[1], size) if band else empty:
                chains.append(chain)
                chain = RuleChain([below], [])
            else:
                chain.rules.append(below)
                chain.bands.append(band)
        chains.append(chain)
    return [chain for chain in chains if len(chain.rules) > 1 and any(chain.bands)]


def _same_extent(one: Box, other: Box, size: float) -> bool:
    return abs(one.left - other.left) < size and abs(one.right - other.right) < size


def _is_tabular(rows: Sequence[Sequence[Line]], height: float, size: float) -> bool:
    """Whether what stands between two rules may be rows of a table: no sentences that run on, no long lines alone, and
    no heading between two tables."""
    if len(rows) == 1 and not is_wide(rows[0], size):
        return height < MAX_ALONE * size
    band = [line for row in rows for line in row]
    small = sum(line.text.lstrip()[:1].islower() and line.text.count(" ") > 2 for line in band)
    if len(band) > 6 and small >= 0.35 * len(band):
        return False
    wide = [row for row in rows if is_wide(row, size)]
    labels = [row for row in rows if not is_wide(row, size) and any(_stands_beside(row, other) for other in wide)]
    return len(wide) >= 0.3 * (len(rows) - len(labels))


def _stands_beside(row: Sequence[Line], other: Sequence[Line]) -> bool:
    """Whether a line is as high on the page as part of a row: one line of a label whose figures are in its middle."""
    one, two = row[0].box, other[-1].box
    return min(one.bottom, two.bottom) - max(one.top, two.top) > 0.2 * min(one.height, two.height)


def is_wide(row: Sequence[Line], size: float) -> bool:
    """Whether white parts some two lines of a row as it parts columns; `size` is the body size."""
    return any(right.box.left - left.box.right > MIN_WHITE * size for left, right in pairwise(row))
