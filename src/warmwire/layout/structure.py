"""From the lines of a page to its elements in reading order."""

from __future__ import annotations

from collections.abc import Sequence

from warmwire.layout.page import Box, Element, Kind, Line, Region


def structure(
    lines: Sequence[Line],
    width: float,
    height: float,
    *,
    regions: Sequence[Region] = (),
    rules: Sequence[Box] = (),
) -> list[Element]:
    """Give the page's elements in reading order; every word of `lines` is in exactly one of them.

    `regions` are a layout model's guesses or the file's own pictures (`RegionKind.FIGURE`). `rules` are ruling
    lines: thin boxes, one per straight stroke (the sides of a drawn rectangle count each). All lengths are in one
    unit, the origin is the top left corner.
    """
    return [Element(Kind.TEXT, line.text, line.box) for line in sorted(lines, key=lambda line: line.box.top)]
