"""The structure tree of a tagged PDF page, as plain data.

A tree names what each piece of the page's marked content is. It comes from the file and may be anything: endlessly
deep, endlessly wide, or a ring. So only so much of it is read, and pdfium's handles never leave this module.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

MOST_NODES: Final = 20_000
"""Nodes and pieces of content that are looked at on a page; a page of dense tables has about 3,000."""
DEEPEST: Final = 40
"""Depth of the deepest node that is looked at; web pages printed to PDF come to 25."""

_FURTHEST: Final = 1e6
"""Nothing of a page is further out, points."""
_LONGEST: Final = 4000
"""Bytes of a text that stands for a picture."""


@dataclass(slots=True)
class Node:
    """An element of the tree. Its `kids`, in order, are elements, the numbers of marked content, and None for what
    shows nothing on this page: an empty cell, an annotation. `kind` is the standard name for what it is, `box` the
    place it says it has (left, bottom, right, top in user space)."""

    kind: str
    kids: list[Node | int | None] = field(default_factory=list)
    alt: str = ""
    rowspan: int = 1
    colspan: int = 1
    box: tuple[float, float, float, float] | None = None

    def marks(self) -> Iterator[int]:
        """All numbers of marked content at and under this element, in order."""
        waiting: list[Node | int | None] = [self]
        while waiting:
            kid = waiting.pop()
            if isinstance(kid, Node):
                waiting += reversed(kid.kids)
            elif kid is not None:
                yield kid


def read_tree(page: Any) -> Node | None:
    """The structure tree of a pdfium page, None where it has none or more than is looked at. Hold the pdfium lock."""
    import pypdfium2.raw as pdfium

    tree = pdfium.FPDF_StructTree_GetForPage(page)
    if not tree:
        return None
    try:
        return _copy(tree)
    finally:
        pdfium.FPDF_StructTree_Close(tree)


def _copy(tree: Any) -> Node | None:
    import pypdfium2.raw as pdfium

    count = pdfium.FPDF_StructTree_CountChildren(tree)
    if not 0 < count <= MOST_NODES:
        return None
    root = Node("")
    waiting = [
        (root, pdfium.FPDF_StructTree_GetChildAtIndex(tree, index), -1, DEEPEST) for index in reversed(range(count))
    ]
    seen = 0
    while waiting:
        parent, handle, mark, depth = waiting.pop()
        seen += 1
        if not handle:
            parent.kids.append(mark if mark >= 0 else None)
            continue
        node = _node(handle)
        parent.kids.append(node)
        count = max(0, pdfium.FPDF_StructElement_CountChildren(handle))
        if not depth or seen + len(waiting) + count > MOST_NODES:
            return None
        for index in reversed(range(count)):
            inner = pdfium.FPDF_StructElement_GetChildAtIndex(handle, index)
            number = -1 if inner else pdfium.FPDF_StructElement_GetChildMarkedContentID(handle, index)
            waiting.append((node, inner, number, depth - 1))
    return root


def _node(handle: Any) -> Node:
    import pypdfium2.raw as pdfium

    node = Node(_text(pdfium.FPDF_StructElement_GetType, handle))
    if node.kind in ("Figure", "Formula"):
        node.alt = _text(pdfium.FPDF_StructElement_GetAltText, handle)
        node.box = _box(handle)
    elif node.kind in ("TH", "TD"):
        node.rowspan, node.colspan = _span(handle, b"RowSpan"), _span(handle, b"ColSpan")
    return node


def _text(ask: Callable[[Any, Any, int], int], handle: Any) -> str:
    buffer = ctypes.create_string_buffer(_LONGEST)
    size = ask(handle, buffer, _LONGEST)
    return buffer.raw[: size - 2].decode("utf-16-le", "replace") if 2 < size <= _LONGEST else ""


def _span(handle: Any, name: bytes) -> int:
    """Over how many rows or columns a cell reaches."""
    spans = [number for number in map(_number, _attributes(handle, name)) if 1 <= number <= MOST_NODES]
    return int(spans[0]) if spans else 1


def _box(handle: Any) -> tuple[float, float, float, float] | None:
    import pypdfium2.raw as pdfium

    for value in _attributes(handle, b"BBox"):
        if pdfium.FPDF_StructElement_Attr_CountChildren(value) == 4:
            children = [pdfium.FPDF_StructElement_Attr_GetChildAtIndex(value, index) for index in range(4)]
            left, bottom, right, top = (_number(child) if child else math.nan for child in children)
            if left < right and bottom < top and max(map(abs, (left, bottom, right, top))) <= _FURTHEST:
                return left, bottom, right, top
    return None


def _attributes(handle: Any, name: bytes) -> Iterator[Any]:
    """The values of an element's attribute."""
    import pypdfium2.raw as pdfium

    for index in range(min(max(0, pdfium.FPDF_StructElement_GetAttributeCount(handle)), DEEPEST)):
        attributes = pdfium.FPDF_StructElement_GetAttributeAtIndex(handle, index)
        if attributes and (value := pdfium.FPDF_StructElement_Attr_GetValue(attributes, name)):
            yield value


def _number(value: Any) -> float:
    import pypdfium2.raw as pdfium

    number = ctypes.c_float()
    return number.value if pdfium.FPDF_StructElement_Attr_GetNumberValue(value, number) else math.nan
