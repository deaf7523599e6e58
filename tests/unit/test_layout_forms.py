"""Boxes of a form that are drawn like a table's cells."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.unit.layout_support import HEIGHT, WIDTH, grid, line, texts
from warmwire.layout.page import Box, Element, Kind, Line
from warmwire.layout.structure import structure

Boxes = Sequence[Sequence[str]]


def _drawn(rows: Boxes, label_size: float = 10.0) -> list[Element]:
    """Boxes of 150 by 40, each with the lines that its text has."""
    page: list[Line] = [line(50, 60, "Please fill in every box that is not shaded.")]
    rules = []
    for r, row in enumerate([*rows, ()]):
        rules.append(Box(50, 100 + 40 * r, 500, 100.5 + 40 * r))
        for c, text in enumerate(row):
            first, *rest = text.split("\n")
            page.append(line(56 + 150 * c, 104 + 40 * r, first, label_size))
            page += [line(56 + 150 * c, 120 + 40 * r, each) for each in rest]
    rules += [Box(50 + 150 * c, 100, 50.5 + 150 * c, 100 + 40 * len(rows)) for c in range(4)]
    return structure(page, WIDTH, HEIGHT, rules=rules)[1:]


NUMBERED = (
    ("1 Surname\nMARSH", "2 First names\nALMA", "3 Date of birth\n2.8.1990"),
    ("4 Street\nHARBOUR ROAD 62", "5 Town\nGREYHAVEN", "6 Telephone\n71677"),
)
NAMED = (("Surname: Marsh", "First names: Alma", "Born: 2.8.1990"), ("Street: Harbour", "Town: Greyhaven", "Phone:"))
SMALL = (("Surname\nMarsh", "First names\nAlma", "Born\n2.8.1990"), ("Street\nHarbour", "Town\nGreyhaven", "Phone\n71"))


@pytest.mark.parametrize(("rows", "size"), [(NUMBERED, 10.0), (NAMED, 10.0), (SMALL, 7.0)])
def test_each_box_of_a_form_is_a_text(rows: Boxes, size: float) -> None:
    found = _drawn(rows, size)
    assert all(element.kind is Kind.TEXT for element in found)
    assert texts(found) == [text.replace("\n", " ") for row in rows for text in row]


@pytest.mark.parametrize(
    "rows",
    [
        (("Lamp", "Place", "Height"), ("North", "River", "12.5"), ("South", "Harbour", "9.0")),
        (("1 Lamp", "River", "12.5"), ("2 Bell", "Harbour", "9.0"), ("3 Rope", "Tower", "8.5")),
        (("Surname:", "Marsh", "new"), ("Town:", "Greyhaven", "new"), ("Street:", "Harbour", "old")),
    ],
)
def test_a_table_is_no_form(rows: Boxes) -> None:
    found = _drawn(rows)
    assert [element.kind for element in found] == [Kind.TABLE]
    assert grid(found[0]) == [list(row) for row in rows]
