"""The printed numbers of headings: which way of counting each belongs to, and how deep.

A number counts when others of its kind stand beside it: "12 Angry Men" alone is no chapter, nor is "A Note" a
section A.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_WORD: Final = re.compile(
    r"(chapter|part|section|article|appendix|annex|kapitel|teil|abschnitt|artikel|anhang|anlage|chapitre|partie"
    r"|annexe|capítulo|sección|parte|capitolo|sezione|hoofdstuk|bijlage|§)\s*(?:\d{1,3}|[IVXLC]{1,6}|[A-Z])\b",
    re.IGNORECASE,
)
_DECIMAL: Final = re.compile(r"(?:[A-Z]\.)?(\d{1,2}(?:\.\d{1,2}){0,5})[.)]?\s+(?=[^\W\d_]|[“\"'‘«(])")
_LETTERED: Final = re.compile(r"[A-Z]\.(\d{1,2}(?:\.\d{1,2}){0,4})\s")
_ROMAN: Final = re.compile(r"([IVXLC]{1,6})[.)]\s+(?=\S)")
_UPPER: Final = re.compile(r"([A-Z])(?:[.)]\s+|\s{1,3})(?=[^\W\d_]{2})")
_LOWER: Final = re.compile(r"\(?([a-z])\)\s+(?=\S)")


@dataclass(frozen=True, slots=True)
class Numbering:
    """A way to count headings: "decimal", "roman", "upper", "lower" or the word before the number, and its depth."""

    kind: str
    depth: int = 1


def numberings(texts: Sequence[str]) -> list[Numbering | None]:
    """The numbering of each heading of a document, None where it has none."""
    found = [_numbering(text) for text in texts]
    counts = Counter(numbering for numbering in found if numbering is not None)
    deep = any(numbering is not None and numbering.kind == "decimal" and numbering.depth > 1 for numbering in found)
    if counts[Numbering("roman")] and not any(re.match(r"[IVXLC]{2,}", text) for text in texts):
        found = [Numbering("upper") if numbering == Numbering("roman") else numbering for numbering in found]
        counts = Counter(numbering for numbering in found if numbering is not None)
    return [
        numbering
        if numbering is not None and (counts[numbering] > 1 or (numbering.kind == "decimal" and deep))
        else None
        for numbering in found
    ]


def _numbering(text: str) -> Numbering | None:
    text = text.strip()
    if match := _WORD.match(text):
        return Numbering(match[1].lower())
    if match := _LETTERED.match(text):
        return Numbering("decimal", match[1].count(".") + 2)
    if match := _DECIMAL.match(text):
        return Numbering("decimal", match[1].count(".") + 1)
    if _ROMAN.match(text):
        return Numbering("roman")
    if _UPPER.match(text):
        return Numbering("upper")
    if _LOWER.match(text):
        return Numbering("lower")
    return None
