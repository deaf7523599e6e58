"""The characters of a PDF page as pdfium gives them, with what the file says of their looks."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final, NamedTuple

from warmwire.documents.pdf_objects import Drawn, address

_TYPEWRITERS: Final = ("courier", "mono", "consol", "typewriter", "cmtt", "nimbusmon", "menlo")
_REPLACED: Final = {
    0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "ft", 0xFB06: "st",
    0xFFFE: "-", 0x02: "-", 0xAD: "-",
    0xF0B7: "•", 0xF0A7: "▪", 0xF0D8: "‣", 0xF0A8: "☐", 0xF06F: "☐", 0xF0FE: "☑", 0xF0FC: "✓",
}  # fmt: skip
"""What is not kept as it is: ligatures, hyphens at a line's end (pdfium's odd codes), bullets of symbol fonts."""


class Space(IntEnum):
    """What stood before a character."""

    NONE = 0
    GUESSED = 1  # by pdfium, from a gap
    REAL = 2


@dataclass(frozen=True, slots=True)
class Style:
    """How one text object is drawn. `angle` is counterclockwise in user space, degrees."""

    visible: bool
    white: bool
    size: float
    angle: float
    bold: bool
    mono: bool
    order: int


class Char(NamedTuple):
    """A character, or the letters of a ligature: its box is (left, bottom, right, top) in user space."""

    text: str
    corners: tuple[float, float, float, float]
    style: Style
    space: Space


class CharReader:
    """The characters of a text page, with their styles looked up once per text object."""

    def __init__(self, textpage: Any, drawn: Drawn) -> None:
        self._textpage = textpage
        self._drawn = drawn
        self._styles: dict[int, Style] = {}
        self.unmapped = 0

    def characters(self) -> Iterator[Char]:
        import pypdfium2.raw as pdfium

        rectangle = pdfium.FS_RECTF()
        page, space, high = self._textpage, Space.NONE, 0
        for index in range(max(0, pdfium.FPDFText_CountChars(page))):
            code = pdfium.FPDFText_GetUnicode(page, index)
            if code in (0x20, 0x0A, 0x0D, 0x09, 0xA0):
                guessed = pdfium.FPDFText_IsGenerated(page, index) == 1
                space = max(space, Space.GUESSED if guessed else Space.REAL)
                continue
            if 0xD800 <= code < 0xDC00:
                high = code
                continue
            if 0xDC00 <= code < 0xE000 and high:
                code = 0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00)
            high = 0
            if pdfium.FPDFText_HasUnicodeMapError(page, index) == 1 or code == 0:
                self.unmapped += 1
                code = code or 0xFFFD
            if not pdfium.FPDFText_GetLooseCharBox(page, index, rectangle):
                continue
            box = (rectangle.left, rectangle.bottom, rectangle.right, rectangle.top)
            yield Char(_REPLACED.get(code) or _character(code), box, self._style(index), space)
            space = Space.NONE

    def _style(self, index: int) -> Style:
        import pypdfium2.raw as pdfium

        obj = pdfium.FPDFText_GetTextObject(self._textpage, index)
        key = address(obj)
        style = self._styles.get(key)
        if style is None:
            style = self._styles[key] = _read_style(self._textpage, index, obj, self._drawn.order.get(key, 1 << 30))
        return style


def _character(code: int) -> str:
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"


def _read_style(textpage: Any, index: int, obj: Any, order: int) -> Style:
    import pypdfium2.raw as pdfium

    matrix = pdfium.FS_MATRIX()
    if not pdfium.FPDFText_GetMatrix(textpage, index, matrix):
        matrix.a = matrix.d = 1.0
    size = abs(pdfium.FPDFText_GetFontSize(textpage, index)) * math.hypot(matrix.c, matrix.d)
    mode = pdfium.FPDFTextObj_GetTextRenderMode(obj) if obj else pdfium.FPDF_TEXTRENDERMODE_FILL
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    known = pdfium.FPDFText_GetFillColor(textpage, index, red, green, blue, alpha)
    fills = mode in (pdfium.FPDF_TEXTRENDERMODE_FILL, pdfium.FPDF_TEXTRENDERMODE_FILL_CLIP)
    name, flags = _font(textpage, index)
    return Style(
        visible=mode not in (pdfium.FPDF_TEXTRENDERMODE_INVISIBLE, pdfium.FPDF_TEXTRENDERMODE_CLIP)
        and not (known and fills and alpha.value == 0),
        white=bool(known and fills and min(red.value, green.value, blue.value) >= 250),
        size=size,
        angle=math.degrees(math.atan2(matrix.b, matrix.a)),
        bold=any(word in name for word in ("bold", "black", "heavy")) or bool(flags & 1 << 18),
        mono=bool(flags & 1) or any(word in name for word in _TYPEWRITERS),
        order=order,
    )


def _font(textpage: Any, index: int) -> tuple[str, int]:
    """The name of a character's font in lower case, and its flags (PDF 32000-1, table 123)."""
    import pypdfium2.raw as pdfium

    flags = ctypes.c_int()
    buffer = ctypes.create_string_buffer(256)
    length = pdfium.FPDFText_GetFontInfo(textpage, index, buffer, len(buffer), flags)
    name = buffer.raw[: max(0, length - 1)] if length <= len(buffer) else b""
    return name.decode("utf-8", "replace").lower(), flags.value
