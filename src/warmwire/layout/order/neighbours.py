"""The edge of the neighbouring page: what a photo or a flatbed takes in beyond the fold of a book.

Its lines are cut by the picture's edge: a narrow strip of words at the very edge, where nobody prints, all ending or
beginning there, with the white of two margins between them and the page's own text. They are told from the last
column of a closely cropped table by their words, and by the page's own margin on the other side.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Final

from warmwire.layout.page import Line

# In units of the body size, measured on the photos of books of the tuning set: strips reach within 0.4 of the edge, the
# white beside them is 4 and more wide; the least numbers here are about half of that.
EDGE: Final = 1.0
"""White between a cut line and the picture's edge is no more."""
RIM: Final = 2.0
"""Signs that are read in the shadow of the paper's rim are no further from the picture's edge: up to 1.4."""
WHITE: Final = 2.5
"""White between the strip and the page's own text is no less."""
WIDEST: Final = 0.2
"""Share of the page's width that the strip takes at most."""
FEWEST: Final = 6
"""Lines of a strip."""
LETTERS: Final = 5
"""Letters of half of its lines, at least: a strip of figures is a column of the page."""
MOST: Final = 0.5
"""Share of all letters of the page that are beside it, at most: a page of formulas has few of its own."""
CROPPED: Final = 0.1
"""Share of the other lines at the other edge from which the picture is cropped to its text."""


def neighbour_lines(lines: Sequence[Line], width: float, size: float) -> list[Line]:
    """The lines of a page that belong to the page beside it."""
    found = _specks(lines, width, size)
    for mirrored in (False, True):
        spans = [(width - line.box.right, width - line.box.left) if mirrored else (line.box.left, line.box.right)
                 for line in lines]  # fmt: skip
        found += [lines[at] for at in _strip(spans, width, size, lines)]
    letters = sum(len(line.text) for line in lines)
    return found if sum(len(line.text) for line in found) <= MOST * letters else []


def _specks(lines: Sequence[Line], width: float, size: float) -> list[Line]:
    """Lines at the picture's edges, beyond all words, that have no letter or figure: shadows of the paper's rim."""
    words = [line.box for line in lines if any(map(str.isalnum, line.text))]
    left, right = min((box.left for box in words), default=0.0), max((box.right for box in words), default=width)
    margin = RIM * size
    return [
        line
        for line in lines
        if (line.box.right < min(left, margin) or line.box.left > max(right, width - margin))
        and not any(map(str.isalnum, line.text))
    ]


def _strip(spans: Sequence[tuple[float, float]], width: float, size: float, lines: Sequence[Line]) -> list[int]:
    """The places of the lines in a strip at the left edge of a page whose lines take these spans."""
    cut = [at for at, (left, right) in enumerate(spans) if left <= EDGE * size and right <= WIDEST * width]
    if len(cut) < FEWEST or median(sum(c.isalpha() for c in lines[at].text) for at in cut) < LETTERS:
        return []
    inner = max(spans[at][1] for at in cut)
    strip = [at for at, (_, right) in enumerate(spans) if right <= inner]
    chosen = set(strip)
    rest = [spans[at] for at in range(len(spans)) if at not in chosen]
    if not rest or len(cut) < 0.8 * len(strip) or min(left for left, _ in rest) - inner < WHITE * size:
        return []
    opposite = sum(width - right <= EDGE * size for _, right in rest)
    return strip if opposite <= CROPPED * len(rest) else []
