"""The picture of one line and its ink, looked at once.

Several questions are asked of the same ink: which of it is a neighbouring line's, how high and bold the letters are,
where words begin. Finding it, and parting it into connected pieces, costs more than any of the answers.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

LEFT, TOP, WIDTH, HEIGHT, AREA = range(5)
"""What is known of a piece of ink, by column."""


class Pieces:
    """The connected pieces of ink (height, width; 0 or 1): `labels` has for each pixel the number of its piece, 0 for
    paper, and `stats` (n, 5) for each number the piece's box and area."""

    def __init__(self, ink: NDArray[np.uint8]) -> None:
        import cv2

        # a line is at most 48 by 4800 pixels, of which one in four can be a piece of its own; short labels take half
        _, labels, stats, _ = cv2.connectedComponentsWithStats(ink, connectivity=8, ltype=cv2.CV_16U)
        self.labels: NDArray[np.uint16] = np.asarray(labels, np.uint16)
        self.stats: NDArray[np.int32] = np.asarray(stats, np.int32)

    def only(self, kept: NDArray[np.bool_]) -> NDArray[np.uint8]:
        """The ink of some pieces, told for each."""
        ink: NDArray[np.uint8] = kept.astype(np.uint8)[self.labels]
        return ink


class Inked:
    """The picture of one line, (height, width, 3); `grey` has its ink dark, `ink` is 1 where there is some."""

    def __init__(self, image: NDArray[np.uint8]) -> None:
        import cv2

        self.image = image
        grey = np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), np.uint8)
        _, mask = cv2.threshold(grey, 0, 1, cv2.THRESH_BINARY_INV | cv2.THRESH_OTSU)
        ink = np.asarray(mask, np.uint8)
        light = 2 * np.count_nonzero(ink) > ink.size  # letters on a dark ground
        self.grey: NDArray[np.uint8] = 255 - grey if light else grey
        self.ink: NDArray[np.uint8] = 1 - ink if light else ink

    @cached_property
    def pieces(self) -> Pieces:
        return Pieces(self.ink)


def by_row(ink: NDArray[np.uint8]) -> NDArray[np.int32]:
    """How many pixels of ink each row has."""
    return _summed(ink, 1)


def by_column(ink: NDArray[np.uint8]) -> NDArray[np.int32]:
    """How many pixels of ink each column has."""
    return _summed(ink, 0)


def quantile(counts: NDArray[np.float32], share: float) -> float:
    """The value that a share of values lies below, given how many there are of each from 0 on."""
    reached = np.cumsum(counts)
    place = share * (reached[-1] - 1)
    low, high = np.searchsorted(reached, (np.floor(place), np.ceil(place)), side="right").tolist()
    return float(low + (high - low) * (place - np.floor(place)))


def _summed(ink: NDArray[np.uint8], axis: int) -> NDArray[np.int32]:
    import cv2

    if not ink.size:
        return np.zeros(ink.shape[1 - axis], np.int32)
    return np.asarray(cv2.reduce(ink, axis, cv2.REDUCE_SUM, dtype=cv2.CV_32S), np.int32).ravel()
