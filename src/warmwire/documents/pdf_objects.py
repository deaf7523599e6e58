"""What is drawn on a PDF page besides text: pictures, ruling lines, drawings, and what lies over what.

Objects inside form XObjects are seen through the forms' matrices. All boxes are in the page's frame.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from warmwire.documents.pdf_frame import IDENTITY, Frame, Matrix, apply, compose
from warmwire.layout.page import Box

MAX_OBJECTS: Final = 200_000
"""Most objects looked at on one page, and most segments of its paths."""

_MAX_DEPTH: Final = 12
_THIN: Final = 3.0
"""A filled box thinner than this is a ruling line, points."""

_HAIR: Final = 0.01
"""Sides of a frame that are thinner than this are not drawn, points."""

_MAX_RING: Final = 24
"""Segments of a frame: two boxes of five each, and a curve or two at each rounded corner."""

_LARGE_IMAGE: Final = 0.1
"""Pictures over this share of a page are what a scan is made of; smaller ones may be of any resolution."""

_LARGEST_LETTER: Final = 30.0
"""A filled curve smaller than this may be a letter, points."""

_WHOLE_PAGE: Final = 0.8
"""A picture over this share of a page is the page itself."""

_CELLS: Final = 256
"""A page's areas are summed up on a grid of so many cells along each axis."""


@dataclass(slots=True)
class Drawn:
    """The objects of one page. `order` gives a text object's place in the drawing order, by its address."""

    rules: list[Box] = field(default_factory=list)
    images: list[Box] = field(default_factory=list)
    fills: list[Box] = field(default_factory=list)
    strokes: list[Box] = field(default_factory=list)
    outlines: int = 0
    """How many filled curves of the size of letters there are: text may be drawn so, and then says nothing."""
    resolution: float = 0.0
    """The finest resolution of the larger pictures, pixels per inch."""
    order: dict[int, int] = field(default_factory=dict)
    count: int = 0
    cover: int = 0
    """The place in that order from which on nothing is covered by an opaque picture over the whole page."""


def address(pointer: Any) -> int:
    """The address a pdfium handle stands for."""
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0


def walk(page: Any, frame: Frame) -> Drawn:
    """Look at every object of a pdfium page. Hold the pdfium lock."""
    import pypdfium2.raw as pdfium

    drawn = Drawn()
    for obj, matrix in _objects(page):
        drawn.count += 1
        kind = pdfium.FPDFPageObj_GetType(obj)
        if kind == pdfium.FPDF_PAGEOBJ_TEXT:
            drawn.order[address(obj)] = drawn.count
        elif kind == pdfium.FPDF_PAGEOBJ_IMAGE:
            if box := _bounds(obj, matrix, frame):
                drawn.images.append(box)
                if box.area >= _LARGE_IMAGE * frame.size[0] * frame.size[1]:
                    drawn.resolution = max(drawn.resolution, _resolution(obj, matrix))
                if drawn.order and covers_page(box, frame) and _is_opaque(page, obj):
                    drawn.cover = drawn.count
        elif kind == pdfium.FPDF_PAGEOBJ_PATH:
            _path(obj, matrix, frame, drawn)
        elif kind == pdfium.FPDF_PAGEOBJ_SHADING and (box := _bounds(obj, matrix, frame)):
            drawn.fills.append(box)
        if drawn.count >= MAX_OBJECTS:
            break
    return drawn


def _objects(page: Any) -> Iterator[tuple[Any, Matrix]]:
    """Objects in drawing order, with the matrix from their own space to the page's."""
    import pypdfium2.raw as pdfium

    stack: list[tuple[Iterator[Any], Matrix]] = [
        (_children(page, pdfium.FPDFPage_CountObjects, pdfium.FPDFPage_GetObject), IDENTITY)
    ]
    while stack:
        children, matrix = stack[-1]
        obj = next(children, None)
        if obj is None:
            stack.pop()
            continue
        if pdfium.FPDFPageObj_GetType(obj) == pdfium.FPDF_PAGEOBJ_FORM:
            if len(stack) < _MAX_DEPTH:
                inner = _children(obj, pdfium.FPDFFormObj_CountObjects, pdfium.FPDFFormObj_GetObject)
                stack.append((inner, compose(_matrix(obj), matrix)))
            continue
        yield obj, matrix


