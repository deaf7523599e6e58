"""Round bullets read as letters or figures."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.layout_support import HEIGHT, WIDTH, line, texts
from warmwire.layout.blocks.rings import with_rings
from warmwire.layout.page import Kind, Line
from warmwire.layout.structure import structure

WORDS = ["Some flour", "Butter from the farm", "Salt", "Milk, as much as it takes"]


def _apart(signs: list[str]) -> list[Line]:
    return [
        one
        for i, (sign, text) in enumerate(zip(signs, WORDS, strict=True))
        for one in (line(50, 100 + 15 * i, sign), line(70, 100 + 15 * i, text))
    ]


@pytest.mark.parametrize("signs", ["0000", "oOo0", "°o。0"])
def test_round_signs_under_each_other_open_items(signs: str) -> None:
    page = _apart(list(signs))
    found = structure([*page, line(50, 180, "And some words after them that end the page")], WIDTH, HEIGHT)
    assert texts(found, Kind.LIST_ITEM) == WORDS


def test_signs_in_one_run_with_their_text_are_bullets_too() -> None:
    page = [line(50, 100 + 15 * i, f"0 {text}") for i, text in enumerate(WORDS)]
    assert [one.text for one in with_rings(page, 10.0)] == [f"○ {text}" for text in WORDS]


def test_noughts_among_other_figures_stay_figures() -> None:
    page = _apart(["0", "0", "0", "3"])
    page += [line(50, 160 + 15 * i, str(i + 1)) for i in range(2)]
    assert with_rings(page, 10.0) == page


def test_noughts_before_texts_that_begin_anywhere_stay_noughts() -> None:
    page = [one for i in range(4) for one in (line(50, 100 + 15 * i, "0"), line(70 + 9 * i, 100 + 15 * i, WORDS[i]))]
    assert with_rings(page, 10.0) == page


def test_a_files_own_noughts_are_noughts() -> None:
    page = [replace(one, mono=False) for one in _apart(list("0000"))]
    assert with_rings(page, 10.0) == page
