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

from warmwire.models.pages.inked import AREA, HEIGHT, TOP, WIDTH, Inked, Pieces, by_column, by_row, quantile
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


def measure(picture: Inked, text: str, places: Sequence[float]) -> Ink:
    """Measure the picture of one line that reads `text`, its letters at `places` (0 to 1 along it)."""
    ink, pieces = _letters_of(picture)
    height, width = ink.shape
    mark, letters = _mark(ink, places)
    columns = np.flatnonzero(by_column(ink))
    start, end = (columns[0], columns[-1] + 1) if len(columns) else (0, width)
    middles = np.array(places, np.float64) * width - letters
    spaces = np.array([char.isspace() for char in text], np.bool_)
    own = ink[:, letters:]
    pieces = pieces[pieces[:, 2] > letters] - (letters, 0, letters, 0)
    rows = np.flatnonzero(by_row(own))
    top, bottom = (float(rows[0]), float(rows[-1] + 1)) if len(rows) else (0.0, 0.0)
    return Ink(
        top,
        bottom,
        stature_of(pieces, text, middles, height),
        _stroke(own, picture.grey[:, letters:]),
        _slant(own) if (~spaces).sum() >= MIN_SLANTED else None,
        mark,
        float(start) / width,
        float(end) / width,
        _unread(own, middles[~spaces]) if not _are_dots(pieces, height) else 0.0,
    )


def _letters_of(picture: Inked) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """The ink of a line's letters, without rules and neighbours, and the boxes of its pieces: left, top, right,
    bottom."""
    ink = _without_rules(picture.ink)
    pieces = picture.pieces if ink is picture.ink else Pieces(ink)
    kept = np.ones(len(pieces.stats), np.bool_)
    kept[0] = False
    strokes = _strokes(ink, pieces)
    if strokes.any():
        kept &= ~strokes
        ink = pieces.only(kept)
    theirs = _theirs(ink, pieces) & kept
    if theirs.any():
        kept &= ~theirs
        ink = pieces.only(kept)
    boxes = pieces.stats[kept, :4]
    boxes[:, 2:] += boxes[:, :2]
    return ink, boxes


def alone(picture: Inked) -> Inked:
    """The picture of one line without its neighbours' ink; the same where there is none."""
    import cv2

    pieces = picture.pieces
    theirs = _theirs(picture.ink, pieces)
    if pieces.stats[theirs, AREA].sum() < MIN_THEIRS * picture.ink.shape[0] ** 2:
        return picture
    spread = cv2.dilate(pieces.only(theirs), np.ones((5, 5), np.uint8)) > 0
    own = ~theirs
    own[0] = False
    spread &= ~own[pieces.labels]
    without = picture.image.copy()
    without[spread] = np.median(picture.image[picture.ink == 0], axis=0).astype(np.uint8)
    return Inked(without)


