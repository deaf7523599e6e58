"""Which lines of text make one row of a table."""

from __future__ import annotations

from collections.abc import Sequence

from tests.unit.layout_support import HEIGHT, WIDTH, grid, line
from warmwire.layout.page import Box, Kind, Line
from warmwire.layout.structure import structure
from warmwire.layout.tables.strips import columns_of
from warmwire.layout.tables.wraps import table_rows

STRIPS = [(190.0, 250.0), (280.0, 350.0)]


def _row(y: float, *cells: str) -> list[Line]:
    return [line(x, y, text) for x, text in zip((50, 250, 350), cells, strict=True) if text]


def _rows_of(rows: Sequence[Sequence[Line]], cuts: Sequence[int] = ()) -> list[list[int]]:
    return table_rows(rows, lambda line: columns_of(line.box, STRIPS), cuts)


SPREAD = [
    _row(100, "Net profit", "233", "201"),
    _row(126, "Changes in fair value of", "", ""),
    _row(132, "", "(31)", "64"),
    _row(138, "the assets held", "", ""),
    _row(164, "Total of all items", "20", "92"),
    _row(190, "Share of the income of", "", ""),
    _row(202, "others, net of tax", "(24)", "82"),
    _row(228, "Dividends", "", ""),
    _row(254, "paid", "11", "12"),
]
"""Figures between the lines of a label, and beside its last; the name of a group a whole step above its row."""
ENTRIES = [
    ["Net profit", "233", "201"],
    ["Changes in fair value of the assets held", "(31)", "64"],
    ["Total of all items", "20", "92"],
    ["Share of the income of others, net of tax", "(24)", "82"],
    ["Dividends", "", ""],
    ["paid", "11", "12"],
]


def test_labels_of_several_lines_are_one_entry_with_their_figures() -> None:
    assert _rows_of(SPREAD) == [[0], [1, 2, 3], [4], [5, 6], [7], [8]]


def test_rows_no_wider_apart_than_lines_stay_rows() -> None:
    rows = [_row(100 + 12 * i, text, "" if i == 1 else "1", "2" if i != 1 else "") for i, text in enumerate("abcd")]
    assert _rows_of(rows) == [[0], [1], [2], [3]]
    assert _rows_of([]) == []


def test_labels_of_several_lines_in_tables_with_rules_and_without() -> None:
    page = [one for row in SPREAD for one in row]
    rules = [Box(48, y, 380, y + 0.5) for y in (94, 118, 156, 182, 222, 272)]
    for drawn in ([], rules):
        table = next(one for one in structure(page, WIDTH, HEIGHT, rules=drawn) if one.kind is Kind.TABLE)
        assert grid(table) == ENTRIES


def test_cells_wrap_although_rows_stand_no_wider_apart() -> None:
    rows = [
        _row(100, "First", "The mill was", "When the"),
        _row(112, "", "opened and", "gate is"),
        _row(124, "", "closed", ""),
        _row(136, "Second", "A sensor was", "Not at all"),
        _row(148, "", "lifted twice", ""),
        _row(160, "Third", "Sold", "Later on"),
    ]
    assert _rows_of(rows) == [[0, 1, 2], [3, 4], [5]]


def test_what_is_empty_in_a_row_makes_no_wider_step() -> None:
    rows = [
        _row(100 + 14 * i, name, "x" if i % 3 == 0 else "", "x" if i % 2 else "") for i, name in enumerate("ABCDEFGH")
    ]
    assert _rows_of(rows) == [[i] for i in range(8)]


def test_a_row_begins_at_a_cut() -> None:
    rows = [_row(100, "First", "The mill", "1"), _row(112, "", "was opened", "")]
    assert _rows_of(rows) == [[0, 1]]
    assert _rows_of(rows, [1]) == [[0], [1]]
