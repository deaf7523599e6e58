"""Where a page's lines lie: its turn and skew, and the way back to the page as it came."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warmwire.layout.page import Box
from warmwire.layout.runs import Run

Pixels = NDArray[np.uint8]
Quads = NDArray[np.float32]

MIN_SKEW = 0.15
"""A page askew by less than that, in degrees, is straight."""
MAX_SKEW = 12.0
"""Lines at a larger angle are not the page's own (a stamp, a watermark)."""
STEEP = 2 * MAX_SKEW
"""A line of a few letters that is further askew lies across the page; of a word of two any angle is chance."""


@dataclass(frozen=True, slots=True)
class Frame:
    """How the straight page lies in the image as it came.

    The image came turned by `turn` degrees clockwise; turned back it is `width` by `height` pixels, and its lines
    fall by `skew` degrees to the right.
    """

    turn: int
    skew: float
    width: int
    height: int

    def straighten(self, points: NDArray[np.float32]) -> NDArray[np.float32]:
        """Points of the upright page (..., 2) on the straight one: turned about the page's middle."""
        return _rotate(points, -self.skew, self.width / 2, self.height / 2)

    def quads(self, boxes: Sequence[Box]) -> Quads:
        """Boxes of the straight page as corners on the upright one."""
        corners = [[[b.left, b.top], [b.right, b.top], [b.right, b.bottom], [b.left, b.bottom]] for b in boxes]
        points = np.array(corners, np.float32).reshape(-1, 4, 2)
        return _rotate(points, self.skew, self.width / 2, self.height / 2)

    def original(self, box: Box) -> Box:
        """A box of the straight page in the frame of the image as it came."""
        corners = np.array(
            [[box.left, box.top], [box.right, box.top], [box.right, box.bottom], [box.left, box.bottom]], np.float32
        )
        points = self._as_it_came(_rotate(corners, self.skew, self.width / 2, self.height / 2))
        (left, top), (right, bottom) = points.min(axis=0).tolist(), points.max(axis=0).tolist()
        return Box(left, top, right, bottom)

    def run_as_it_came(self, run: Run) -> Run:
        """A line of the upright page, likewise."""

        def move(x: float, y: float) -> tuple[float, float]:
            ((x, y),) = self._as_it_came(np.array([[x, y]], np.float32)).tolist()
            return x, y

        return run.moved(move)

    def _as_it_came(self, points: NDArray[np.float32]) -> NDArray[np.float32]:
        """Points (n, 2) of the upright page."""
        x, y = points[:, 0], points[:, 1]
        if self.turn == 90:
            x, y = self.height - y, x
        elif self.turn == 180:
            x, y = self.width - x, self.height - y
        elif self.turn == 270:
            x, y = y, self.width - x
        return np.stack([x, y], axis=1)


def _rotate(points: NDArray[np.float32], degrees: float, x: float, y: float) -> NDArray[np.float32]:
    """Points turned clockwise (y grows downwards) about (x, y)."""
    cos, sin = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    centre = np.array([x, y], np.float32)
    turned: NDArray[np.float32] = (points - centre) @ np.array([[cos, sin], [-sin, cos]], np.float32) + centre
    return turned


