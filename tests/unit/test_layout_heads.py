"""Heads of tables."""

from __future__ import annotations

from tests.unit.layout_support import HEIGHT, SIZE, WIDTH, grid, line
from warmwire.layout.page import Kind, Line
from warmwire.layout.structure import structure
from warmwire.layout.tables.heads import head_rows, head_slots

STRIPS = [(190.0, 250.0), (280.0, 350.0)]


def _row(y: float, *cells: str) -> list[Line]:
    return [line(x, y, text) for x, text in zip((50, 250, 350), cells, strict=True) if text]


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
    slots, depth = head_slots(rows[:2], STRIPS, SIZE)
    placed = {(slot.row, slot.column, slot.rowspan, slot.colspan): len(slot.lines) for slot in slots}
    assert (head_rows(rows, STRIPS), depth) == (2, 2)
    assert placed == {(0, 0, 2, 1): 1, (0, 1, 1, 2): 1, (1, 1, 1, 1): 1, (1, 2, 1, 1): 1}


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
