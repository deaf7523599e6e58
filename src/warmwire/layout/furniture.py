"""What stands around a page's text: running heads and feet."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from warmwire.layout.page import Box, Line, Region, RegionKind
from warmwire.layout.rows import bounds, rows_of, size_of

MARGIN = 0.065
"""Running heads and feet stand within this share of the page's height from its edge, or ..."""
WIDE_MARGIN = 0.11
"""... within this share where something else says so: a rule, a layout model, a page number."""

_FOLIO = re.compile(
    r"[-–—·\s]*(?:(?:page|seite|p\.|s\.|sheet|blatt|página|pág\.|pagina|folio|第)\s*)?\d{1,4}"
    r"(?:\s*(?:/|of|von|de|sur|di|van|av)\s*\d{1,4})?\s*页?[-–—·\s]*",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Furniture:
    """The lines of a page told apart: running heads, running feet, and the text between."""

    head: list[Line]
    foot: list[Line]
    text: list[Line]


def furniture(
    lines: Sequence[Line], height: float, size: float, regions: Sequence[Region] = (), rules: Sequence[Box] = ()
) -> Furniture:
    """Tell running heads and feet from text: the one row nearest to the edge, small, short and set off."""
    rows = rows_of(lines)
    if len(rows) < 3:
        return Furniture([], [], list(lines))
    head, foot = [], []
    if _is_running(rows[0], rows[1], height, size, [r.box for r in regions if r.kind is RegionKind.HEADER], rules):
        head = rows[0]
    if _is_running(rows[-1], rows[-2], height, size, [r.box for r in regions if r.kind is RegionKind.FOOTER], rules):
        foot = rows[-1]
    taken = {id(line) for line in (*head, *foot)}
    return Furniture(head, foot, [line for line in lines if id(line) not in taken])


def _is_running(
    row: Sequence[Line], inner: Sequence[Line], height: float, size: float, seen: Sequence[Box], rules: Sequence[Box]
) -> bool:
    box, other = bounds(line.box for line in row), bounds(line.box for line in inner)
    at_top = box.centre[1] < other.centre[1]
    depth = box.bottom if at_top else height - box.top
    if depth > WIDE_MARGIN * height or max(map(size_of, row)) > 1.15 * size:
        return False
    between = other.top - box.bottom if at_top else box.top - other.bottom
    backed = any(box.intersection(region) > 0.5 * box.area for region in seen)
    low, high = sorted((box.centre[1], other.centre[1]))
    ruled = any(low < rule.centre[1] < high and rule.width > 0.4 * max(box.width, other.width) for rule in rules)
    folio = all(_FOLIO.fullmatch(line.text.strip()) for line in row)
    if folio:
        return between > 0.8 * size
    if ruled or backed:
        return between > 0.4 * size
    return depth <= MARGIN * height and between > 1.4 * size
