"""The characters of a PDF page as pdfium gives them, with what the file says of their looks.

A page has thousands of characters and a call into pdfium costs more from Python than what it does there. So each
question is put to all characters in one sweep, boxes land in one array, and looks are asked once per text object,
fonts once per font.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cache
from itertools import repeat
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warmwire.documents.input.pdf.objects import Drawn, address
from warmwire.documents.pdf_marks import UNMARKED, mark_of

MAX_CHARACTERS: Final = 1_000_000
"""Most characters looked at on one page."""

UNKNOWN: Final = "\ufffd"
"""A glyph that the file gives no meaning."""

_BOLD: Final = ("bold", "black", "heavy", "demi", "cmbx", "sfbx", "ecbx")
_BOLD_ENDS: Final = ("-medi", "-mediital")  # the Nimbus fonts that stand for Times-Bold
_ITALIC: Final = ("italic", "oblique", "slant", "cmti", "cmsl", "sfti")
_TYPEWRITERS: Final = ("courier", "mono", "consol", "typewriter", "cmtt", "sftt", "nimbusmon", "menlo")
_REPLACED: Final = {
    0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "ft", 0xFB06: "st",
    0xFFFE: "-", 0x02: "-", 0xAD: "-",
    0xF0B7: "•", 0xF0A7: "▪", 0xF0D8: "‣", 0xF0A8: "☐", 0xF06F: "☐", 0xF0FE: "☑", 0xF0FC: "✓",
}  # fmt: skip
"""What is not kept as it is: ligatures, hyphens at a line's end (pdfium's odd codes), bullets of symbol fonts."""

_SPACES: Final = frozenset({0x09, 0x0A, 0x0D, 0x20, 0xA0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000})
_NOTHING: Final = frozenset({0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF})
_LEAST_WIDTH, _LEAST_INK, _MOST_INKED = 0.25, 0.15, 0.04
"""A space of this width, of its box's height, with ink of this height, of the font size, is a glyph that the file
wrongly calls a space, if no more than this share of a page are: spaces are one in six, ligatures one in seventy."""


class Space(IntEnum):
    """What stood before a character."""

    NONE = 0
    GUESSED = 1  # by pdfium, from a gap
    REAL = 2


class Font(NamedTuple):
    """What a font's name and flags say of it."""

    bold: bool
    italic: bool
    mono: bool
    drawn: bool
    """Whether its glyphs are little drawings (Type 3), whose boxes say nothing of their ink."""


@dataclass(frozen=True, slots=True, eq=False)
class Style:
    """How one text object is drawn. `angle` is counterclockwise in user space, degrees; `font` tells fonts apart,
    `mark` is the marked content it belongs to."""

    visible: bool
    white: bool
    size: float
    angle: float
    bold: bool
    italic: bool
    mono: bool
    order: int
    font: int = 0
    mark: int = UNMARKED


@dataclass(slots=True)
class Characters:
    """A page's characters in the order of the file, all lists of one length.

    `boxes` are left, bottom, right, top in user space. `glyphs` has font and code of those whose meaning the file does
    not give; their text is `UNKNOWN`, or the code's own character where that is one. `unmapped` counts the latter.
    """

    texts: list[str] = field(default_factory=list)
    boxes: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 4)))
    styles: list[Style] = field(default_factory=list)
    spaces: list[Space] = field(default_factory=list)
    glyphs: dict[int, tuple[int, int]] = field(default_factory=dict)
    unmapped: int = 0

    def __len__(self) -> int:
        return len(self.texts)


