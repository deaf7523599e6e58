"""Code on scans, where no font is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.layout_support import HEIGHT, OTHER, PROSE, WIDTH, line, lines, texts
from warmwire.layout.blocks.listings import is_code, with_listings
from warmwire.layout.page import Kind, Line
from warmwire.layout.structure import structure

CODE = [
    (0, "def lamps(river, limit=9):"), (1, '"""Count the lamps near the river and the bridge."""'), (1, "total = 0"),
    (1, "for lamp in river:"), (2, "if lamp > limit:"), (3, "continue"), (2, "total += lamp * 2"),
    (1, "return total / 9.0"), (0, ""), (0, "print(lamps([45, 60, 5]))"),
]  # fmt: skip
WRITTEN = "\n".join("    " * depth + text for depth, text in CODE)


def _listing(x: float = 60, y: float = 200) -> list[Line]:
    return [line(x + 20 * depth, y + 13 * i, text) for i, (depth, text) in enumerate(CODE) if text]


def test_lines_with_signs_of_code_are_a_listing() -> None:
    found = structure([*lines(50, 100, PROSE), *_listing(), *lines(50, 400, OTHER)], WIDTH, HEIGHT)
    assert texts(found, Kind.CODE) == [WRITTEN]
    assert texts(found, Kind.TEXT) == [" ".join(PROSE), " ".join(OTHER)]


def test_numbers_beside_the_lines_are_no_code_and_no_table() -> None:
    numbers = [line(40, 200 + 13 * i, str(i + 1)) for i in range(len(CODE))]
    found = structure([*lines(50, 100, PROSE), *_listing(), *numbers], WIDTH, HEIGHT)
    assert texts(found, Kind.CODE) == [WRITTEN]
    assert texts(found, Kind.PAGE_FOOTER) == [str(i + 1) for i in range(len(CODE))]


@pytest.mark.parametrize(
    "text",
    ["int i = 0, ladder = 23;", "}", "while (i < n && pump[i] != 'z')", "#include <stdio.h>", "return ladder & 0xE1;"],
)
def test_code(text: str) -> None:
    assert is_code(text)


@pytest.mark.parametrize(
    "text",
    [
        "the tenant pays the rent (see clause 4);",
        "(a) receipt of the goods; and",
        "for the following reasons:",
        "He took import duties from the class of 1931",
        "Let x be the sum of these (as in the second part)",
        "If nobody comes: close the door and leave;",
    ],
)
def test_prose(text: str) -> None:
    assert not is_code(text)


def test_two_lines_of_code_and_a_files_own_lines_are_left_alone() -> None:
    few = [*lines(50, 100, PROSE), *lines(50, 160, ["total = 0", "total += 1"])]
    assert with_listings(few, 10.0) == (few, [])
    own = [replace(one, mono=False) for one in _listing()]
    assert with_listings(own, 10.0) == (own, [])
