"""Tables whose cells are texts: columns of them look like columns of a page.

In columns of a page a line ends where the next word has no room, and lines follow each other without a break. In a
table each cell ends by itself: where a row ends, most of its cells have room left for the first word of the next, and
short ones leave lines empty; and its cells begin on one line.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from warmwire.layout.page import Line
from warmwire.layout.rows import size_of
from warmwire.layout.tables.strips import Strip, columns_of
from warmwire.layout.tables.wraps import first_word

FEWEST = 3
"""Rows and columns of such a table."""
FILLED = 0.8
"""So many of its places hold text."""
LEVEL = 0.8
"""So many of its cells begin on the first line of their row."""
ENDED = 0.5
"""So many of its cells end with room for the next one's first word: 0.50 to 0.94 in 16 made tables."""
DENSE = 0.77
"""So many of the places for lines in its rows are taken at most, for cells end at different depths: 0.53 to 0.76 in 16
made tables, 0.78 to 0.93 where columns of news were taken for one."""
DEEP = 0.3
"""Share of its rows that take several lines."""


def reads_by_rows(body: Sequence[Sequence[Line]], strips: Sequence[Strip]) -> bool:
    """Whether rows of a table, each with all its lines, are read row by row although their cells are texts."""
    count = len(strips) + 1
    if len(body) < FEWEST or count < FEWEST:
        return False
    rows = [_cells(row, strips) for row in body]
    cells = [cell for row in rows for cell in row.values()]
    deep = sum(any(len(cell) > 1 for cell in row.values()) for row in rows)
    if len(cells) < FILLED * count * len(rows) or deep < DEEP * len(rows):
        return False
    firsts = [min(cell[0].box.centre[1] for cell in row.values()) for row in rows]
    level = sum(
        cell[0].box.centre[1] - first < 0.5 * size_of(cell[0])
        for row, first in zip(rows, firsts, strict=True)
        for cell in row.values()
    )
    lines = sum(map(len, cells))
    places = sum(count * max(map(len, row.values())) for row in rows)
    if lines > DENSE * places or level < LEVEL * len(cells):
        return False
    return _ends(rows, count) >= ENDED


def _cells(row: Sequence[Line], strips: Sequence[Strip]) -> dict[int, list[Line]]:
    cells: dict[int, list[Line]] = {}
    for line in sorted(row, key=lambda line: line.box.centre[1]):
        cells.setdefault(columns_of(line.box, strips)[0], []).append(line)
    return cells


def _ends(rows: Sequence[dict[int, list[Line]]], count: int) -> float:
    """Share of the cells above others that end with room for the first word below."""
    ended, all_ = 0, 0
    for column in range(count):
        cells = [row[column] for row in rows if column in row]
        width = max((line.box.width for cell in cells for line in cell), default=0.0)
        for above, below in pairwise(cells):
            all_ += 1
            ended += above[-1].box.width + first_word(below[0]) < width
    return ended / max(1, all_)
