"""OTSL, the tables of DocTags: a grid of one token per place, row after row.

A cell with content stands at its top left place; the other places it covers say where to look for it: left, up or
both. Reading is tolerant, because a model may stop anywhere or put text where none belongs: a place that claims to
belong to a neighbour which does not reach it becomes a cell of its own, and text is never dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from warmwire.layout.doctags.tokens import CellToken
from warmwire.layout.page import Cell, Table

MAX_PLACES: Final = 200_000
"""Largest grid taken for a table: rows times columns, which a ragged answer can make far larger than its tokens."""

_OPENERS: Final = (CellToken.FULL, CellToken.EMPTY, CellToken.COLUMN_HEADER, CellToken.ROW_HEADER, CellToken.SECTION)

Place = tuple[str, str]
"""A `CellToken` and the text after it."""


def write_table(table: Table, clean: Callable[[str], str]) -> str:
    """The rows of `table`, each ended by `<nl>`; `clean` breaks the tags in a cell's text."""
    places: dict[tuple[int, int], str] = {}
    for cell in table.cells:
        content = clean(" ".join(cell.text.split()))
        head = CellToken.COLUMN_HEADER if cell.header else CellToken.FULL
        for row in range(cell.row, cell.row + cell.rowspan):
            for column in range(cell.column, cell.column + cell.colspan):
                below = CellToken.CROSS if column > cell.column else CellToken.UP
                places[row, column] = f"<{below if row > cell.row else CellToken.LEFT}>"
        places[cell.row, cell.column] = f"<{head}>{content}" if content else f"<{CellToken.EMPTY}>"
    empty, end = f"<{CellToken.EMPTY}>", f"<{CellToken.ROW_END}>\n"
    return "".join(
        "".join(places.get((row, column), empty) for column in range(table.columns)) + end for row in range(table.rows)
    )


def read_table(rows: list[list[Place]]) -> Table | None:
    """A table of a grid's rows, of any lengths; None when it has no place or more than `MAX_PLACES`.

    Time is linear in the number of places given.
    """
    columns = max(map(len, rows), default=0)
    if not columns or len(rows) * columns > MAX_PLACES:
        return None
    table = Table(len(rows), columns)
    covered: set[tuple[int, int]] = set()
    for r, row in enumerate(rows):
        for c, (token, text) in enumerate(row):
            if (r, c) in covered:
                continue
            colspan = _reach_right(row, c) if token in _OPENERS else 1
            rowspan = _reach_down(rows, r, c, colspan) if token in _OPENERS else 1
            if colspan * rowspan > 1:
                covered.update((y, x) for y in range(r, r + rowspan) for x in range(c, c + colspan))
            table.cells.append(Cell(text, r, c, rowspan, colspan, token == CellToken.COLUMN_HEADER))
    return table


def _reach_right(row: list[Place], start: int) -> int:
    """How many columns the cell at `start` covers in its own row."""
    end = start + 1
    while end < len(row) and row[end] == (CellToken.LEFT, ""):
        end += 1
    return end - start


def _reach_down(rows: list[list[Place]], top: int, left: int, colspan: int) -> int:
    """How many rows the cell covers: those whose places under it all point to it."""
    down = [(CellToken.UP, "")] + [(CellToken.CROSS, "")] * (colspan - 1)
    end = top + 1
    while end < len(rows) and rows[end][left : left + colspan] == down:
        end += 1
    return end - top
