"""From places of lines to pictures of one line each.

A detector that sees a page small takes two cells for one line, or two columns' lines where the gutter is narrow. Ruling
lines and gutters that many lines share part them again. What lies across the page (a stamp in the margin, the name of
an axis, a watermark) is cut out along its own direction; of two directions the one that reads better is right.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from warmwire.layout.page import Box
from warmwire.models.pages.engines import Pixels, Quads
from warmwire.models.pages.geometry import MAX_SKEW, angle_of
from warmwire.models.pages.strokes import Ink

HEIGHT = 48
"""Height of the picture of a line that the recogniser takes, pixels."""
MAX_WIDTH = 100 * HEIGHT
"""A line longer than that is a ruling line or an accident, and would cost what a whole page does."""
STANDING = 3.0
"""What is so many times higher than wide stands on end: a narrow figure with the white around it has at most 2."""
DOUBTFUL = 1.5
"""What is so many times higher than wide may."""
LEANING = 2.5
"""So much longer than high, a line shows the angle it lies at."""
BORDER = 3.0
"""A rule so many times higher than a line is the border of several cells."""
PADDING = 0.2
"""White to each side of the border of one cell, in units of the line's box."""
GAP = 0.6
"""White within a line that may be a gutter, in units of its box's height; a word space has 0.25."""
WINDOW = 12
"""How far up and down a gutter is asked for, in the same units."""
SHARED = 3
"""So many lines to each side of a gutter must end and begin at it."""


@dataclass(frozen=True, slots=True)
class Cut:
    """One line as it was cut out: its box on the straight page, how high it is there in its own direction, and how far
    that direction is turned clockwise, in degrees. `quad` are its corners on the upright page, the top left first."""

    image: Pixels
    box: Box
    across: float
    angle: float = 0.0
    quad: NDArray[np.float32] | None = None


def cut_out(page: Pixels, quads: Quads, boxes: Sequence[Box], skew: float) -> list[list[Cut]]:
    """The lines of a page, each in all directions it may be read in, the likeliest first."""
    return [
        [_cut(page, np.roll(quad, roll, axis=0), box, skew) for roll in _directions(quad, skew)]
        for quad, box in zip(quads, boxes, strict=True)
    ]


def _directions(quad: NDArray[np.float32], skew: float) -> list[int]:
    """By how many corners a line's quad is to be turned so that its first side is the upper one of its letters."""
    width, height = (float(np.linalg.norm(quad[end] - quad[0])) for end in (1, 3))
    if height >= STANDING * width:
        return [1, -1, 0]
    if height >= DOUBTFUL * width:
        return [0, 1, -1]
    if width >= LEANING * height and abs(angle_of(quad) - skew) > MAX_SKEW:
        return [0, 2]
    return [0]


def _cut(page: Pixels, quad: NDArray[np.float32], box: Box, skew: float) -> Cut:
    angle = (angle_of(quad) - skew + 180) % 360 - 180
    if abs(angle) <= MAX_SKEW:
        return Cut(crop(page, quad), box, box.height, quad=quad)
    return Cut(crop(page, quad), box, float(np.linalg.norm(quad[3] - quad[0])), angle, quad)


def crop(image: Pixels, quad: NDArray[np.float32]) -> Pixels:
    """The image of one line, level, as high as the recogniser wants it, so that small letters are enlarged once and
    smoothly."""
    import cv2

    top, right, bottom, left = (float(np.linalg.norm(side)) for side in np.roll(quad, -1, axis=0) - quad)
    long, high = max(top, bottom, 1.0), max(left, right, 1.0)
    if _is_level(quad):
        return _level(image, quad, high)
    scale = min(max(HEIGHT / high, 1.0), max(MAX_WIDTH / long, 1.0))
    width, height = max(1, round(long * scale)), max(1, round(high * scale))
    corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    matrix = cv2.getPerspectiveTransform(quad.astype(np.float32), corners)
    warped = cv2.warpPerspective(image, matrix, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    if height > HEIGHT or width > MAX_WIDTH:
        size = (min(max(1, round(long * HEIGHT / high)), MAX_WIDTH), HEIGHT)
        warped = cv2.resize(warped, size, interpolation=cv2.INTER_AREA)
    return np.asarray(warped, np.uint8)


def _is_level(quad: NDArray[np.float32]) -> bool:
    """Whether a line is a rectangle of whole pixels that stands upright, so that nothing has to be turned."""
    (left, top), (right, bottom) = quad[0], quad[2]
    corners = np.array([[left, top], [right, top], [right, bottom], [left, bottom]], np.float32)
    return bool(right >= left + 1 and bottom >= top + 1 and (quad == corners).all() and (quad == np.rint(quad)).all())


def _level(image: Pixels, quad: NDArray[np.float32], high: float) -> Pixels:
    """The same for such a line, in a fraction of the time."""
    import cv2

    (left, top), (right, bottom) = np.maximum(quad[[0, 2]], 0).astype(int).tolist()
    part = image[top:bottom, left:right]
    if not part.size:
        return np.zeros((HEIGHT, 1, 3), np.uint8)
    width = min(max(1, round((right - left) * HEIGHT / high)), MAX_WIDTH)
    method = cv2.INTER_AREA if high > HEIGHT else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(part, (width, HEIGHT), interpolation=method), np.uint8)


