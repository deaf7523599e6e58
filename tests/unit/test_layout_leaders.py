"""Tables of contents whose leaders a recogniser saw in part."""

from __future__ import annotations

import pytest

from tests.unit.layout_support import HEIGHT, WIDTH, line, lines, texts
from warmwire.layout.blocks.leaders import with_leaders
from warmwire.layout.page import Kind, Line
from warmwire.layout.structure import structure

TITLES = ["First things", "What follows", "The long way round", "Home again", "A last word", "Notes"]


def _contents(dots: list[str], pages: list[str], x: float = 60, right: float = 400) -> list[Line]:
    """Rows of a title with the dots that were seen after it, and its page."""
    found = []
    for i, (title, seen, page) in enumerate(zip(TITLES, dots, pages, strict=True)):
        found += [line(x, 100 + 15 * i, title + seen), line(0, 100 + 15 * i, page, right=right)]
    return found


def _merged(found: list[Line]) -> list[str]:
    return sorted(one.text for one in with_leaders(found, 10.0) if " .... " in one.text)


@pytest.mark.parametrize(
    "pages",
    [["1", "7", "12", "30", "31", "44"], ["i", "iv", "ix", "1", "2", "10"], ["1-1", "1-5", "2-1", "2-9", "3-1", "A-1"]],
)
def test_a_few_dots_in_some_rows_make_all_of_them_entries(pages: list[str]) -> None:
    dots = ["..", "", " .", "…", "", " ..."]
    expected = sorted(f"{title} .... {page}" for title, page in zip(TITLES, pages, strict=True))
    assert _merged(_contents(dots, pages)) == expected


def test_dots_read_with_the_number_are_no_part_of_it() -> None:
    found = _merged(_contents([""] * 6, [".3", "• 7", "- .9", ". 11", "12", "15"]))
    assert [text.split(" .... ")[1] for text in found] == ["12", "3", "11", "15", "9", "7"]


def test_pieces_of_a_leader_are_no_text() -> None:
    found = _contents(["..", "..", "..", "", "", ""], ["1", "2", "3", "4", "5", "6"])
    found += [line(250, 105, "o", size=3), line(300, 130, "……")]
    assert sorted(one.text for one in with_leaders(found, 10.0)) == _merged(found)


def test_the_number_of_a_section_belongs_to_its_title() -> None:
    found = _contents(["..", "..", "..", "", "", ""], ["1", "2", "3", "4", "5", "6"], x=90)
    found += [line(60, 100 + 15 * i, f"{i + 1}.1") for i in range(6)]
    elements = structure(found, WIDTH, HEIGHT)
    assert [element.kind for element in elements] == [Kind.LIST_ITEM] * 6
    assert texts(elements)[2] == "3.1 The long way round 3"


def test_rows_without_any_dots_stay_what_they_are() -> None:
    found = _contents([""] * 6, ["1", "7", "12", "30", "31", "44"])
    assert with_leaders(found, 10.0) == found


def test_lines_of_a_form_with_amounts_are_no_contents() -> None:
    found = _contents(["...."] * 6, ["1", "2", "3", "4", "5", "6"])
    found += [line(0, 100 + 15 * i, f"{i * 37}.50", right=500) for i in range(6)]
    assert with_leaders(found, 10.0) == found


def test_lines_of_a_form_numbered_at_both_ends_are_no_contents() -> None:
    found = _contents(["...."] * 6, ["47", "48", "49", "50", "51", "52"], x=90)
    found += [line(70, 100 + 15 * i, str(47 + i)) for i in range(6)]
    assert with_leaders(found, 10.0) == found


def test_prose_beside_contents_stays_apart() -> None:
    prose = lines(20, 100, ["Some words of the column beside it"] * 6, pitch=1.5)
    found = _contents(["...", "...", "", "", "", ""], ["1", "2", "3", "4", "5", "6"], x=300, right=560)
    assert len(_merged([*prose, *found])) == 6
    assert all(one in with_leaders([*prose, *found], 10.0) for one in prose)
