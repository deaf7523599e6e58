"""What only several pages together tell: running heads and feet, the document's title, lists over a page break.

A short line at the edge of a page may be its first words. When the same line, page numbers aside, stands at the same
place of page after page, it is a running one. The largest heading of a page may be its title; when an earlier page
has one that is clearly larger, it is a heading. A numbered line alone at the foot of a page is a list's first item when
the next page has the second.
"""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import pairwise
from typing import Final

from warmwire.documents.record import Reading, ReadPage
from warmwire.layout.markers import NUMBERED
from warmwire.layout.page import Element, Kind

_OUTSIDE: Final = (Kind.PAGE_HEADER, Kind.PAGE_FOOTER, Kind.FOOTNOTE)
_EDGE: Final = 0.12
"""Share of a page's height, at the top and at the bottom, where running lines stand."""

_SAME_PLACE: Final = 0.015
"""Running lines of two pages differ by less than this share of the height."""

_FEWEST: Final = 3
"""Fewer pages with the same line may be a coincidence, such as two letters with one head."""

_LONGEST: Final = 120
"""Letters of the longest running line."""


_SMALLER: Final = 0.85
"""A title whose letters are smaller than this share of an earlier title's is a heading."""


def settle(reading: Reading) -> None:
    """Change the kinds of elements that the pages, seen together, show to be others."""
    _mark_running(reading)
    _demote_titles(reading)
    for page, following in pairwise(reading.pages):
        _join_lists(page, following)


def _demote_titles(reading: Reading) -> None:
    largest = 0.0
    for page in reading.pages:
        for element in page.elements:
            if element.kind is Kind.TITLE:
                size = _letter_size(element) / page.height
                if size < _SMALLER * largest:
                    element.kind, element.level = Kind.HEADING, 1
                largest = max(largest, size)


def _letter_size(element: Element) -> float:
    """About the size of an element's letters: one takes 0.5 by 1.2 of it."""
    return (element.box.area / (0.6 * max(len(element.text), 1))) ** 0.5 if element.box is not None else 0.0


def _mark_running(reading: Reading) -> None:
    """Make furniture of the paragraphs that run through at least three pages and a third of all.

    Two pages will do where one of them has shown it by itself.
    """
    found: dict[tuple[Kind, str], list[tuple[float, Element]]] = defaultdict(list)
    for page in reading.pages:
        known = [(e.kind, e) for e in page.elements if e.kind in _OUTSIDE[:2] and e.box is not None]
        for kind, element in (*known, *_candidates(page)):
            found[kind, re.sub(r"\d+", "#", element.text)].append((_height(page, element), element))
    for (kind, _), places in found.items():
        heights = sorted(height for height, _ in places)
        usual = heights[len(heights) // 2]
        same = [element for height, element in places if abs(height - usual) < _SAME_PLACE]
        fewest = 2 if any(element.kind is kind for element in same) else _FEWEST
        if len(same) >= max(fewest, len(reading.pages) / 3):
            for element in same:
                element.kind = kind


def _candidates(page: ReadPage) -> list[tuple[Kind, Element]]:
    """The page's first and last paragraphs, if they are short and stand at its edge."""
    body = [e for e in page.elements if e.kind not in _OUTSIDE[:2] and e.box is not None]
    ends = [(Kind.PAGE_HEADER, body[0]), (Kind.PAGE_FOOTER, body[-1])] if len(body) > 1 else []
    return [
        (kind, element)
        for kind, element in ends
        if element.kind is Kind.TEXT
        and 0 < len(element.text) <= _LONGEST
        and (_height(page, element) < _EDGE if kind is Kind.PAGE_HEADER else _height(page, element) > 1 - _EDGE)
    ]


def _height(page: ReadPage, element: Element) -> float:
    """How far down the page the element's middle is, from 0 to 1."""
    return element.box.centre[1] / page.height if element.box is not None else 0.5


def _join_lists(page: ReadPage, following: ReadPage) -> None:
    """Make list items of the last paragraph of a page and the first of the next where their numbers follow."""
    above = next((e for e in reversed(page.elements) if e.kind not in _OUTSIDE), None)
    below = next((e for e in following.elements if e.kind not in _OUTSIDE), None)
    if above is None or below is None or {above.kind, below.kind} != {Kind.TEXT, Kind.LIST_ITEM}:
        return
    item, text = (above, below) if above.kind is Kind.LIST_ITEM else (below, above)
    printed = NUMBERED.match(text.text)
    if not item.ordered or printed is None:
        return
    first, second = (item.marker, printed[1]) if item is above else (printed[1], item.marker)
    if _follows(first, second):
        text.kind, text.level, text.ordered = Kind.LIST_ITEM, item.level, True
        text.marker, text.text = printed[1], text.text[printed.end() :]


def _follows(first: str, second: str) -> bool:
    """Whether two printed numbers, such as 3. and 4., are neighbours."""
    one, other = (re.fullmatch(r"(\D*)(\d+)(\D*)", marker) for marker in (first, second))
    if one is None or other is None:
        return False
    return (one[1], one[3]) == (other[1], other[3]) and int(one[2]) + 1 == int(other[2])
