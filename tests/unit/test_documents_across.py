"""What only several pages together tell."""

from __future__ import annotations

import pytest

from warmwire.documents.output.document import build_document
from warmwire.documents.output.export import export
from warmwire.documents.output.formats import Format
from warmwire.documents.reading.across import settle
from warmwire.documents.reading.record import PageRecord, Reading, ReadPage
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


def test_two_pages_may_be_two_letters_but_their_numbers_are_page_numbers() -> None:
    assert kinds(reading(2)) == {(Kind.TEXT, Kind.TEXT, Kind.PAGE_FOOTER)}


def test_a_head_that_one_page_has_shown_is_one_on_the_other_as_well() -> None:
    document = reading(2)
    document.pages[1].elements[0].kind = Kind.PAGE_HEADER
    assert kinds(document) == {(Kind.PAGE_HEADER, Kind.TEXT, Kind.PAGE_FOOTER)}


def test_what_moves_or_stands_in_the_page_or_is_a_heading_stays() -> None:
    assert kinds(reading(4, top=20)) == {(Kind.TEXT, Kind.TEXT, Kind.PAGE_FOOTER)}
    assert kinds(reading(4, top=120)) == {(Kind.TEXT, Kind.TEXT, Kind.PAGE_FOOTER)}
    document = reading(4, kind=Kind.TITLE)
    settle(document)
    assert [page.elements[0].kind for page in document.pages] == [Kind.TITLE, *[Kind.HEADING] * 3]


def test_a_head_that_is_larger_than_long_notes_only_runs() -> None:
    document = reading(3, kind=Kind.HEADING)
    for page in document.pages:
        head, text, foot = page.elements
        head.size, text.size, text.text = 10, 9, text.text * 10
        page.elements[2:] = [Element(Kind.TEXT, text.text + " noted", Box(50, 600, 500, 700), size=7), foot]
    assert kinds(document) == {(Kind.PAGE_HEADER, Kind.TEXT, Kind.TEXT, Kind.PAGE_FOOTER)}


def chapters(tops: list[float]) -> Reading:
    """Twelve pages whose first line is of three pages' own; it stands at the height given for its chapter."""
    document = reading(12)
    for page in document.pages:
        chapter = (page.record.page - 1) // 3
        head = page.elements[0]
        head.text, head.box = "ABCD"[chapter] + " story of rivers", Box(50, tops[chapter], 200, tops[chapter] + 12)
    return document


def test_chapters_have_running_heads_of_their_own_where_others_have_theirs() -> None:
    assert kinds(chapters([30, 30, 31, 30])) == {(Kind.PAGE_HEADER, Kind.TEXT, Kind.PAGE_FOOTER)}
    assert kinds(chapters([0, 25, 50, 75])) == {(Kind.TEXT, Kind.TEXT, Kind.PAGE_FOOTER)}


def test_left_and_right_pages_have_their_own_lines_and_several_at_one_edge() -> None:
    document = reading(6)
    for page in document.pages:
        page.elements[0].text = ("The book", "The chapter")[page.record.page % 2]
        page.elements.append(Element(Kind.TEXT, "Printed in Eastlow by the harbour", Box(50, 776, 300, 786)))
    assert kinds(document) == {(Kind.PAGE_HEADER, Kind.TEXT, Kind.PAGE_FOOTER, Kind.PAGE_FOOTER)}


def titles(*heights: float) -> list[Kind]:
    """The kinds of one title a page, of so many points."""
    pages = []
    for number, height in enumerate(heights):
        box = Box(50, 100, 50 + 0.5 * height * 12, 100 + 1.2 * height)
        pages.append(ReadPage(PageRecord(number + 1), 612, 792, [Element(Kind.TITLE, "Twelve chars", box)]))
    document = Reading("x.pdf", pages)
    settle(document)
    return [page.elements[0].kind for page in document.pages]


def test_a_document_has_one_title() -> None:
    assert titles(24, 16) == [Kind.TITLE, Kind.HEADING]
    assert titles(24, 23, 25) == [Kind.TITLE, Kind.HEADING, Kind.HEADING]


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


