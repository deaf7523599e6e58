"""Entries of tables whose labels take several lines."""

from __future__ import annotations

from tests.unit.layout_support import HEIGHT, WIDTH, grid, line
from warmwire.layout.labels import entries, head_rows
from warmwire.layout.page import Box, Kind, Line
from warmwire.layout.structure import structure

STRIPS = [(190.0, 250.0), (280.0, 350.0)]


def _row(y: float, *cells: str) -> list[Line]:
    return [line(x, y, text) for x, text in zip((50, 250, 350), cells, strict=True) if text]


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
    assert entries(SPREAD, STRIPS) == [[0], [1, 2, 3], [4], [5, 6], [7], [8]]


def test_rows_no_wider_apart_than_lines_stay_rows() -> None:
    rows = [_row(100 + 12 * i, text, "" if i == 1 else "1", "2" if i != 1 else "") for i, text in enumerate("abcd")]
    assert entries(rows, STRIPS) == [[0], [1], [2], [3]]
    assert entries([], STRIPS) == []


def test_labels_of_several_lines_in_tables_with_rules_and_without() -> None:
    page = [one for row in SPREAD for one in row]
    rules = [Box(48, y, 380, y + 0.5) for y in (94, 118, 156, 182, 222, 272)]
    for drawn in ([], rules):
        table = next(one for one in structure(page, WIDTH, HEIGHT, rules=drawn) if one.kind is Kind.TABLE)
        assert grid(table) == ENTRIES


def test_a_head_of_several_lines_is_one_row() -> None:
    head = [
        _row(100, "", "Number of", "Share of"),
        _row(112, "Region", "people", "women"),
        _row(124, "", "2006", "(%)"),
    ]
    body = [
        _row(140 + 16 * i, text, f"1 10{i}", f"5{i}.1") for i, text in enumerate(("North", "South", "East", "West"))
    ]
    table = next(
        one for one in structure([one for row in head + body for one in row], WIDTH, HEIGHT) if one.kind is Kind.TABLE
    )
    assert grid(table)[:2] == [["Region", "Number of people 2006", "Share of women (%)"], ["North", "1 100", "50.1"]]


def test_a_head_over_several_columns_is_a_row_of_its_own() -> None:
    over = [line(255, 100, "Number and share, both")]
    rows = [over, _row(112, "Region", "people", "women"), _row(124, "North", "11", "12")]
    assert head_rows(rows, STRIPS) == 1


def test_heads_over_several_columns_without_rules_span_them() -> None:
    xs = (250, 330, 410, 490)
    page = [line(50, 60, "Nothing of this is in the table, which begins with the heads of two years below it.")]
    page += [line(290, 100, "2005"), line(450, 100, "2006")]
    for i, name in enumerate(("", "Belgium", "Denmark", "Finland", "Sweden")):
        cells = ("Men", "Women", "Men", "Women") if i == 0 else ("49.1", "50.3", "60.2", "61.2")
        page += [line(50, 113 + 13 * i, name)] if name else []
        page += [line(x, 113 + 13 * i, text) for x, text in zip(xs, cells, strict=True)]
    table = next(one for one in structure(page, WIDTH, HEIGHT) if one.kind is Kind.TABLE).table
    assert table is not None
    heads = [(cell.text, cell.row, cell.column, cell.colspan) for cell in table.cells if cell.header and cell.text]
    assert heads == [
        ("2005", 0, 1, 2), ("2006", 0, 3, 2),
        ("Men", 1, 1, 1), ("Women", 1, 2, 1), ("Men", 1, 3, 1), ("Women", 1, 4, 1),
    ]  # fmt: skip
