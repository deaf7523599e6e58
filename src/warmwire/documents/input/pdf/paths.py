"""Shapes of a PDF page's objects: their boxes, and whether a path is ruling lines, a filled area or part of a drawing.

A map or a plan has tens of thousands of paths. So pdfium writes to the same few places for all of them, a path is left
at its first segment that is no ruling line, and the way from an object's own space to the page is one matrix.
"""

from __future__ import annotations

import ctypes
from typing import Any, Final

from warmwire.documents.input.pdf.frame import Matrix, PdfFrame, apply, compose
from warmwire.layout.page import Box

MAX_SEGMENTS: Final = 200_000
"""Most segments looked at of one path."""

THIN: Final = 3.0
"""A filled box thinner than this is a ruling line, points."""

_HAIR: Final = 0.01
"""Sides of a frame that are thinner than this are not drawn, points."""

_MAX_RING: Final = 24
"""Segments of a frame: two boxes of five each, and a curve or two at each rounded corner."""

_LEVEL: Final = 1.0
"""A stroke that goes up or down by no more than this is a level one, points."""

_PAPER, _UNSEEN = 240, 8
"""Colours from this on are those of paper, and so much opacity is none, of 255."""

Segment = tuple[float, float]


class Shapes:
    """Reads the shapes of one page's objects. Hold the pdfium lock."""

    def __init__(self, frame: PdfFrame) -> None:
        import pypdfium2.raw as pdfium

        self._pdfium: Any = pdfium
        self._frame = frame
        self._from: Matrix | None = None
        self._way: Matrix = frame.matrix
        self._numbers = [ctypes.c_float() for _ in range(4)]
        self._colour = [ctypes.c_uint() for _ in range(4)]
        self._modes = [ctypes.c_int() for _ in range(2)]
        self._matrix = pdfium.FS_MATRIX()

    def matrix(self, obj: Any) -> Matrix:
        """From an object's own space to what it stands in."""
        raw = self._matrix
        if not self._pdfium.FPDFPageObj_GetMatrix(obj, raw):
            return 1.0, 0.0, 0.0, 1.0, 0.0, 0.0
        return raw.a, raw.b, raw.c, raw.d, raw.e, raw.f

    def _to_frame(self, matrix: Matrix) -> Matrix:
        """From where an object stands to the frame; those of one parent follow each other."""
        if matrix is not self._from:
            self._from, self._way = matrix, compose(matrix, self._frame.matrix)
        return self._way

    def bounds(self, obj: Any, matrix: Matrix) -> Box | None:
        """The object's box, cut to the page; None when it is off the page."""
        left, bottom, right, top = self._numbers
        if not self._pdfium.FPDFPageObj_GetBounds(obj, left, bottom, right, top):
            return None
        way = self._to_frame(matrix)
        corners = [apply(way, left.value, bottom.value), apply(way, right.value, top.value)]
        if (way[0] or way[3]) and (way[1] or way[2]):  # not upright
            corners += [apply(way, left.value, top.value), apply(way, right.value, bottom.value)]
        return clip(_around(corners), self._frame)

    def draw_mode(self, path: Any) -> tuple[bool, bool]:
        """Whether a path is filled, and whether its line is drawn."""
        fill, stroke = self._modes
        fill.value = stroke.value = 0
        self._pdfium.FPDFPath_GetDrawMode(path, fill, stroke)
        return bool(fill.value), bool(stroke.value)

    def is_coloured(self, path: Any) -> bool:
        """Whether a path's fill can be told from white paper."""
        red, green, blue, alpha = self._colour
        if not self._pdfium.FPDFPageObj_GetFillColor(path, red, green, blue, alpha):
            return True
        return alpha.value > _UNSEEN and min(red.value, green.value, blue.value) < _PAPER

    def is_rectangle(self, path: Any) -> bool:
        """Whether a path has no more than four straight sides."""
        pdfium = self._pdfium
        count = pdfium.FPDFPath_CountSegments(path)
        segments = (pdfium.FPDFPath_GetPathSegment(path, index) for index in range(count))
        return count <= 5 and all(
            not segment or pdfium.FPDFPathSegment_GetType(segment) != pdfium.FPDF_SEGMENT_BEZIERTO
            for segment in segments
        )

    def straight_lines(self, path: Any, matrix: Matrix) -> list[Box] | None:
        """The upright and level strokes of a path; None when it has any other, so that it is part of a drawing."""
        pdfium, (px, py, *_) = self._pdfium, self._numbers
        move, curve = pdfium.FPDF_SEGMENT_MOVETO, pdfium.FPDF_SEGMENT_BEZIERTO
        way = compose(self.matrix(path), self._to_frame(matrix))
        strokes: list[tuple[Segment, Segment]] = []
        start = last = (0.0, 0.0)
        for index in range(min(max(0, pdfium.FPDFPath_CountSegments(path)), MAX_SEGMENTS)):
            segment = pdfium.FPDFPath_GetPathSegment(path, index)
            if not segment or not pdfium.FPDFPathSegment_GetPoint(segment, px, py):
                continue
            kind = pdfium.FPDFPathSegment_GetType(segment)
            if kind == curve:
                return None
            here = apply(way, px.value, py.value)
            if kind == move:
                start = here
            elif _is_slanting(last, here):
                return None
            else:
                strokes.append((last, here))
            if pdfium.FPDFPathSegment_GetClose(segment):
                if _is_slanting(here, start):
                    return None
                strokes.append((here, start))
            last = here
        lines = [_around([one, other]) for one, other in strokes]
        return [line for line in lines if max(line.width, line.height) > THIN]

    def ring(self, path: Any, matrix: Matrix) -> list[Box]:
        """The sides of a frame that is filled between an outer and an inner box, as browsers draw borders; empty where
        a path is none. Sides of no thickness are not drawn. Follows `draw_mode` of the same path."""
        pdfium, (px, py, *_) = self._pdfium, self._numbers
        if self._modes[0].value != pdfium.FPDF_FILLMODE_ALTERNATE:
            return []
        if not 8 <= pdfium.FPDFPath_CountSegments(path) <= _MAX_RING:
            return []
        way = compose(self.matrix(path), self._to_frame(matrix))
        parts: list[list[Segment]] = []
        straight = 0
        for index in range(pdfium.FPDFPath_CountSegments(path)):
            segment = pdfium.FPDFPath_GetPathSegment(path, index)
            if not segment or not pdfium.FPDFPathSegment_GetPoint(segment, px, py):
                continue
            kind = pdfium.FPDFPathSegment_GetType(segment)
            if kind == pdfium.FPDF_SEGMENT_MOVETO:
                parts.append([])
            if not parts:
                return []
            straight += kind == pdfium.FPDF_SEGMENT_LINETO
            parts[-1].append(apply(way, px.value, py.value))
        return _sides(parts) if len(parts) == 2 and straight >= 6 else []