def test_the_inner_list_goes_on_at_its_level() -> None:
    def inner(marker: str, level: int = 1) -> Element:
        return Element(Kind.LIST_ITEM, "item", level=level, ordered=True, marker=marker)

    above, below = [inner("1."), inner("(a)", 2), inner("(b)", 2)], [inner("(c)"), inner("(d)"), inner("2.")]
    settle(Reading("x.pdf", [ReadPage(PageRecord(1), 9, 9, above), ReadPage(PageRecord(2), 9, 9, below)]))
    assert [item.level for item in below] == [2, 2, 1]


CUT = "The keeper of the harbour office counted the ships and wrote their"


@pytest.mark.parametrize(
    ("above", "below", "joined"),
    [
        (CUT, "names into the book.", f"{CUT} names into the book."),
        (f"{CUT} num-", "bers into the book.", f"{CUT} numbers into the book."),
        (f"{CUT}, and", "went.", f"{CUT}, and went."),
        (f"{CUT} names.", "names into the book.", None),
        (CUT, "Names into the book.", None),
        ("Total", "names into the book.", None),
    ],
)
def test_a_paragraph_goes_on_over_the_page(above: str, below: str, joined: str | None) -> None:
    box, foot = Box(50, 700, 500, 720), Element(Kind.PAGE_FOOTER, "1", Box(300, 760, 310, 770))
    pages = [
        ReadPage(PageRecord(1), 612, 792, [Element(Kind.TEXT, above, box), foot]),
        ReadPage(PageRecord(2), 612, 792, [Element(Kind.TEXT, below, Box(50, 50, 500, 80))]),
    ]
    reading = Reading("x.pdf", pages)
    assert export(reading, Format.MD) == (f"{joined}\n" if joined else f"{above}\n\n{below}\n")
    items = [text for text in build_document(reading).texts if text.label.value == "text"]
    assert [place.page_no for item in items for place in item.prov] == [1, 2]
    assert len(items) == (1 if joined else 2)


def test_a_paragraph_over_three_pages_is_one_and_other_sizes_are_others() -> None:
    def pages(size: float, second: int = 2) -> Reading:
        parts = [(1, CUT, 10.0), (second, f"names, {CUT.lower()}", size), (second + 1, "boats too.", size)]
        return Reading("x.pdf", [ReadPage(PageRecord(n), 9, 9, [Element(Kind.TEXT, t, size=s)]) for n, t, s in parts])

    assert export(pages(10), Format.MD).count("\n\n") == 0
    assert export(pages(7), Format.MD).count("\n\n") == 1
    assert export(pages(10, second=5), Format.MD).count("\n\n") == 1


def test_a_list_over_the_page_is_one_list() -> None:
    def bullets(*texts: str) -> list[Element]:
        return [Element(Kind.LIST_ITEM, text, marker="•") for text in texts]

    foot, head = Element(Kind.PAGE_FOOTER, "1"), Element(Kind.PAGE_HEADER, "Report")
    one = [
        ReadPage(PageRecord(1), 9, 9, [*bullets("a", "b"), foot]),
        ReadPage(PageRecord(2), 9, 9, [head, *bullets("c")]),
    ]
    assert len(build_document(Reading("x.pdf", one)).groups) == 1
    two = [ReadPage(PageRecord(1), 9, 9, [item("1."), item("2.")]), ReadPage(PageRecord(2), 9, 9, [item("1.")])]
    assert len(build_document(Reading("x.pdf", two)).groups) == 2


def test_a_stage_that_fails_is_left_out_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> None:
        raise ValueError("broken")

    monkeypatch.setattr("warmwire.documents.reading.across.set_levels", fail)
    document = reading(3)
    settle(document)
    assert document.pages[0].record.skipped == ["levels"]
    assert document.pages[0].elements[0].kind is Kind.PAGE_HEADER


def test_a_listing_goes_on_over_the_page() -> None:
    pages = [
        ReadPage(PageRecord(1), 600, 800, [Element(Kind.TEXT, "It loads:"), Element(Kind.CODE, "def load():", size=9)]),
        ReadPage(PageRecord(2), 600, 800, [Element(Kind.CODE, "    return 1", size=9), Element(Kind.TEXT, "So.")]),
    ]
    assert export(Reading("a", pages), Format.MD) == "It loads:\n\n```\ndef load():\n    return 1\n```\n\nSo.\n"
