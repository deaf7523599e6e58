"""What the ink of a line tells besides its letters: the font's size and weight, and bullets that were not read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_TALL = frozenset("bdfhklijtABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789ßäöüéèêàâîïôûçáíóúñ()[]{}/|!?'\"“”‘’&%$€£@#")
_DEEP = frozenset("gjpqyçQ,;()[]{}/|@$")


@dataclass(frozen=True, slots=True)
class Ink:
    """`size` is the font size in pixels as far as the letters show it, `stroke` the width of its strokes in pixels;
    both 0 for a line without ink."""

    size: float
    stroke: float


def dark(crop: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Where the ink is in the image of one line, light on dark or dark on light."""
    import cv2

    grey = cv2.cvtColor(crop, cv2.COLOR_BGR2GRAY)
    _, mask = cv2.threshold(grey, 0, 1, cv2.THRESH_BINARY_INV | cv2.THRESH_OTSU)
    ink = np.asarray(mask, np.bool_)
    return np.logical_not(ink) if ink.mean() > 0.5 else ink


def measure(ink: NDArray[np.bool_], text: str) -> Ink:
    """Size and weight of a line of `text` whose ink is `ink` (height, width)."""
    top, bottom = _rows(ink.sum(axis=1))
    if top == bottom:
        return Ink(0.0, 0.0)
    line = ink[top:bottom]
    runs = int((line[:, 1:] & ~line[:, :-1]).sum() + line[:, 0].sum())
    return Ink((bottom - top) / _ems(text), float(line.sum()) / max(runs, 1))


def _rows(profile: NDArray[np.int64]) -> tuple[int, int]:
    """First row of a line and the row after its last: from its fullest rows outwards to the next white ones, so that
    a neighbour's ink at the edge of the picture does not count."""
    if profile.max(initial=0) < 2:
        return 0, 0
    core = np.flatnonzero(profile >= 0.4 * profile.max())
    white = profile < 2
    above, below = np.flatnonzero(white[: core[0]]), np.flatnonzero(white[core[-1] :])
    top = int(above[-1]) + 1 if len(above) else 0
    bottom = int(core[-1] + below[0]) if len(below) else len(profile)
    return top, bottom


def _ems(text: str) -> float:
    """How tall the letters of `text` stand together, in units of the font size."""
    if any(ord(char) > 0x2E7F for char in text):
        return 0.92
    letters = set(text)
    return (0.73 if letters & _TALL else 0.53) + (0.21 if letters & _DEEP else 0.0)


def leading_mark(ink: NDArray[np.bool_], places: Sequence[float], size: float) -> str:
    """The bullet or check box at the start of a line that was not read as a letter, or nothing.

    `places` are where letters were read, 0 to 1 along the line; `size` is the font size in pixels.
    """
    columns = np.asarray(ink.any(axis=0))
    if not places or size <= 0 or not columns.any():
        return ""
    start = int(np.argmax(columns))
    blank = np.flatnonzero(~columns[start:])
    if not len(blank):
        return ""
    end = start + int(blank[0])
    after = np.flatnonzero(columns[end:])
    if not len(after) or after[0] < 0.25 * size or places[0] * ink.shape[1] < end + 0.1 * size:
        return ""
    rows = np.flatnonzero(ink[:, start:end].any(axis=1))
    height, width = int(rows[-1] - rows[0]) + 1, end - start
    if not 0.15 * size <= width <= 1.1 * size or not 0.15 * size <= height <= 1.1 * size:
        return ""
    filled = float(ink[rows[0] : rows[-1] + 1, start:end].mean())
    if filled > 0.6 or min(height, width) < 0.45 * size:
        return "•"
    inner = ink[rows[0] + height // 4 : rows[-1] + 1 - height // 4, start + width // 4 : end - width // 4]
    return "☑" if inner.size and inner.mean() > 0.15 else "☐"
