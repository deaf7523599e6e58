"""From places of lines to lines of text: cut out, read, measure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median

import numpy as np
from numpy.typing import NDArray

from warmwire.layout.markers import markers_of
from warmwire.layout.page import Box, Line
from warmwire.models.pages.engines import Pixels, Quads, Reading
from warmwire.models.pages.ink import Ink, measure
from warmwire.models.pages.strokes import Mark

BOLD = 1.2
"""Strokes this much wider than the page's usual ones, for the letters' size, are bold."""


HEIGHT = 48
"""Height of the picture of a line that the recogniser takes, pixels."""
MAX_WIDTH = 100 * HEIGHT
"""A line longer than that is a ruling line or an accident, and would cost what a whole page does."""


def crop(image: Pixels, quad: NDArray[np.float32]) -> Pixels:
    """The image of one line, level, as high as the recogniser wants it, so that small letters are enlarged once and
    smoothly."""
    import cv2

    top, right, bottom, left = (float(np.linalg.norm(side)) for side in np.roll(quad, -1, axis=0) - quad)
    long, high = max(top, bottom, 1.0), max(left, right, 1.0)
    scale = min(max(HEIGHT / high, 1.0), max(MAX_WIDTH / long, 1.0))
    width, height = max(1, round(long * scale)), max(1, round(high * scale))
    corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    matrix = cv2.getPerspectiveTransform(quad.astype(np.float32), corners)
    warped = cv2.warpPerspective(image, matrix, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    if height > HEIGHT or width > MAX_WIDTH:
        size = (min(max(1, round(long * HEIGHT / high)), MAX_WIDTH), HEIGHT)
        warped = cv2.resize(warped, size, interpolation=cv2.INTER_AREA)
    return np.asarray(warped, np.uint8)


def split_at_rules(quads: Quads, boxes: Sequence[Box], rules: Sequence[Box]) -> tuple[Quads, list[Box]]:
    """Cut lines where an upright rule passes through them: two cells of a table found as one line."""
    parts: list[NDArray[np.float32]] = []
    places: list[Box] = []
    uprights = [rule for rule in rules if rule.height > rule.width]
    for quad, box in zip(quads, boxes, strict=True):
        cuts = sorted(
            rule.centre[0]
            for rule in uprights
            if box.left + 0.6 * box.height < rule.centre[0] < box.right - 0.6 * box.height
            and rule.top <= box.top + 0.3 * box.height
            and rule.bottom >= box.bottom - 0.3 * box.height
            and rule.height > 1.4 * box.height  # else it may be the stem of a large letter
        )
        edges = [box.left, *cuts, box.right]
        for start, end in pairwise(edges):
            low, high = (start - box.left) / box.width, (end - box.left) / box.width
            top, bottom = quad[1] - quad[0], quad[2] - quad[3]
            parts.append(
                np.array(
                    [quad[0] + low * top, quad[0] + high * top, quad[3] + high * bottom, quad[3] + low * bottom],
                    np.float32,
                )
            )
            places.append(Box(start, box.top, end, box.bottom))
    return np.array(parts, np.float32).reshape(-1, 4, 2), places


def read_lines(
    crops: Sequence[Pixels], boxes: Sequence[Box], recognise: Callable[[Sequence[Pixels]], list[Reading]]
) -> list[Line]:
    """The lines of a page, with size and weight from their ink. A line that reads as nothing is left out."""
    readings = recognise(crops)
    inks = [measure(image, reading.text, reading.places) for image, reading in zip(crops, readings, strict=True)]
    weights = [ink.weight for ink, reading in zip(inks, readings, strict=True) for _ in reading.text if ink.weight]
    usual = median(weights) if weights else 0.0
    sizes = _sizes(inks, readings)
    lines = []
    for image, reading, ink, size, box in zip(crops, readings, inks, sizes, boxes, strict=True):
        text = f"{ink.mark} {reading.text.strip()}".strip()
        if reading.text.strip():
            size = size * box.height / image.shape[0] or box.height
            bold = ink.weight > BOLD * usual if ink.weight else None
            place = Box(box.left + ink.start * box.width, box.top, box.left + ink.end * box.width, box.bottom)
            lines.append(Line(place, text, reading.confidence, size, bold))
    return lines


def _sizes(inks: Sequence[Ink], readings: Sequence[Reading]) -> list[float]:
    """The font size of each line in its picture's pixels.

    How tall all ink stands is misled by a neighbouring line's ink, and by grain that hides the few letters which
    reach down. How high the small letters stand is not, so it bounds the size; their share of it is learned from the
    page's long lines.
    """
    long = [
        ink.size / ink.core for ink, reading in zip(inks, readings, strict=True) if ink.core and len(reading.text) > 12
    ]
    ratio = median(long) if long else 0.0
    sizes = []
    for ink, reading in zip(inks, readings, strict=True):
        small = sum(char.islower() for char in reading.text)
        low = 0.94 * ratio * ink.core if small >= 12 and small > 0.7 * len(reading.text) else 0.0
        high = 1.06 * ratio * ink.core if ratio and len(reading.text) >= 5 else ink.size
        sizes.append(max(low, min(high, ink.size)))
    return sizes


def with_marks(lines: Sequence[Line], marks: Sequence[Mark | None]) -> list[Line]:
    """Lines with the marks that stand before them, unless they open with one of their own."""
    return [
        line
        if mark is None or markers_of(line.text)
        else replace(line, text=f"{mark.text} {line.text}", box=replace(line.box, left=mark.left))
        for line, mark in zip(lines, marks, strict=True)
    ]
