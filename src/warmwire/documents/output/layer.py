"""A page's words as invisible text, each where it stands on the picture.

One text object in render mode 3. A line is set at the angle it lies at, in a font as high as its letters; each word is
stretched to its own width, and a space fills the way to the next. Lines come in the page's reading order, which is
that of the elements they stand in, so that text that is copied, searched or read aloud runs as the page does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from warmwire.documents.output.glyphless import ASCENT, DESCENT, WIDTH, Glyphless, plain
from warmwire.documents.reading.record import ReadPage
from warmwire.layout.page import Box, Element
from warmwire.layout.runs import Point, Run

FONT: Final = "WwGlyphless"
"""The font's name in the resources of a page."""

_EM: Final = 1000
_SPACE: Final = 0.2
"""Least space between words, in heights of the line: readers of PDF tell words apart by the space, not by its code."""

_LEAST: Final = 0.01
"""A word narrower or lower than that, in units of user space, cannot be set."""

_WIDE: Final = 10_000.0
"""Most stretching that readers take, per cent."""


def text_layer(page: ReadPage, place: Callable[[float, float], Point], font: Glyphless) -> bytes:
    """The content stream of a page's words; `place` takes points of the page's frame to user space."""
    runs = in_reading_order(page.runs or spread_elements(page.elements), page.elements)
    shown = [operators for run in runs for operators in _line(run.moved(place), font)]
    if not shown:
        return b""
    return b"\n".join([b"q BT 3 Tr", *shown, b"ET Q\n"])


def _line(run: Run, font: Glyphless) -> Iterator[bytes]:
    """A line's words, each followed by a space up to the next."""
    length, height = math.hypot(*run.along), math.hypot(*run.across)
    words = run.words
    if length < _LEAST or height < _LEAST or len(words) != len(run.spans):
        return
    cos, sin = run.along[0] / length, run.along[1] / length
    base = [corner + ASCENT / (ASCENT + DESCENT) * down for corner, down in zip(run.corner, run.across, strict=True)]
    yield f"/{FONT} {_number(height)} Tf".encode()
    spans = _parted(run.spans, _SPACE * height / length)
    starts = [*(start for start, _ in spans[1:]), None]
    for word, (start, end), following in zip(words, spans, starts, strict=True):
        x, y = base[0] + start * run.along[0], base[1] + start * run.along[1]
        turn = " ".join(map(_number, (cos, sin, -sin, cos, x, y)))
        yield f"{turn} Tm".encode() + _shown(plain(word), (end - start) * length, height, font)
        if following is not None:
            yield _shown(" ", (following - end) * length, height, font)


def _parted(spans: Sequence[tuple[float, float]], space: float) -> list[tuple[float, float]]:
    """Words with at least `space` between them, taken in equal parts from both where it is missing."""
    parted = list(spans)
    for index, (one, other) in enumerate(pairwise(spans)):
        missing = min(space - (other[0] - one[1]), (one[1] - one[0]) / 2, (other[1] - other[0]) / 2)
        if missing > 0:
            parted[index] = (parted[index][0], one[1] - missing / 2)
            parted[index + 1] = (other[0] + missing / 2, other[1])
    return parted


def _shown(text: str, width: float, height: float, font: Glyphless) -> bytes:
    """Text stretched to a width."""
    if not text:
        return b""
    stretch = 100 * max(width, _LEAST) / (len(text) * WIDTH / _EM * height)
    return f" {_number(min(stretch, _WIDE))} Tz <{font.encode(text).hex()}> Tj".encode()


def _number(value: float) -> str:
    """A number as PDF has it: no exponent, and no more places than can be seen."""
    return f"{value:.4f}".rstrip("0").rstrip(".") if abs(value) >= 5e-5 else "0"


def in_reading_order(runs: Iterable[Run], elements: Sequence[Element]) -> list[Run]:
    """Lines in the order of the elements they stand in, those in none after the one that came before them."""
    placed: list[tuple[int, int, Run]] = []
    last = -1
    for number, run in enumerate(runs):
        inside = [i for i, element in enumerate(elements) if element.box and _holds(element.box, run.middle)]
        last = min(inside, key=lambda i: _area(elements[i]), default=last)
        placed.append((last, number, run))
    return [run for _, _, run in sorted(placed, key=lambda entry: entry[:2])]


def _holds(box: Box, point: Point) -> bool:
    return box.left <= point[0] <= box.right and box.top <= point[1] <= box.bottom


def _area(element: Element) -> float:
    return element.box.area if element.box is not None else 0.0


def spread_elements(elements: Iterable[Element]) -> Iterator[Run]:
    """Lines for what came without any, as of a model that gives boxes of paragraphs only: each element's words spread
    over its box, in lines of a usual shape."""
    for element in elements:
        if element.box is None or element.box.area <= 0:
            continue
        if element.table is not None:
            rows = [[cell.text for cell in element.table.cells if cell.row == row] for row in range(element.table.rows)]
            lines = [" ".join(filter(None, row)) for row in rows]
        else:
            lines = _wrapped(element.text, element.box)
        step = element.box.height / max(len(lines), 1)
        for number, text in enumerate(lines):
            if words := text.split():
                ends = [0]
                for word in words:
                    ends.append(ends[-1] + len(word) + 1)
                letters = ends[-1] - 1
                spans = tuple((start / letters, (end - 1) / letters) for start, end in pairwise(ends))
                corner = (element.box.left, element.box.top + number * step)
                yield Run(" ".join(words), corner, (element.box.width, 0.0), (0.0, 0.8 * step), spans)


def _wrapped(text: str, box: Box) -> list[str]:
    """Text cut into as many lines as its box has room for letters that are half as wide as they are high."""
    words = text.split()
    letters = max(len(" ".join(words)), 1)
    count = max(1, round(math.sqrt(letters * 0.42 * box.height / box.width)))
    lines, line = [], ""
    for word in words:
        if line and len(line) + len(word) + 1 > math.ceil(letters / count) + 2:
            lines.append(line)
            line = ""
        line = f"{line} {word}".strip()
    return [*lines, line] if line else lines
