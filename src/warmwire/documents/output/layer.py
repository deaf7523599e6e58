"""A page's words as invisible text, each where it stands on the picture.

Text objects in render mode 3. A line is set at the angle it lies at, in a font as high as its letters; each word is
stretched to its own width, and a space fills the way to the next. Lines come in the page's reading order, which is
that of the elements they stand in, so that text that is copied, searched or read aloud runs as the page does.

The words of each element, item or cell are a piece of marked content with a number, by which a structure tree names
them. An element without words, as most figures are, is an empty path around its place, which paints nothing. Running
heads and feet are artifacts, and so is all that the page drew before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, zip_longest
from typing import Final

from warmwire.documents.output.flow import FURNITURE, on_page
from warmwire.documents.output.glyphless import ASCENT, DESCENT, WIDTH, Glyphless, plain
from warmwire.documents.output.shares import Share, shares
from warmwire.documents.output.tags import MarkedPiece, tag_of
from warmwire.documents.reading.record import ReadPage
from warmwire.layout.page import Kind
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

_DRIFT: Final = 0.05
"""A word is put in its place anew where those before it have not led there, to so many units of user space."""


Place = Callable[[float, float], Point]
"""Takes points of a page's frame to user space."""


@dataclass(slots=True)
class Layer:
    """What is added to a page: a content stream, and its pieces of marked content, in the order of their numbers."""

    content: bytes = b""
    pieces: list[MarkedPiece] = field(default_factory=list)


def text_layer(page: ReadPage, place: Place, font: Glyphless, *, tagged: bool) -> Layer:
    """The words of a page, as marked content if `tagged`; no content where there is nothing to say."""
    layer = Layer()
    found = _with_wordless(page) if tagged else shares(page)
    pieces = (_piece(share, page, place, font, layer) if tagged else _text(share, place, font) for share in found)
    if shown := list(filter(None, pieces)):
        layer.content = b"\n".join([b"q 3 Tr", *shown, b"Q\n"])
    return layer


def _with_wordless(page: ReadPage) -> list[Share]:
    """The shares of a page, with one for each element that has none."""
    found = list(shares(page))
    order = {id(element): number for number, element in enumerate(page.elements)}
    missing = order.keys() - {id(share.element) for share in found}
    found += [Share(element, []) for element in page.elements if id(element) in missing]
    return sorted(found, key=lambda share: order.get(id(share.element), 0))


def _piece(share: Share, page: ReadPage, place: Place, font: Glyphless, layer: Layer) -> bytes:
    """A share as marked content; furniture without words is nothing."""
    element, shown = share.element, _text(share, place, font)
    if element is None or element.kind in FURNITURE:
        return b"\n".join([b"/Artifact BMC", shown, b"EMC"]) if shown else b""
    box = on_page(element.box, page)
    xs, ys = zip(place(box.left, box.top), place(box.right, box.bottom), strict=True)
    left, bottom, right, top = min(xs), min(ys), max(xs), max(ys)
    if element.kind is Kind.PICTURE or not shown:
        sizes = " ".join(_number(side, 2) for side in (left, bottom, right - left, top - bottom))
        shown = f"{sizes} re n\n".encode() + shown
    start = f"/{tag_of(share)} <</MCID {len(layer.pieces)}>> BDC".encode()
    layer.pieces.append(MarkedPiece(share, (left, bottom, right, top)))
    return b"\n".join([start, shown, b"EMC"])


def _text(share: Share, place: Place, font: Glyphless) -> bytes:
    """The lines of a share as a text object, nothing without any."""
    lines = [operators for run in share.runs for operators in _line(run.moved(place), font)]
    return b"\n".join([b"BT", *lines, b"ET"]) if lines else b""


def _line(run: Run, font: Glyphless) -> Iterator[bytes]:
    """A line's words, each followed by a space up to the next, the last by one that ends the line: a hyphen by none."""
    length, height = math.hypot(*run.along), math.hypot(*run.across)
    words = run.words
    if length < _LEAST or height < _LEAST or len(words) != len(run.spans):
        return
    cos, sin = run.along[0] / length, run.along[1] / length
    base = [corner + ASCENT / (ASCENT + DESCENT) * down for corner, down in zip(run.corner, run.across, strict=True)]
    size, pen = round(height, 2), -math.inf
    yield f"/{FONT} {_number(size)} Tf".encode()
    spans = _parted(run.spans, _SPACE * height / length)
    after = [] if words[-1].endswith("-") else [spans[-1][1] + _SPACE * height / length]
    starts = [*(start for start, _ in spans[1:]), *after]
    for word, (start, end), following in zip_longest(words, spans, starts):
        if abs(start * length - pen) > _DRIFT:
            pen = start * length
            x, y = base[0] + start * run.along[0], base[1] + start * run.along[1]
            yield " ".join([*map(_number, (cos, sin, -sin, cos)), _number(x, 2), _number(y, 2), "Tm"]).encode()
        space = [(" ", following - end)] if following is not None else []
        for text, share in ((plain(word), end - start), *space):
            if text:
                natural = len(text) * WIDTH / _EM * size
                stretch = round(min(100 * max(share * length, _LEAST) / natural, _WIDE), 1)
                pen += stretch / 100 * natural
                yield f"{_number(stretch)} Tz <{font.encode(text).hex()}> Tj".encode()


def _parted(spans: Sequence[tuple[float, float]], space: float) -> list[tuple[float, float]]:
    """Words with at least `space` between them, taken in equal parts from both where it is missing."""
    parted = list(spans)
    for index, (one, other) in enumerate(pairwise(spans)):
        missing = min(space - (other[0] - one[1]), (one[1] - one[0]) / 2, (other[1] - other[0]) / 2)
        if missing > 0:
            parted[index] = (parted[index][0], one[1] - missing / 2)
            parted[index + 1] = (other[0] + missing / 2, other[1])
    return parted


def _number(value: float, places: int = 4) -> str:
    """A number as PDF has it: no exponent, and no more places than can be seen."""
    text = f"{value:.{places}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