class CharReader:
    """Reads the characters of one text page; what they are marked as only where a tree makes something of it."""

    def __init__(self, textpage: Any, drawn: Drawn, marked: bool = False) -> None:
        self._page = textpage
        self._drawn = drawn
        self._marked = marked
        self._fonts: dict[int, Font] = {}

    def read(self) -> Characters:
        """All characters; spaces are told with the characters after them."""
        ask, page = _calls(), address(self._page)
        count = min(max(0, ask.count(page)), MAX_CHARACTERS)
        boxes = np.zeros((count, 4), dtype=np.float32)
        start, step = boxes.ctypes.data, 4 * boxes.itemsize
        every = range(count)
        placed = list(map(ask.box, repeat(page), every, range(start, start + step * count, step)))
        codes = list(map(ask.code, repeat(page), every))
        errors = list(map(ask.error, repeat(page), every))
        objects = list(map(ask.object, repeat(page), every))
        styles: dict[int | None, Style] = {}
        inked = self._inked(codes, objects, boxes, styles)
        found = Characters()
        kept: list[int] = []
        space, high = Space.NONE, 0
        for index, (code, key, is_placed, error) in enumerate(zip(codes, objects, placed, errors, strict=True)):
            if code in _SPACES:
                generated = ask.generated(page, index) == 1
                if generated or not (index in inked or (code < 0x20 and error == 1)):
                    space = max(space, Space.GUESSED if generated else Space.REAL)
                    continue
                error = 1
            if 0xD800 <= code < 0xDC00:
                high = code
                continue
            if code in _NOTHING or not is_placed:
                continue
            if 0xDC00 <= code < 0xE000 and high:
                code = 0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00)
            high = 0
            style = styles.get(key)
            if style is None:
                style = styles[key] = self._style(index, key)
            text = chr(code) if 0x20 < code < 0xAD else _REPLACED.get(code) or _character(code)
            if error == 1 or code < 0x20 or text == UNKNOWN:
                if _means_nothing(code, error):
                    found.glyphs[len(kept)] = style.font, code
                    text = UNKNOWN
                else:
                    found.unmapped += error == 1
            found.texts.append(text)
            found.styles.append(style)
            found.spaces.append(space)
            kept.append(index)
            space = Space.NONE
        found.boxes = boxes[kept][:, [0, 3, 2, 1]].astype(np.float64)
        return found

    def _inked(
        self,
        codes: list[int],
        objects: list[int | None],
        boxes: NDArray[np.float32],
        styles: dict[int | None, Style],
    ) -> frozenset[int]:
        """Spaces of the file that show something: glyphs, such as ligatures, that it gives no other meaning.

        Where many do, it is what their font has for a space.
        """
        ask, page = _calls(), address(self._page)
        left, right, bottom, top = (ctypes.c_double() for _ in range(4))
        places = [ctypes.addressof(side) for side in (left, right, bottom, top)]
        found = []
        for index, code in enumerate(codes):
            if code != 0x20 or boxes[index, 2] - boxes[index, 0] <= _LEAST_WIDTH * (boxes[index, 1] - boxes[index, 3]):
                continue
            key = objects[index]
            style = styles.get(key)
            if style is None:
                style = styles[key] = self._style(index, key)
            if self._fonts[style.font].drawn or not ask.ink(page, index, *places):
                continue
            if min(top.value - bottom.value, right.value - left.value) > _LEAST_INK * style.size:
                found.append(index)
        return frozenset(found if len(found) < _MOST_INKED * len(codes) else ())

    def _style(self, index: int, key: int | None) -> Style:
        import pypdfium2.raw as pdfium

        page, obj = self._page, pdfium.FPDFText_GetTextObject(self._page, index)
        matrix = pdfium.FS_MATRIX()
        if not pdfium.FPDFText_GetMatrix(page, index, matrix):
            matrix.a = matrix.d = 1.0
        size = pdfium.FPDFText_GetFontSize(page, index)
        turned = -1.0 if size < 0 else 1.0  # a negative size turns the letters by a half, as the matrix may again
        mode = pdfium.FPDFTextObj_GetTextRenderMode(obj) if obj else pdfium.FPDF_TEXTRENDERMODE_FILL
        red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
        known = pdfium.FPDFText_GetFillColor(page, index, red, green, blue, alpha)
        fills = mode in (pdfium.FPDF_TEXTRENDERMODE_FILL, pdfium.FPDF_TEXTRENDERMODE_FILL_CLIP)
        number = address(pdfium.FPDFTextObj_GetFont(obj)) if obj else 0
        font = self._fonts.get(number)
        if font is None:
            font = self._fonts[number] = _read_font(page, index)
        return Style(
            visible=mode not in (pdfium.FPDF_TEXTRENDERMODE_INVISIBLE, pdfium.FPDF_TEXTRENDERMODE_CLIP)
            and not (known and fills and alpha.value == 0),
            white=bool(known and fills and min(red.value, green.value, blue.value) >= 250),
            size=abs(size) * math.hypot(matrix.c, matrix.d),
            angle=math.degrees(math.atan2(turned * matrix.b, turned * matrix.a)),
            bold=font.bold,
            italic=font.italic,
            mono=font.mono,
            order=self._drawn.order.get(key or 0, 1 << 30),
            font=number,
            mark=mark_of(obj, self._drawn.outer.get(key or 0, UNMARKED)) if self._marked and obj else UNMARKED,
        )


