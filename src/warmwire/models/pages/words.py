"""Where the words of a line begin and end: the white between them, looked for where the recogniser saw a space.

The recogniser tells the middles of letters only. Between the last letter of a word and the first of the next there is
a stretch without ink; its edges are those of the words, to the pixel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from warmwire.layout.runs import Run
from warmwire.models.pages.engines import LineReading

MARGIN: Final = 0.15
"""White above and below a line's letters in the detector's box of it, as a share of its height."""

Spans = tuple[tuple[float, float], ...]

_SPECK: Final = 0.06
"""A column with less ink than that, in heights of the line's picture, has grain only; a full stop has twice that."""

_REACH: Final = 0.7
"""How far from its middle a letter's ink goes at most, in heights of the line's picture; a wide one takes 0.5."""


def run_of(
    quad: NDArray[np.float32] | None, picture: NDArray[np.uint8], reading: LineReading, room: tuple[float, float]
) -> Run | None:
    """A line that was read from `picture`, which was cut out at the corners `quad`; the text has the part of it from
    top to bottom that `room` says, 0 to 1. None where no word was read, or nobody knows the place."""
    spans = word_spans(picture, reading.text, reading.places)
    return placed(quad, reading.text, spans, reading.confidence, room)


def placed(
    quad: NDArray[np.float32] | None, text: str, spans: Spans, confidence: float, room: tuple[float, float]
) -> Run | None:
    """A line whose words stand at `spans` along its picture; see `run_of`."""
    if quad is None or not spans:
        return None
    along = (quad[1] - quad[0] + quad[2] - quad[3]) / 2
    down = (quad[3] - quad[0] + quad[2] - quad[1]) / 2
    top, bottom = room
    corner = quad.mean(axis=0) - along / 2 + (top - 0.5) * down
    (x, y), (dx, dy), (ex, ey) = corner.tolist(), along.tolist(), ((bottom - top) * down).tolist()
    return Run(text, (x, y), (dx, dy), (ex, ey), spans, confidence)


def word_spans(picture: NDArray[np.uint8], text: str, places: Sequence[float]) -> Spans:
    """Start and end of each word of `text`, 0 to 1 along the picture of its line, (height, width, 3).

    `places` are the middles of the letters of `text`, spaces included, 0 to 1 along it.
    """
    words = list(_words(text))
    if not words or len(places) != len(text):
        return ()
    height, width = picture.shape[:2]
    ink = _columns(picture)
    middles = [place * width for place in places]
    edges = [_outer(ink, middles[words[0][0]], -1, _REACH * height)]
    white = _white(ink)
    for (_, last), (first, _) in pairwise(words):
        edges.extend(_gap(white, middles[last], middles[first]))
    edges.append(_outer(ink, middles[words[-1][1]], 1, _REACH * height))
    parts = [min(max(edge / width, 0.0), 1.0) for edge in edges]
    return tuple((start, max(start, end)) for start, end in zip(parts[::2], parts[1::2], strict=True))


def _words(text: str) -> Iterator[tuple[int, int]]:
    """The first and the last letter of each word."""
    start = None
    for index, char in enumerate(text + " "):
        if not char.isspace():
            start = index if start is None else start
        elif start is not None:
            yield start, index - 1
            start = None


def _columns(picture: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Whether each column has ink; rows at the edges may hold a neighbour's, so they do not count."""
    import cv2

    grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    _, mask = cv2.threshold(grey, 0, 1, cv2.THRESH_BINARY_INV | cv2.THRESH_OTSU)
    ink = np.asarray(mask, np.bool_)
    if ink.mean() > 0.5:  # light letters on a dark ground
        ink = np.logical_not(ink)
    edge = ink.shape[0] // 8
    return np.asarray(ink[edge : ink.shape[0] - edge].sum(axis=0) >= max(1.0, _SPECK * ink.shape[0]))


def _gap(white: NDArray[np.int64], low: float, high: float) -> tuple[float, float]:
    """The widest stretch of `white` that lies between two letters at least in part; their middle where there is none.

    The recogniser may see a letter's middle a little beside it, even in the white, which is why the stretch may go on
    beyond the two.
    """
    between = white[(white[:, 0] < high) & (white[:, 1] > low)]
    if not len(between):
        return (low + high) / 2, (low + high) / 2
    start, end = between[int((between[:, 1] - between[:, 0]).argmax())].tolist()
    return float(start), float(end)


def _white(ink: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The stretches without ink between the letters of a line: first column, and the one after the last."""
    columns = np.flatnonzero(ink)
    follows = np.flatnonzero(np.diff(columns) > 1)
    return np.stack([columns[follows] + 1, columns[follows + 1]], axis=1)


def _outer(ink: NDArray[np.bool_], middle: float, side: int, reach: float) -> float:
    """Where the ink of a line's outermost letter ends on the side that no letter follows on."""
    low, high = (middle - reach, middle) if side < 0 else (middle, middle + reach)
    first, last = max(0, round(low)), min(len(ink), round(high) + 1)
    columns = np.flatnonzero(ink[first:last]) + first
    if not len(columns):
        return middle
    steps = np.diff(columns)
    wide = np.flatnonzero(steps > reach / 3)  # white that wide is not inside a letter
    if side < 0:
        return float(columns[wide[-1] + 1] if len(wide) else columns[0])
    return float(columns[wide[0]] if len(wide) else columns[-1]) + 1
