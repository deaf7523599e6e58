"""What is drawn on a PDF page besides text: pictures, ruling lines, drawings, and what lies over what.

Objects inside form XObjects are seen through the forms' matrices. All boxes are in the page's frame.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from warmwire.documents.input.pdf.frame import IDENTITY, Matrix, PdfFrame, compose, turn_box
from warmwire.documents.input.pdf.marks import UNMARKED, mark_of
from warmwire.documents.input.pdf.paths import THIN, Shapes, clip
from warmwire.layout.page import Box

MAX_OBJECTS: Final = 200_000
"""Most objects looked at on one page, and most ruling lines."""

_MAX_DEPTH: Final = 12
_LARGE_IMAGE: Final = 0.1
"""Pictures over this share of a page are what a scan is made of; smaller ones may be of any resolution."""

_LARGEST_LETTER: Final = 30.0
"""A filled curve smaller than this may be a letter, points."""

_WHOLE_PAGE: Final = 0.8
"""A picture over this share of a page is the page itself."""

_JOINT: Final = 1.0
"""Strips of one picture are no further apart, and overlap no more, than this, points."""

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
    marks: list[int] = field(default_factory=list)
    """The marked content of each picture, ..."""
    outer: dict[int, int] = field(default_factory=dict)
    """... and that of the form a text object stands in, by its address, where the form has any."""
    count: int = 0
    cover: int = 0
    """The place in that order from which on nothing is covered by an opaque picture over the whole page."""

    def turned(self, degrees: int, frame: PdfFrame) -> Drawn:
        """The same on a page that is turned clockwise out of `frame`."""
        found = replace(self)
        for name in ("rules", "images", "fills", "strokes"):
            setattr(found, name, [turn_box(box, degrees, *frame.size) for box in getattr(self, name)])
        return found


def address(pointer: Any) -> int:
    """The address a pdfium handle stands for."""
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0


def walk(page: Any, frame: PdfFrame) -> Drawn:
    """Look at every object of a pdfium page. Hold the pdfium lock."""
    import pypdfium2.raw as pdfium

    drawn, shapes, kind_of = Drawn(), Shapes(frame), pdfium.FPDFPageObj_GetType
    for obj, matrix, outer in _objects(page, shapes):
        drawn.count += 1
        kind = kind_of(obj)
        if kind == pdfium.FPDF_PAGEOBJ_TEXT:
            drawn.order[address(obj)] = drawn.count
            if outer != UNMARKED:
                drawn.outer[address(obj)] = outer
        elif kind == pdfium.FPDF_PAGEOBJ_IMAGE:
            if box := shapes.bounds(obj, matrix):
                drawn.images.append(box)
                drawn.marks.append(mark_of(obj, outer))
                if box.area >= _LARGE_IMAGE * frame.size[0] * frame.size[1]:
                    drawn.resolution = max(drawn.resolution, _resolution(obj, compose(shapes.matrix(obj), matrix)))
                if drawn.order and covers_page(box, frame) and _is_opaque(page, obj):
                    drawn.cover = drawn.count
        elif kind == pdfium.FPDF_PAGEOBJ_PATH:
            _add_path(obj, matrix, shapes, frame, drawn)
        elif kind == pdfium.FPDF_PAGEOBJ_SHADING and (box := shapes.bounds(obj, matrix)):
            drawn.fills.append(box)
        if drawn.count >= MAX_OBJECTS:
            break
    return drawn


def _objects(page: Any, shapes: Shapes) -> Iterator[tuple[Any, Matrix, int]]:
    """Objects in drawing order, with the matrix from their own space to the page's and the mark of their form."""
    import pypdfium2.raw as pdfium

    stack: list[tuple[Iterator[Any], Matrix, int]] = [
        (_children(page, pdfium.FPDFPage_CountObjects, pdfium.FPDFPage_GetObject), IDENTITY, UNMARKED)
    ]
    while stack:
        children, matrix, outer = stack[-1]
        obj = next(children, None)
        if obj is None:
            stack.pop()
            continue
        if pdfium.FPDFPageObj_GetType(obj) == pdfium.FPDF_PAGEOBJ_FORM:
            if len(stack) < _MAX_DEPTH:
                inner = _children(obj, pdfium.FPDFFormObj_CountObjects, pdfium.FPDFFormObj_GetObject)
                stack.append((inner, compose(shapes.matrix(obj), matrix), mark_of(obj, outer)))
            continue
        yield obj, matrix, outer


