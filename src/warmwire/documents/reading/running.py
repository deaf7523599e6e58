"""Running heads and feet, from all pages of a document.

The best witness of a running line is that it stands at the same place of page after page, numbers aside. Left and
right pages may have different ones, chapters their own: so a line need not be on most pages, if it fills the pages
from its first to its last, and other pages have a line at that very place.
"""

from __future__ import annotations

import heapq
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Final

from warmwire.documents.reading.record import Reading, ReadPage
from warmwire.layout.order.folios import LONGEST, Sign, sign_of
from warmwire.layout.page import Element, Kind

RUNNING: Final = (Kind.PAGE_HEADER, Kind.PAGE_FOOTER)
EDGE: Final = 0.12
"""Share of a page's height, at the top and at the bottom, where running lines stand."""
SAME_PLACE: Final = 0.015
"""Running lines of two pages differ by less than this share of the height."""
MOST: Final = 4
"""Elements that are looked at from each edge inwards."""
FEWEST: Final = 3
"""Fewer pages with the same line may be a coincidence, such as two letters with one head; page numbers need two."""
SHARE: Final = 1 / 3
"""Share of the pages, all of them or those from its first to its last, that a running line is on at least."""
USED: Final = 0.5
"""Share of all pages that have some short line at a place where each chapter has a line of its own."""
LARGER: Final = 1.15
"""A line set larger than the body, in its sizes, is a title, however often it comes."""


def mark_running(reading: Reading) -> None:
    """Make furniture of the lines that run through the pages."""
    found: dict[tuple[Kind, str], list[tuple[float, int, Element]]] = defaultdict(list)
    used: Counter[tuple[Kind, int]] = Counter()
    for at, page in enumerate(reading.pages):
        places = set()
        for kind, element in _at_edges(page):
            height = _height(page, element)
            found[kind, _masked(element.text)].append((height, at, element))
            places |= {(kind, _slot(height) + step) for step in (-1, 0, 1)}
        used.update(places)
    for (kind, _), lines in found.items():
        heights = sorted(height for height, _, _ in lines)
        usual = heights[len(heights) // 2]
        same = [(at, element) for height, at, element in lines if abs(height - usual) < SAME_PLACE]
        slot = used[kind, _slot(usual)] >= USED * len(reading.pages)
        if _runs(kind, same, len(reading.pages), slot):
            for _, element in same:
                element.kind = kind


def _runs(kind: Kind, same: list[tuple[int, Element]], pages: int, slot: bool) -> bool:
    """Whether a line that stands at one place of some pages is a running one; `slot` says that others stand there."""
    on = len({at for at, _ in same})
    known = any(element.kind is kind or sign_of(element.text) >= Sign.NAMED for _, element in same)
    if on < (2 if known else FEWEST):
        return False
    span = same[-1][0] - same[0][0] + 1
    return on >= SHARE * (min(span, pages) if slot else pages)


def _at_edges(page: ReadPage) -> Iterator[tuple[Kind, Element]]:
    """The outermost elements of a page that may be running lines, and those that are known to be."""
    placed = [(e.box.top, -e.box.bottom, i) for i, e in enumerate(page.elements) if e.box is not None]
    edges = (
        (Kind.PAGE_HEADER, heapq.nsmallest(MOST, placed)),
        (Kind.PAGE_FOOTER, heapq.nsmallest(MOST, placed, key=lambda place: place[1])),
    )
    taken: set[int] = set()
    for kind, ends in edges:
        for *_, at in ends:
            element = page.elements[at]
            if not _may_run(page, element, kind):
                break
            if at not in taken:
                taken.add(at)
                yield kind, element
    for at, element in enumerate(page.elements):
        if element.kind in RUNNING and element.box is not None and at not in taken:
            yield element.kind, element


def _may_run(page: ReadPage, element: Element, kind: Kind) -> bool:
    if element.kind is kind:
        return True
    height = _height(page, element)
    if not (height < EDGE if kind is Kind.PAGE_HEADER else height > 1 - EDGE):
        return False
    if element.kind not in (Kind.TEXT, Kind.HEADING) or not 0 < len(element.text) <= LONGEST * 1.5:
        return False
    return element.kind is Kind.TEXT or 0 < element.size < LARGER * _body(page)


def _body(page: ReadPage) -> float:
    """The largest size of the page's long paragraphs: the longest may be a note below the text."""
    texts = [element for element in page.elements if element.kind is Kind.TEXT]
    longest = max((len(text.text) for text in texts), default=0)
    return max((text.size for text in texts if 2 * len(text.text) >= longest), default=0.0)


def _masked(text: str) -> str:
    """A line without what differs from page to page: its numbers, and how it is written."""
    if sign_of(text) is Sign.FOLIO:
        return "#"
    return re.sub(r"[\W_]+", " ", re.sub(r"\d+", "#", text)).strip().casefold()


def _slot(height: float) -> int:
    return round(height / SAME_PLACE)


def _height(page: ReadPage, element: Element) -> float:
    """How far down the page the element's middle is, from 0 to 1."""
    return element.box.centre[1] / page.height if element.box is not None else 0.5
