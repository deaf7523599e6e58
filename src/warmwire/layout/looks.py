"""How elements look: taken from their lines, and carried beside DocTags, which have no place for it.

A report holds one entry an element, in their order: size, bold, italic and confidence. What no one knows is null.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Final

from warmwire.layout.page import Element, Line
from warmwire.layout.rows import size_of

_FIELDS: Final = 4


def dress(element: Element, lines: Sequence[Line]) -> Element:
    """Put the looks of an element's lines on it: the size of half its letters, and what all of them are."""
    letters = sum(len(line.text) for line in lines)
    if letters:
        half = letters / 2
        for size, count in sorted((size_of(line), len(line.text)) for line in lines):
            half -= count
            if half <= 0:
                element.size = size
                break
        element.confidence = sum(line.confidence * len(line.text) for line in lines) / letters
        element.bold = _all(line.bold for line in lines)
        element.italic = _all(line.italic for line in lines)
    return element


def _all(values: Iterable[bool | None]) -> bool | None:
    known = list(values)
    return None if None in known else all(known)


def looks_of(elements: Sequence[Element]) -> list[list[Any]]:
    """What a report says of elements that are sent as DocTags."""
    return [
        [
            round(element.size, 1) or None,
            None if element.bold is None else int(element.bold),
            None if element.italic is None else int(element.italic),
            None if element.confidence is None else round(element.confidence, 3),
        ]
        for element in elements
    ]


def put_looks(elements: Sequence[Element], report: object, scale: float, largest: float) -> bool:
    """Put the looks that a report gives on elements, sizes times `scale`; false where it does not fit them.

    A report may come from anyone: unless it has one sound entry for each element, none is taken. `largest` is the
    size that no letter is beyond.
    """
    if not isinstance(report, (list, tuple)) or len(report) != len(elements):
        return False
    if not all(_is_sound(entry, largest / scale) for entry in report):
        return False
    for element, (size, bold, italic, confidence) in zip(elements, report, strict=True):
        element.size = float(size or 0) * scale
        element.bold, element.italic = _flag(bold), _flag(italic)
        element.confidence = None if confidence is None else float(confidence)
    return True


def _is_sound(entry: object, largest: float) -> bool:
    if not isinstance(entry, (list, tuple)) or len(entry) != _FIELDS:
        return False
    size, bold, italic, confidence = entry
    return (
        _is_within(size, largest)
        and all(flag is None or flag in (0, 1) for flag in (bold, italic))
        and _is_within(confidence, 1.0)
    )


def _is_within(value: object, most: float) -> bool:
    if value is None:
        return True
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return math.isfinite(value) and 0 <= value <= most


def _flag(value: Any) -> bool | None:
    return None if value is None else bool(value)