def _sides(parts: list[list[Segment]]) -> list[Box]:
    """What lies between two boxes, one in the other, where it is thin all around."""
    inner, outer = sorted((_around(part) for part in parts), key=lambda box: box.area)
    sides = [
        Box(outer.left, outer.top, outer.right, inner.top),
        Box(outer.left, inner.bottom, outer.right, outer.bottom),
        Box(outer.left, outer.top, inner.left, outer.bottom),
        Box(inner.right, outer.top, outer.right, outer.bottom),
    ]
    thickness = [min(side.width, side.height) for side in sides]
    if min(thickness) < -_HAIR or max(thickness) > THIN or max(thickness) < _HAIR:
        return []
    return [side for side, thick in zip(sides, thickness, strict=True) if thick > _HAIR]


def _is_slanting(one: Segment, other: Segment) -> bool:
    return abs(one[0] - other[0]) > _LEVEL and abs(one[1] - other[1]) > _LEVEL


def _around(points: list[Segment]) -> Box:
    xs, ys = zip(*points, strict=True)
    return Box(min(xs), min(ys), max(xs), max(ys))


def clip(box: Box, frame: PdfFrame) -> Box | None:
    """The part of `box` on the page, None when there is none."""
    width, height = frame.size
    left, top = max(box.left, 0.0), max(box.top, 0.0)
    right, bottom = min(box.right, width), min(box.bottom, height)
    return Box(left, top, right, bottom) if left <= right and top <= bottom else None
