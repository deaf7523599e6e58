"""Pictures, tables and quotations across a gutter: columns go on past them, or end at them."""

from __future__ import annotations

import pytest

from tests.unit.layout_support import HEIGHT, WIDTH, line, lines, texts
from warmwire.layout.page import Box, Element, Kind, Line
from warmwire.layout.structure import structure

LEFT = (
    "The keeper counted the lamps near the river",
    "and wrote the number down in the green book",
    "before the boat left the harbour at noon and",
    "nobody came to see what the bell was for nor",
    "why it had been hung so low above the water",
    "that every flood of the spring rang it twice",
    "until the rope was cut and sold at the fair.",
)
RIGHT = (
    "Our team painted the fence on Friday evening",
    "while the wind was low and the light was good",
    "for such work, which takes a steady hand and",
    "more time than most people are ready to give",
    "to a thing that stands in the rain all year,",
    "is leant upon by cows and men alike, and has",
    "never been thanked by any of them, as we saw.",
)
WHOLE = [" ".join(LEFT), " ".join(RIGHT)]
FIGURE = Box(60, 170, 540, 290)
CAPTION = "Figure 3: Lamps at the river in spring."


def _page(above: int, gap: float = 140.0) -> list[Line]:
    """Two columns with their first lines above a float, and the rest below it."""
    page = []
    for x, column in ((50, LEFT), (320, RIGHT)):
        page += lines(x, 100, column[:above])
        page += lines(x, 100 + above * 13 + gap, column[above:])
    return page


@pytest.mark.parametrize("above", [2, 3, 4])
def test_columns_go_on_past_a_picture(above: int) -> None:
    page = [*_page(above, 220 - 13 * above), line(210, 300, CAPTION, 9)]
    figure = Box(60, 110 + above * 13, 540, 290)
    found = structure(page, WIDTH, HEIGHT, figures=[figure])
    assert texts(found, Kind.TEXT) == WHOLE
    assert [element.kind for element in found if element.kind is not Kind.TEXT] == [Kind.PICTURE, Kind.CAPTION]


def test_a_caption_over_one_column_stays_with_its_picture() -> None:
    page = [*_page(3, 180), line(50, 300, CAPTION, 9)]
    found = structure(page, WIDTH, HEIGHT, figures=[FIGURE])
    assert texts(found, Kind.TEXT) == WHOLE
    kinds = [element.kind for element in found]
    assert abs(kinds.index(Kind.PICTURE) - kinds.index(Kind.CAPTION)) == 1


def test_columns_go_on_past_a_drawn_table() -> None:
    rows = [("Lamp", "Place", "Height"), ("North", "River", "12.5"), ("South", "Harbour", "9.0")]
    cells = [line(70 + 160 * c, 182 + 20 * r, text) for r, row in enumerate(rows) for c, text in enumerate(row)]
    rules = [Box(60, 178 + 20 * r, 540, 178.5 + 20 * r) for r in range(4)]
    rules += [Box(60 + 160 * c, 178, 60.5 + 160 * c, 238.5) for c in range(4)]
    found = structure([*_page(4, 120), *cells], WIDTH, HEIGHT, rules=rules)
    assert texts(found, Kind.TEXT) == WHOLE
    assert sum(element.kind is Kind.TABLE for element in found) == 1


def test_three_columns_go_on_past_a_picture() -> None:
    page = []
    for x, column in ((40, LEFT), (225, RIGHT), (410, LEFT)):
        page += [line(x, 100 + 9 * i + (140 if i > 2 else 0), text, 7) for i, text in enumerate(column)]
    found = structure(page, WIDTH, HEIGHT, figures=[Box(40, 135, 560, 255)])
    assert texts(found, Kind.TEXT) == [WHOLE[0], WHOLE[1], WHOLE[0]]


def test_columns_that_end_at_a_picture_are_parted_by_it() -> None:
    upper = [*lines(50, 100, LEFT[:3]), *lines(320, 100, [*RIGHT[:2], "for such work, and that is all of it."])]
    lower = [*lines(50, 310, [RIGHT[0], *LEFT[1:3]]), *lines(320, 310, RIGHT[4:])]
    found = structure([*upper, *lower], WIDTH, HEIGHT, figures=[FIGURE])
    above = " ".join([*LEFT[:3], *(each.text for each in upper[3:])])
    assert " ".join(texts(found[: _place(found)], Kind.TEXT)) == above


def test_columns_go_on_past_a_quotation() -> None:
    quote = [line(150, 160, "“Nobody ever rang it twice,", 16), line(150, 182, "said the man at the fair.”", 16)]
    found = structure([*_page(3, 90), *quote], WIDTH, HEIGHT)
    assert [text for text in texts(found) if "“" not in text] == WHOLE


def test_a_heading_over_both_columns_parts_them() -> None:
    """Whatever runs on from column to column, the sentences end above it and begin below it."""
    upper = [*lines(50, 100, LEFT[:4]), *lines(320, 100, LEFT[4:])]
    lower = [*lines(50, 250, RIGHT[:4]), *lines(320, 250, RIGHT[4:])]
    heading = line(50, 200, "What the second half of this report is about", 18, True)
    found = structure([*lower, heading, *upper], WIDTH, HEIGHT)
    assert " ".join(texts(found)) == " ".join([WHOLE[0], heading.text, WHOLE[1]])


def _place(elements: list[Element]) -> int:
    return [element.kind for element in elements].index(Kind.PICTURE)
