"""What ink is left on a page when lines, rules and pictures are taken away, so that nothing vanishes unseen.

A detector of lines passes over what is short: a dash in an empty cell, a star, a single figure. What is left is
gathered to groups of about a word. A dash is told by its shape and by where it stands: at half the height of a row's
letters, under or over other text. Any other group is cut out like a line, as high as the row it stands in, and the
recogniser decides; a group that it cannot read is counted among what was not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warmwire.layout.page import Box
from warmwire.models.pages.inked import quantile
from warmwire.models.pages.strokes import Ink

SPECK = 0.15
"""Ink that is smaller both ways is dirt or a dot, in units of the body size."""
DRAWN = 5.0
"""Ink that is larger in one piece is a drawing, and so is what lies in its box; a drop cap has 3 to 4."""
EDGE = 0.4
"""What is nearer to the edge of the picture is the edge of the paper."""
JOIN = 0.5
"""Pieces of ink nearer to each other on a row are one group."""
DARK = 0.5
"""Least darkness, as a share of the letters': print that shines through from the back has 0.1 to 0.4."""
THIN = 0.25
"""A dash is no higher, in units of the size ..."""
LONG = (0.22, 1.3)
"""... and so long: a hyphen has 0.3, an em dash 1."""
MIDDLE = (0.35, 0.68)
"""Between which heights of its row's box, from the top, a dash stands."""
TEXT = 0.45
"""Ink that is lower and stands in no row is no letter."""
EN, EM = 0.5, 0.8
"""From which length on a dash is one or the other; ink is up to 2 pixels wider than drawn."""
NEAR = 5.0
"""How far above or below a dash the next text of its column may be."""
MAX_ROW = 4.0
"""A line that is higher stands on end or is of display type: what is beside it is no row of it."""
APART = 0.3
"""Groups that lie over each other by more of their area are parts of a drawing."""
MAX_GROUPS = 200
"""A page with more left over is a drawing; the largest are looked at."""


@dataclass(frozen=True, slots=True)
class Rest:
    """Ink that is left over: dashes with what they are, and places to be read like lines."""

    dashes: list[tuple[Box, str]]
    places: list[Box]


def rest_of(ink: Ink, page: NDArray[np.uint8], boxes: Sequence[Box], known: Sequence[Box], size: float) -> Rest:
    """What is left on a straight page of its `ink` besides lines in `boxes` and what else is `known`; `page` is its
    picture, `size` its body size in pixels."""
    import cv2

    if not boxes:
        return Rest([], [])
    grey = np.asarray(cv2.cvtColor(page, cv2.COLOR_BGR2GRAY), np.uint8)
    groups = _groups(_left(ink, grey, boxes, known, size), size)
    sides = _sides(boxes)
    dashes, places = [], []
    for group in groups:
        row = _row(group, sides, size)
        if group.height <= THIN * size:
            if row is not None and _is_dash(group, row, size):
                dashes.append(group)
        elif group.height > TEXT * size or row is not None:
            places.append(_place(group, row, size))
    places = [place for place in places if not _is_crossed(place, places)]
    columns = np.concatenate([sides, _sides(dashes)])
    return Rest([(dash, _kind(dash, size)) for dash in dashes if _in_column(dash, columns, size)], places)


def _sides(boxes: Sequence[Box]) -> NDArray[np.float64]:
    return np.array([[box.left, box.top, box.right, box.bottom] for box in boxes], np.float64).reshape(-1, 4)


