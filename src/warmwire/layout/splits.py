"""Runs of text that were found as one and are two: a recogniser does not see a narrow gap between two cells.

Where the cut goes is told by the columns, never by the run alone; here is only how a run is cut at a place.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate

from warmwire.layout.page import Box, Line

NARROW, BROAD = 0.55, 1.3
"""Widths of letters, in units of a usual one: of "i l . ," and of capitals, "m" and "w", in common text faces."""
_NARROW = frozenset("iljtfrI.,;:'|!()[]- ")
_BROAD = frozenset("mwMWABCDEFGHJKLNOPQRSTUVXYZ@%&—")


def split_at(line: Line, x: float, slack: float) -> tuple[Line, Line] | None:
    """`line` cut in two at the space nearest to `x`; None where none comes within `slack`.

    `x` is where the second part's column begins; the first is made to end well before it.
    """
    places = _spaces(line)
    found = min((abs(place - x), i) for i, place in places) if places else (slack, -1)
    left, right = line.text[: found[1]].rstrip(), line.text[found[1] + 1 :].lstrip()
    if found[0] >= slack or not left or not right:
        return None
    box = line.box
    return (
        replace(line, text=left, box=Box(box.left, box.top, max(x - slack / 2, box.left), box.bottom), run=None),
        replace(line, text=right, box=Box(max(x, box.left), box.top, box.right, box.bottom), run=None),
    )


def _spaces(line: Line) -> list[tuple[int, float]]:
    """Where in the text each space is, and where on the page it ends: as the recogniser saw the words, or guessed."""
    spaces = [i for i, char in enumerate(line.text) if char == " "]
    run = line.run
    if run is not None and len(run.spans) == len(spaces) + 1 == len(line.text.split()):
        return [
            (i, line.box.left + start * line.box.width) for i, (start, _) in zip(spaces, run.spans[1:], strict=True)
        ]
    widths = [NARROW if c in _NARROW else BROAD if c in _BROAD else 1.0 for c in line.text]
    unit = line.box.width / max(sum(widths), 1e-6)
    ends = list(accumulate(widths, initial=0.0))
    return [(i, line.box.left + ends[i + 1] * unit) for i in spaces]