def _children(parent: Any, count: Any, get: Any) -> Iterator[Any]:
    for index in range(max(0, count(parent))):
        if obj := get(parent, index):
            yield obj


def _matrix(obj: Any) -> Matrix:
    import pypdfium2.raw as pdfium

    raw = pdfium.FS_MATRIX()
    if not pdfium.FPDFPageObj_GetMatrix(obj, raw):
        return IDENTITY
    return raw.a, raw.b, raw.c, raw.d, raw.e, raw.f


def _bounds(obj: Any, matrix: Matrix, frame: Frame) -> Box | None:
    """The object's box, cut to the page; None when it is off the page."""
    import pypdfium2.raw as pdfium

    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    if not pdfium.FPDFPageObj_GetBounds(obj, left, bottom, right, top):
        return None
    corners = [apply(matrix, x, y) for x in (left.value, right.value) for y in (bottom.value, top.value)]
    return clip(_around([frame.point(*corner) for corner in corners]), frame)


def _resolution(image: Any, matrix: Matrix) -> float:
    """How many pixels of a picture there are to an inch, along the axis that has more of them."""
    import pypdfium2.raw as pdfium

    columns, rows = ctypes.c_uint(), ctypes.c_uint()
    if not pdfium.FPDFImageObj_GetImagePixelSize(image, columns, rows):
        return 0.0
    a, b, c, d, _, _ = compose(_matrix(image), matrix)
    width, height = math.hypot(a, b), math.hypot(c, d)
    return 72.0 * max(columns.value / width if width else 0.0, rows.value / height if height else 0.0)


def covers_page(box: Box, frame: Frame) -> bool:
    """Whether a picture is the page itself, or its ground, and no figure on it."""
    return box.area >= _WHOLE_PAGE * frame.size[0] * frame.size[1]


def _is_opaque(page: Any, obj: Any) -> bool:
    """Whether a picture hides what lies under it; a watermark with a mask does not."""
    import pypdfium2.raw as pdfium

    if pdfium.FPDFPageObj_HasTransparency(obj):
        return False
    bitmap = pdfium.FPDFImageObj_GetRenderedBitmap(page.pdf, page, obj)
    if not bitmap:
        return True
    try:
        if pdfium.FPDFBitmap_GetFormat(bitmap) != pdfium.FPDFBitmap_BGRA:
            return True
        size = pdfium.FPDFBitmap_GetStride(bitmap) * pdfium.FPDFBitmap_GetHeight(bitmap)
        pixels = ctypes.string_at(pdfium.FPDFBitmap_GetBuffer(bitmap), size)
        return float(np.frombuffer(pixels, dtype=np.uint8)[3::4].mean()) > 250
    finally:
        pdfium.FPDFBitmap_Destroy(bitmap)


def _around(points: list[tuple[float, float]]) -> Box:
    xs, ys = zip(*points, strict=True)
    return Box(min(xs), min(ys), max(xs), max(ys))


def clip(box: Box, frame: Frame) -> Box | None:
    """The part of `box` on the page, None when there is none."""
    width, height = frame.size
    cut = Box(max(box.left, 0.0), max(box.top, 0.0), min(box.right, width), min(box.bottom, height))
    return cut if cut.left <= cut.right and cut.top <= cut.bottom else None


