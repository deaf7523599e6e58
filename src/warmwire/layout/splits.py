"""Runs of text that were found as one and are two: a recogniser does not see a narrow gap between two cells.

Where the cut goes is told by the columns, never by the run alone; here is only how a run is cut at a place.
"""

from __future__ import annotations

from dataclasses import replace

from warmwire.layout.page import Box, Line

NARROW, BROAD = 0.55, 1.3
"""Widths of letters, in units of a usual one: of "i l . ," and of capitals, "m" and "w", in common text faces."""
_NARROW = frozenset("iljtfrI.,;:'|!()[]- ")
_BROAD = frozenset("mwMWABCDEFGHJKLNOPQRSTUVXYZ@%&—")


def split_at(line: Line, x: float, slack: float) -> tuple[Line, Line] | None:
    """`line` cut in two at the space nearest to `x`; None where none comes within `slack`.

    `x` is where the second part's column begins; the first is made to end well before it.
    """
    widths = [NARROW if c in _NARROW else BROAD if c in _BROAD else 1.0 for c in line.text]
    unit = line.box.width / max(sum(widths), 1e-6)
    place, best, found = line.box.left, slack, -1
    for i, (char, width) in enumerate(zip(line.text, widths, strict=True)):
        place += width * unit
        if char == " " and abs(place - x) < best:
            best, found = abs(place - x), i
    left, right = line.text[:found].rstrip(), line.text[found + 1 :].lstrip()
    if found < 0 or not left or not right:
        return None
    box = line.box
    return (
        replace(line, text=left, box=Box(box.left, box.top, max(x - slack / 2, box.left), box.bottom)),
        replace(line, text=right, box=Box(max(x, box.left), box.top, box.right, box.bottom)),
    )