def split_at_rules(quads: Quads, boxes: Sequence[Box], rules: Sequence[Box], ink: Ink) -> tuple[Quads, list[Box]]:
    """Cut lines where an upright rule passes through them: two cells of a table found as one line."""
    uprights = [rule for rule in rules if rule.height > rule.width]
    return _split(
        quads,
        boxes,
        [
            sorted(
                rule.centre[0]
                for rule in uprights
                if box.left + 0.6 * box.height < rule.centre[0] < box.right - 0.6 * box.height
                and rule.top <= box.top + 0.3 * box.height
                and rule.bottom >= box.bottom - 0.3 * box.height
                and rule.height > 1.4 * box.height  # else it may be the stem of a large letter
                and (rule.height > BORDER * box.height or _stands_alone(rule, box, ink))
            )
            for box in boxes
        ],
    )


def _stands_alone(rule: Box, box: Box, ink: Ink) -> bool:
    """Whether a line has white to both sides of a rule through it, as cells have and a stain's edge has not."""
    white = max(1, round(PADDING * box.height))
    rows = slice(max(0, round(box.top + 0.2 * box.height)), max(0, round(box.bottom - 0.2 * box.height)))
    left, right = max(0, round(rule.left) - 1), round(rule.right) + 1
    before, after = ink[rows, max(0, left - white) : left], ink[rows, right : right + white]
    return not before.any() and not after.any()


def split_at_gutters(quads: Quads, boxes: Sequence[Box], ink: Ink) -> tuple[Quads, list[Box]]:
    """Cut lines where the page's columns part: white within a line that lines above and below end and begin at."""
    sides = np.array([[box.left, box.top, box.right, box.bottom] for box in boxes], np.float64).reshape(-1, 4)
    return _split(
        quads,
        boxes,
        [[(start + end) / 2 for start, end in _gaps(ink, box) if _is_gutter(start, end, box, sides)] for box in boxes],
    )


def _gaps(ink: Ink, box: Box) -> list[tuple[float, float]]:
    """Wide white within a line."""
    high = box.height
    if box.width < 8 * high:
        return []
    rows = slice(max(0, round(box.top + 0.2 * high)), max(0, round(box.bottom - 0.2 * high)))
    inked = np.flatnonzero((ink[rows, max(0, round(box.left)) : round(box.right)] > 0).sum(axis=0) >= 2)
    wide = np.flatnonzero(np.diff(inked) >= GAP * high)
    left = max(0, round(box.left))
    return [(float(left + inked[i] + 1), float(left + inked[i + 1])) for i in wide]


def _is_gutter(start: float, end: float, box: Box, sides: NDArray[np.float64]) -> bool:
    """Whether lines near `box` (rows of `sides`: left, top, right, bottom) stop before the gap from `start` to `end`
    and begin after it, and hardly any passes through."""
    high = box.height
    left, top, right, bottom = sides.T
    near = (top > box.top - WINDOW * high) & (bottom < box.bottom + WINDOW * high)
    near &= (top > box.bottom - 0.3 * high) | (bottom < box.top + 0.3 * high)
    slack = 0.4 * high  # the boxes have white around their letters
    before = near & (left < start) & (right > box.left) & (right < end + slack)
    after = near & (np.abs(left - end) < slack + 0.2 * high) & (left > start - slack)
    through = near & (left < start - high) & (right > end + high)
    ends = min(int(before.sum()), int(after.sum()))
    return ends >= SHARED and int(through.sum()) < 0.5 * ends


def _split(quads: Quads, boxes: Sequence[Box], cuts: Iterable[Sequence[float]]) -> tuple[Quads, list[Box]]:
    parts: list[NDArray[np.float32]] = []
    places: list[Box] = []
    for quad, box, middles in zip(quads, boxes, cuts, strict=True):
        for start, end in pairwise([box.left, *middles, box.right]):
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
