"""DocTags: how a page's elements travel as text.

    <doctag>
    <title><loc_60><loc_40><loc_440><loc_60>Annual report</title>
    <text>...</text>
    <unordered_list><list_item>...</list_item>
    </unordered_list>
    <otsl><ched>Item<ched>Price<nl>
    <fcel>Tea<fcel>3.20<nl>
    </otsl>
    </doctag>

Each element carries its place on a grid of 500 by 500 (left, top, right, bottom). What docling-core writes and
SmolDocling and Granite-Docling emit is read as well; see `doctags_parser` for what is tolerated. DocTags cannot
escape: where a page's own text holds a tag, the writer puts a space after its `<`, so that it stays text.
"""

from __future__ import annotations

from collections.abc import Iterable

from warmwire.layout.doctags.otsl import write_table
from warmwire.layout.doctags.parser import parse
from warmwire.layout.doctags.tokens import GRID, MAX_LEVEL, TAG, is_tag
from warmwire.layout.page import Box, Element, Kind

__all__ = ["GRID", "parse", "write_element", "write_elements", "write_page"]


def write_page(elements: Iterable[Element], width: float, height: float) -> str:
    """A whole page of `width` by `height`, in the unit of the elements' boxes."""
    return f"<doctag>\n{write_elements(elements, width, height)}</doctag>"


def write_elements(elements: Iterable[Element], width: float, height: float) -> str:
    """Elements in their order, without the page's own tag; neighbouring list items share their lists."""
    parts: list[str] = []
    lists: list[str] = []
    for element in elements:
        if element.kind is Kind.LIST_ITEM:
            parts.append(_list_step(lists, element))
        else:
            parts.append(_close_lists(lists, 0))
        parts.append(_element(element, width, height))
    parts.append(_close_lists(lists, 0))
    return "".join(parts)


def write_element(element: Element, width: float, height: float) -> str:
    """One element, ended by a newline; a list item in a list of its own."""
    return write_elements([element], width, height)


def _element(element: Element, width: float, height: float) -> str:
    tag = element.kind.value
    text = element.text
    if element.kind is Kind.HEADING:
        tag = f"{tag}_level_{min(max(element.level, 1), MAX_LEVEL)}"
    elif element.kind is Kind.LIST_ITEM and element.ordered and element.marker:
        text = f"{element.marker} {text}"
    place = _locations(element.box, width, height)
    if element.table is not None:
        return f"<{tag}>{place}{write_table(element.table, _as_text)}</{tag}>\n"
    language = "<_unknown_>" if element.kind is Kind.CODE else ""
    return f"<{tag}>{place}{language}{_as_text(text)}</{tag}>\n"


def _as_text(text: str) -> str:
    """`text` with every tag in it broken by a space, so that a reader takes it for text."""
    return TAG.sub(lambda match: f"< {match[0][1:]}" if is_tag(match["name"]) else match[0], text)


def _locations(box: Box | None, width: float, height: float) -> str:
    if box is None or width <= 0 or height <= 0:
        return ""
    places = (box.left / width, box.top / height, box.right / width, box.bottom / height)
    return "".join(f"<loc_{min(max(round(place * GRID), 0), GRID)}>" for place in places)


def _list_step(lists: list[str], item: Element) -> str:
    """The list tags between the item before and `item`; `lists` are the open ones. A list inside a list stands in
    an item of its own, as docling-core writes it."""
    name = "ordered_list" if item.ordered else "unordered_list"
    level = min(max(item.level, 1), MAX_LEVEL)
    closed = _close_lists(lists, level)
    if len(lists) == level and lists[-1] != name:
        closed += _close_lists(lists, level - 1)
    opened = []
    while len(lists) < level:
        opened.append(f"<list_item><{name}>" if lists else f"<{name}>")
        lists.append(name)
    return closed + "".join(opened)


def _close_lists(lists: list[str], level: int) -> str:
    closed = []
    while len(lists) > level:
        name = lists.pop()
        closed.append(f"</{name}></list_item>\n" if lists else f"</{name}>\n")
    return "".join(closed)
