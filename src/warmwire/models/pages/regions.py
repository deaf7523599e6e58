"""The parts of a page as the layout model sees them: text, titles, tables, figures.

The model answers for every cell of four grids over the page, each coarser than the one before: how probable each kind
is, and how far from the cell's middle the part's four sides lie, each distance as a distribution over eight steps of
the grid. Of parts of one kind that overlap, the most probable counts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from warmwire.layout.page import Box, Region, RegionKind
from warmwire.models.pages.session import Floats, Session, planes

HEIGHT: Final = 800
WIDTH: Final = 608
"""Size of the picture the model takes, pixels, whatever the page's proportions."""
STRIDES: Final = (8, 16, 32, 64)
"""Sides of the cells of its grids, pixels."""
MEAN: Final = (0.485, 0.456, 0.406)
SPREAD: Final = (0.229, 0.224, 0.225)
"""What its pictures are brought to, as those that it was trained on were."""
MIN_SCORE: Final = 0.4
MAX_OVERLAP: Final = 0.5
"""Least probability of a part, and most overlap, as a share of both together, of two of one kind."""
MOST: Final = 200
"""Most candidates of one kind; the least probable are left out."""


class LayoutModel:
    """Finds the parts of a page."""

    def __init__(self, path: Path, threads: int) -> None:
        self._session = Session(path, threads)
        self._kinds = [
            RegionKind(name) if name in RegionKind.__members__.values() else None for name in self._session.labels
        ]

    def __call__(self, image: NDArray[np.uint8]) -> list[Region]:
        """The parts of the kinds that we know, most probable first within a kind; boxes in pixels of `image`."""
        import cv2

        small = np.asarray(cv2.resize(image, (WIDTH, HEIGHT)), np.uint8)
        outputs = self._session.run(planes(small, MEAN, SPREAD))
        half = len(STRIDES)
        scores = np.concatenate([output[0] for output in outputs[:half]])
        boxes = np.concatenate(
            [boxes_of(output[0], stride) for output, stride in zip(outputs[half:], STRIDES, strict=True)]
        )
        scale = np.array([image.shape[1] / WIDTH, image.shape[0] / HEIGHT] * 2, np.float32)
        boxes = np.clip(boxes, 0, [WIDTH, HEIGHT, WIDTH, HEIGHT]) * scale
        return [
            Region(kind, Box(*map(float, boxes[i])), float(scores[i, label]))
            for label, kind in enumerate(self._kinds)
            if kind is not None
            for i in apart(boxes, scores[:, label])
        ]


def boxes_of(distances: Floats, stride: int) -> Floats:
    """The boxes that one grid's cells give, (cells, 4): left, top, right, bottom in the model's pixels."""
    columns = -(-WIDTH // stride)
    places = np.arange(len(distances))
    middles = np.stack([places % columns, places // columns], axis=1) + 0.5
    spread = distances.reshape(len(distances), 4, -1)
    spread = np.exp(spread - spread.max(axis=2, keepdims=True))
    steps = (spread * np.arange(spread.shape[2])).sum(axis=2) / spread.sum(axis=2)
    edges = np.concatenate([middles - steps[:, :2], middles + steps[:, 2:]], axis=1)
    return (edges * stride).astype(np.float32)


def apart(boxes: Floats, scores: Floats) -> list[int]:
    """The places of the probable boxes, most probable first, without those that overlap a more probable one."""
    left = np.flatnonzero(scores > MIN_SCORE)
    left = left[np.argsort(-scores[left], kind="stable")][:MOST]
    kept: list[int] = []
    while len(left):
        first, left = left[0], left[1:]
        kept.append(int(first))
        low, high = np.maximum(boxes[first, :2], boxes[left, :2]), np.minimum(boxes[first, 2:], boxes[left, 2:])
        common = np.prod(np.maximum(high - low, 0), axis=1)
        areas = np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
        left = left[common <= MAX_OVERLAP * (areas[first] + areas[left] - common)]
    return kept
