"""Whatever the pages hold, seeing them together raises nothing, loses nothing and takes no time."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.timing import effort
from warmwire.documents.input.outline import Bookmark
from warmwire.documents.output.export import export
from warmwire.documents.output.formats import Format
from warmwire.documents.reading.across import settle
from warmwire.documents.reading.record import PageRecord, Reading, ReadPage, Route
from warmwire.layout.page import Box, Element, Kind

NUMBER = st.one_of(st.floats(-50, 900), st.sampled_from([0.0, 20.0, 780.0]))
BOX = st.builds(lambda x, y, w, h: Box(x, y, x + abs(w), y + abs(h)), NUMBER, NUMBER, NUMBER, NUMBER)
TEXT = st.one_of(
    st.text(max_size=40),
    st.sampled_from(
        [
            "12",
            "Page 3 of 7",
            "1. Scope",
            "2. Term",
            "1.1 Ships",
            "(a) one",
            "Chapter 2",
            "the same head",
            "so it goes on and on over",
        ]
    ),
)
ELEMENT = st.builds(
    Element,
    st.sampled_from([kind for kind in Kind if kind is not Kind.TABLE]),
    TEXT,
    st.one_of(st.none(), BOX),
    level=st.integers(1, 6),
    ordered=st.booleans(),
    marker=st.sampled_from(["", "1.", "2.", "(a)", "(b)", "•", "iv."]),
    size=st.sampled_from([0.0, 8.0, 10.0, 10.1, 12.0, 18.0, 1e9]),
    bold=st.sampled_from([None, True, False]),
)
PAGES = st.lists(st.tuples(st.sampled_from(list(Route)), st.lists(ELEMENT, max_size=8)), max_size=6)
OUTLINE = st.lists(st.builds(Bookmark, st.integers(1, 6), TEXT, st.integers(0, 7)), max_size=5)


@given(PAGES, OUTLINE)
@settings(max_examples=150, deadline=None)
def test_any_pages_can_be_settled_and_written(
    pages: list[tuple[Route, list[Element]]], outline: list[Bookmark]
) -> None:
    read = [ReadPage(PageRecord(n, route), 600, 800, own) for n, (route, own) in enumerate(pages, 1)]
    reading = Reading("x.pdf", read, outline)
    before = [sorted(f"{e.marker}{e.text}".replace(" ", "")) for page in read for e in page.elements]
    settle(reading)
    after = [sorted(f"{e.marker}{e.text}".replace(" ", "")) for page in read for e in page.elements]
    assert after == before
    heads = [e for page in read for e in page.elements if e.kind is Kind.HEADING]
    assert all(1 <= e.level <= 6 for e in heads)
    assert sum(e.kind is Kind.TITLE for page in read for e in page.elements) <= 1
    export(reading, Format.MD)


def test_a_thousand_pages_take_no_time() -> None:
    pages = []
    for number in range(1, 1001):
        own = [Element(Kind.TEXT, f"Head {number % 9}", Box(50, 20, 200, 32), size=8)]
        own += [
            Element(Kind.HEADING, f"{number}.{n} Ships", Box(50, 60 + 20 * n, 90, 70 + 20 * n), size=10 + n % 7)
            for n in range(10)
        ]
        own += [Element(Kind.TEXT, "words " * 30, Box(50, 700, 500, 720), size=10)]
        pages.append(ReadPage(PageRecord(number), 600, 800, own))
    outline = [Bookmark(1 + n % 3, f"{n}.1 Ships", n) for n in range(1, 1001)]
    assert effort(lambda: settle(Reading("x.pdf", pages, outline))) < 70
