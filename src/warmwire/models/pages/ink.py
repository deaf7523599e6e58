"""What the ink of a line tells besides its letters: how tall, how bold and how slanted they are, and bullets that were
not read.

The picture of a line is cut generously, so that on tight pages it has feet of the line above and heads of the line
below. These hang in from the upper or lower edge and do not reach the rows where the line has most of its ink; without
them the rest is the line's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from warmwire.models.pages.stature import Stature, stature_of
from warmwire.models.pages.strokes import mark_of

MIN_DARKNESS = 0.15
"""Grey lighter than this share of the way from paper to ink is paper."""
REACH = 0.55
"""How far from its middle a letter's ink goes at most, in heights of the line's picture; a wide one takes 0.4."""
MIN_SLANTED = 4
"""Fewer letters do not show their slant: an A has two."""
MIN_DOTS, DOT = 3, 0.3
"""So many pieces of ink, all smaller than that in heights of the picture, are dots: an i has a stem."""
TALL = 0.15
"""A column with less ink than that, in heights of the line's picture, has no letter's: a dash, dot leaders, a rule."""


INTO = 0.3
"""Ink that hangs in from an edge and shares less of its height with the fullest rows is a neighbouring line's."""
MIN_THEIRS = 0.01
"""Less ink of neighbours than that, in squares of the picture's height, is no letter's."""
FLAT, LOW = 2.5, 0.2
"""A piece of ink so many times wider than high, and lower than that in heights of the picture, is a stroke: above or
below the small letters it is a piece of a ruling line."""
FULL = 0.4
"""A row with that share of the fullest row's ink is one where the small letters are."""
SLANTS = (-0.07, 0.0, 0.07, 0.14, 0.21, 0.28)
"""Slants that are tried, as the shift to the right per pixel upwards: italics have 0.17 to 0.3."""


@dataclass(frozen=True, slots=True)
class Ink:
    """What the letters of a line measure, in pixels of its picture.

    `top` and `bottom` are where the line's own ink begins and ends, equal without any. `stroke` is the width of the
    letters' strokes, 0 if unknown, `slant` how far they lean to the right per pixel upwards, None if unknown. `mark`
    is a bullet or check box before the letters, or empty; `start` and `end` are where the ink begins and ends, 0 to 1
    along the line. `unread` is the share of the letters' ink that is far from every letter read, 0 to 1.
    """

    top: float = 0.0
    bottom: float = 0.0
    stature: Stature = field(default_factory=Stature)
    stroke: float = 0.0
    slant: float | None = None
    mark: str = ""
    start: float = 0.0
    end: float = 1.0
    unread: float = 0.0


def measure(crop: NDArray[np.uint8], text: str, places: Sequence[float]) -> Ink:
    """Measure the image of one line (height, width, 3) that reads `text`, its letters at `places` (0 to 1 along it)."""
    ink, grey = _inked(crop)
    ink, _ = _parted(_without_strokes(_without_rules(ink)))
    mark, letters = _mark(ink, places)
    columns = np.flatnonzero(ink.any(axis=0))
    start, end = (columns[0], columns[-1] + 1) if len(columns) else (0, ink.shape[1])
    width = ink.shape[1]
    middles = np.array(places, np.float64) * width - letters
    spaces = np.array([char.isspace() for char in text], np.bool_)
    own = ink[:, letters:]
    pieces = _pieces(own)
    rows = np.flatnonzero(own.any(axis=1))
    top, bottom = (float(rows[0]), float(rows[-1] + 1)) if len(rows) else (0.0, 0.0)
    return Ink(
        top,
        bottom,
        stature_of(pieces, text, middles, ink.shape[0]),
        _stroke(own, grey[:, letters:]),
        _slant(own) if (~spaces).sum() >= MIN_SLANTED else None,
        mark,
        float(start) / width,
        float(end) / width,
        _unread(own, middles[~spaces]) if not _are_dots(pieces, ink.shape[0]) else 0.0,
    )


