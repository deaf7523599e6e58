"""Paragraphs, lists, headings, hyphens, and what stands around the text."""

from __future__ import annotations

import pytest

from tests.unit.layout_support import HEIGHT, OTHER, PROSE, SIZE, WIDTH, line, lines, texts
from warmwire.layout.markers import find_markers, markers_of
from warmwire.layout.page import Box, Kind, Region, RegionKind
from warmwire.layout.structure import structure


def test_paragraphs_part_at_white_at_indents_and_at_full_stops() -> None:
    spaced = [*lines(50, 100, PROSE), *lines(50, 100 + 4 * 13 + 6, OTHER)]
    indented = [line(50 + 15 * (i % 4 == 0), 100 + i * 13, text) for i, text in enumerate(PROSE + OTHER)]
    for page in (spaced, indented):
        assert texts(structure(page, WIDTH, HEIGHT)) == [" ".join(PROSE), " ".join(OTHER)]


def test_a_numbered_list_with_wrapped_items() -> None:
    page = [
        *lines(50, 100, PROSE),
        line(60, 160, "1. The first of them is long enough to go on"),
        line(72, 173, "in a second line that hangs under the text"),
        line(60, 186, "2. Short"),
        line(60, 199, "3. Last"),
        *lines(50, 220, OTHER),
    ]
    found = structure(page, WIDTH, HEIGHT)
    items = [element for element in found if element.kind is Kind.LIST_ITEM]
    assert [(item.marker, item.ordered, item.level) for item in items] == [(f"{n}.", True, 1) for n in (1, 2, 3)]
    assert items[0].text == "The first of them is long enough to go on in a second line that hangs under the text"
    assert len(found) == 5


def test_levels_follow_the_indents() -> None:
    page = [
        line(50, 100, "1. outer"),
        line(70, 113, "a) middle"),
        line(90, 126, "– inner"),
        line(70, 139, "b) middle again"),
        line(50, 152, "2. outer again"),
    ]
    found = structure(page, WIDTH, HEIGHT)
    assert [element.level for element in found] == [1, 2, 3, 2, 1]
    assert [element.ordered for element in found] == [True, True, False, True, True]


@pytest.mark.parametrize(
    ("found", "markers"),
    [
        (["15. November 2024", "was a Friday"], [None, None]),
        (["3. first here", "4. second"], ["3.", "4."]),
        (["i) one", "ii) two", "iii) three"], ["i)", "ii)", "iii)"]),
        (["A. Smith wrote it"], [None]),
        (["1.347 of them", "2.611 of these"], ["1.", "2."]),
        (["☐ no", "☑ yes", "[x] also"], ["☐", "☑", "[x]"]),
        (["•tight", "- loose", "-minus"], ["•", "-", None]),
    ],
)
def test_markers(found: list[str], markers: list[str | None]) -> None:
    read = find_markers(lines(50, 100, found), SIZE)
    assert [marker.text if marker else None for marker in read] == markers


def test_a_letter_may_be_a_roman_number() -> None:
    assert [marker.value for marker in markers_of("iv) x")] == [4]
    assert [marker.value for marker in markers_of("i) x")] == [9, 1]


def test_check_boxes() -> None:
    found = structure(lines(50, 100, ["☐ tea", "☒ milk"]), WIDTH, HEIGHT)
    assert [(element.kind, element.text) for element in found] == [(Kind.UNCHECKED, "tea"), (Kind.CHECKED, "milk")]


def test_headings_by_size_weight_and_number() -> None:
    page = [
        line(50, 60, "The quiet river", 20, True),
        line(50, 100, "First part", 13.5, True),
        *lines(50, 120, PROSE),
        line(50, 185, "Second part", 11.5, True),
        *lines(50, 205, OTHER),
        line(50, 270, "Bold but no larger", 10, True),
        *lines(50, 288, PROSE),
        line(50, 352, "2.1 Numbered", 14, True),
        *lines(50, 375, OTHER),
    ]
    found = [element for element in structure(page, WIDTH, HEIGHT) if element.kind is not Kind.TEXT]
    assert [(element.kind, element.level) for element in found] == [
        (Kind.TITLE, 1),
        (Kind.HEADING, 1),
        (Kind.HEADING, 2),
        (Kind.HEADING, 3),
        (Kind.HEADING, 2),
    ]


