"""The edge of the neighbouring page of a book."""

from __future__ import annotations

from tests.unit.layout_support import HEIGHT, PROSE, WIDTH, line, lines, texts
from warmwire.layout.order.neighbours import neighbour_lines
from warmwire.layout.page import Kind, Line
from warmwire.layout.structure import structure

BODY = lines(60, 100, PROSE * 8)  # ends at 290


def strip(words: str = "the visitors ask", left: bool = False, count: int = 12, right: float = WIDTH) -> list[Line]:
    found = [line(0, 90 + 15 * n, words) for n in range(count)]
    return found if left else [line(0, 90 + 15 * n, words, right=right) for n in range(count)]


def test_a_strip_of_cut_lines_at_the_very_edge_is_the_next_pages() -> None:
    assert len(neighbour_lines([*BODY, *strip()], WIDTH, 10)) == 12
    moved = lines(200, 100, PROSE * 8)
    assert len(neighbour_lines([*moved, *strip(left=True)], WIDTH, 10)) == 12


def test_it_stays_out_of_the_text() -> None:
    found = structure([*BODY, *strip()], WIDTH, HEIGHT)
    assert texts(found, Kind.PAGE_FOOTER) == ["the visitors ask"] * 12
    assert [e.kind for e in found if e.kind is not Kind.PAGE_FOOTER and "visitors" in e.text] == []


def test_what_is_no_such_strip() -> None:
    assert neighbour_lines([*BODY, *strip("31.20")], WIDTH, 10) == []  # figures
    assert neighbour_lines([*BODY, *strip(right=WIDTH - 15)], WIDTH, 10) == []  # a margin beside it
    assert neighbour_lines([*BODY, *strip(count=4)], WIDTH, 10) == []  # a few words
    assert neighbour_lines([*BODY, *strip("a column of text that is wide")], WIDTH, 10) == []
    assert neighbour_lines([*lines(280, 100, PROSE * 8), *strip()], WIDTH, 10) == []  # text right beside it
    assert neighbour_lines([*strip(), *strip(left=True)], WIDTH, 10) == []  # cropped to its text
    assert neighbour_lines(strip(), WIDTH, 10) == []
    assert neighbour_lines([], WIDTH, 10) == []


def test_signs_in_the_shadow_of_the_rim_are_no_text() -> None:
    rim = [line(0, 200, "-", right=WIDTH - 12), line(3, 400, "–")]
    assert neighbour_lines([*BODY, *rim], WIDTH, 10) == rim
    inside = [line(45, 200, "–"), line(300, 200, "-")]
    assert neighbour_lines([*BODY, *inside], WIDTH, 10) == []
