"""Tables as grids of text: what data frames, CSV files and spreadsheets are made of."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from typing import Final

from warmwire.documents.output.flow import pair_captions
from warmwire.documents.reading.record import Reading
from warmwire.errors import UsageError
from warmwire.layout.page import Kind, Table

_FORMULA: Final = re.compile(r"[=@\t\r]|[+-](?![\d.,\s]|$)")
"""What a spreadsheet computes; a number with its sign is none."""

_PLAIN_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,2}|\.\d{4,10})?", re.ASCII)
"""Figures that are the same number everywhere; a zero in front (007) is part of a code."""

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")


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


def tables_of(reading: Reading) -> list[tuple[int, str, Grid]]:
    """Every table of a reading: its page, its caption and its grid."""
    found = []
    for page in reading.pages:
        captions = pair_captions(page.elements)
        for index, element in enumerate(page.elements):
            if element.kind is Kind.TABLE and (grid := grid_of(element.table)).rows:
                found.append((page.record.page, captions[index].text if index in captions else "", grid))
    return found


def csv_files(reading: Reading) -> dict[str, bytes]:
    """Each table as a CSV file, numbered where there are several. Spreadsheets take the byte order mark for UTF-8."""
    tables = tables_of(reading)
    files = {}
    for number, (_, _, grid) in enumerate(tables, 1):
        text = io.StringIO()
        csv.writer(text).writerows([[_as_text(cell) for cell in row] for row in grid.rows])
        files[f"-{number}.csv" if len(tables) > 1 else ".csv"] = text.getvalue().encode("utf-8-sig", errors="replace")
    return files


def _as_text(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula: what stands on a page is text, whoever printed it."""
    return f"'{cell}" if _FORMULA.match(cell) else cell


def workbook(reading: Reading) -> bytes:
    """All tables as one Excel file, a sheet each, figures as numbers; b"" without tables. Raises UsageError."""
    try:
        import xlsxwriter
    except ImportError:
        raise UsageError("writing xlsx needs XlsxWriter: pip install 'warmwire[xlsx]'") from None
    tables = tables_of(reading)
    if not tables:
        return b""
    stream = io.BytesIO()
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    with xlsxwriter.Workbook(stream, options) as book:
        bold = book.add_format({"bold": True, "text_wrap": True})
        for number, (page, caption, grid) in enumerate(tables, 1):
            sheet = book.add_worksheet(f"{number} (page {page})")
            above = 0
            if caption:
                sheet.write_string(0, 0, caption)
                above = 2
            for y, row in enumerate(grid.rows):
                for x, cell in enumerate(row):
                    value = _number(cell) if y >= grid.headers else None
                    if value is not None:
                        sheet.write_number(above + y, x, value)
                    else:
                        sheet.write_string(above + y, x, _CONTROL.sub("", cell), bold if y < grid.headers else None)
            sheet.freeze_panes(above + grid.headers, 0)
            sheet.autofit()
    return stream.getvalue()


def _number(cell: str) -> float | None:
    """The number that a cell is, None where it is text or may be read in two ways, as 1.234 and 1,234 may."""
    return float(cell) if _PLAIN_NUMBER.fullmatch(cell) else None