@pytest.mark.parametrize("text", ["118,325.00", "Due date: 23 December 2019", "and so it went on, as it always had."])
def test_large_or_bold_text_that_heads_nothing(text: str) -> None:
    page = [*lines(50, 100, PROSE), line(50, 165, text, 10, True), *lines(50, 185, OTHER)]
    assert Kind.HEADING not in {element.kind for element in structure(page, WIDTH, HEIGHT)}


def test_running_heads_feet_and_footnotes() -> None:
    page = [
        line(50, 20, "The quiet river", 8),
        line(530, 20, "47", 8),
        *lines(50, 100, PROSE * 4),
        line(50, 700, "¹ A note.", 7),
        line(50, 712, "2Another note.", 7),
        line(300, 770, "– 3 –", 8),
    ]
    found = structure(page, WIDTH, HEIGHT)
    assert texts(found, Kind.PAGE_HEADER) == ["The quiet river", "47"]
    assert texts(found, Kind.FOOTNOTE) == ["¹ A note.", "2 Another note."]
    assert texts(found, Kind.PAGE_FOOTER) == ["– 3 –"]


def test_a_letterhead_is_no_running_head() -> None:
    page = [*lines(400, 60, ["Marsh & Dunmore", "64 Quarry Close", "Eastlow"]), *lines(50, 200, PROSE)]
    assert Kind.PAGE_HEADER not in {element.kind for element in structure(page, WIDTH, HEIGHT)}


def test_captions_stand_near_what_they_name() -> None:
    page = [*lines(50, 100, PROSE), line(50, 360, "Figure 1. The river in spring."), *lines(50, 400, OTHER)]
    found = structure(page, WIDTH, HEIGHT, regions=[Region(RegionKind.FIGURE, Box(50, 180, 400, 350))])
    assert texts(found, Kind.CAPTION) == ["Figure 1. The river in spring."]


def test_a_paragraph_goes_on_in_the_next_column() -> None:
    page = [
        *lines(50, 100, (*PROSE[:3], "and in the end they found an old libra-")),
        *lines(320, 100, ("rian there.", *OTHER)),
    ]
    assert "an old librarian there." in texts(structure(page, WIDTH, HEIGHT))[0]


def test_numbered_clauses_hang() -> None:
    page = [
        line(50, 100, "2.1 The tenant pays the rent on the first day of each month to the landlord"),
        line(78, 113, "or to whom the landlord names."),
        line(50, 126, "2.2 The landlord keeps the roof and the walls in a sound state of repair at all"),
        line(78, 139, "times of the year."),
    ]
    first, second = page[0].text + " " + page[1].text, page[2].text + " " + page[3].text
    assert texts(structure(page, WIDTH, HEIGHT)) == [first, second]


def test_numbers_in_brackets_count_references() -> None:
    """Set apart from their text by more than a space, they are runs of their own."""
    page = [line(50, 100, "[1]", 9), line(80, 100, "Brook, A. Channels and their banks. Eastmoor Press.", 9)]
    page += [line(50, 113, "[2]", 9), line(80, 113, "Quist, P. and Lane, R. Counting grains. Small Waters", 9)]
    page += [line(80, 126, "3, 44-51.", 9)]
    found = structure(page, WIDTH, HEIGHT)
    assert [(item.kind, item.marker) for item in found] == [(Kind.LIST_ITEM, "[1]"), (Kind.LIST_ITEM, "[2]")]
    assert found[1].text == "Quist, P. and Lane, R. Counting grains. Small Waters 3, 44-51."


def test_text_below_a_line_in_the_middle_is_a_paragraph_of_its_own() -> None:
    page = [line(230, 100, "Department of Water"), *lines(50, 115, ["Abstract. " + "word " * 19, "and more."])]
    assert texts(structure(page, WIDTH, HEIGHT))[0] == "Department of Water"


def test_a_heading_may_be_mostly_figures() -> None:
    page = [line(50, 60, "Rechnung Nr. 2024-0815", 16, True), *lines(50, 100, PROSE)]
    assert structure(page, WIDTH, HEIGHT)[0].kind in (Kind.TITLE, Kind.HEADING)