def _path(obj: Any, matrix: Matrix, frame: Frame, drawn: Drawn) -> None:
    """Sort a path into ruling lines, filled areas and strokes of a drawing."""
    import pypdfium2.raw as pdfium

    box = _bounds(obj, matrix, frame)
    if box is None:
        return
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDFPath_GetDrawMode(obj, fill, stroke)
    if fill.value and not stroke.value:
        if min(box.width, box.height) <= _THIN:
            drawn.rules.append(box)
        elif ring := _ring(obj, fill.value, compose(_matrix(obj), matrix), frame):
            drawn.rules.extend(side for side in ring if clip(side, frame))
        elif _is_coloured(obj):
            drawn.fills.append(box)
            if not _is_rectangle(obj):
                drawn.strokes.append(box)
                drawn.outlines += max(box.width, box.height) < _LARGEST_LETTER
        return
    if not stroke.value:
        return
    lines = _straight_lines(obj, compose(_matrix(obj), matrix), frame)
    if lines is None:
        drawn.strokes.append(box)
    elif len(drawn.rules) < MAX_OBJECTS:
        drawn.rules.extend(line for line in lines if clip(line, frame))
        if fill.value and _is_coloured(obj):
            drawn.fills.append(box)


def _is_coloured(obj: Any) -> bool:
    """Whether a path's fill can be told from white paper."""
    import pypdfium2.raw as pdfium

    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    if not pdfium.FPDFPageObj_GetFillColor(obj, red, green, blue, alpha):
        return True
    return alpha.value > 8 and min(red.value, green.value, blue.value) < 240


def _segments(obj: Any) -> Iterator[tuple[int, float, float, bool]]:
    """A path's segments: kind, end point, whether it closes the figure."""
    import pypdfium2.raw as pdfium

    x, y = ctypes.c_float(), ctypes.c_float()
    for index in range(min(max(0, pdfium.FPDFPath_CountSegments(obj)), MAX_OBJECTS)):
        segment = pdfium.FPDFPath_GetPathSegment(obj, index)
        if segment and pdfium.FPDFPathSegment_GetPoint(segment, x, y):
            closes = bool(pdfium.FPDFPathSegment_GetClose(segment))
            yield pdfium.FPDFPathSegment_GetType(segment), x.value, y.value, closes


def _is_rectangle(obj: Any) -> bool:
    import pypdfium2.raw as pdfium

    segments = list(_segments(obj))
    return len(segments) <= 5 and all(kind != pdfium.FPDF_SEGMENT_BEZIERTO for kind, *_ in segments)


def _ring(obj: Any, fill: int, matrix: Matrix, frame: Frame) -> list[Box]:
    """The sides of a frame that is filled between an outer and an inner box, as browsers draw borders; empty where a
    path is none. Sides of no thickness are not drawn."""
    import pypdfium2.raw as pdfium

    if fill != pdfium.FPDF_FILLMODE_ALTERNATE or not 8 <= pdfium.FPDFPath_CountSegments(obj) <= _MAX_RING:
        return []
    parts: list[list[tuple[float, float]]] = []
    straight = 0
    for kind, x, y, _ in _segments(obj):
        if kind == pdfium.FPDF_SEGMENT_MOVETO:
            parts.append([])
        if not parts:
            return []
        straight += kind == pdfium.FPDF_SEGMENT_LINETO
        parts[-1].append(frame.point(*apply(matrix, x, y)))
    if len(parts) != 2 or straight < 6:
        return []
    inner, outer = sorted((_around(part) for part in parts), key=lambda box: box.area)
    sides = [
        Box(outer.left, outer.top, outer.right, inner.top),
        Box(outer.left, inner.bottom, outer.right, outer.bottom),
        Box(outer.left, outer.top, inner.left, outer.bottom),
        Box(inner.right, outer.top, outer.right, outer.bottom),
    ]
    thickness = [min(side.right - side.left, side.bottom - side.top) for side in sides]
    if min(thickness) < -_HAIR or max(thickness) > _THIN or max(thickness) < _HAIR:
        return []
    return [side for side, thick in zip(sides, thickness, strict=True) if thick > _HAIR]


