"""Where the lines of text are: a model marks the pixels in the middle of lines, and each patch of them is a line.

The model's mark is as long as the line and about half as high. So a patch's smallest rectangle, of any angle, is grown
on all sides by a share of its area over its outline, which for a long line is a share of its height.

What the model needs is letters of a certain height, whatever the page's size: smaller ones run together or are not
seen, larger ones only cost time. So the page is shown to it at the scale that its own letters ask for.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from warmwire.models.pages.session import Floats, Session, planes

Pixels = NDArray[np.uint8]
"""Pixels as OpenCV has them: shape (height, width, 3), uint8, BGR."""

Quads = NDArray[np.float32]
"""Corners of n lines of text: shape (n, 4, 2), in pixels, from the top left clockwise as the text is read."""

MARK = 0.3
"""Least score, 0 to 1, of a pixel that belongs to a line."""
LINE_SCORE = 0.3
"""Least mean score of a line. The usual 0.5 drops lines with dot leaders and single figures without trace."""
GROWTH = 1.6
"""How far a patch is grown, in areas over outlines."""
LEAST = 3
"""A patch narrower than that, in the model's pixels, is a speck."""
MOST = 3000
"""Most lines of a page; of more the rest is left out, in the order in which they lie."""
STEP = 32
"""The model's picture is a whole number of these wide and high, pixels."""


LETTERS = 8.0
"""Height of most letters, in the model's pixels. On sixteen made pages the tiny model finds 98 to 100 % of the lines
that the small one finds at 1280 from 7.5 on, at 5 a tenth of them run together; above it gains nothing."""
LEAST_SIDE = 640
MOST_SIDE = 1920
"""Bounds of the longer side of the model's picture, pixels: for pages of few or huge letters, and of grain taken for
letters."""
USUAL_SIDE = 1280
"""The longer side for a page without letters that can be told."""


FEW = 10
"""Fewer letters do not show their height."""


def side_for(image: Pixels) -> int:
    """How long the longer side of an image should be for the model, pixels, by the height of its letters."""
    import cv2

    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    ink = cv2.adaptiveThreshold(grey, 1, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, 31, 15)
    outlines, nesting = cv2.findContours(ink, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_SIMPLE)
    holes = nesting[0, :, 3] >= 0 if outlines else ()  # inside a frame are letters as well
    pieces = [cv2.boundingRect(outline) for outline, hole in zip(outlines, holes, strict=True) if not hole]
    width, height = np.array(pieces, np.int32).reshape(-1, 4)[:, 2:].T
    letters = (height >= 5) & (width < 3 * height) & (width > 0.15 * height)
    if letters.sum() < FEW:
        return USUAL_SIDE
    scale = LETTERS / float(np.median(height[letters]))
    return int(np.clip(scale * max(image.shape[:2]), LEAST_SIDE, MOST_SIDE))


class Detector:
    """Finds lines of text."""

    def __init__(self, path: Path, threads: int) -> None:
        self._session = Session(path, threads)

    def __call__(self, image: Pixels, side: int) -> tuple[Quads, Floats]:
        """The lines in an image whose longer side is brought down to `side` pixels first, and how sure each is."""
        import cv2

        height, width = image.shape[:2]
        scale = min(1.0, side / max(height, width))
        size = [max(STEP, round(length * scale / STEP) * STEP) for length in (width, height)]
        method = cv2.INTER_AREA if scale < 0.5 else cv2.INTER_LINEAR
        small = cv2.resize(image, size, interpolation=method)
        marks = self._session.run(planes(np.asarray(small, np.uint8), (0.5,) * 3, (0.5,) * 3))[0][0, 0]
        return lines_in(marks, width, height)


def lines_in(marks: Floats, width: int, height: int) -> tuple[Quads, Floats]:
    """The lines in a map of scores over an image of `width` by `height` pixels, from top to bottom."""
    import cv2

    mask = cv2.dilate((marks > MARK).astype(np.uint8), np.ones((2, 2), np.uint8))
    contours, _ = cv2.findContours(mask, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)
    quads, scores = [], []
    for contour in contours[:MOST]:
        centre, (long, high), angle = cv2.minAreaRect(contour)
        if min(long, high) < LEAST:
            continue
        score = _score(marks, cv2.boxPoints((centre, (long, high), angle)))
        if score < LINE_SCORE:
            continue
        grown = long * high * GROWTH / (long + high)
        quads.append(cv2.boxPoints((centre, (long + grown, high + grown), angle)))
        scores.append(score)
    if not quads:
        return np.zeros((0, 4, 2), np.float32), np.zeros(0, np.float32)
    scale = np.array([width / marks.shape[1], height / marks.shape[0]], np.float32)
    found = _clockwise(np.asarray(quads, np.float32)) * scale
    found = np.clip(np.round(found), 0, np.array([width - 1, height - 1], np.float32)).astype(np.float32)
    order = np.lexsort((found[:, 0, 0], found[:, 0, 1]))
    return found[order], np.array(scores, np.float32)[order]


def _score(marks: Floats, corners: NDArray[np.float32]) -> float:
    """The mean score inside four corners."""
    import cv2

    height, width = marks.shape
    left, top = np.clip(np.floor(corners.min(axis=0)), 0, (width - 1, height - 1)).astype(int)
    right, bottom = np.clip(np.ceil(corners.max(axis=0)), 0, (width - 1, height - 1)).astype(int)
    mask = np.zeros((bottom - top + 1, right - left + 1), np.uint8)
    cv2.fillPoly(mask, [(corners - (left, top)).astype(np.int32)], 1)
    return float(cv2.mean(marks[top : bottom + 1, left : right + 1], mask)[0])


def _clockwise(quads: Quads) -> Quads:
    """Corners in the order top left, top right, bottom right, bottom left, as far as the angle lets them be told."""
    order = np.argsort(quads[:, :, 0], axis=1, kind="stable")
    by_x = np.take_along_axis(quads, order[:, :, None], axis=1)
    left, right = by_x[:, :2], by_x[:, 2:]
    left = np.take_along_axis(left, np.argsort(left[:, :, 1], axis=1, kind="stable")[:, :, None], axis=1)
    right = np.take_along_axis(right, np.argsort(right[:, :, 1], axis=1, kind="stable")[:, :, None], axis=1)
    return np.stack([left[:, 0], right[:, 0], right[:, 1], left[:, 1]], axis=1)
