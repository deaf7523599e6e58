"""Formulas: what a page's text layer or its recogniser leaves of a displayed formula is a heap of shards.

A fraction gives two lines, a sum three, indices lines of their own. A shard has no words; shards close to each other,
one of which has the sign of a relation or an operation, are one formula.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from warmwire.layout.blocks.paragraphs import Paragraph
from warmwire.layout.page import Element, Line
from warmwire.layout.rows import bounds, rows_of

CLOSE = 2.5
"""Shards of one formula are no further apart than this, in units of the body."""
LONGEST = 80
"""Letters of a line that may be a shard."""

_RELATION = re.compile(r"[=<>≤≥≈≠≡∝∑∫√∏∂∞∈⊂∪∩→⇒]|\s[+−×÷±-]\s|\^|\\")
_WORD = re.compile(r"[^\W\d_]{4,}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_FUNCTIONS = re.compile(r"\b(?:sinh?|cosh?|tanh?|log|exp|max|min|lim|det|grad|rank|const|where|with|argmax|argmin)\b")


def is_shard(paragraph: Paragraph) -> bool:
    """Whether a paragraph has no words and is no item, value or label."""
    text = " ".join(line.text for line in paragraph.lines)
    if paragraph.marker is not None or paragraph.entry or len(text) > LONGEST * len(paragraph.lines):
        return False
    return not _WORD.search(_FUNCTIONS.sub("", text)) and not re.fullmatch(r"[\d.,\s%€$£]*|[A-Z]{2,}", text)


def _is_number(paragraph: Paragraph) -> bool:
    """Whether a paragraph is the number of a formula: "(12)"."""
    return re.fullmatch(r"\(?\d{1,3}(?:\.\d{1,3})*[a-z]?\)", paragraph.lines[0].text.strip()) is not None


def _is_scrap(paragraph: Paragraph) -> bool:
    """Whether a paragraph is so short that it belongs to a formula beside it: an index, half of a fraction."""
    return paragraph.marker is None and len(paragraph.lines) == 1 and len(paragraph.lines[0].text) <= 3


def with_formulas(parts: Sequence[Paragraph | Element], size: float) -> Iterator[Paragraph | Element]:
    """The parts of a page, the shards of each formula as one paragraph with `formula` set."""
    heap: list[Paragraph] = []
    for part in parts:
        is_part = isinstance(part, Paragraph) and (is_shard(part) or _is_number(part) or bool(heap and _is_scrap(part)))
        if heap and not (is_part and isinstance(part, Paragraph) and _are_close(heap, part, size)):
            yield from _formula(heap)
            heap = []
        if is_part and isinstance(part, Paragraph):
            heap.append(part)
        else:
            yield part
    yield from _formula(heap)


def _are_close(heap: Sequence[Paragraph], part: Paragraph, size: float) -> bool:
    box, other = bounds(one.box for one in heap), part.box
    apart = max(box.top, other.top) - min(box.bottom, other.bottom)
    return apart < CLOSE * size


def _formula(heap: Sequence[Paragraph]) -> Iterator[Paragraph]:
    text = " ".join(line.text for part in heap for line in part.lines)
    if not _RELATION.search(text) or all(_is_number(part) for part in heap):
        yield from heap
        return
    lines: list[Line] = [line for row in rows_of(line for part in heap for line in part.lines) for line in row]
    yield Paragraph(lines, formula=True)
