"""Pictures on a page, by their ink: photos, drawings, diagrams, logos, seals.

What is left of a page's ink without its lines of text and its rules is mostly specks and strokes. A picture is a place
where much is left close together: larger than any letter, more of it than of text, and no edge of the paper. Labels
inside a diagram are lines of text as well, so a picture's box holds them; a frame around a paragraph holds little else.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from warmwire.layout.page import Box
from warmwire.models.pages.strokes import Ink

CELL = 0.25
"""Side of the squares in which ink is counted, in units of the body size."""
REACH = 1.5
"""Ink no farther from other ink than this, of text or not, belongs to the same picture."""
LEAST = 4.0
"""Least longer side of a picture; drop caps have 3 to 4 ..."""
NARROW = 2.0
"""... and its least shorter side."""
FULL = 0.06
"""Least share of a picture's squares with ink that is no text: a line drawing of a few strokes has a tenth."""
MAX_TEXT = 4.0
"""A box with more text than this many times its other ink, both in squares, is a framed text."""
BAND = 0.35
"""A line of text higher than this share of the box stands on a band, not in a picture."""
GAP = 3.0
"""Parts of a picture stand no farther apart."""
EDGE = 0.6
"""What is nearer to the picture's edge ..."""
NARROW_EDGE = 8.0
"""... and no wider is the paper's own edge, or its shadow."""


def find_figures(ink: Ink, boxes: Sequence[Box], rules: Sequence[Box], size: float) -> list[Box]:
    """Boxes of the pictures on a straight page, largest first, in pixels.

    `boxes` are those of its lines of text, `rules` its ruling lines, `size` its body size in pixels.
    """
    import cv2

    side = max(2, round(CELL * size))
    height, width = ink.shape
    left = ink.copy()
    for box in boxes:
        left[_slices(box, 0.1 * size)] = 0
    for rule in rules:
        left[_slices(rule, 0.25 * size)] = 0
    squares = (-(-width // side), -(-height // side))
    much = cv2.resize(left, squares, interpolation=cv2.INTER_AREA) > 8
    reach = 2 * round(REACH / CELL / 2) + 1
    near = cv2.morphologyEx(much.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((reach, reach), np.uint8))
    count, labels, stats, _ = cv2.connectedComponentsWithStats(near, connectivity=8)
    found = []
    for label in range(1, count):
        x, y, w, h, _area = (int(value) for value in stats[label])
        part = (slice(y, y + h), slice(x, x + w))
        own = (labels[part] == label) & much[part]
        if min(w, h) * CELL >= NARROW and own.mean() >= FULL:
            found.append(Box(x * side, y * side, min(width, (x + w) * side), min(height, (y + h) * side)))
    whole = [box for box in _joined(found, GAP * size) if max(box.width, box.height) >= LEAST * size]
    kept = []
    for box in whole:
        own = int(much[_slices(box, 0, side)].sum()) * side * side
        if not _is_edge(box, width, height, size) and not _is_ground(box, boxes, own):
            kept.append(box)
    return sorted(kept, key=lambda box: -box.area)


def _joined(boxes: list[Box], gap: float) -> list[Box]:
    """Boxes with those nearer to each other than `gap` made one."""
    left, whole = sorted(boxes, key=lambda box: -box.area), []
    while left:
        first = left.pop(0)
        reach = Box(first.left - gap, first.top - gap, first.right + gap, first.bottom + gap)
        near = [box for box in left if reach.intersection(box) > 0]
        if near:
            left = [reduce(Box.union, near, first), *(box for box in left if box not in near)]
        else:
            whole.append(first)
    return whole


def _is_edge(box: Box, width: int, height: int, size: float) -> bool:
    """Whether it lies along the picture's edge, as the paper's own edge and its shadow do."""
    across = [box.width for side in (box.left, width - box.right) if side < EDGE * size]
    across += [box.height for side in (box.top, height - box.bottom) if side < EDGE * size]
    return bool(across) and min(across) < NARROW_EDGE * size


def _is_ground(box: Box, boxes: Sequence[Box], own: int) -> bool:
    """Whether it is a frame around text, or the tinted band behind a heading; `own` is its ink, in pixels."""
    inside = [other for other in boxes if box.intersection(other) > 0.5 * other.area]
    return sum(other.area for other in inside) > MAX_TEXT * own or any(
        other.height > BAND * box.height for other in inside
    )


def _slices(box: Box, white: float, side: int = 1) -> tuple[slice, slice]:
    """The rows and columns of a box and some white around it, in squares of `side` pixels."""
    return (
        slice(max(0, round((box.top - white) / side)), max(0, round((box.bottom + white) / side))),
        slice(max(0, round((box.left - white) / side)), max(0, round((box.right + white) / side))),
    )
