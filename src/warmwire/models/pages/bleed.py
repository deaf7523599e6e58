"""Print of the other side of the sheet, which shines through thin paper, taken away before the page is read.

What shines through is pale and stands mirrored. Pale alone is nothing: grey type, a faded receipt and a watermark are
pale as well. So lines that are much paler than the page's darkest are read as they stand and mirrored. Only where
enough of them read better mirrored is there another side; they show how dark its ink comes through, and everything on
the page that is no darker and no part of darker ink becomes paper, except where pale lines read well as they stand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from warmwire.models.pages.cuts import crop
from warmwire.models.pages.engines import LineReading, Pixels, Quads

PALE: Final = 0.5
"""Contrast of a line to its paper, as a share of the page's dark lines', below which it may shine through: on made
pages print of the other side has 0.1 to 0.4."""
DARK_LINES: Final = 0.9
"""Which share of the lines is less dark than the dark ones."""
TRIED: Final = 40
"""So many of the pale lines are read, the longest."""
SURE: Final = 0.9
LONG: Final = 3.0
"""A pale line that reads so surely as it stands, no worse than mirrored, is the page's own, if it is so many times
longer than high: of single letters and figures neither tells much."""
SURER: Final = 0.1
MIRRORED: Final = 0.8
"""Mirrored print reads so much more surely in the mirror: over two pages it is 0.82 to 1 there, and 0.3 to 0.8 as it
stands."""
LETTERS: Final = 8
"""So many letters must read mirrored, in words of three and more, all lines together: stars and noughts of a chart look
the same both ways."""
DARKER: Final = 1.5
"""How much darker the darkest spots of print that shines through are than its lines on the whole."""
FRINGE: Final = 5
"""Pale pixels in a square of so many around dark ones are the soft edge of a letter."""
GRID: Final = 8
"""Paper is looked at in squares of so many pixels, and is as bright as the brightest of nine by nine of them."""

_WORD: Final = re.compile(r"[^\W\d_]{3,}")

Glance = Callable[[Sequence[Pixels]], list[LineReading]]


def without_back(page: Pixels, quads: Quads, glance: Glance) -> Pixels:
    """The page, with lines at `quads`, without what shines through; the same array where nothing does."""
    if not len(quads):
        return page
    contrasts = _contrasts(page, quads)
    dark = float(np.quantile(contrasts, DARK_LINES))
    widths = np.linalg.norm(quads[:, 1] - quads[:, 0], axis=1)
    heights = np.linalg.norm(quads[:, 3] - quads[:, 0], axis=1)
    pale = np.flatnonzero(contrasts < PALE * dark)
    pale = pale[np.argsort(-widths[pale])][:TRIED]
    if not len(pale):
        return page
    crops = [crop(page, quads[i]) for i in pale]
    plain = np.array([reading.confidence for reading in glance(crops)])
    readings = glance([np.ascontiguousarray(image[:, ::-1]) for image in crops])
    mirrored = np.array([reading.confidence for reading in readings])
    back = (mirrored > plain + SURER) & (mirrored >= MIRRORED)
    words = [
        word for reading, shines in zip(readings, back, strict=True) if shines for word in _WORD.findall(reading.text)
    ]
    if sum(map(len, words)) < LETTERS:
        return page
    own = pale[(plain >= SURE) & (plain >= mirrored) & (widths[pale] > LONG * heights[pale])]
    through = min(DARKER * float(contrasts[pale[back]].max()), PALE * dark)
    return _cleaned(page, through, quads[own])


def _contrasts(page: Pixels, quads: Quads) -> NDArray[np.float64]:
    """How much darker the ink of each line is than the paper around it, 0 to 1."""
    import cv2

    grey = np.asarray(cv2.cvtColor(page, cv2.COLOR_BGR2GRAY), np.uint8)
    low, high = np.floor(quads.min(axis=1)).astype(int), np.ceil(quads.max(axis=1)).astype(int)
    contrasts = np.zeros(len(quads))
    for i, ((left, top), (right, bottom)) in enumerate(zip(np.maximum(low, 0).tolist(), high.tolist(), strict=True)):
        part = grey[top : bottom + 1, left : right + 1]
        reached = np.cumsum(cv2.calcHist([part], [0], None, [256], [0, 256]).ravel(), dtype=np.float64)
        ink, paper = np.searchsorted(reached, (0.05 * part.size, 0.75 * part.size))
        contrasts[i] = 1 - ink / max(paper, 1)
    return contrasts


def _cleaned(page: Pixels, through: float, own: Quads) -> Pixels:
    """The page with ink up to a contrast of `through` as bright as its paper, but not in `own` lines."""
    import cv2

    height, width = page.shape[:2]
    small = cv2.resize(page, (max(1, width // GRID), max(1, height // GRID)), interpolation=cv2.INTER_AREA)
    small = cv2.blur(cv2.dilate(small, np.ones((9, 9), np.uint8)), (9, 9))
    paper = cv2.resize(small, (width, height), interpolation=cv2.INTER_LINEAR)
    grey, white = (cv2.cvtColor(image, cv2.COLOR_BGR2GRAY) for image in (page, paper))
    darkness = 1 - grey / np.maximum(white, 1).astype(np.float32)
    kept = cv2.dilate((darkness > through).astype(np.uint8), np.ones((FRINGE, FRINGE), np.uint8))
    cv2.fillPoly(kept, list(np.round(own).astype(np.int32)), 1)
    return np.where(kept[:, :, None] > 0, page, np.maximum(page, paper)).astype(np.uint8)
