"""Cells in one run of text, told by the rows next to it."""

from __future__ import annotations

from tests.unit.layout_support import grid, line
from tests.unit.test_layout_splits import run
from warmwire.layout.page import Kind, Line
from warmwire.layout.structure import structure
from warmwire.layout.tables.gaps import split_rows

XS = (150, 180, 230)


def _rows(y: float, *names: str) -> list[Line]:
    found = []
    for i, name in enumerate(names):
        found += [line(50, y + 13 * i, name), *(line(x + 10, y + 13 * i, f"{i}{x}"[:2]) for x in XS)]
    return found


def _texts(found: list[Line]) -> list[str]:
    return [one.text for one in found]


def test_a_head_in_one_run_is_cut_where_its_rows_have_white() -> None:
    head = run(87, (147, "Trees"), (180, "In"), (193, "all"), (227, "Loops"))
    found = structure([head, *_rows(100, "cube", "morph", "trace", "tree")], 600, 800)
    table = next(one for one in found if one.kind is Kind.TABLE)
    assert grid(table)[:2] == [["", "Trees", "In all", "Loops"], ["cube", "01", "01", "02"]]


def test_a_line_of_a_text_above_a_table_stays_whole() -> None:
    words = [(50 + 32 * i, "word") for i in range(6)]  # spaces of a justified line: several in one white
    caption = run(87, (50, "Table 1"), (97, "What the cubes and all of the others did in every year of ours"))
    for above in (run(87, *words), caption):
        assert split_rows([above, *_rows(100, "cube", "morph", "trace")])[0] is above


def test_amounts_in_one_run_are_cells_with_their_signs() -> None:
    amounts = run(10, (50, "¥"), (67, "175"), (95, "¥"), (112, "(202)"), (150, "—"), (170, "1"))
    assert _texts(split_rows([amounts])) == ["¥ 175", "¥ (202)", "—", "1"]
    grouped = run(10, (50, "12"), (62.5, "345"), (80, "678"))  # one number, grouped by thousands
    assert split_rows([grouped]) == [grouped]