def _left(
    ink: Ink, grey: NDArray[np.uint8], boxes: Sequence[Box], known: Sequence[Box], size: float
) -> NDArray[np.int32]:
    """Boxes of pieces of ink that are no part of anything known, no specks, no drawings and not faint."""
    import cv2

    left = ink.copy()
    letters = np.zeros_like(ink)
    for box in boxes:
        part = _slices(box, 0)
        letters[part] = ink[part]
        left[part] = 0
    for box in known:
        left[_slices(box, 0.2 * size)] = 0
    if not left.any() or not letters.any():
        return np.zeros((0, 4), np.int32)
    paper, letter = (
        quantile(cv2.calcHist([grey], [0], mask, [256], [0, 256]).ravel(), share)
        for mask, share in ((None, 0.5), (letters, 0.2))
    )
    dark = paper - DARK * (paper - letter)
    outlines, nesting = cv2.findContours(left, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_SIMPLE)
    outer = [outline for outline, (_, _, _, hole) in zip(outlines, nesting[0], strict=True) if hole < 0]
    pieces = np.array([cv2.boundingRect(outline) for outline in outer], np.int32)
    longest = pieces[:, 2:].max(axis=1)
    pieces[:, 2:] += pieces[:, :2]
    large = longest > DRAWN * size
    keep = ~large & (longest >= SPECK * size)
    height, width = ink.shape
    margin = EDGE * size
    keep &= (pieces[:, 0] > margin) & (pieces[:, 1] > margin)
    keep &= (pieces[:, 2] < width - margin) & (pieces[:, 3] < height - margin)
    for left_, top, right, bottom in pieces[large].tolist():
        inside = (pieces[:, 0] >= left_) & (pieces[:, 1] >= top) & (pieces[:, 2] <= right) & (pieces[:, 3] <= bottom)
        keep &= ~inside
    kept = [piece for piece in pieces[keep].tolist() if _darkest(grey, left, piece) <= dark]
    return np.array(kept, np.int32).reshape(-1, 4)


def _darkest(grey: NDArray[np.uint8], ink: Ink, piece: Sequence[int]) -> int:
    left, top, right, bottom = piece
    part = slice(top, bottom), slice(left, right)
    return int(grey[part][ink[part] > 0].min())


def _slices(box: Box, white: float) -> tuple[slice, slice]:
    return (
        slice(max(0, round(box.top - white)), max(0, round(box.bottom + white))),
        slice(max(0, round(box.left - white)), max(0, round(box.right + white))),
    )


def _groups(pieces: NDArray[np.int32], size: float) -> list[Box]:
    """Pieces of ink side by side joined, the largest first."""
    groups: list[list[int]] = []
    for left, top, right, bottom in pieces[np.argsort(pieces[:, 0])].tolist():
        for group in reversed(groups):
            if left - group[2] < JOIN * size and min(bottom, group[3]) - max(top, group[1]) > -0.1 * size:
                group[1:] = [min(top, group[1]), max(right, group[2]), max(bottom, group[3])]
                break
        else:
            groups.append([left, top, right, bottom])
    boxes = [Box(*(float(side) for side in group)) for group in groups]
    return sorted(boxes, key=lambda box: -box.area)[:MAX_GROUPS]


def _row(group: Box, sides: NDArray[np.float64], size: float) -> Box | None:
    """The nearest line to the side of a group on one height with it."""
    left, top, right, bottom = sides.T
    middle = group.centre[1]
    beside = (top < middle) & (bottom > middle) & (bottom - top < MAX_ROW * size)
    away = np.maximum(left - group.right, group.left - right)
    if not beside.any():
        return None
    nearest = int(np.where(beside, np.maximum(away, 0), np.inf).argmin())
    return Box(*(float(side) for side in sides[nearest]))


def _is_dash(group: Box, row: Box, size: float) -> bool:
    """Whether a thin group is as long as a dash and stands at half the height of its row's letters."""
    middle = row.top + MIDDLE[0] * row.height < group.centre[1] < row.top + MIDDLE[1] * row.height
    return middle and LONG[0] * size <= group.width <= LONG[1] * size


def _is_crossed(place: Box, places: Sequence[Box]) -> bool:
    return any(place is not other and place.intersection(other) > APART * place.area for other in places)


def _kind(dash: Box, size: float) -> str:
    return "—" if dash.width > EM * size else "–" if dash.width > EN * size else "-"


def _in_column(dash: Box, sides: NDArray[np.float64], size: float) -> bool:
    """Whether text or another dash stands above or below."""
    left, top, right, bottom = sides.T
    away = np.maximum(top - dash.bottom, dash.top - bottom)
    beyond = (left - size < dash.centre[0]) & (right + size > dash.centre[0]) & (away > 0)
    return bool((beyond & (away < NEAR * size)).any())


def _place(group: Box, row: Box | None, size: float) -> Box:
    """Where a group is read: with white around it, as high as its row."""
    white = 0.25 * size
    top, bottom = group.top - white, group.bottom + white
    if row is not None:
        top, bottom = min(top, row.top), max(bottom, row.bottom)
    return Box(group.left - white, top, group.right + white, bottom)
