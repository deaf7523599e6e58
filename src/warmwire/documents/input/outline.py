"""A file's own outline (its bookmarks), and which headings it names."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

MOST: Final = 5000
"""Entries that are read of an outline; files may hold endless ones."""
DEEPEST: Final = 6
LONGEST: Final = 2000
"""Bytes of a title that are read."""
ENOUGH: Final = 0.5
"""Share of the entries on the pages read that must name a heading, for the outline to be this document's."""


@dataclass(frozen=True, slots=True)
class Bookmark:
    """An entry: its depth from 1, its title and its page from 1, 0 where it has none."""

    depth: int
    title: str
    page: int


def read_outline(pdf: Any) -> list[Bookmark]:
    """The outline of a pdfium document. Hold the pdfium lock."""
    import pypdfium2.raw as pdfium

    found: list[Bookmark] = []
    seen: set[int] = set()
    waiting = [(1, pdfium.FPDFBookmark_GetFirstChild(pdf, None))]
    while waiting and len(found) < MOST:
        depth, entry = waiting.pop()
        if not entry:
            continue
        address = ctypes.addressof(entry.contents)
        if address in seen:
            continue
        seen.add(address)
        target = pdfium.FPDFBookmark_GetDest(pdf, entry)
        page = pdfium.FPDFDest_GetDestPageIndex(pdf, target) + 1 if target else 0
        found.append(Bookmark(depth, _title(entry), max(page, 0)))
        waiting.append((depth, pdfium.FPDFBookmark_GetNextSibling(pdf, entry)))
        if depth < DEEPEST:
            waiting.append((depth + 1, pdfium.FPDFBookmark_GetFirstChild(pdf, entry)))
    return found


def _title(entry: Any) -> str:
    import pypdfium2.raw as pdfium

    size = pdfium.FPDFBookmark_GetTitle(entry, None, 0)
    if not 2 < size <= LONGEST:
        return ""
    buffer = ctypes.create_string_buffer(size)
    pdfium.FPDFBookmark_GetTitle(entry, buffer, size)
    return buffer.raw[: size - 2].decode("utf-16-le", "replace")


def depths(outline: Sequence[Bookmark], headings: Sequence[tuple[int, str]]) -> list[int]:
    """For each heading (its page and text) its depth in the outline, counted from 1 over those that were found; 0
    where the outline does not name it. All 0 where the outline is of something else."""
    places: dict[str, list[tuple[int, int]]] = {}
    for at, (page, text) in enumerate(headings):
        for key in _keys(text):
            places.setdefault(key, []).append((page, at))
    pages = {page for page, _ in headings}
    found = [0] * len(headings)
    named = 0
    for bookmark in outline:
        hits = [places[key] for key in _keys(bookmark.title) if key in places]
        free = [at for page, at in (hits[0] if hits else []) if bookmark.page in (0, page) and not found[at]]
        if free:
            found[free[0]] = bookmark.depth
            named += 1
    known = sum(bookmark.page in pages for bookmark in outline)
    if named < 2 or named < ENOUGH * known:
        return [0] * len(headings)
    ranks = {depth: rank for rank, depth in enumerate(sorted({depth for depth in found if depth}), 1)}
    return [ranks.get(depth, 0) for depth in found]


def same_text(text: str) -> str:
    """What two writings of one text have in common: its letters and figures."""
    return re.sub(r"[\W_]+", "", text).casefold()


def _keys(title: str) -> Iterator[str]:
    """How a title is compared: with and without its number."""
    whole = same_text(title)
    bare = same_text(re.sub(r"^\W*(?:\d+(?:\.\d+)*|[A-Z]|[IVXLC]+)[.):\s]\s*", "", title))
    if whole:
        yield whole
    if len(bare) > 3 and bare != whole:
        yield bare
