"""What is drawn on a page besides letters: ruling lines, pictures, and bullets that stand apart from their text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warmwire.layout.page import Box

MAX_RULES = 2000
"""More strokes than that are a pattern; the longest are kept."""


Ink = NDArray[np.uint8]
"""Where a page is darker than its neighbourhood: shape (height, width), 255 for ink and 0 for paper."""


def ink_of(image: NDArray[np.uint8], size: float) -> Ink:
    """The ink of a page, shape (height, width, 3); `size` is the body size in pixels."""
    import cv2

    grey = cv2.GaussianBlur(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), (3, 3), 0)  # grain must not look like ink
    window = 2 * max(7, round(0.8 * size)) + 1
    ink = cv2.adaptiveThreshold(grey, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, window, 12)
    return np.asarray(ink, np.uint8)


def find_rules(ink: Ink, size: float) -> list[Box]:
    """Ruling lines of an upright page as thin boxes: long, thin, straight, level or upright."""
    # A level rule must be longer than an upright one, because letters have longer level strokes than upright ones.
    high, long = max(12, round(1.6 * size)), max(20, round(3 * size))
    thick = max(4.0, 0.3 * size)
    levels, uprights = _rules(ink, long, thick, level=True), _rules(ink, high, thick, level=False)
    short = _rules(ink, max(10, round(0.8 * size)), thick, level=False) if levels else []
    uprights += [one for one in short[:MAX_RULES] if _parts_cells(one, levels, size) and not _is_known(one, uprights)]
    return [*levels, *uprights][:MAX_RULES]


def _parts_cells(stroke: Box, levels: Sequence[Box], size: float) -> bool:
    """Whether an upright stroke, no longer than a letter, goes from one level rule to another: a row's own border."""

    def ends_at(y: float) -> bool:
        return any(
            abs(level.centre[1] - y) < 0.18 * size
            and level.left - 0.3 * size < stroke.centre[0] < level.right + 0.3 * size
            for level in levels
        )

    return ends_at(stroke.top) and ends_at(stroke.bottom)


def _is_known(stroke: Box, others: Sequence[Box]) -> bool:
    return any(stroke.intersection(other) > 0.3 * stroke.area for other in others)


def _rules(ink: NDArray[np.uint8], length: int, thick: float, *, level: bool) -> list[Box]:
    import cv2

    shape = (length, 1) if level else (1, length)
    close = (1 + length // 6, 3) if level else (3, 1 + length // 6)
    swell = (1, 3) if level else (3, 1)  # so that a thin line that is not quite level holds together
    strokes = cv2.dilate(ink, cv2.getStructuringElement(cv2.MORPH_RECT, swell))
    strokes = cv2.erode(strokes, cv2.getStructuringElement(cv2.MORPH_RECT, shape))
    if not cv2.hasNonZero(strokes):
        return []
    strokes = cv2.dilate(strokes, cv2.getStructuringElement(cv2.MORPH_RECT, shape))
    strokes = cv2.morphologyEx(strokes, cv2.MORPH_CLOSE, cv2.getStructuringElement(cv2.MORPH_RECT, close))
    outlines, nesting = cv2.findContours(strokes, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_SIMPLE)
    found = []
    for outline, (_, _, _, outer) in zip(outlines, nesting[0] if outlines else (), strict=True):
        if outer >= 0:  # the edge of a hole
            continue
        left, top, width, height = cv2.boundingRect(outline)
        along, across = (width, height) if level else (height, width)
        if along >= 1.2 * length and across <= thick + 0.01 * along:
            found.append(Box(float(left), float(top), float(left + width), float(top + height)))
    return sorted(found, key=lambda box: -max(box.width, box.height))


@dataclass(frozen=True, slots=True)
class Mark:
    """A bullet or check box that stands before a line, its left edge, and the line's upper and lower ones."""

    text: str
    left: float
    top: float
    bottom: float


def find_marks(ink: Ink, boxes: Sequence[Box]) -> list[Mark | None]:
    """For each line the mark that stands alone before it. One mark is a speck; two under each other are a list."""
    sides = np.array([[box.left, box.top, box.right, box.bottom] for box in boxes], np.float64).reshape(-1, 4)
    marks = [_mark(ink, box, np.delete(sides, i, axis=0)) for i, box in enumerate(boxes)]
    found: list[Mark | None] = []
    for i, (mark, box) in enumerate(zip(marks, boxes, strict=True)):
        others = [other.left for j, other in enumerate(marks) if other is not None and j != i]
        alone = mark is None or not any(abs(mark.left - left) < 0.4 * box.height for left in others)
        found.append(None if alone else mark)
    return found


def _mark(ink: Ink, box: Box, others: NDArray[np.float64]) -> Mark | None:
    """The mark before a line, where none of the `others` stands (n, 4: left, top, right, bottom)."""
    high = box.height
    start, end = max(0, round(box.left - 2.4 * high)), max(0, round(box.left - 0.05 * high))
    top, bottom = max(0, round(box.top + 0.08 * high)), round(box.bottom - 0.08 * high)
    across = np.minimum(others[:, 2], end) - np.maximum(others[:, 0], start)
    down = np.minimum(others[:, 3], bottom) - np.maximum(others[:, 1], top)
    if (np.maximum(across, 0) * np.maximum(down, 0) > 0.05 * (end - start) * (bottom - top)).any():
        return None
    part = ink[top:bottom, start:end] > 0
    columns = np.flatnonzero(part.any(axis=0))
    rows = np.flatnonzero(part.any(axis=1))
    if not len(columns) or columns[0] == 0 or part.shape[1] - columns[-1] < 0.2 * high:
        return None
    blob = part[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    text = mark_of(blob, 0.7 * high)
    return Mark(text, float(start + columns[0]), box.top, box.bottom) if text else None


def mark_of(blob: NDArray[np.bool_], size: float) -> str:
    """What a blob of ink is as a list marker beside text of `size`: a bullet, a dash, a check box, or nothing."""
    height, width = blob.shape
    if width > 1.2 * size or height > 1.2 * size or width < 0.15 * size:
        return ""
    filled = float(blob.mean())
    if height < 0.25 * size and width > 0.25 * size:
        return "–" if filled > 0.6 and width > 2.2 * height else ""
    inner = blob[height // 4 : height - height // 4, width // 4 : width - width // 4]
    if filled > 0.6 and float(inner.mean()) > 0.9 and 0.5 < width / height < 2:
        return "•"
    edges = (blob[:3].any(axis=0), blob[-3:].any(axis=0), blob[:, :3].any(axis=1), blob[:, -3:].any(axis=1))
    if min(width, height) < 0.45 * size or min(float(edge.mean()) for edge in edges) < 0.8:
        return ""
    return "☑" if float(inner.mean()) > 0.15 else "☐"
