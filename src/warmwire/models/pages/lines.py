"""From places of lines to lines of text: cut out, read, measure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import compress, pairwise
from statistics import median

import numpy as np
from numpy.typing import NDArray

from warmwire.layout.markers import markers_of
from warmwire.layout.page import Box, Line
from warmwire.models.pages.engines import Pixels, Quads, Reading
from warmwire.models.pages.ink import Ink, measure
from warmwire.models.pages.legible import are_legible, legibility
from warmwire.models.pages.shade import evened
from warmwire.models.pages.strokes import Mark

BOLD = 1.2
"""Strokes this much wider than the page's usual ones, for the letters' size, are bold."""
MIN_SHAPE = 2.0
"""What is not so many times wider than high, and cannot be read, is a smudge or a sign rather than a line."""

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


@dataclass(frozen=True, slots=True)
class _Seen:
    """One line as it was cut out, read and measured."""

    image: Pixels
    box: Box
    reading: Reading
    ink: Ink

    @property
    def letters(self) -> int:
        return sum(not char.isspace() for char in self.reading.text)

    @property
    def length(self) -> float:
        """In its own heights; 0 for a stroke or a row of dots that was taken for a line."""
        return self.image.shape[1] / self.image.shape[0] if self.letters or self.ink.unread else 0.0


def read_lines(
    crops: Sequence[Pixels], boxes: Sequence[Box], recognise: Callable[[Sequence[Pixels]], list[Reading]]
) -> tuple[list[Line], int]:
    """The lines of a page that can be read, with size and weight from their ink, and how many more there are."""
    seen = [
        _Seen(image, box, reading, measure(evened(image), reading.text, reading.places))
        for image, box, reading in zip(crops, boxes, recognise(crops), strict=True)
    ]
    scores = [legibility(line.reading, line.ink) for line in seen]
    legible = are_legible(scores, [line.letters for line in seen], [line.length for line in seen])
    lost = sum(not known and line.length > MIN_SHAPE for line, known in zip(seen, legible, strict=True))
    seen = list(compress(seen, legible))
    weights = [line.ink.weight for line in seen for _ in line.reading.text if line.ink.weight]
    usual = median(weights) if weights else 0.0
    return [_line(line, size, usual) for line, size in zip(seen, _sizes(seen), strict=True)], lost


def _line(seen: _Seen, size: float, usual: float) -> Line:
    """A line whose font is `size` in its picture's pixels, on a page whose usual weight is `usual`, 0 if unknown."""
    box, ink = seen.box, seen.ink
    return Line(
        Box(box.left + ink.start * box.width, box.top, box.left + ink.end * box.width, box.bottom),
        f"{ink.mark} {seen.reading.text.strip()}".strip(),
        seen.reading.confidence,
        size * box.height / seen.image.shape[0] or box.height,
        ink.weight > BOLD * usual if ink.weight else None,
    )


def _sizes(seen: Sequence[_Seen]) -> list[float]:
    """The font size of each line in its picture's pixels.

    How tall all ink stands is misled by a neighbouring line's ink, and by grain that hides the few letters which
    reach down. How high the small letters stand is not, so it bounds the size; their share of it is learned from the
    page's long lines.
    """
    long = [line.ink.size / line.ink.core for line in seen if line.ink.core and len(line.reading.text) > 12]
    ratio = median(long) if long else 0.0
    sizes = []
    for line in seen:
        text, ink = line.reading.text, line.ink
        small = sum(char.islower() for char in text)
        low = 0.94 * ratio * ink.core if small >= 12 and small > 0.7 * len(text) else 0.0
        high = 1.06 * ratio * ink.core if ratio and len(text) >= 5 else ink.size
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
