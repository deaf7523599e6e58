"""Round bullets that a recogniser took for a letter or a figure.

A ring is read as "o", "O", "0" or a degree sign. One such sign before a text is what it is. Several under each other,
each before words that begin at one left edge, with hardly another line at that place, are bullets: no column of a
table holds nothing but noughts. A file's own text needs none of this.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from warmwire.layout.page import Line
from warmwire.layout.rows import rows_of

FEWEST: Final = 3
"""Rings under each other."""
EDGE: Final = 0.5
"""How far their left edges differ, and those of their texts, in units of the body: recognised ones stray by 0.4."""
GAP: Final = 4.0
"""White between a ring and its text, likewise, at most."""
SHARE: Final = 0.9
"""Share of the lines that begin at that place, from above the first ring to below the last, that are rings."""
RING: Final = "○"

_LONE = re.compile(r"[oO0°。〇]")
_BEFORE = re.compile(r"[oO0°。〇]\s+(?=[^\W\d_]{2})")


@dataclass(slots=True)
class _Ring:
    """A line that is or opens with a round sign, and the left edge of the words behind it, where that is known."""

    line: Line
    words: float | None


def with_rings(lines: Sequence[Line], size: float) -> list[Line]:
    """`lines` with round signs that are bullets made such; `size` is the page's body size."""
    rings = sorted(_rings(lines, size), key=lambda ring: ring.line.box.left)
    made: dict[int, Line] = {}
    group: list[_Ring] = []
    for ring in [*rings, None]:
        if ring is None or (group and ring.line.box.left - group[0].line.box.left > EDGE * size):
            if _are_bullets(group, lines, size):
                made |= {id(one.line): _as_bullet(one.line) for one in group}
            group = []
        if ring is not None:
            group.append(ring)
    return [made.get(id(line), line) for line in lines]


def _rings(lines: Sequence[Line], size: float) -> list[_Ring]:
    if not any(line.mono is None and _LONE.match(line.text) for line in lines):
        return []
    found = []
    for row in rows_of(lines):
        found += [_Ring(line, None) for line in row if line.mono is None and _BEFORE.match(line.text)]
        for sign, text in pairwise(row):
            gap = text.box.left - sign.box.right
            if sign.mono is None and _LONE.fullmatch(sign.text) and gap < GAP * size and text.text[:1].isalpha():
                found.append(_Ring(sign, text.box.left))
    return found


def _are_bullets(group: Sequence[_Ring], lines: Sequence[Line], size: float) -> bool:
    if len(group) < FEWEST:
        return False
    edges = [ring.words for ring in group if ring.words is not None]
    if edges and max(edges) - min(edges) > EDGE * size:
        return False
    tops = [ring.line.box.top for ring in group]
    left = group[0].line.box.left
    beside = sum(
        min(tops) - 2 * size <= line.box.top <= max(tops) + 2 * size
        and -EDGE * size <= line.box.left - left <= 2 * EDGE * size
        for line in lines
    )
    return len(group) >= SHARE * beside


def _as_bullet(line: Line) -> Line:
    rest = line.text[1:].lstrip()
    return replace(line, text=f"{RING} {rest}" if rest else RING)
