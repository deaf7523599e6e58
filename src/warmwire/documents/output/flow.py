"""A reading as one body, page after page: what every format that people read is written from.

Items of lists stand in their lists, which stand in the items they belong to; captions hang on their tables and
pictures; running heads and feet are left out. A list goes on over a page break where its marks do, and a paragraph
where one ends within a sentence: it is one item then, with a part on each page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, NamedTuple

from warmwire.documents.reading.across import OUTSIDE, broken_paragraph, goes_on
from warmwire.documents.reading.record import Reading, ReadPage
from warmwire.layout.blocks.hyphens import Vocabulary, join_lines
from warmwire.layout.page import Box, Element, Kind

FURNITURE: Final = (Kind.PAGE_HEADER, Kind.PAGE_FOOTER)
_CAPTIONED: Final = (Kind.TABLE, Kind.PICTURE)

_TEX: Final = re.compile(r"\\[A-Za-z]+|[_^]\{")
"""What makes a formula TeX; others are text."""

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
"""What no output format can hold."""


class FlowPart(NamedTuple):
    """An element of a page, and where its text ends in that of its item."""

    page: ReadPage
    element: Element
    end: int


@dataclass(slots=True)
class Item:
    """One piece of the body. `parts` are the elements it is made of, several where it goes on over pages; `lists` are
    the deeper ones of a list's item."""

    text: str
    parts: list[FlowPart]
    caption: Item | None = None
    lists: list[Listing] = field(default_factory=list)
    marker: str = ""

    @property
    def element(self) -> Element:
        return self.parts[0].element

    @property
    def kind(self) -> Kind:
        return self.element.kind

    @property
    def links(self) -> list[tuple[str, str]]:
        return [link for part in self.parts for link in part.element.links]

    @property
    def is_captioned_below(self) -> bool:
        """Whether its caption stands under it on the page; where nobody knows, it stands above."""
        if self.caption is None:
            return False
        page = self.parts[0].page
        own, other = (on_page(item.element.box, page) for item in (self, self.caption))
        return other.centre[1] > own.centre[1]


@dataclass(slots=True)
class Listing:
    """A list: whether it is counted, how deep it stands on the page, its items."""

    ordered: bool
    level: int
    items: list[Item] = field(default_factory=list)


def flow(reading: Reading) -> list[Item | Listing]:
    """The body of a reading, in order. Running heads and feet are items of it too; most formats leave them out."""
    body = _Body(reading)
    for page, following in pairwise([*reading.pages, None]):
        if page is not None:
            body.add_page(page, following)
    return body.blocks


class _Body:
    """Takes the elements of page after page."""

    def __init__(self, reading: Reading) -> None:
        self.blocks: list[Item | Listing] = []
        self._reading = reading
        self._vocabulary: Vocabulary | None = None
        self._lists: list[Listing] = []
        """Open lists from the outside in."""
        self._broken: tuple[Element, Element] | None = None
        """The two parts of a paragraph that the page's end cuts."""
        self._first: Item | None = None
        """The item of the first of these parts."""

    def add_page(self, page: ReadPage, following: ReadPage | None) -> None:
        """Add a page's elements; `following` is the one after it."""
        second = self._broken[1] if self._broken is not None else None
        self._broken = broken_paragraph(page, following) if following is not None else None
        captions = pair_captions(page.elements)
        taken = {id(caption) for caption in captions.values()}
        for index, element in enumerate(page.elements):
            if element is second and self._first is not None:
                self._go_on(self._first, page, element)
                continue
            if element.kind is not Kind.LIST_ITEM and element.kind not in OUTSIDE:
                self._lists.clear()
            if id(element) in taken:
                continue
            item = _item(page, element)
            if (caption := captions.get(index)) is not None:
                item.caption = _item(page, caption)
            self._add(item)
            if self._broken is not None and element is self._broken[0]:
                self._first = item
        if following is None or not goes_on(page, following):
            self._lists.clear()

    def _go_on(self, item: Item, page: ReadPage, rest: Element) -> None:
        """Add the second part of a paragraph to the item of the first. One over three pages stays that item."""
        if self._vocabulary is None:
            self._vocabulary = Vocabulary.of(e.text for page in self._reading.pages for e in page.elements)
        if item.kind is Kind.CODE:
            item.text = f"{item.text}\n{clean(rest.text)}"
        else:
            item.text = join_lines([item.text, clean(rest.text)], self._vocabulary)
        item.parts.append(FlowPart(page, rest, len(item.text)))

    def _add(self, item: Item) -> None:
        if item.kind is not Kind.LIST_ITEM:
            self.blocks.append(item)
            return
        element, lists = item.element, self._lists
        while lists and not (lists[-1].level < element.level or _is_of(lists[-1], element)):
            lists.pop()
        if not lists or lists[-1].level < element.level:
            listing = Listing(element.ordered, element.level)
            (lists[-1].items[-1].lists if lists else self.blocks).append(listing)
            lists.append(listing)
        items = lists[-1].items
        item.marker = clean(element.marker) or (f"{len(items) + 1}." if element.ordered else "")
        items.append(item)


def _item(page: ReadPage, element: Element) -> Item:
    return Item(clean(element.text), [FlowPart(page, element, len(element.text))])


def _is_of(listing: Listing, item: Element) -> bool:
    return listing.level == item.level and listing.ordered == item.ordered


def clean(text: str) -> str:
    """`text` without what no format can hold."""
    return _CONTROL.sub("", text)


def is_tex(text: str) -> bool:
    """Whether a formula is written in TeX, which is shown as such."""
    return _TEX.search(text) is not None


def on_page(box: Box | None, page: ReadPage) -> Box:
    """The part of a box that is on the page; the whole page where no box is known."""
    if box is None:
        return Box(0.0, 0.0, page.width, page.height)
    left, right = (min(max(x, 0.0), page.width) for x in (box.left, box.right))
    top, bottom = (min(max(y, 0.0), page.height) for y in (box.top, box.bottom))
    return Box(left, top, right, bottom)


def pictures(blocks: list[Item | Listing]) -> Iterator[Item]:
    """The pictures of a body, in order."""
    return (block for block in blocks if isinstance(block, Item) and block.kind is Kind.PICTURE)


def pair_captions(elements: list[Element]) -> dict[int, Element]:
    """The caption of each table and picture that has one right before or after it, the nearer one first."""
    pairs = [
        (_gap(elements[index], caption), index, caption)
        for at, caption in enumerate(elements)
        if caption.kind is Kind.CAPTION
        for index in (at + 1, at - 1)
        if 0 <= index < len(elements) and elements[index].kind in _CAPTIONED
    ]
    found: dict[int, Element] = {}
    taken: set[int] = set()
    for _, index, caption in sorted(pairs, key=lambda pair: pair[0]):
        if index not in found and id(caption) not in taken:
            found[index] = caption
            taken.add(id(caption))
    return found


def _gap(one: Element, other: Element) -> float:
    """The distance between two elements down the page."""
    if one.box is None or other.box is None:
        return 0.0
    return max(0.0, one.box.top - other.box.bottom, other.box.top - one.box.bottom)
