"""What only several pages together tell."""

from __future__ import annotations

from warmwire.documents.across import settle
from warmwire.documents.record import PageRecord, Reading, ReadPage
from warmwire.layout.page import Box, Element, Kind


def reading(count: int, head: str = "Annual report", top: float = 30, kind: Kind = Kind.TEXT) -> Reading:
    """Pages with a head, a paragraph of their own and a numbered foot; heads drift down by `top` points a page."""
    pages = []
    for number in range(count):
        y = top * (number + 1) if top < 30 else top
        elements = [
            Element(kind, head, Box(50, y, 200, y + 12)),
            Element(Kind.TEXT, f"Paragraph of page {number}", Box(50, 200, 500, 300)),
            Element(Kind.TEXT, f"- {number + 1} -", Box(300, 760, 320, 772)),
        ]
        pages.append(ReadPage(PageRecord(number + 1), 612, 792, elements))
    return Reading("x.pdf", pages)


def kinds(document: Reading) -> set[tuple[Kind, ...]]:
    settle(document)
    return {tuple(element.kind for element in page.elements) for page in document.pages}


def test_heads_and_feet_of_page_after_page_are_furniture() -> None:
    assert kinds(reading(3)) == {(Kind.PAGE_HEADER, Kind.TEXT, Kind.PAGE_FOOTER)}


def test_two_pages_may_be_two_letters() -> None:
    assert kinds(reading(2)) == {(Kind.TEXT, Kind.TEXT, Kind.TEXT)}


def test_a_head_that_one_page_has_shown_is_one_on_the_other_as_well() -> None:
    document = reading(2)
    document.pages[1].elements[0].kind = Kind.PAGE_HEADER
    assert kinds(document) == {(Kind.PAGE_HEADER, Kind.TEXT, Kind.TEXT)}


def test_what_moves_or_stands_in_the_page_or_is_a_heading_stays() -> None:
    assert kinds(reading(4, top=20)) == {(Kind.TEXT, Kind.TEXT, Kind.PAGE_FOOTER)}
    assert kinds(reading(4, top=120)) == {(Kind.TEXT, Kind.TEXT, Kind.PAGE_FOOTER)}
    assert kinds(reading(4, kind=Kind.TITLE)) == {(Kind.TITLE, Kind.TEXT, Kind.PAGE_FOOTER)}


def test_a_line_of_few_pages_among_many_stays() -> None:
    document = reading(12)
    for page in document.pages[3:]:
        page.elements[0].text = f"Page {'abcdefghij'[page.record.page % 10]}"
    settle(document)
    assert document.pages[0].elements[0].kind is Kind.TEXT


def titles(*heights: float) -> list[Kind]:
    """The kinds of one title a page, of so many points."""
    pages = []
    for number, height in enumerate(heights):
        box = Box(50, 100, 50 + 0.5 * height * 12, 100 + 1.2 * height)
        pages.append(ReadPage(PageRecord(number + 1), 612, 792, [Element(Kind.TITLE, "Twelve chars", box)]))
    document = Reading("x.pdf", pages)
    settle(document)
    return [page.elements[0].kind for page in document.pages]


def test_a_document_has_one_title_unless_others_are_as_large() -> None:
    assert titles(24, 16) == [Kind.TITLE, Kind.HEADING]
    assert titles(24, 23, 25) == [Kind.TITLE] * 3
    assert titles(16, 24, 16) == [Kind.TITLE, Kind.TITLE, Kind.HEADING]


def listed(*pages: list[Element]) -> list[list[tuple[Kind, str, str]]]:
    """Kind, marker and text of what the pages hold once they are settled."""
    document = Reading("x.pdf", [ReadPage(PageRecord(n), 612, 792, list(e)) for n, e in enumerate(pages, 1)])
    settle(document)
    return [[(e.kind, e.marker, e.text) for e in page.elements] for page in document.pages]


def item(marker: str) -> Element:
    return Element(Kind.LIST_ITEM, "item", ordered=True, marker=marker)


def test_a_list_goes_on_over_the_page() -> None:
    foot = Element(Kind.PAGE_FOOTER, "1")
    below = listed([Element(Kind.TEXT, "1. item"), foot], [item("2."), item("3.")])
    assert below[0][0] == (Kind.LIST_ITEM, "1.", "item")
    above = listed([item("b2)"), item("b3)")], [Element(Kind.TEXT, "4) item")], [])
    assert above[1][0][0] is Kind.TEXT
    above = listed([item("2)"), item("3)")], [Element(Kind.TEXT, "4) item")])
    assert above[1][0] == (Kind.LIST_ITEM, "4)", "item")


def test_a_number_that_does_not_follow_is_text() -> None:
    assert listed([Element(Kind.TEXT, "2. May is a holiday")], [item("1.")])[0][0][0] is Kind.TEXT
    assert listed([Element(Kind.TEXT, "no number")], [item("1.")])[0][0][0] is Kind.TEXT
