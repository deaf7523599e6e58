"""Headings: of scans whose weights could not be told, and labels that are none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.unit.layout_support import HEIGHT, PROSE, WIDTH, line, lines, texts
from warmwire.layout.page import Kind, Line
from warmwire.layout.structure import structure


def _page(heads: list[str], ended: bool = True) -> list[Line]:
    """A paragraph, then lines set apart, then another."""
    text = [*PROSE[:-1], PROSE[-1].rstrip(".") + ("." if ended else "")]
    found = lines(50, 100, text)
    y = 100 + 13 * len(text) + 12
    for head in heads:
        found.append(line(50, y, head))
        y += 22
    return [*found, *lines(50, y, text)]


@pytest.mark.parametrize("heads", [["What was found"], ["Chapter the Second", "What was found"]])
def test_lines_set_apart_over_a_text_head_it_where_no_weight_is_known(heads: list[str]) -> None:
    assert texts(structure(_page(heads), WIDTH, HEIGHT), Kind.HEADING) == heads


def test_a_short_line_right_over_full_ones_is_no_part_of_them() -> None:
    page = _page([])
    y = page[-1].box.bottom + 60
    found = structure([*page, line(50, y, "What was found"), *lines(50, y + 13, PROSE)], WIDTH, HEIGHT)
    assert texts(found, Kind.HEADING) == ["What was found"]


@pytest.mark.parametrize("head", ["What was found:", "it was found", "He went away.", "No 1234 5678", "Found"])
def test_what_says_something_else_is_no_heading(head: str) -> None:
    assert texts(structure(_page([head]), WIDTH, HEIGHT), Kind.HEADING) == []


def test_an_address_and_a_line_inside_a_sentence_are_no_headings() -> None:
    for page in (_page(["Jane Carver", "Mill Lane", "Westbridge"]), _page(["What was found"], ended=False)):
        assert texts(structure(page, WIDTH, HEIGHT), Kind.HEADING) == []


def test_where_bold_type_or_a_files_fonts_are_known_they_tell() -> None:
    more = lines(50, 420, PROSE)
    bold = [*_page(["What was found"]), line(50, 390, "The second part", bold=True), *more]
    assert texts(structure(bold, WIDTH, HEIGHT), Kind.HEADING) == ["The second part"]
    known = [replace(one, mono=False) for one in _page(["What was found"])]
    assert texts(structure(known, WIDTH, HEIGHT), Kind.HEADING) == []


def test_what_stands_on_a_page_many_times_heads_nothing() -> None:
    def page(names: Sequence[str]) -> list[str]:
        parts = []
        for number, name in enumerate(names):
            top = 60 + 160 * number
            parts += [line(50, top, name, 13, bold=True), *lines(50, top + 30, PROSE)]
        return texts(structure(parts, WIDTH, HEIGHT), Kind.HEADING, Kind.TITLE)

    assert page(["Lamps", "Lamps", "Lamps"]) == []
    assert page(["Lamps", "Bells", "Ropes"]) == ["Lamps", "Bells", "Ropes"]


@pytest.mark.parametrize(
    ("name", "heads"),
    [
        ("Ada Mayfield and Björn van der Berg", []),
        ("3 May 2031", []),
        ("What was found", ["What was found"]),
        ("A Practical Guide", ["A Practical Guide"]),
    ],
)
def test_names_and_dates_under_a_title_are_no_headings(name: str, heads: list[str]) -> None:
    def centred(top: float, text: str, size: float) -> Line:
        return line(250 - len(text) * size / 4, top, text, size)

    parts = [centred(60, "Lamps of the Harbour", 18), centred(90, name, 13), *lines(50, 130, PROSE * 3)]
    elements = structure(parts, WIDTH, HEIGHT)
    assert texts(elements, Kind.TITLE) == ["Lamps of the Harbour"]
    assert texts(elements, Kind.HEADING) == heads
