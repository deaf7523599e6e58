"""Lines on sheets whose letters are too small to be seen at a glance.

The detector sees a page at one size. On a plan, a newspaper or a very long receipt most letters are then a pixel or two
high and their lines are not found. So ink that looks like letters in a row and lies in no line is sought in a few
windows of the page as it came. Where there is much of it, its height tells how large the sheet has to be looked at, in
tiles that overlap; what two tiles saw of one line is joined again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray

from warmwire.models.pages.detector import Pixels, Quads
from warmwire.models.pages.geometry import angle_of

SIDE = 1280
"""Longer side of what the detector sees at once."""
LARGE = 2600
"""A page with no longer side is seen well enough: an A4 page at 200 dots per inch has 2340."""
WINDOW, WINDOWS = 1000, 12
"""Side of a window in pixels, and how many are looked at."""
HEIGHTS = (6, 120)
"""How high letters are, pixels."""
LETTERS = 40
"""So many letters in no line are text that was not seen ..."""
MISSED = 0.2
"""... if they are that share of all."""
WANTED = 8.0
"""How high small letters are best seen: 10 points on an A4 page have 7.6."""
GAIN = 1.3
"""Looking closer by less is not worth it."""
OVERLAP = 12.0
"""How much of a tile the next one sees again, in heights of small letters: four lines."""
ALIKE = 0.6
"""Two pieces that share so much of the lower one's height are of one line."""


def find_lines(image: Pixels, detect: Callable[[Pixels], Quads]) -> Quads:
    """The lines of a page, looked for at a size that suits its letters."""
    first = detect(image)
    long = max(image.shape[:2])
    if long <= LARGE:
        return first
    height = _missed(image, first)
    scale = min(1.0, WANTED / height) if height else 0.0
    if scale < GAIN * SIDE / long:
        return first
    found = [
        detect(image[top:bottom, left:right]) + np.array([left, top], np.float32)
        for left, top, right, bottom in _tiles(image, round(SIDE / scale), round(OVERLAP * height))
    ]
    closer = joined(_whole(found, image, round(SIDE / scale), round(OVERLAP * height)))
    return _merged(first, closer)


def _missed(image: Pixels, quads: Quads) -> float:
    """How high letters are that lie in no line; 0 where there are not many."""
    heights: list[float] = []
    count = 0
    low, high = quads.min(axis=1, initial=np.inf), quads.max(axis=1, initial=-np.inf)
    for left, top in _windows(image):
        boxes = _letters(image[top : top + WINDOW, left : left + WINDOW])
        middles = (boxes[:, :2] + boxes[:, 2:]) / 2 + (left, top)
        inside = (middles[:, None] > low) & (middles[:, None] < high)
        lost = ~inside.all(axis=2).any(axis=1)
        count += len(boxes)
        heights += (boxes[lost, 3] - boxes[lost, 1]).tolist()
    return float(np.median(heights)) if len(heights) >= max(LETTERS, MISSED * count) else 0.0


def _windows(image: Pixels) -> list[tuple[int, int]]:
    """Windows spread evenly over a page: left, top."""
    height, width = image.shape[:2]
    places = list(product(range(0, width, WINDOW), range(0, height, WINDOW)))
    chosen = np.linspace(0, len(places) - 1, min(WINDOWS, len(places))).round().astype(int)
    return [places[i] for i in chosen]


def _letters(part: Pixels) -> NDArray[np.float64]:
    """Boxes (left, top, right, bottom) of ink that stands in a row with more of its kind."""
    import cv2

    grey = cv2.cvtColor(np.ascontiguousarray(part), cv2.COLOR_BGR2GRAY)
    ink = cv2.adaptiveThreshold(grey, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, 41, 20)
    _, _, stats, _ = cv2.connectedComponentsWithStats(ink, connectivity=8)
    x, y, width, height, area = stats[1:].astype(np.float64).T
    kept = (height >= HEIGHTS[0]) & (height <= HEIGHTS[1]) & (width < 3 * height) & (area > 0.15 * width * height)
    x, y, width, height = (side[kept][:2000] for side in (x, y, width, height))
    gap = np.maximum(x[None] - (x + width)[:, None], x[:, None] - (x + width)[None])
    mate = (gap < 0.8 * height[:, None]) & (np.abs((y + height)[None] - (y + height)[:, None]) < 0.3 * height[:, None])
    mate &= np.abs(height[None] / height[:, None] - 1) < 0.6
    rows = mate.sum(axis=1) >= 3  # itself, and one to each side
    boxes: NDArray[np.float64] = np.stack([x, y, x + width, y + height], axis=1)[rows]
    return boxes