def _character(code: int) -> str:
    return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else UNKNOWN


def _means_nothing(code: int, error: int) -> bool:
    """Whether a code cannot be the character that is seen; a letter's code without a meaning often is that letter."""
    if code == 0x02 and error != 1:  # a hyphen at a line's end
        return False
    return code <= 0x20 or 0x7F <= code < 0xA0 or code == 0xFFFD or (error == 1 and 0xE000 <= code < 0xF900)


def _read_font(textpage: Any, index: int) -> Font:
    import pypdfium2.raw as pdfium

    flags = ctypes.c_int()  # PDF 32000-1, table 123
    buffer = ctypes.create_string_buffer(256)
    length = pdfium.FPDFText_GetFontInfo(textpage, index, buffer, len(buffer), flags)
    raw = buffer.raw[: max(0, length - 1)] if length <= len(buffer) else b""
    name = raw.decode("utf-8", "replace").lower()
    return Font(
        bold=any(word in name for word in _BOLD) or name.endswith(_BOLD_ENDS) or bool(flags.value & 1 << 18),
        italic=any(word in name for word in _ITALIC) or bool(flags.value & 1 << 6),
        mono=bool(flags.value & 1) or any(word in name.replace("monotype", "") for word in _TYPEWRITERS),
        drawn=not name,
    )


class _Calls(NamedTuple):
    """Calls of pdfium that take plain numbers for handles and places, which ctypes hands over in a third of the time.

    They are short, so that other threads can wait for them (PYFUNCTYPE) rather than be let in between any two.
    """

    count: Callable[[int], int]
    box: Callable[[int, int, int], int]
    ink: Callable[..., int]
    code: Callable[[int, int], int]
    error: Callable[[int, int], int]
    generated: Callable[[int, int], int]
    object: Callable[[int, int], int | None]


@cache
def _calls() -> _Calls:
    import pypdfium2.raw as pdfium

    pointer, number = ctypes.c_void_p, ctypes.c_int
    per_char = ctypes.PYFUNCTYPE(number, pointer, number)

    def plain(prototype: Any, function: Any) -> Any:
        return prototype(address(function))

    return _Calls(
        count=plain(ctypes.PYFUNCTYPE(number, pointer), pdfium.FPDFText_CountChars),
        box=plain(ctypes.PYFUNCTYPE(number, pointer, number, pointer), pdfium.FPDFText_GetLooseCharBox),
        ink=plain(ctypes.PYFUNCTYPE(number, pointer, number, *[pointer] * 4), pdfium.FPDFText_GetCharBox),
        code=plain(ctypes.PYFUNCTYPE(ctypes.c_uint, pointer, number), pdfium.FPDFText_GetUnicode),
        error=plain(per_char, pdfium.FPDFText_HasUnicodeMapError),
        generated=plain(per_char, pdfium.FPDFText_IsGenerated),
        object=plain(ctypes.PYFUNCTYPE(pointer, pointer, number), pdfium.FPDFText_GetTextObject),
    )