def _straight_lines(obj: Any, matrix: Matrix, frame: Frame) -> list[Box] | None:
    """The upright and level strokes of a path; None when it has any other, so that it is part of a drawing."""
    import pypdfium2.raw as pdfium

    lines: list[Box] = []
    start = last = (0.0, 0.0)
    for kind, x, y, closes in _segments(obj):
        here = frame.point(*apply(matrix, x, y))
        if kind == pdfium.FPDF_SEGMENT_BEZIERTO:
            return None
        if kind == pdfium.FPDF_SEGMENT_MOVETO:
            start = here
        else:
            lines.append(_around([last, here]))
        if closes:
            lines.append(_around([here, start]))
        last = here
    if any(min(line.width, line.height) > 1.0 for line in lines):
        return None
    return [line for line in lines if max(line.width, line.height) > _THIN]


def paint(boxes: list[Box], frame: Frame) -> NDArray[np.bool_]:
    """A coarse picture of the page, True where a box lies; its mean is the share of the page that they cover."""
    grid = np.zeros((_CELLS, _CELLS), dtype=np.bool_)
    width, height = frame.size
    x, y = _CELLS / width, _CELLS / height
    for box in boxes:
        top, bottom = round(box.top * y), round(box.bottom * y)
        left, right = round(box.left * x), round(box.right * x)
        grid[max(top, 0) : max(bottom, 0), max(left, 0) : max(right, 0)] = True
    return grid


def is_painted(grid: NDArray[np.bool_], box: Box, frame: Frame) -> bool:
    """Whether the middle of `box` is painted."""
    width, height = frame.size
    x, y = box.centre
    row, column = int(y / height * _CELLS), int(x / width * _CELLS)
    return bool(grid[min(max(row, 0), _CELLS - 1), min(max(column, 0), _CELLS - 1)])


def drawings(drawn: Drawn, frame: Frame) -> list[Box]:
    """Boxes around drawings: strokes and curves that lie close together and cover some ground."""
    width, height = frame.size
    near_x, near_y = width / _CELLS, height / _CELLS
    spread = [Box(b.left - near_x, b.top - near_y, b.right + near_x, b.bottom + near_y) for b in drawn.strokes]
    grid = paint(spread, frame)
    found = []
    for rows, columns in _islands(grid):
        left, right = (columns[0] + 1) * near_x, columns[1] * near_x  # without the spread
        top, bottom = (rows[0] + 1) * near_y, rows[1] * near_y
        box = Box(left, top, max(left, right), max(top, bottom))
        if box.width > 30 and box.height > 30:
            found.append(box)
    return found


def _islands(grid: NDArray[np.bool_]) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """First and last row and column of every connected area of a grid, row by row joining runs that touch."""
    areas: list[list[int]] = []  # top, bottom, first, last; emptied when it becomes part of another
    above: list[tuple[int, int, int]] = []  # start and end of a run, and its area
    joined: dict[int, int] = {}

    def root(area: int) -> int:
        while area in joined:
            area = joined[area]
        return area

    for row in np.flatnonzero(grid.any(axis=1)).tolist():
        edges = np.flatnonzero(np.diff(np.concatenate(([False], grid[row], [False])).astype(np.int8)))
        runs: list[tuple[int, int, int]] = []
        for start, end in edges.reshape(-1, 2).tolist():
            area = len(areas)
            areas.append([row, row, start, end - 1])
            for other_start, other_end, other in above:
                old = root(other)
                if other_start < end and start < other_end and old != area and areas[old][1] >= row - 1:
                    mine, its = areas[area], areas[old]
                    areas[area] = [min(mine[0], its[0]), row, min(mine[2], its[2]), max(mine[3], its[3])]
                    joined[old] = area
            runs.append((start, end, area))
        above = runs
    for number, (top, bottom, first, last) in enumerate(areas):
        if number not in joined:
            yield (top, bottom), (first, last)
