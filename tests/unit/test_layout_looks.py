"""What elements look like, and how a report carries it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.layout_support import HEIGHT, PROSE, WIDTH, line, lines
from warmwire.layout.looks import dress, looks_of, put_looks
from warmwire.layout.page import Element, Kind
from warmwire.layout.structure import structure


def test_an_element_has_the_size_of_most_of_its_letters_and_what_all_its_lines_are() -> None:
    own = [line(0, 0, "A small one", 8, True), line(0, 20, "and a longer one in large type", 12, True)]
    element = dress(Element(Kind.TEXT, "x"), own)
    assert (element.size, element.bold, element.italic, element.confidence) == (12, True, None, 1.0)
    own[0].bold = False
    assert dress(element, own).bold is False
    assert dress(Element(Kind.PICTURE), []).size == 0


def test_every_text_of_a_page_has_its_looks() -> None:
    page = [line(50, 20, "The quiet river", 8), line(50, 60, "Large", 20, True), *lines(50, 100, PROSE * 3)]
    page += [line(50, 500, "• one"), line(50, 513, "• two")]
    elements = structure(page, WIDTH, HEIGHT)
    assert {(e.kind, e.size, e.bold) for e in elements} == {
        (Kind.PAGE_HEADER, 8, False),
        (Kind.TITLE, 20, True),
        (Kind.TEXT, 10, False),
        (Kind.LIST_ITEM, 10, False),
    }


def test_a_report_gives_elements_their_looks_in_the_pages_unit() -> None:
    sent = [
        Element(Kind.TITLE, "One", size=40.0, bold=True, italic=False, confidence=0.91),
        Element(Kind.PICTURE),
    ]
    got = [Element(Kind.TITLE, "One"), Element(Kind.PICTURE)]
    assert put_looks(got, looks_of(sent), 0.36, 842)
    assert (got[0].size, got[0].bold, got[0].italic, got[0].confidence) == (pytest.approx(14.4), True, False, 0.91)
    assert (got[1].size, got[1].bold, got[1].confidence) == (0.0, None, None)


@pytest.mark.parametrize(
    "report",
    [
        None,
        "elements",
        {},
        [],
        [[10, 1, 0, 0.9]] * 2,
        [10],
        [[10, 1, 0]],
        [[float("nan"), 1, 0, 0.9]],
        [[float("inf"), 1, 0, 0.9]],
        [[-1, 1, 0, 0.9]],
        [[1e300, 1, 0, 0.9]],
        [[10, 2, 0, 0.9]],
        [[10, "yes", 0, 0.9]],
        [["10", 1, 0, 0.9]],
        [[10, 1, 0, 1.5]],
        [[True, 1, 0, 0.9]],
        [[10, [], {}, 0.9]],
    ],
)
def test_a_report_that_does_not_fit_is_ignored(report: Any) -> None:
    element = Element(Kind.TEXT, "x")
    assert not put_looks([element], report, 1.0, 842)
    assert element == Element(Kind.TEXT, "x")
