"""Headings and their levels, from the whole document."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from warmwire.documents.input.outline import Bookmark, depths
from warmwire.documents.reading.levels import EXACT, ROUGH, set_levels, size_groups
from warmwire.documents.reading.numbering import Numbering, numberings
from warmwire.documents.reading.record import PageRecord, Reading, ReadPage, Route
from warmwire.layout.page import Box, Element, Kind

PROSE = "The keeper counted the lamps near the river and wrote the number down in the green book. " * 2


def head(text: str, size: float, bold: bool | None = True, kind: Kind = Kind.HEADING) -> Element:
    return Element(kind, text, Box(50, 100, 200, 120), size=size, bold=bold)


def body(size: float = 10, text: str = PROSE) -> Element:
    return Element(Kind.TEXT, text, Box(50, 130, 500, 200), size=size, bold=False)


def levels(*pages: list[Element], route: Route = Route.FILE, outline: list[Bookmark] | None = None) -> dict[str, int]:
    """The level of each heading once the document is seen as a whole; 0 for its title."""
    read = [ReadPage(PageRecord(n, route), 600, 800, elements) for n, elements in enumerate(pages, 1)]
    set_levels(Reading("x.pdf", read, outline or []))
    shown = [e for elements in pages for e in elements if e.kind in (Kind.TITLE, Kind.HEADING)]
    return {e.text: 0 if e.kind is Kind.TITLE else e.level for e in shown}


def test_larger_is_higher_and_equal_sizes_are_equal_over_all_pages() -> None:
    pages = [
        [head("Report", 24, kind=Kind.TITLE), head("Scope", 14), body()],
        [head("Traffic", 18), body(), head("Vessels", 14), body()],
        [head("Sub", 12.5), body(), head("Bold", 10), body()],
    ]
    assert levels(*pages) == {"Report": 0, "Traffic": 1, "Scope": 2, "Vessels": 2, "Sub": 3, "Bold": 4}


def test_a_bold_line_of_the_bodys_size_is_the_level_after_the_larger_ones() -> None:
    assert levels([head("Large", 18), body(), head("Bold", 10), body()]) == {"Large": 1, "Bold": 2}


def test_numbers_tell_levels_where_sizes_do_not() -> None:
    texts = ["1 Scope", "1.1 Ships", "1.1.1 Large ones", "1.2 Boats", "2 Harbour", "References"]
    found = levels([part for text in texts for part in (head(text, 12), body())])
    assert list(found.values()) == [1, 2, 3, 2, 1, 1]


def test_part_chapter_and_section() -> None:
    texts = ["Part I", "Chapter 1: Ships", "1.1 Large ones", "Chapter 2: Boats", "2.1 Small ones", "Part II"]
    found = levels([part for text in texts for part in (head(text, 12), body())])
    assert list(found.values()) == [1, 2, 3, 2, 3, 1]


def test_a_number_alone_counts_nothing() -> None:
    assert numberings(["12 Angry Men", "A Note", "Chapter 3"]) == [None, None, None]
    assert numberings(["A. One", "B. Two", "I. Three"]) == [Numbering("upper")] * 3
    assert numberings(["I. One", "II. Two"]) == [Numbering("roman")] * 2
    assert numberings(["§ 1 Scope", "§ 2 Term"]) == [Numbering("§")] * 2


def test_recognised_sizes_scatter() -> None:
    found = levels(
        [head("One", 15.6), body(11.1), head("Two", 13.8), body(10.9)],
        [head("Three", 15.2), body(11.0), head("Four", 13.6), body(11.0), head("Five", 15.8), body()],
        route=Route.MODEL,
    )
    assert found == {"One": 1, "Two": 2, "Three": 1, "Four": 2, "Five": 1}
    assert levels([head("One", 15.8), body(), head("Two", 14.6), body()], route=Route.MODEL) == {"One": 1, "Two": 1}


def test_sizes_that_nobody_knows_leave_levels_as_they_are() -> None:
    one, two = head("One", 0), head("Two", 0)
    one.level, two.level = 2, 3
    assert levels([one, body(0), two, body(0)], route=Route.MODEL) == {"One": 2, "Two": 3}


def test_there_is_one_title_and_it_opens_the_document() -> None:
    pages = [[head("One", 24, kind=Kind.TITLE), body()], [head("Two", 24, kind=Kind.TITLE), body()]]
    assert levels(*pages) == {"One": 0, "Two": 1}
    assert levels([head("One", 18), body(), head("Two", 24, kind=Kind.TITLE)]) == {"One": 2, "Two": 1}


def test_the_outline_knows_better() -> None:
    outline = [Bookmark(1, "Report", 1), Bookmark(2, "Scope", 1), Bookmark(2, "2. Traffic", 2)]
    pages = [[head("Report", 14), body(), head("Scope", 14), body()], [head("Traffic", 14), body()]]
    assert levels(*pages, outline=outline) == {"Report": 1, "Scope": 2, "Traffic": 2}


def test_an_outline_of_something_else_is_ignored() -> None:
    other = [Bookmark(1, f"Scan {page}", 1) for page in range(6)]
    assert depths([*other, Bookmark(3, "Scope", 1)], [(1, "Scope"), (1, "Traffic")]) == [0, 0]
    assert depths([Bookmark(1, "", 0), Bookmark(1, "Scope", 9)], [(1, "Scope"), (1, "")]) == [0, 0]
    assert depths([], [(1, "Scope")]) == [0]


def test_the_body_of_the_document_is_no_heading_of_a_page_of_small_type() -> None:
    notes = [head("Ordinary words here", 10, bold=False), *(body(7) for _ in range(3))]
    assert levels([body(), body()], [body()], notes) == {}
    assert notes[0].kind is Kind.TEXT


def test_lines_in_the_style_of_headings_and_larger_lines_alone_are_headings() -> None:
    pages = [[part for n in range(3) for part in (head(f"Head {n}", 10), body())], [head("Late", 10, kind=Kind.TEXT)]]
    assert levels(*pages)["Late"] == 1
    assert levels([head("Small matter", 12.5, False, Kind.TEXT), body(11)]) == {"Small matter": 1}
    assert levels([body(12.5), head("Small matter", 12.5, False, Kind.TEXT), body(11), body(11)]) == {}


@given(st.lists(st.floats(1, 100), max_size=30), st.sampled_from([EXACT, ROUGH]))
def test_groups_are_in_the_order_of_sizes(sizes: list[float], spread: float) -> None:
    groups = size_groups(sizes, spread)
    assert set(groups) == set(range(len(set(groups))))
    assert all(one >= other for size, one in zip(sizes, groups, strict=True)
               for larger, other in zip(sizes, groups, strict=True) if larger > size)  # fmt: skip


def test_thousands_of_sizes_take_no_time() -> None:
    assert len(set(size_groups([1 + n / 10 for n in range(10_000)], EXACT))) > 100


def test_headings_of_a_script_that_is_read_larger_are_no_higher() -> None:
    """Chinese letters fill their squares, and a scan's look a tenth larger than Latin ones of their size."""
    chinese = "因为老工程师介绍了道路，所以村里的学校春节之前更换了水泵。"
    parts = [head("English", 62.3), body(45.7), head("Deutsch", 62.0), body(45.7)]
    found = levels([*parts, head("中文", 68.5), body(48.6, chinese)], route=Route.MODEL)
    assert found == {"English": 1, "Deutsch": 1, "中文": 1}
    larger = levels([*parts, head("目录", 90.0), body(48.6, chinese)], route=Route.MODEL)
    assert larger == {"目录": 1, "English": 2, "Deutsch": 2}