def upright(image: Pixels, turn: int) -> Pixels:
    """An image that came turned by `turn` degrees clockwise, turned back."""
    return np.ascontiguousarray(np.rot90(image, turn // 90)) if turn else image


def angle_of(quad: NDArray[np.float32]) -> float:
    """The angle a line falls by, in degrees from -180 to 180."""
    along = quad[1] - quad[0] + quad[2] - quad[3]
    return float(np.degrees(np.arctan2(along[1], along[0])))


def skew_of(quads: Quads) -> float:
    """The angle the page's lines fall by, in degrees: the middle one, long lines counting more; 0 without lines."""
    along = (quads[:, 1] - quads[:, 0] + quads[:, 2] - quads[:, 3]) / 2
    across = np.linalg.norm(quads[:, 3] - quads[:, 0], axis=1)
    lengths = np.linalg.norm(along, axis=1)
    angles = np.degrees(np.arctan2(along[:, 1], along[:, 0]))
    use = (lengths > 5 * across) & (np.abs(angles) < MAX_SKEW)
    if not use.any():
        return 0.0
    order = np.argsort(angles[use])
    weights = np.cumsum(lengths[use][order])
    skew = float(angles[use][order][np.searchsorted(weights, weights[-1] / 2)])
    return skew if abs(skew) >= MIN_SKEW else 0.0


def level_short(quads: Quads, skew: float) -> Quads:
    """Quads whose short lines lie at the page's angle: their own cannot be told from so few letters."""
    top = quads[:, 1] - quads[:, 0]
    widths = np.linalg.norm(top, axis=1)
    heights = np.linalg.norm(quads[:, 3] - quads[:, 0], axis=1)
    angles = np.degrees(np.arctan2(top[:, 1], top[:, 0]))
    away = np.abs(angles - skew)
    wrong = (widths > heights) & (widths < 8 * heights) & (away > 0.7) & ((widths < 3 * heights) | (away < STEEP))
    half = np.stack([widths, heights], axis=1)[:, None, :] / 2
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]], np.float32)[None] * half
    level = _rotate(corners.astype(np.float32), skew, 0, 0) + quads.mean(axis=1, keepdims=True)
    return np.where(wrong[:, None, None], level, quads).astype(np.float32)


def are_standing(quads: Quads) -> bool:
    """Whether most text stands on end: its lines are higher than wide."""
    widths = np.linalg.norm(quads[:, 1] - quads[:, 0], axis=1)
    heights = np.linalg.norm(quads[:, 3] - quads[:, 0], axis=1)
    return bool(heights[heights > 2 * widths].sum() > widths[widths > 2 * heights].sum())


def short_lines(quads: Quads, count: int) -> Quads:
    """The shortest lines that are still long enough to tell which way up they are."""
    widths = np.linalg.norm(quads[:, 1] - quads[:, 0], axis=1)
    heights = np.linalg.norm(quads[:, 3] - quads[:, 0], axis=1)
    shape = widths / np.maximum(heights, 1.0)
    return quads[np.argsort(np.where(shape >= 2.5, shape, np.inf))[: min(count, int((shape >= 2.5).sum()))]]


def checked_skew(image: Pixels, skew: float) -> float:
    """`skew`, or 0 where the page's rows of ink stand out more without turning it.

    The angle of short lines is rough: a page of table cells alone gives any.
    """
    if not skew:
        return 0.0
    import cv2

    scale = 800 / max(image.shape[:2])
    small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA) if scale < 1 else image
    turned = straight_image(np.asarray(small, np.uint8), skew)
    return skew if _sharpness(turned) > _sharpness(np.asarray(small, np.uint8)) else 0.0


def _sharpness(image: Pixels) -> float:
    """How much the ink of neighbouring rows differs, away from the edges, which turning makes white."""
    import cv2

    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    ink = cv2.adaptiveThreshold(grey, 1, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, 15, 12)
    height, width = ink.shape
    inner = ink[height // 16 : -(height // 16) or None, width // 16 : -(width // 16) or None]
    return float(np.square(np.diff(inner.sum(axis=1, dtype=np.int64))).sum())


def straight_image(image: Pixels, skew: float) -> Pixels:
    """The upright page turned so that its lines are level; its size stays, what is new is white."""
    if not skew:
        return image
    import cv2

    height, width = image.shape[:2]
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), skew, 1.0)
    return np.asarray(cv2.warpAffine(image, matrix, (width, height), borderValue=(255, 255, 255)), np.uint8)


def straight_boxes(quads: Quads, frame: Frame) -> list[Box]:
    """The lines' boxes on the straight page: as long and as high as the lines are, about their middles."""
    straight = frame.straighten(quads)
    middles = straight.mean(axis=1)
    widths = np.linalg.norm(quads[:, 1] - quads[:, 0] + quads[:, 2] - quads[:, 3], axis=1) / 2
    heights = np.linalg.norm(quads[:, 3] - quads[:, 0] + quads[:, 2] - quads[:, 1], axis=1) / 2
    return [
        Box(float(x - w / 2), float(y - h / 2), float(x + w / 2), float(y + h / 2))
        for (x, y), w, h in zip(middles, widths, heights, strict=True)
    ]
