"""The table of a structure tree as a grid: every cell at its place.

A tree has rows of cells, and says of a cell how far it spans. Empty cells are often left out; their places are told by
where the other cells of the row stand on the page.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import replace

from warmwire.layout.page import Cell, Line, Table
from warmwire.layout.rows import bounds
from warmwire.layout.told.elements import Role, Told, letters_in

MOST_PLACES = 100_000
"""Places of the grid of a table; a file may ask for any number."""
LONG_CELL = 400
"""Letters of the longest cell of a table of one row: what has more lays out a page."""


def _cells(row: Told) -> list[Told]:
    """The cells of a row; text that is in none is one."""
    cells = [kid if kid.role in (Role.HEAD, Role.CELL) else Told(Role.CELL, kids=[kid]) for kid in row.kids]
    return [cell for cell, kid in zip(cells, row.kids, strict=True) if cell is kid or cell.all_lines()]


def lays_out(rows: Sequence[Told]) -> bool:
    """Whether a table only puts things beside or below each other: its cells hold headings or tables, or it has one
    column, or one row of long texts."""
    cells = [_cells(row) for row in rows]
    if max(map(len, cells)) < 2 and max((cell.colspan for row in cells for cell in row), default=1) < 2:
        return True
    inner = [part for row in cells for cell in row for part in cell.walk()]
    if any(part.role in (Role.HEADING, Role.TITLE, Role.TABLE) for part in inner):
        return True
    return len(rows) == 1 and any(letters_in(cell.all_lines()) > LONG_CELL for cell in cells[0])


def told_table(rows: Sequence[Told], text_of: Callable[[Sequence[Line]], str]) -> Table | None:
    """Cells to the places of a grid; None where that would be far larger than its cells."""
    places = _places(rows)
    if places is None:
        return None
    filled_rows = sorted({row for row, _, _, _, cell in places if cell.all_lines()})
    columns = max((column + across for _, column, _, across, _ in places), default=0)
    filled = {at for _, column, _, across, cell in places if cell.all_lines() for at in (column, column + across - 1)}
    kept = [column for column in range(columns) if column in filled]
    cells = []
    for row, column, down, across, cell in places:
        height = sum(row <= other < row + down for other in filled_rows)
        width = sum(column <= other < column + across for other in kept)
        if height and width:
            top, left = bisect_left(filled_rows, row), bisect_left(kept, column)
            cells.append(Cell(text_of(cell.all_lines()), top, left, height, width, header=cell.role is Role.HEAD))
    if not any(cell.header for cell in cells):
        cells = [replace(cell, header=cell.row == 0) for cell in cells]
    return Table(len(filled_rows), len(kept), cells)


_Place = tuple[int, int, int, int, Told]
"""Row, column, and how many of them a cell spans."""


def _places(rows: Sequence[Told]) -> list[_Place] | None:
    """The places of cells, row by row, each at the first that none from above reaches into."""
    found: list[_Place] = []
    taken: dict[int, int] = {}
    for number, row in enumerate(rows):
        column = 0
        for cell in _cells(row):
            while taken.get(column, 0) > number:
                column += 1
            down = min(cell.rowspan, len(rows) - number)
            across = next(
                (step for step in range(1, cell.colspan) if taken.get(column + step, 0) > number), cell.colspan
            )
            found.append((number, column, down, across, cell))
            taken |= dict.fromkeys(range(column, column + across), number + down)
            column += across
    return _aligned(found, len(rows))


def _aligned(places: list[_Place], rows: int) -> list[_Place]:
    """The same with the cells of rows that are short of some under the cells that they stand under on the page: empty
    cells are often left out of a tree."""
    by_row: list[list[_Place]] = [[] for _ in range(rows)]
    for place in places:
        by_row[place[0]].append(place)
    width = max((column + across for _, column, _, across, _ in places), default=0)
    if any(down > 1 or across > 1 for _, _, down, across, _ in places) or all(len(row) == width for row in by_row):
        return places
    edges: list[tuple[float, float]] = []
    for column in range(width):
        boxes = [line.box for row in by_row if len(row) == width for line in row[column][4].all_lines()]
        edges.append((min(box.left for box in boxes), max(box.right for box in boxes)) if boxes else (0.0, 0.0))
    found: list[_Place] = []
    for row in by_row:
        free = 0
        for number, column, down, across, cell in row:
            lines = cell.all_lines()
            if len(row) < width and lines:
                box = bounds(line.box for line in lines)
                shared = [min(box.right, right) - max(box.left, left) for left, right in edges]
                spare = width - (len(row) - row.index((number, column, down, across, cell)))
                column = max(range(free, spare + 1), key=lambda place: shared[place])
            elif len(row) < width:
                column = free
            found.append((number, column, down, across, cell))
            free = column + 1
    return found
