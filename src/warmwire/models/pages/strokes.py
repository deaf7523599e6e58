"""Ruling lines in a picture of a page: long, thin, straight and dark, level or upright."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warmwire.layout.page import Box

MAX_RULES = 2000
"""More strokes than that are a pattern; the longest are kept."""


def find_rules(image: NDArray[np.uint8], size: float) -> list[Box]:
    """Ruling lines of an upright page, shape (height, width, 3), as thin boxes; `size` is the body size in pixels."""
    import cv2

    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    window = 2 * max(7, round(0.8 * size)) + 1
    ink = cv2.adaptiveThreshold(grey, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, window, 12)
    length = max(12, round(1.6 * size))
    thick = max(4.0, 0.3 * size)
    return [*_rules(ink, length, thick, level=True), *_rules(ink, length, thick, level=False)][:MAX_RULES]


def _rules(ink: NDArray[np.uint8], length: int, thick: float, *, level: bool) -> list[Box]:
    import cv2

    shape = (length, 1) if level else (1, length)
    close = (1 + length // 6, 3) if level else (3, 1 + length // 6)
    strokes = cv2.morphologyEx(ink, cv2.MORPH_OPEN, cv2.getStructuringElement(cv2.MORPH_RECT, shape))
    strokes = cv2.morphologyEx(strokes, cv2.MORPH_CLOSE, cv2.getStructuringElement(cv2.MORPH_RECT, close))
    _, _, stats, _ = cv2.connectedComponentsWithStats(strokes, connectivity=8)
    found = []
    for left, top, width, height, _area in stats[1:]:
        along, across = (width, height) if level else (height, width)
        if along >= 1.2 * length and across <= thick + 0.01 * along:
            found.append(Box(float(left), float(top), float(left + width), float(top + height)))
    return sorted(found, key=lambda box: -max(box.width, box.height))
