"""The upright frame of a PDF page: from user space (origin anywhere, y up) to points from the top left corner.

One mapping serves the picture, the text and the boxes, so that /Rotate, a CropBox and a MediaBox that does not start
at 0,0 cannot make them disagree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from warmwire.errors import InputError
from warmwire.layout.page import Box

Matrix = tuple[float, float, float, float, float, float]
"""A PDF matrix: x' = a x + c y + e, y' = b x + d y + f."""

Coordinate = TypeVar("Coordinate", float, NDArray[np.float64])
"""One number, or one of many points at once."""

_SHORTEST, _LONGEST = 0.1, 1e6  # points; also keeps out NaN

IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


def compose(first: Matrix, then: Matrix) -> Matrix:
    """The matrix that applies `first` and `then` in this order."""
    a, b, c, d, e, f = first
    p, q, r, s, t, u = then
    return a * p + b * r, a * q + b * s, c * p + d * r, c * q + d * s, e * p + f * r + t, e * q + f * s + u


def apply(matrix: Matrix, x: float, y: float) -> tuple[float, float]:
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f


@dataclass(frozen=True, slots=True)
class PdfFrame:
    """The visible part of a page in user space, and how far it is turned clockwise to stand upright, in degrees."""

    left: float
    bottom: float
    right: float
    top: float
    rotation: int

    @classmethod
    def of_page(cls, page: Any) -> PdfFrame:
        """The frame of a pdfium page. Raises `InputError` when the page has no area."""
        left, bottom, right, top = page.get_bbox()
        if not (_SHORTEST < right - left < _LONGEST and _SHORTEST < top - bottom < _LONGEST):
            raise InputError("the page has no area that could be drawn")
        return cls(left, bottom, right, top, page.get_rotation())

    @property
    def size(self) -> tuple[float, float]:
        width, height = self.right - self.left, self.top - self.bottom
        return (height, width) if self.rotation % 180 else (width, height)

    def turned(self, degrees: int) -> PdfFrame:
        """The frame turned clockwise by so much more."""
        return PdfFrame(self.left, self.bottom, self.right, self.top, (self.rotation + degrees) % 360)

    def point(self, x: Coordinate, y: Coordinate) -> tuple[Coordinate, Coordinate]:
        if self.rotation == 90:
            return y - self.bottom, x - self.left
        if self.rotation == 180:
            return self.right - x, y - self.bottom
        if self.rotation == 270:
            return self.top - y, self.right - x
        return x - self.left, self.top - y

    @property
    def matrix(self) -> Matrix:
        """What `point` does, as a matrix."""
        x, y = self.point(0.0, 0.0)
        (a, b), (c, d) = self.point(1.0, 0.0), self.point(0.0, 1.0)
        return float(round(a - x)), float(round(b - y)), float(round(c - x)), float(round(d - y)), x, y

    def user_space(self, x: float, y: float) -> tuple[float, float]:
        """The way back: a point of the frame in user space."""
        if self.rotation == 90:
            return self.left + y, self.bottom + x
        if self.rotation == 180:
            return self.right - x, self.bottom + y
        if self.rotation == 270:
            return self.right - y, self.top - x
        return self.left + x, self.top - y

    def box(self, left: float, bottom: float, right: float, top: float) -> Box:
        """An upright box of user space, in the frame."""
        x1, y1 = self.point(left, bottom)
        x2, y2 = self.point(right, top)
        return Box(min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2))


def turn_box(box: Box, degrees: int, width: float, height: float) -> Box:
    """`box` of a page of `width` by `height` after the page is turned clockwise by `degrees`."""
    if degrees % 360 == 90:
        return Box(height - box.bottom, box.left, height - box.top, box.right)
    if degrees % 360 == 180:
        return Box(width - box.right, height - box.bottom, width - box.left, height - box.top)
    if degrees % 360 == 270:
        return Box(box.top, width - box.right, box.bottom, width - box.left)
    return box
