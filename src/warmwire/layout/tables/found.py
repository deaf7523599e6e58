"""What a found table is, and how text gets into its cells.

Two finders fill it: `grids` reads ruling lines, `alignment` reads how text lines up. Either takes only the lines it
puts into cells; all others stay in the page's flow, so that no word is lost to a table that does not hold it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from warmwire.layout.blocks.hyphens import join_lines
from warmwire.layout.page import Box, Cell, Element, Kind, Line, Table
from warmwire.layout.rows import rows_of
from warmwire.layout.tables.strips import Strip, columns_of

OVER = 1.5
"""What is over several columns stands in their middle, this near to it, in units of the body."""


@dataclass(frozen=True, slots=True)
class FoundTable:
    """A table as an element of the page, and the lines that are in its cells; `boxes` are a form's, read instead."""

    element: Element
    used: list[Line]
    boxes: Sequence[Element] = ()


@dataclass(slots=True)
class Slot:
    """A cell in the making: its place in the grid and the lines that fell into it."""

    row: int
    column: int
    rowspan: int
    colspan: int
    lines: list[Line]


def cell_text(lines: Sequence[Line]) -> str:
    """The lines of one cell, read row by row."""
    return join_lines(line.text for row in rows_of(lines) for line in row)


def row_slots(lines: Sequence[Line], place: int, strips: Sequence[Strip], table: Box, size: float) -> list[Slot]:
    """The cells of a table's row that holds `lines`, one over several columns where it reaches into them.

    What stands alone in the middle of all columns, or of all but the labels', is over these: it names the rows below.
    """
    spans = sorted((columns_of(line.box, strips), i) for i, line in enumerate(lines))
    if len(lines) == 1 and spans[0][0][0] < spans[0][0][1]:
        spans = [(_centred(lines[0].box, strips, table, size) or spans[0][0], 0)]
    starts = [first for (first, _), _ in spans]
    slots: dict[int, Slot] = {}
    for (first, last), i in spans:
        if first in slots:
            slots[first].lines.append(lines[i])
            continue
        last = min([last, *(start - 1 for start in starts if start > first)])
        slots.update(dict.fromkeys(range(first, last + 1), Slot(place, first, 1, last - first + 1, [lines[i]])))
    empty = [Slot(place, c, 1, 1, []) for c in range(len(strips) + 1) if c not in slots]
    return [*{id(slot): slot for slot in slots.values()}.values(), *empty]


def _centred(box: Box, strips: Sequence[Strip], table: Box, size: float) -> tuple[int, int] | None:
    """The columns, from all or all but the first, in the middle of which a box stands."""
    for first, left in enumerate((table.left, strips[0][1])):
        if box.left > left + size and abs(box.centre[0] - (left + table.right) / 2) < OVER * size:
            return first, len(strips)
    return None


def build(slots: Iterable[Slot], rows: int, columns: int, box: Box, headers: int | None = None) -> FoundTable:
    """A table of slots that cover its grid; rows and columns without any text are left out of it.

    `headers` is how many rows head it; None where its cells have to tell.
    """
    slots = list(slots)
    kept_rows = _kept(rows, [(slot.row, slot.rowspan) for slot in slots if slot.lines])
    kept_columns = _kept(columns, [(slot.column, slot.colspan) for slot in slots if slot.lines])
    if headers is None:
        headers = _header_rows(slots, kept_rows)
    cells = []
    for slot in sorted(slots, key=lambda slot: (slot.row, slot.column)):
        row, column = bisect_left(kept_rows, slot.row), bisect_left(kept_columns, slot.column)
        rowspan = bisect_left(kept_rows, slot.row + slot.rowspan) - row
        colspan = bisect_left(kept_columns, slot.column + slot.colspan) - column
        if rowspan and colspan:
            text = cell_text(slot.lines)
            cells.append(Cell(text, row, column, rowspan, colspan, header=row < headers))
    table = Table(len(kept_rows), len(kept_columns), cells)
    return FoundTable(Element(Kind.TABLE, box=box, table=table), [line for slot in slots for line in slot.lines])


def _kept(count: int, filled: Sequence[tuple[int, int]]) -> list[int]:
    """Places along one axis where text begins, or that only a span reaches: those a reader can tell apart."""
    begins = {start for start, _ in filled}
    ends = {start + span - 1 for start, span in filled}
    return [place for place in range(count) if place in begins or place in ends]


def _header_rows(slots: Sequence[Slot], kept: Sequence[int]) -> int:
    """How many rows head the table: the bold ones at its top, or its first row with all that row spans."""
    first = [slot for slot in slots if slot.row == kept[0]] if kept else []
    spanned = {r for slot in first for r in range(slot.row, slot.row + slot.rowspan) if slot.lines}
    depth = len([r for r in kept if r in spanned])
    for place, row in enumerate(kept):
        lines = [line for slot in slots if slot.row == row for line in slot.lines]
        if place >= depth and not (lines and all(line.bold for line in lines)):
            return max(place, 1) if place < len(kept) else depth
    return depth
