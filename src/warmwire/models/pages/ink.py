"""What the ink of a line tells besides its letters: the font's size and weight, and bullets that were not read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from warmwire.models.pages.strokes import mark_of

_TALL = frozenset("bdfhklijtABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789ßäöüéèêàâîïôûçáíóúñ()[]{}/|!?'\"“”‘’&%$€£@#")
_DEEP = frozenset("gjpqyçQ,;()[]{}/|@$")


MIN_DARKNESS = 0.15
"""Grey lighter than this share of the way from paper to ink is paper."""
REACH = 0.55
"""How far from its middle a letter's ink goes at most, in heights of the line's picture; a wide one takes 0.4."""
TALL = 0.15
"""A column with less ink than that, in heights of the line's picture, has no letter's: a dash, dot leaders, a rule."""


@dataclass(frozen=True, slots=True)
class Ink:
    """What the letters of a line measure: `size` is the font size as far as they show it, in pixels, `weight` the
    width of their strokes in units of the size; both 0 for a line without ink. `core` is the height of the rows with
    most ink, the small letters' in most lines. `mark` is a bullet or check box before
    the letters, or empty; `start` and `end` are where the ink begins and ends, 0 to 1 along the line. `unread` is the
    share of the letters' ink that is far from every letter read, 0 to 1."""

    size: float = 0.0
    weight: float = 0.0
    core: float = 0.0
    mark: str = ""
    start: float = 0.0
    end: float = 1.0
    unread: float = 0.0


def measure(crop: NDArray[np.uint8], text: str, places: Sequence[float]) -> Ink:
    """Measure the image of one line (height, width, 3) that reads `text`, its letters at `places` (0 to 1 along it)."""
    import cv2

    grey = cv2.cvtColor(crop, cv2.COLOR_BGR2GRAY)
    _, mask = cv2.threshold(grey, 0, 1, cv2.THRESH_BINARY_INV | cv2.THRESH_OTSU)
    ink = np.asarray(mask, np.bool_)
    if ink.mean() > 0.5:  # light letters on a dark ground
        ink, grey = np.logical_not(ink), 255 - grey
    ink = _without_rules(ink)
    mark, letters = _mark(ink, places)
    columns = np.flatnonzero(ink.any(axis=0))
    start, end = (columns[0], columns[-1] + 1) if len(columns) else (0, ink.shape[1])
    found = _letters(ink[:, letters:], grey[:, letters:], text)
    width = ink.shape[1]
    middles = [place * width - letters for char, place in zip(text, places, strict=True) if not char.isspace()]
    unread = _unread(ink[:, letters:], np.array(middles))
    return replace(found, mark=mark, start=float(start) / width, end=float(end) / width, unread=unread)


def _without_rules(ink: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Ink without the ruling lines at the edges of the picture: no letter fills it from side to side."""
    rows, columns = ink.mean(axis=1) > 0.85, ink.mean(axis=0) > 0.95
    height = ink.shape[0]
    rows[height // 4 : -(height // 4) or None] = False
    columns[height // 4 : -(height // 4) or None] = False
    if not rows.any() and not columns.any():
        return ink
    ink = ink.copy()
    ink[rows] = False
    ink[:, columns] = False
    return ink


def _letters(ink: NDArray[np.bool_], grey: NDArray[np.uint8], text: str) -> Ink:
    top, bottom, core = _rows(ink.sum(axis=1))
    if top == bottom:
        return Ink()
    line, shade = ink[top:bottom], grey[top:bottom]
    size = (bottom - top) / _ems(text)
    level = int((line[:, 1:] & ~line[:, :-1]).sum() + line[:, 0].sum())  # strokes met on the way along all rows ...
    upright = int((line[1:] & ~line[:-1]).sum() + line[0].sum())  # ... and down all columns
    paper, black = float(np.median(shade[~line])) if not line.all() else 255.0, float(np.percentile(shade[line], 20))
    darkness = (paper - shade) / max(paper - black, 1.0)
    area = float(np.clip(darkness, 0, 1)[darkness > MIN_DARKNESS].sum())
    return Ink(size, area / max(level + upright, 1) / size, core)


def _rows(profile: NDArray[np.int64]) -> tuple[int, int, int]:
    """First row of a line and the row after its last: from its fullest rows outwards to the next white ones, so that
    a neighbour's ink at the edge of the picture does not count; and how high the fullest rows are together."""
    if profile.max(initial=0) < 2:
        return 0, 0, 0
    core = np.flatnonzero(profile >= 0.4 * profile.max())
    white = profile < 2
    above, below = np.flatnonzero(white[: core[0]]), np.flatnonzero(white[core[-1] :])
    top = int(above[-1]) + 1 if len(above) else 0
    bottom = int(core[-1] + below[0]) if len(below) else len(profile)
    return top, bottom, int(core[-1] - core[0]) + 1


def _unread(ink: NDArray[np.bool_], middles: NDArray[np.float64]) -> float:
    """The share of columns with a letter's ink that no letter with its middle at one of `middles` can have drawn."""
    height = ink.shape[0]
    columns = np.flatnonzero(ink.sum(axis=0) >= TALL * height)
    if not len(columns) or not len(middles):
        return float(len(columns) > 0)
    return float((np.abs(columns[:, None] - middles).min(axis=1) > REACH * height).mean())


def _ems(text: str) -> float:
    """How tall the letters of `text` stand together, in units of the font size."""
    if any(ord(char) > 0x2E7F for char in text):
        return 0.92
    letters = set(text)
    return (0.73 if letters & _TALL else 0.53) + (0.21 if letters & _DEEP else 0.0)


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