def gap_near_middle(picture: Inked) -> int:
    """The column in the middle of the widest white in the middle half of a line's picture."""
    ink = picture.ink
    width = ink.shape[1]
    inked = [width // 4 - 1, *(np.flatnonzero(by_column(ink[:, width // 4 : -(width // 4)])) + width // 4)]
    gaps = np.diff(inked)
    if not len(gaps):
        return int(width) // 2
    widest = int(gaps.argmax())
    return (int(inked[widest]) + int(inked[widest + 1]) + 1) // 2


def _theirs(ink: NDArray[np.uint8], pieces: Pieces) -> NDArray[np.bool_]:
    """Which pieces are of neighbouring lines, by where the small letters of `ink` are."""
    height = ink.shape[0]
    core = _core(ink)
    if not len(core):
        return np.zeros(len(pieces.stats), np.bool_)
    tops, heights = pieces.stats[:, TOP], pieces.stats[:, HEIGHT]
    bottoms = tops + heights
    shared = np.minimum(bottoms, core[-1] + 1) - np.maximum(tops, core[0])
    theirs = ((tops == 0) | (bottoms == height)) & (shared < INTO * np.minimum(heights, core[-1] + 1 - core[0]))
    theirs[0] = False
    return np.asarray(theirs, np.bool_)


def _core(ink: NDArray[np.uint8]) -> NDArray[np.int64]:
    """The rows where the small letters of a line are; none without ink in its middle."""
    height = ink.shape[0]
    inner = by_row(ink[height // 5 : height - height // 5])
    return np.flatnonzero(inner >= FULL * inner.max()) + height // 5 if inner.any() else np.zeros(0, np.int64)


def _strokes(ink: NDArray[np.uint8], pieces: Pieces) -> NDArray[np.bool_]:
    """Which pieces are of ruling lines, broken or not quite level, above and below the letters."""
    stats = pieces.stats
    flat = (stats[:, WIDTH] >= FLAT * stats[:, HEIGHT]) & (stats[:, HEIGHT] <= LOW * ink.shape[0])
    flat[0] = False
    if not flat.any():
        return np.asarray(flat, np.bool_)
    letters = ~flat
    letters[0] = False
    core = _core(pieces.only(letters))
    if not len(core):
        return np.zeros(len(stats), np.bool_)
    return np.asarray(flat & ((stats[:, TOP] + stats[:, HEIGHT] <= core[0]) | (stats[:, TOP] > core[-1])), np.bool_)


def _without_rules(ink: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Ink without the ruling lines at the edges of the picture, the same array where there are none: no letter fills
    it from side to side."""
    height, width = ink.shape
    rows, columns = by_row(ink) > 0.85 * width, by_column(ink) > 0.95 * height
    rows[height // 4 : -(height // 4) or None] = False
    columns[height // 4 : -(height // 4) or None] = False
    if not rows.any() and not columns.any():
        return ink
    rows[1:-1] |= rows[:-2] | rows[2:]  # a rough rule has ink in the next rows as well
    ink = ink.copy()
    ink[rows] = 0
    ink[:, columns] = 0
    return ink


def _stroke(ink: NDArray[np.uint8], grey: NDArray[np.uint8]) -> float:
    """How wide the strokes are: the ink's area by the length of its edges, grey pixels counting in part."""
    import cv2

    rows = np.flatnonzero(by_row(ink))
    if not len(rows):
        return 0.0
    line, shade = ink[rows[0] : rows[-1] + 1], grey[rows[0] : rows[-1] + 1]
    level = np.count_nonzero(line[:, 1:] > line[:, :-1]) + np.count_nonzero(line[:, 0])  # strokes met along all rows
    upright = np.count_nonzero(line[1:] > line[:-1]) + np.count_nonzero(line[0])  # ... and down all columns
    shades = cv2.calcHist([shade], [0], None, [256], [0, 256]).ravel()
    inked = cv2.calcHist([shade], [0], line, [256], [0, 256]).ravel()
    paper = quantile(shades - inked, 0.5) if line.size > inked.sum() else 255.0
    darkness = (paper - np.arange(256)) / max(paper - quantile(inked, 0.2), 1.0)
    area = float((np.clip(darkness, 0, 1) * shades)[darkness > MIN_DARKNESS].sum())
    return area / max(int(level + upright), 1)


def _slant(ink: NDArray[np.uint8]) -> float | None:
    """How far the letters lean: leant back by as much, their stems stand and columns are either full or empty."""
    rows = np.flatnonzero(by_row(ink))
    columns = np.flatnonzero(by_column(ink))
    if len(rows) < 8:
        return None
    line = ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    height = len(line)
    y, x = np.nonzero(line[::2])  # every other row is enough
    shifts = np.rint(height - np.multiply.outer(SLANTS, height - np.arange(0, height, 2))).astype(np.int64)
    shifts -= shifts.min()
    fullness = [float(np.square(np.bincount(x + shift[y])).sum()) for shift in shifts]
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


def _unread(ink: NDArray[np.uint8], middles: NDArray[np.float64]) -> float:
    """The share of columns with a letter's ink that no letter with its middle at one of `middles` can have drawn."""
    height = ink.shape[0]
    columns = np.flatnonzero(by_column(ink) >= TALL * height)
    if not len(columns) or not len(middles):
        return float(len(columns) > 0)
    sides = np.concatenate([[-np.inf], np.sort(middles), [np.inf]])
    after = np.searchsorted(sides, columns)
    away = np.minimum(sides[after] - columns, columns - sides[after - 1])
    return float((away > REACH * height).mean())


def _mark(ink: NDArray[np.uint8], places: Sequence[float]) -> tuple[str, int]:
    """The bullet or check box at the start of a line that was not read as a letter, or nothing; and the column where
    the letters begin."""
    size = 0.7 * ink.shape[0]  # roughly: the detector leaves white around the letters
    columns = by_column(ink) > 0
    start = int(np.argmax(columns))
    blank = np.flatnonzero(~columns[start:])
    if not places or not len(blank):
        return "", 0
    end = start + int(blank[0])
    after = np.flatnonzero(columns[end:])
    if not len(after) or after[0] < 0.25 * size or places[0] * ink.shape[1] < end + 0.1 * size:
        return "", 0
    rows = np.flatnonzero(by_row(ink[:, start:end]))
    mark = mark_of(ink[rows[0] : rows[-1] + 1, start:end] > 0, size)
    return mark, end if mark else 0
