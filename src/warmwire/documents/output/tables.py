"""Tables as grids of text: what data frames, CSV files and spreadsheets are made of."""

from __future__ import annotations

from dataclasses import dataclass

from warmwire.layout.page import Table


@dataclass(frozen=True, slots=True)
class Grid:
    """The text at each place of a table; the first `headers` rows are headers. A cell that spans several places stands
    at its first one only."""

    rows: list[list[str]]
    headers: int

    @property
    def body(self) -> list[list[str]]:
        return self.rows[self.headers :]

    @property
    def columns(self) -> list[str] | None:
        """A name for each column, None without headers. Names that stand one above the other are joined by a space."""
        if not self.headers:
            return None
        return [" ".join(filter(None, names)) for names in zip(*self.rows[: self.headers], strict=True)]


def grid_of(table: Table | None) -> Grid:
    """A table's grid. Its first rows are headers as long as all their cells with text are."""
    if table is None or not table.rows or not table.columns:
        return Grid([], 0)
    rows = [[""] * table.columns for _ in range(table.rows)]
    for cell in table.cells:
        rows[cell.row][cell.column] = " ".join(cell.text.split())
    headers = 0
    for row in range(table.rows):
        cells = [cell for cell in table.cells if cell.row == row and cell.text.strip()]
        if not cells or not all(cell.header for cell in cells):
            break
        headers = row + 1
    return Grid(rows, headers)
