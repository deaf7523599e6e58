"""Lines at an angle to the page: sideways text in a margin, watermarks, stamps.

They are no part of the flow: letters of a sideways line stand beside those of every level line it passes. So they are
set apart before rows and columns are looked for. In a margin, or large and slanted over the page, they are furniture;
elsewhere they are text that follows the rest.
"""

from __future__ import annotations

from collections.abc import Sequence

from warmwire.layout.blocks.hyphens import join_lines
from warmwire.layout.page import Box, Element, Kind, Line
from warmwire.layout.rows import bounds, size_of

MAX_SLANT = 5.0
"""Degrees a line of the flow may be askew: scans lean by a degree or two, stamps by ten and more."""
MIN_LEVEL = 0.1
"""Least share of the lines that makes a flow of their own beside lines at an angle."""
MARGIN = 0.12
"""Share of the page's width or height that is margin: A4 and Letter have 2.5 cm of 21, which is just that."""
LARGE = 1.5
"""A slanted line this much larger than the body is a watermark."""


def level_lines(lines: Sequence[Line]) -> tuple[list[Line], list[Line]]:
    """Lines of the flow, and those at an angle to it. Where nearly all are at an angle, that is how the page is read;
    lines are counted and not letters, since one stamp in a margin may say more than a page with two lines."""
    level = [line for line in lines if abs(line.angle) <= MAX_SLANT]
    if len(level) < MIN_LEVEL * len(lines):
        return list(lines), []
    return level, [line for line in lines if abs(line.angle) > MAX_SLANT]


def apart_elements(
    lines: Sequence[Line], width: float, height: float, size: float
) -> tuple[list[Element], list[Element]]:
    """Lines at an angle as elements: those of the margins and watermarks, and others; neighbours are one element."""
    furniture: list[Element] = []
    others: list[Element] = []
    for group in _groups(lines):
        box = bounds(line.box for line in group)
        marginal = _is_marginal(box, width, height) or _is_watermark(group, size)
        text = join_lines(line.text for line in group)
        (furniture if marginal else others).append(Element(Kind.PAGE_FOOTER if marginal else Kind.TEXT, text, box))
    return furniture, others


def _groups(lines: Sequence[Line]) -> list[list[Line]]:
    """Lines at one angle that follow each other closely, in the order they come in."""
    groups: list[list[Line]] = []
    for line in lines:
        last = groups[-1][-1] if groups else None
        if last is not None and abs(last.angle - line.angle) < 1 and _gap(last.box, line.box) < size_of(line):
            groups[-1].append(line)
        else:
            groups.append([line])
    return groups


def _gap(one: Box, other: Box) -> float:
    across = max(one.left, other.left) - min(one.right, other.right)
    down = max(one.top, other.top) - min(one.bottom, other.bottom)
    return max(across, down)


def _is_marginal(box: Box, width: float, height: float) -> bool:
    return (
        box.right < MARGIN * width
        or box.left > (1 - MARGIN) * width
        or box.bottom < MARGIN * height
        or box.top > (1 - MARGIN) * height
    )


def _is_watermark(lines: Sequence[Line], size: float) -> bool:
    slanted = all(15 < abs(line.angle) % 90 < 75 for line in lines)
    return slanted and all(size_of(line) > LARGE * size for line in lines)