def alone(crop: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The image of one line without its neighbours' ink; the same array where there is none."""
    import cv2

    ink, _ = _inked(crop)
    own, theirs = _parted(ink)
    if theirs.sum() < MIN_THEIRS * crop.shape[0] ** 2:
        return crop
    spread = cv2.dilate(theirs.astype(np.uint8), np.ones((5, 5), np.uint8)).astype(np.bool_) & ~own
    without = crop.copy()
    without[spread] = np.median(crop[~ink], axis=0).astype(np.uint8)
    return without


def gap_near_middle(crop: NDArray[np.uint8]) -> int:
    """The column in the middle of the widest white in the middle half of a line's picture."""
    ink, _ = _inked(crop)
    width = ink.shape[1]
    inked = [width // 4 - 1, *(np.flatnonzero(ink[:, width // 4 : -(width // 4)].any(axis=0)) + width // 4)]
    gaps = np.diff(inked)
    if not len(gaps):
        return int(width) // 2
    widest = int(gaps.argmax())
    return (int(inked[widest]) + int(inked[widest + 1]) + 1) // 2


def _inked(crop: NDArray[np.uint8]) -> tuple[NDArray[np.bool_], NDArray[np.uint8]]:
    """Where a line has ink, and its picture in grey with the ink dark."""
    import cv2

    grey = np.asarray(cv2.cvtColor(crop, cv2.COLOR_BGR2GRAY), np.uint8)
    _, mask = cv2.threshold(grey, 0, 1, cv2.THRESH_BINARY_INV | cv2.THRESH_OTSU)
    ink = np.asarray(mask, np.bool_)
    if ink.mean() > 0.5:  # light letters on a dark ground
        return np.logical_not(ink), 255 - grey
    return ink, grey


def _parted(ink: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The line's own ink and its neighbours'."""
    import cv2

    height = ink.shape[0]
    core = _core(ink)
    if not len(core):
        return ink, np.zeros_like(ink)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(ink.astype(np.uint8), connectivity=8)
    tops, bottoms = stats[:, 1], stats[:, 1] + stats[:, 3]
    shared = np.minimum(bottoms, core[-1] + 1) - np.maximum(tops, core[0])
    foreign = ((tops == 0) | (bottoms == height)) & (shared < INTO * np.minimum(stats[:, 3], core[-1] + 1 - core[0]))
    foreign[0] = False
    theirs = foreign[labels]
    return ink & ~theirs, theirs


def _core(ink: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The rows where the small letters of a line are; none without ink in its middle."""
    height = ink.shape[0]
    inner = ink[height // 5 : height - height // 5].sum(axis=1)
    return np.flatnonzero(inner >= FULL * inner.max()) + height // 5 if inner.any() else np.zeros(0, np.int64)


def _without_strokes(ink: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Ink without pieces of ruling lines, broken or not quite level, above and below the letters."""
    import cv2

    height = ink.shape[0]
    _, labels, stats, _ = cv2.connectedComponentsWithStats(ink.astype(np.uint8), connectivity=8)
    flat = (stats[:, 2] >= FLAT * stats[:, 3]) & (stats[:, 3] <= LOW * height)
    flat[0] = False
    core = _core(ink & ~flat[labels])
    if not flat.any() or not len(core):
        return ink
    outside = flat & ((stats[:, 1] + stats[:, 3] <= core[0]) | (stats[:, 1] > core[-1]))
    return np.asarray(ink & ~outside[labels], np.bool_)


def _pieces(ink: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Boxes of the connected pieces of ink: left, top, right, bottom."""
    import cv2

    _, _, stats, _ = cv2.connectedComponentsWithStats(ink.astype(np.uint8), connectivity=8)
    boxes: NDArray[np.int32] = stats[1:, :4].astype(np.int32)
    boxes[:, 2:] += boxes[:, :2]
    return boxes


def _without_rules(ink: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Ink without the ruling lines at the edges of the picture: no letter fills it from side to side."""
    rows, columns = ink.mean(axis=1) > 0.85, ink.mean(axis=0) > 0.95
    height = ink.shape[0]
    rows[height // 4 : -(height // 4) or None] = False
    columns[height // 4 : -(height // 4) or None] = False
    rows[1:-1] |= rows[:-2] | rows[2:]  # a rough rule has ink in the next rows as well
    if not rows.any() and not columns.any():
        return ink
    ink = ink.copy()
    ink[rows] = False
    ink[:, columns] = False
    return ink


def _stroke(ink: NDArray[np.bool_], grey: NDArray[np.uint8]) -> float:
    """How wide the strokes are: the ink's area by the length of its edges, grey pixels counting in part."""
    rows = np.flatnonzero(ink.any(axis=1))
    if not len(rows):
        return 0.0
    line, shade = ink[rows[0] : rows[-1] + 1], grey[rows[0] : rows[-1] + 1]
    level = int((line[:, 1:] & ~line[:, :-1]).sum() + line[:, 0].sum())  # strokes met on the way along all rows ...
    upright = int((line[1:] & ~line[:-1]).sum() + line[0].sum())  # ... and down all columns
    paper, black = float(np.median(shade[~line])) if not line.all() else 255.0, float(np.percentile(shade[line], 20))
    darkness = (paper - shade) / max(paper - black, 1.0)
    area = float(np.clip(darkness, 0, 1)[darkness > MIN_DARKNESS].sum())
    return area / max(level + upright, 1)


def _slant(ink: NDArray[np.bool_]) -> float | None:
    """How far the letters lean: leant back by as much, their stems stand and columns are either full or empty."""
    rows = np.flatnonzero(ink.any(axis=1))
    columns = np.flatnonzero(ink.any(axis=0))
    if len(rows) < 8:
        return None
    line = ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    height, width = line.shape
    y, x = np.nonzero(line[::2])  # every other row is enough
    y = 2 * y
    fullness = []
    for slant in SLANTS:
        counts = np.bincount(np.rint(x - slant * (height - y) + height).astype(np.int64), minlength=width)
        fullness.append(float(np.square(counts).sum()))
    best = int(np.argmax(fullness))
    if not 0 < best < len(SLANTS) - 1:
        return SLANTS[best]
    before, most, after = fullness[best - 1 : best + 2]
    bend = 2 * most - before - after
    return SLANTS[best] + (SLANTS[1] - SLANTS[0]) * (0.5 * (after - before) / bend if bend else 0.0)


def _are_dots(pieces: NDArray[np.int32], height: int) -> bool:
    """Whether ink is a row of dots, as between a name and its page."""
    sides = pieces[:, 2:] - pieces[:, :2]
    return len(pieces) >= MIN_DOTS and bool(sides.max() < DOT * height)


def _unread(ink: NDArray[np.bool_], middles: NDArray[np.float64]) -> float:
    """The share of columns with a letter's ink that no letter with its middle at one of `middles` can have drawn."""
    height = ink.shape[0]
    columns = np.flatnonzero(ink.sum(axis=0) >= TALL * height)
    if not len(columns) or not len(middles):
        return float(len(columns) > 0)
    return float((np.abs(columns[:, None] - middles).min(axis=1) > REACH * height).mean())


def _mark(ink: NDArray[np.bool_], places: Sequence[float]) -> tuple[str, int]:
    """The bullet or check box at the start of a line that was not read as a letter, or nothing; and the column where
    the letters begin."""
    size = 0.7 * ink.shape[0]  # roughly: the detector leaves white around the letters
    columns = np.asarray(ink.any(axis=0))
    start = int(np.argmax(columns))
    blank = np.flatnonzero(~columns[start:])
    if not places or not len(blank):
        return "", 0
    end = start + int(blank[0])
    after = np.flatnonzero(columns[end:])
    if not len(after) or after[0] < 0.25 * size or places[0] * ink.shape[1] < end + 0.1 * size:
        return "", 0
    rows = np.flatnonzero(ink[:, start:end].any(axis=1))
    mark = mark_of(ink[rows[0] : rows[-1] + 1, start:end], size)
    return mark, end if mark else 0