def _starts(length: int, side: int, overlap: int) -> list[int]:
    """Where tiles begin along a page."""
    return list(range(0, max(1, length - overlap), max(1, side - overlap)))


def _tiles(image: Pixels, side: int, overlap: int) -> Iterator[tuple[int, int, int, int]]:
    height, width = image.shape[:2]
    for top, left in product(_starts(height, side, overlap), _starts(width, side, overlap)):
        yield left, top, min(left + side, width), min(top + side, height)


def _whole(found: list[Quads], image: Pixels, side: int, overlap: int) -> Quads:
    """The lines of all tiles without those that a tile's upper or lower edge cuts lengthwise: the next has them."""
    height = image.shape[0]
    kept = []
    for quads, (_, top, _, bottom) in zip(found, _tiles(image, side, overlap), strict=True):
        low, high = quads.min(axis=1, initial=np.inf), quads.max(axis=1, initial=-np.inf)
        lying = high[:, 0] - low[:, 0] > high[:, 1] - low[:, 1]
        cut = ((low[:, 1] <= top + 2) & (top > 0)) | ((high[:, 1] >= bottom - 3) & (bottom < height))
        kept.append(quads[~(cut & lying)])
    return np.concatenate(kept) if kept else np.zeros((0, 4, 2), np.float32)


def joined(quads: Quads) -> Quads:
    """Lines of which several tiles saw a part, or all, joined."""
    low, high = quads.min(axis=1, initial=np.inf), quads.max(axis=1, initial=-np.inf)
    parts: list[NDArray[np.float32]] = []
    left = np.ones(len(quads), np.bool_)
    for start in range(len(quads)):
        group, fresh = list[int](), [start] if left[start] else []
        left[start] = False
        while fresh:
            one = fresh.pop()
            group.append(one)
            more = np.flatnonzero(left & _of_one_line(low, high, one))
            left[more] = False
            fresh += more.tolist()
        if group:
            parts.append(_around(quads[sorted(group)]))
    return np.array(parts, np.float32).reshape(-1, 4, 2)


def _of_one_line(low: NDArray[np.float32], high: NDArray[np.float32], one: int) -> NDArray[np.bool_]:
    """Which boxes, given by their corners, are of one line with one of them."""
    sides = high - low
    across = 1 if sides[one, 0] >= sides[one, 1] else 0
    shared = np.minimum(high, high[one]) - np.maximum(low, low[one])
    alike = shared[:, across] > ALIKE * np.minimum(sides[:, across], sides[one, across])
    same: NDArray[np.bool_] = (shared > 0).all(axis=1) & alike & ((sides[:, 0] >= sides[:, 1]) == (across == 1))
    return same


def _around(quads: Quads) -> NDArray[np.float32]:
    """The smallest rectangle about quads, at the angle of the longest."""
    longest = quads[np.linalg.norm(quads[:, 1] - quads[:, 0], axis=1).argmax()]
    if len(quads) == 1:
        return np.asarray(longest, np.float32)
    angle = np.radians(angle_of(longest))
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]], np.float32)
    points = quads.reshape(-1, 2) @ turn.T
    (left, top), (right, bottom) = points.min(axis=0), points.max(axis=0)
    around: NDArray[np.float32] = np.array([[left, top], [right, top], [right, bottom], [left, bottom]], np.float32)
    return np.asarray(around @ turn, np.float32)


def _merged(first: Quads, closer: Quads) -> Quads:
    """Lines of both looks. Where they meet, the first is right about large letters, and the second about small ones
    that the first took several lines of for one."""
    low, high = closer.min(axis=1, initial=np.inf), closer.max(axis=1, initial=-np.inf)
    area = np.maximum((high - low).prod(axis=1), 1.0)
    kept = np.ones(len(closer), np.bool_)
    whole = []
    for quad in first:
        shared = np.minimum(high, quad.max(axis=0)) - np.maximum(low, quad.min(axis=0))
        inside = np.maximum(shared, 0).prod(axis=1) > 0.5 * area
        if not inside.any():
            whole.append(quad)
        elif np.median((high - low)[inside].min(axis=1)) > ALIKE * (quad.max(axis=0) - quad.min(axis=0)).min():
            whole.append(quad)
            kept &= ~inside
    return np.concatenate([np.array(whole, np.float32).reshape(-1, 4, 2), closer[kept]])
