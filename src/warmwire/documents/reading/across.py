"""What only several pages together tell: running heads and feet, headings, what goes on over a page break.

A numbered line alone at the foot of a page is a list's first item when the next page has the second; a list may go on
in its inner part; a paragraph that ends within a sentence goes on where the next page begins within one.
"""

from __future__ import annotations

import re
from functools import partial
from itertools import pairwise
from typing import Final

from warmwire.documents.reading.levels import set_levels
from warmwire.documents.reading.record import Reading, ReadPage
from warmwire.documents.reading.running import mark_running
from warmwire.layout.blocks.markers import NUMBERED
from warmwire.layout.guard import StageGuard
from warmwire.layout.page import Element, Kind

OUTSIDE: Final = (Kind.PAGE_HEADER, Kind.PAGE_FOOTER, Kind.FOOTNOTE)
"""What stands around a page's text, and does not end what goes on over a page break."""

_FIGURES: Final = (*OUTSIDE, Kind.PICTURE, Kind.TABLE, Kind.CAPTION)
_ENDS: Final = re.compile(r"[^\W\d_](?:[-‐]|,)?$")
"""How a paragraph ends that goes on: in a word, a broken one or a comma."""
_SHORTEST: Final = 40
"""Letters of a paragraph that goes on to the next page; a shorter one may be a label."""
_ALIKE: Final = 1.1
"""Sizes of the two parts differ by less than this factor."""


def settle(reading: Reading) -> None:
    """Change the kinds and levels of elements that the pages, seen together, show to be others.

    Never raises: a stage that fails is left out, and the first page's record names it.
    """
    guard = StageGuard(reading.pages[0].record.skipped if reading.pages else [])
    guard.run("running lines", lambda: mark_running(reading), lambda: None)
    guard.run("levels", lambda: set_levels(reading), lambda: None)
    for page, following in pairwise(reading.pages):
        guard.run("lists", partial(_join_lists, page, following), lambda: None)


def broken_paragraph(page: ReadPage, following: ReadPage) -> tuple[Element, Element] | None:
    """The last paragraph of a page and the first of the next where these are one, or the last and the first listing."""
    if page.record.page + 1 != following.record.page:
        return None
    above = next((e for e in reversed(page.elements) if e.kind not in _FIGURES), None)
    below = next((e for e in following.elements if e.kind not in _FIGURES), None)
    if above is None or below is None:
        return None
    listing = above.kind is below.kind is Kind.CODE
    if not listing and (above.kind not in (Kind.TEXT, Kind.LIST_ITEM) or below.kind is not Kind.TEXT):
        return None
    known = above.size > 0 and below.size > 0
    if known and max(above.size, below.size) > _ALIKE * min(above.size, below.size):
        return None
    if listing:
        return above, below
    open_end = len(above.text) >= _SHORTEST and _ENDS.search(above.text.rstrip())
    return (above, below) if open_end and below.text[:1].islower() else None


def goes_on(page: ReadPage, following: ReadPage) -> bool:
    """Whether the list at the end of a page goes on at the beginning of the next."""
    above = next((e for e in reversed(page.elements) if e.kind not in OUTSIDE), None)
    below = next((e for e in following.elements if e.kind not in OUTSIDE), None)
    if above is None or below is None or {above.kind, below.kind} != {Kind.LIST_ITEM}:
        return False
    if not below.ordered:
        return any(item.marker == below.marker and item.level == below.level for item in _open_items(page))
    return any(item.level == below.level and _follows(item.marker, below.marker) for item in _open_items(page))


def _join_lists(page: ReadPage, following: ReadPage) -> None:
    """Make list items of the last paragraph of a page and the first of the next where their numbers follow, and give
    items that go on with an inner list its level."""
    above = next((e for e in reversed(page.elements) if e.kind not in OUTSIDE), None)
    below = next((e for e in following.elements if e.kind not in OUTSIDE), None)
    if above is None or below is None:
        return
    if above.kind is below.kind is Kind.LIST_ITEM:
        _deepen(page, following, below)
    if {above.kind, below.kind} != {Kind.TEXT, Kind.LIST_ITEM}:
        return
    item, text = (above, below) if above.kind is Kind.LIST_ITEM else (below, above)
    printed = NUMBERED.match(text.text)
    if not item.ordered or printed is None:
        return
    first, second = (item.marker, printed[1]) if item is above else (printed[1], item.marker)
    if _follows(first, second):
        text.kind, text.level, text.ordered = Kind.LIST_ITEM, item.level, True
        text.marker, text.text = printed[1], text.text[printed.end() :]


def _deepen(page: ReadPage, following: ReadPage, first: Element) -> None:
    """Give the items that open a page the level of the list whose number goes on there; where an outer list goes on
    among them, its items keep theirs."""
    ends = [item for item in _open_items(page) if item.ordered]
    inner = next((item for item in ends if _follows(item.marker, first.marker)), None)
    if inner is None or inner.level <= first.level:
        return
    shift = inner.level - first.level
    outer = [item.marker for item in ends if item.level < inner.level]
    for element in following.elements:
        if element.kind in OUTSIDE:
            continue
        if element.kind is not Kind.LIST_ITEM or any(_follows(marker, element.marker) for marker in outer):
            return
        element.level += shift


def _open_items(page: ReadPage) -> list[Element]:
    """The last item of each level of the list that ends a page, the innermost first."""
    found: list[Element] = []
    for element in reversed(page.elements):
        if element.kind in OUTSIDE:
            continue
        if element.kind is not Kind.LIST_ITEM:
            break
        if not found or element.level < found[-1].level:
            found.append(element)
    return found


def _follows(first: str, second: str) -> bool:
    """Whether two printed numbers, such as 3. and 4., or (a) and (b), are neighbours."""
    one, other = (re.fullmatch(r"(\W*)(\d+|[^\W\d_])(\W*)", marker) for marker in (first, second))
    if one is None or other is None or (one[1], one[3]) != (other[1], other[3]):
        return False
    if one[2].isdecimal() and other[2].isdecimal():
        return int(one[2]) + 1 == int(other[2])
    return len(one[2]) == len(other[2]) == 1 and ord(one[2]) + 1 == ord(other[2])
