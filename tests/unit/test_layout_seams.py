"""Tables that stand side by side."""

from __future__ import annotations

from tests.unit.layout_support import HEIGHT, WIDTH, grid, line
from warmwire.layout.page import Box, Kind, Line
from warmwire.layout.structure import structure

LEFT = [["Part", "New", "Old"], ["Lamp", "12", "15"], ["Saddle", "7", "9"], ["Engine", "3", "4"]]
RIGHT = [["Part", "New", "Old"], ["Kettle", "21", "22"], ["Bridge", "5", "6"], ["Canal", "8", "1"], ["Mill", "2", "3"]]


def _page(right: list[list[str]], step: float = 18) -> list[Line]:
    halves = ((50, LEFT, 18.0), (320, right, step))
    return [
        line(x + 80 * c, 100 + dy * r, text)
        for x, rows, dy in halves
        for r, row in enumerate(rows)
        for c, text in enumerate(row)
    ]


def _tables(page: list[Line], rules: tuple[Box, ...] = ()) -> list[list[list[str]]]:
    return [grid(one) for one in structure(page, WIDTH, HEIGHT, rules=rules) if one.kind is Kind.TABLE]


def test_tables_side_by_side_with_one_head_are_two() -> None:
    assert _tables(_page(RIGHT)) == [LEFT, RIGHT]


def test_tables_whose_rows_stand_between_each_other_are_two() -> None:
    other = [["Tool", "Here", "There"], *RIGHT[1:]]
    assert _tables(_page(other, 27)) == [LEFT, other]


def test_rules_broken_at_one_place_are_those_of_two_tables() -> None:
    other = [["Tool", "Here", "There"], *RIGHT[1:4]]
    rules = tuple(Box(a, y, b, y + 0.5) for y in (96, 116, 172) for a, b in ((48, 298), (312, 540)))
    assert _tables(_page(other), rules) == [LEFT, other]


def test_labels_between_figures_of_one_table_do_not_part_it() -> None:
    other = [["Tool", "Here", "There"], *RIGHT[1:4]]
    assert len(_tables(_page(other))) == 1


def test_small_figures_stand_closer_than_cells_of_the_body_do() -> None:
    body = [
        line(50, 60 + 15 * i, "The keeper counted the lamps near the river and wrote it down.", 12) for i in range(4)
    ]
    rows = [["Year", "2,019,775", "1,402,618", "2,592,921"], *([name, "26.2", "47.0", "82.8"] for name in "ABCDEF")]
    small = [
        line(0, 140 + 9 * r, text, 7, right=80 + 36.5 * c if c else 60)
        for r, row in enumerate(rows)
        for c, text in enumerate(row)
    ]
    (table,) = (one for one in structure([*body, *small], WIDTH, HEIGHT) if one.kind is Kind.TABLE)
    assert grid(table) == rows
