"""Boxes of a form: drawn like a table's cells, but each with its own label and value.

A table's columns hold values of one kind under one head. In a form every box says itself what it holds: it is numbered,
the number after that of the box before; its label ends in a colon; or it is set smaller than the value below it. Such
boxes are texts of their own, read from left to right and from top to bottom.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from warmwire.layout.looks import dress
from warmwire.layout.page import Element, Kind
from warmwire.layout.rows import bounds, rows_of, size_of
from warmwire.layout.tables.found import Slot, cell_text

SHARE = 0.6
"""So many of a form's filled boxes name what they hold; of a table's of names and values, half do."""
FEWEST = 3
"""Boxes that make a form."""
SMALLER = 0.87
"""A label above its value is set smaller by that; recognised sizes of one text stray by 0.08."""

_NUMBERED = re.compile(r"(\d{1,3})[a-z]?[.)]?\s+[^\W\d_]{2,}")
_NAMED = re.compile(r"[^\W\d_][^:：]{1,40}[:：](?=\s|$)")


def form_boxes(slots: Sequence[Slot]) -> list[Element]:
    """The boxes of a form as texts in reading order; none where the cells are a table's."""
    filled = sorted((slot for slot in slots if slot.lines), key=lambda slot: (slot.row, slot.column))
    if len(filled) < FEWEST or max(slot.row for slot in filled) == 0 or not _is_form(filled):
        return []
    return [
        dress(Element(Kind.TEXT, cell_text(slot.lines), bounds(line.box for line in slot.lines)), slot.lines)
        for slot in filled
    ]


def _is_form(filled: Sequence[Slot]) -> bool:
    texts = [cell_text(slot.lines) for slot in filled]
    numbers = [int(match[1]) for match in map(_NUMBERED.match, texts) if match]
    counted = sum(below == above + 1 for above, below in pairwise(numbers)) + 1 if numbers else 0
    named = [slot for slot, text in zip(filled, texts, strict=True) if _NAMED.match(text)]
    small = [slot for slot in filled if _has_small_label(slot)]
    if counted >= max(FEWEST, SHARE * len(filled)):
        return len({slot.column for slot in filled}) > 1 and _several_abreast(filled)
    return any(len(some) >= SHARE * len(filled) and _several_abreast(some) for some in (named, small))


def _several_abreast(slots: Sequence[Slot]) -> bool:
    """Whether boxes that name what they hold stand beside each other: a table's first column may be such alone."""
    rows = [slot.row for slot in slots]
    return any(rows.count(row) > 1 for row in rows)


def _has_small_label(slot: Slot) -> bool:
    """Whether a box opens with a line smaller than all below it."""
    rows = rows_of(slot.lines)
    if len(rows) < 2:
        return False
    return max(map(size_of, rows[0])) < SMALLER * min(size_of(line) for row in rows[1:] for line in row)