def _children(parent: Any, count: Any, get: Any) -> Iterator[Any]:
    for index in range(max(0, count(parent))):
        if obj := get(parent, index):
            yield obj


def _resolution(image: Any, matrix: Matrix) -> float:
    """How many pixels of a picture there are to an inch, along the axis that has more of them; `matrix` leads from its
    own space to the page."""
    import pypdfium2.raw as pdfium

    columns, rows = ctypes.c_uint(), ctypes.c_uint()
    if not pdfium.FPDFImageObj_GetImagePixelSize(image, columns, rows):
        return 0.0
    a, b, c, d, _, _ = matrix
    width, height = math.hypot(a, b), math.hypot(c, d)
    return 72.0 * max(columns.value / width if width else 0.0, rows.value / height if height else 0.0)


def covers_page(box: Box, frame: PdfFrame) -> bool:
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


def _add_path(obj: Any, matrix: Matrix, shapes: Shapes, frame: PdfFrame, drawn: Drawn) -> None:
    """Sort a path into ruling lines, filled areas and strokes of a drawing."""
    fill, stroke = shapes.draw_mode(obj)
    lines = shapes.straight_lines(obj, matrix) if stroke else None
    if lines is not None and len(drawn.rules) < MAX_OBJECTS:
        drawn.rules.extend(line for line in lines if clip(line, frame))
    coloured = fill and shapes.is_coloured(obj)
    box = shapes.bounds(obj, matrix) if fill or (stroke and lines is None) else None
    if box is None:
        return
    if stroke and lines is None:
        drawn.strokes.append(box)
    elif stroke and coloured:
        drawn.fills.append(box)
    elif not stroke and min(box.width, box.height) <= THIN:
        drawn.rules.append(box)
    elif not stroke and (ring := shapes.ring(obj, matrix)):
        drawn.rules.extend(side for side in ring if clip(side, frame))
    elif not stroke and coloured:
        drawn.fills.append(box)
        if not shapes.is_rectangle(obj):
            drawn.strokes.append(box)
            drawn.outlines += max(box.width, box.height) < _LARGEST_LETTER


def paint(boxes: list[Box], frame: PdfFrame) -> NDArray[np.bool_]:
    """A coarse picture of the page, True where a box lies; its mean is the share of the page that they cover."""
    grid = np.zeros((_CELLS, _CELLS), dtype=np.bool_)
    width, height = frame.size
    x, y = _CELLS / width, _CELLS / height
    for box in boxes:
        top, bottom = round(box.top * y), round(box.bottom * y)
        left, right = round(box.left * x), round(box.right * x)
        grid[max(top, 0) : max(bottom, 0), max(left, 0) : max(right, 0)] = True
    return grid


def is_painted(grid: NDArray[np.bool_], box: Box, frame: PdfFrame) -> bool:
    """Whether the middle of `box` is painted."""
    width, height = frame.size
    x, y = box.centre
    row, column = int(y / height * _CELLS), int(x / width * _CELLS)
    return bool(grid[min(max(row, 0), _CELLS - 1), min(max(column, 0), _CELLS - 1)])


def joined_strips(boxes: list[Box]) -> list[Box]:
    """Pictures with those joined that a program cut one into: strips and tiles with whole edges in common."""
    for across in (False, True):
        strips = sorted(boxes, key=lambda box: _edges(box, across))
        boxes = strips[:1]
        for box in strips[1:]:
            (left, right, _, end), (start, stop, top, _) = _edges(boxes[-1], across), _edges(box, across)
            if max(abs(left - start), abs(right - stop)) <= _JOINT and abs(top - end) <= _JOINT:
                boxes[-1] = boxes[-1].union(box)
            else:
                boxes.append(box)
    return boxes


def _edges(box: Box, across: bool) -> tuple[float, float, float, float]:
    """The sides that strips have in common, to a half point, and those where they meet."""
    sides = (box.left, box.right, box.top, box.bottom)
    first, second, third, fourth = sides[2:] + sides[:2] if across else sides
    return round(2 * first) / 2, round(2 * second) / 2, third, fourth


def drawings(drawn: Drawn, frame: PdfFrame) -> list[Box]:
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

    rows, edges = np.nonzero(np.diff(np.pad(grid, ((0, 0), (1, 1))), axis=1))
    pairs = zip(rows[::2].tolist(), edges[::2].tolist(), edges[1::2].tolist(), strict=True)
    for row, ends in groupby(pairs, key=itemgetter(0)):
        runs: list[tuple[int, int, int]] = []
        for _, start, end in ends:
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
