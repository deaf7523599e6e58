"""Headings that a tagged PDF names in its structure tree.

Only headings are taken from it, and where they name themselves plausibly: a tree that calls most of a page a heading,
or nothing, is that of a program that fills it in somehow.
"""

from __future__ import annotations

import ctypes
import re
from collections import defaultdict
from typing import Any, Final

MOST_NODES: Final = 20_000
MOST_OBJECTS: Final = 50_000
DEEPEST: Final = 40
"""How much of a tree and of a page is looked at; files may hold endless ones."""
LONGEST: Final = 200
"""Letters of a heading."""
MOST_LETTERS: Final = 0.3
"""Share of a page's letters from which its headings are no such."""

_HEADING: Final = re.compile(r"H([1-6])")


def tagged_headings(page: Any, textpage: Any) -> list[tuple[int, str]]:
    """Level and text of the headings that the structure tree of a pdfium page names. Hold the pdfium lock."""
    import pypdfium2.raw as pdfium

    tree = pdfium.FPDF_StructTree_GetForPage(page)
    if not tree:
        return []
    try:
        heads = _heads(tree)
    finally:
        pdfium.FPDF_StructTree_Close(tree)
    if not heads:
        return []
    texts = _texts(page, textpage)
    found = [
        (level, " ".join(" ".join(texts[mark] for mark in sorted(set(marks)) if mark >= 0).split()))
        for level, marks in heads
    ]
    if sum(len(text) for _, text in found) > MOST_LETTERS * sum(map(len, texts.values())):
        return []
    return [(level, text) for level, text in found if 0 < len(text) <= LONGEST]


def _heads(tree: Any) -> list[tuple[int, list[int]]]:
    """Level and marked content of the headings of a tree, in order."""
    import pypdfium2.raw as pdfium

    found: list[tuple[int, list[int]]] = []
    waiting: list[tuple[Any, int, list[int] | None]] = [
        (pdfium.FPDF_StructTree_GetChildAtIndex(tree, index), 0, None)
        for index in reversed(range(min(pdfium.FPDF_StructTree_CountChildren(tree), MOST_NODES)))
    ]
    nodes = 0
    while waiting and nodes < MOST_NODES:
        node, depth, marks = waiting.pop()
        nodes += 1
        if not node or depth > DEEPEST:
            continue
        if marks is None and (match := _HEADING.fullmatch(_type(node))):
            marks = []
            found.append((int(match[1]), marks))
        if marks is not None:
            count = min(pdfium.FPDF_StructElement_GetMarkedContentIdCount(node), MOST_NODES)
            marks += [pdfium.FPDF_StructElement_GetMarkedContentIdAtIndex(node, index) for index in range(count)]
        children = min(pdfium.FPDF_StructElement_CountChildren(node), MOST_NODES - nodes)
        waiting += [
            (pdfium.FPDF_StructElement_GetChildAtIndex(node, index), depth + 1, marks)
            for index in reversed(range(max(children, 0)))
        ]
    return found


def _type(node: Any) -> str:
    import pypdfium2.raw as pdfium

    buffer = ctypes.create_string_buffer(64)
    size = pdfium.FPDF_StructElement_GetType(node, buffer, len(buffer))
    return buffer.raw[: size - 2].decode("utf-16-le", "replace") if 2 < size <= len(buffer) else ""


def _texts(page: Any, textpage: Any) -> defaultdict[int, str]:
    """The text of each piece of marked content."""
    import pypdfium2.raw as pdfium

    texts: defaultdict[int, str] = defaultdict(str)
    for index in range(min(pdfium.FPDFPage_CountObjects(page), MOST_OBJECTS)):
        obj = pdfium.FPDFPage_GetObject(page, index)
        if pdfium.FPDFPageObj_GetType(obj) != pdfium.FPDF_PAGEOBJ_TEXT:
            continue
        size = pdfium.FPDFTextObj_GetText(obj, textpage, None, 0)
        if size > 2:
            buffer = (ctypes.c_ushort * (size // 2 + 1))()
            pdfium.FPDFTextObj_GetText(obj, textpage, buffer, size)
            piece = bytes(buffer)[: size - 2].decode("utf-16-le", "replace")
            texts[pdfium.FPDFPageObj_GetMarkedContentID(obj)] += piece
    return texts
