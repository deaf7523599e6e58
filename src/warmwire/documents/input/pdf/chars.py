"""The characters of a PDF page as pdfium gives them, with what the file says of their looks.

Each question is put to all characters in one sweep (`calls`), boxes land in one array, and looks are asked once per
text object, fonts once per font.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warmwire.documents.input.pdf.calls import calls, told
from warmwire.documents.input.pdf.marks import UNMARKED, mark_of
from warmwire.documents.input.pdf.objects import Drawn, address
from warmwire.documents.input.pdf.signs import Signs, sign, signs_of

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
}  # fmt: skip
"""What is not kept as it is: ligatures, hyphens at a line's end (pdfium's odd codes)."""

_SPACES: Final = frozenset({0x09, 0x0A, 0x0D, 0x20, 0xA0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000})
_NOTHING: Final = frozenset({0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF})
_SPACE_CODES: Final = np.array(sorted(_SPACES))
_SPECIAL: Final = np.array(sorted({*_REPLACED, *_NOTHING, 0xFFFD}))
"""Codes that are not simply the character they name."""
_PRIVATE: Final = (0xE000, 0xF900)
"""Codes for private use, which mean what a font says."""

_CLOSING: Final = frozenset(".,;:!?)]")
_TOUCHING: Final = 0.1
"""What is closer to what is before it than this, in font sizes, touches it."""

_SIGN: Final = 0xF000
_USUAL: Final = 0x250
"""Codes from this on pdfium's text may have cut short, or replaced: hyphens at a line's end, codes that are none."""
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
    signs: Signs


@dataclass(frozen=True, slots=True, eq=False)
class CharStyle:
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
    """A page's characters in the order of the file, all of one length but `looks`: each style once, of which `look_of`
    has the number for each character. `spaces` tells what stood before it (`Space`).

    `boxes` are left, bottom, right, top in user space. `glyphs` has font and code of those whose meaning the file does
    not give; their text is `UNKNOWN`, or the code's own character where that is one. `unmapped` counts the latter.
    """

    texts: list[str] = field(default_factory=list)
    boxes: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 4)))
    looks: list[CharStyle] = field(default_factory=list)
    look_of: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    spaces: NDArray[np.int8] = field(default_factory=lambda: np.zeros(0, dtype=np.int8))
    glyphs: dict[int, tuple[int, int]] = field(default_factory=dict)
    unmapped: int = 0

    def __len__(self) -> int:
        return len(self.texts)

    def style(self, at: int) -> CharStyle:
        """How one character is drawn."""
        return self.looks[int(self.look_of[at])]

    @property
    def sizes(self) -> NDArray[np.float64]:
        """The font size of each character."""
        return np.array([look.size for look in self.looks], dtype=np.float64)[self.look_of]


def without(chars: Characters, places: NDArray[np.intp]) -> Characters:
    """The characters without those at some places."""
    gone = frozenset(places.tolist())
    if not gone:
        return chars
    kept = [at for at in range(len(chars)) if at not in gone]
    moved = {at: new for new, at in enumerate(kept)}
    return replace(
        chars,
        texts=[chars.texts[at] for at in kept],
        boxes=chars.boxes[kept],
        look_of=chars.look_of[kept],
        spaces=chars.spaces[kept],
        glyphs={moved[at]: glyph for at, glyph in chars.glyphs.items() if at in moved},
    )


class CharReader:
    """Reads the characters of one text page; what they are marked as only where a tree makes something of it."""

    def __init__(self, textpage: Any, drawn: Drawn, marked: bool = False) -> None:
        self._page = textpage
        self._drawn = drawn
        self._marked = marked
        self._fonts: dict[int, Font] = {}
        self._matrix = (ctypes.c_float * 6)()
        self._colour = (ctypes.c_uint * 4)()
        start, step = ctypes.addressof(self._colour), ctypes.sizeof(ctypes.c_uint)
        self._channels = range(start, start + 4 * step, step)

    def read(self) -> Characters:
        """All characters; spaces are told with the characters after them."""
        ask, page = calls(), address(self._page)
        count = min(max(0, ask.count(page)), MAX_CHARACTERS)
        if not count:
            return Characters()
        boxes = np.zeros((count, 4), dtype=np.float32)
        start, step = boxes.ctypes.data, 4 * boxes.itemsize
        every = range(count)
        placed = told(ask.box, page, every, range(start, start + step * count, step)) != 0
        codes = self._codes(count)
        errors = told(ask.error, page, every)
        objects = told(ask.object, page, every, kind=np.uint64)
        keys, firsts, look_of = np.unique(objects, return_index=True, return_inverse=True)
        looks = [self._style(first, key) for first, key in zip(firsts.tolist(), keys.tolist(), strict=True)]
        spaces = self._spaces(codes, errors, boxes, looks, look_of)
        errors[np.isin(codes, _SPACE_CODES) & (spaces == 0)] = 1  # glyphs that the file calls spaces
        fonts = [self._fonts[look.font].signs for look in looks]
        texts, kept, glyphs, unmapped = _texts(codes, errors, placed, spaces == 0, lambda index: fonts[look_of[index]])
        found = Characters(texts, boxes[kept][:, [0, 3, 2, 1]].astype(np.float64), looks, look_of[kept])
        found.unmapped = unmapped
        place = np.searchsorted(kept, list(glyphs))
        found.glyphs = {
            at: (looks[look_of[index]].font, code)
            for at, (index, code) in zip(place.tolist(), glyphs.items(), strict=True)
        }
        if len(kept):
            begins = np.concatenate(([0], kept[:-1] + 1))
            found.spaces = np.maximum.reduceat(spaces[: kept[-1] + 1], begins)
        _close_up(found)
        return found

    def _codes(self, count: int) -> NDArray[Any]:
        """The characters' codes: those of the page's text as a whole where each has one place in it."""
        import pypdfium2.raw as pdfium

        ask, page = calls(), address(self._page)
        buffer = (ctypes.c_ushort * (count + 1))()
        if pdfium.FPDFText_GetText(self._page, 0, count, buffer) != count + 1:
            return told(ask.code, page, range(count))
        codes: NDArray[np.int64] = np.array(buffer[:count], dtype=np.int64)
        unusual = np.flatnonzero(codes >= _USUAL)
        codes[unusual] = told(ask.code, page, unusual.tolist())
        return codes

    def _spaces(
        self,
        codes: NDArray[Any],
        errors: NDArray[Any],
        boxes: NDArray[np.float32],
        looks: Sequence[CharStyle],
        look_of: NDArray[Any],
    ) -> NDArray[np.int8]:
        """For each character which kind of space it is; `Space.NONE` for those that are none."""
        found = np.zeros(len(codes), dtype=np.int8)
        spaces = np.flatnonzero(np.isin(codes, _SPACE_CODES))
        guessed = told(calls().generated, address(self._page), spaces.tolist()) == 1
        inked = np.isin(spaces, self._inked(codes, boxes, looks, look_of))
        real = ~inked & ((codes[spaces] >= 0x20) | (errors[spaces] != 1))
        found[spaces] = np.where(guessed, Space.GUESSED, np.where(real, Space.REAL, Space.NONE))
        return found

    def _inked(
        self, codes: NDArray[Any], boxes: NDArray[np.float32], looks: Sequence[CharStyle], look_of: NDArray[Any]
    ) -> Sequence[int]:
        """Spaces of the file that show something: glyphs, such as ligatures, that it gives no other meaning.

        Where many do, it is what their font has for a space.
        """
        ask, page = calls(), address(self._page)
        left, right, bottom, top = (ctypes.c_double() for _ in range(4))
        places = [ctypes.addressof(side) for side in (left, right, bottom, top)]
        found = []
        widths = boxes[:, 2] - boxes[:, 0]
        wide = np.flatnonzero((codes == 0x20) & (widths > _LEAST_WIDTH * (boxes[:, 1] - boxes[:, 3])))
        known: dict[tuple[int, int], bool] = {}
        for index, look, width in zip(wide.tolist(), look_of[wide].tolist(), widths[wide].tolist(), strict=True):
            style = looks[look]
            glyph = style.font, round(width / max(style.size, 1e-3) * 1000)  # one width of one font is one glyph
            shows = known.get(glyph)
            if shows is None:
                placed = not self._fonts[style.font].drawn and ask.ink(page, index, *places)
                ink = min(top.value - bottom.value, right.value - left.value) if placed else 0.0
                shows = known[glyph] = ink > _LEAST_INK * style.size
            if shows:
                found.append(index)
        return found if len(found) < _MOST_INKED * len(codes) else ()

    def _style(self, index: int, key: int) -> CharStyle:
        """How the text object at the address `key` is drawn, of which the character `index` is the first."""
        import pypdfium2.raw as pdfium

        ask, page, matrix = calls(), address(self._page), self._matrix
        if not ask.matrix(page, index, ctypes.addressof(matrix)):
            matrix[:] = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0]
        size = ask.size(page, index)
        turned = -1.0 if size < 0 else 1.0  # a negative size turns the letters by a half, as the matrix may again
        mode = ask.mode(key) if key else pdfium.FPDF_TEXTRENDERMODE_FILL
        known = ask.colour(page, index, *self._channels)
        red, green, blue, alpha = self._colour
        fills = mode in (pdfium.FPDF_TEXTRENDERMODE_FILL, pdfium.FPDF_TEXTRENDERMODE_FILL_CLIP)
        number = ask.font(key) if key else 0
        font = self._fonts.get(number)
        if font is None:
            font = self._fonts[number] = _read_font(self._page, index)
        return CharStyle(
            visible=mode not in (pdfium.FPDF_TEXTRENDERMODE_INVISIBLE, pdfium.FPDF_TEXTRENDERMODE_CLIP)
            and not (known and fills and alpha == 0),
            white=bool(known and fills and min(red, green, blue) >= 250),
            size=abs(size) * math.hypot(matrix[2], matrix[3]),
            angle=math.degrees(math.atan2(turned * matrix[1], turned * matrix[0])),
            bold=font.bold,
            italic=font.italic,
            mono=font.mono,
            order=self._drawn.order.get(key, 1 << 30),
            font=number,
            mark=self._mark(index, key) if self._marked and key else UNMARKED,
        )

    def _mark(self, index: int, key: int) -> int:
        import pypdfium2.raw as pdfium

        return mark_of(pdfium.FPDFText_GetTextObject(self._page, index), self._drawn.outer.get(key, UNMARKED))


def _close_up(chars: Characters) -> None:
    """Take back the spaces that pdfium guesses before a full stop that touches what it ends, as behind an index."""
    for at in np.flatnonzero(chars.spaces == Space.GUESSED).tolist():
        gap = abs(chars.boxes[at, 0] - chars.boxes[at - 1, 2])
        if at and chars.texts[at] in _CLOSING and gap < _TOUCHING * chars.style(at).size:
            chars.spaces[at] = Space.NONE


def _texts(
    codes: NDArray[Any],
    errors: NDArray[Any],
    placed: NDArray[np.bool_],
    shown: NDArray[np.bool_],
    signs: Callable[[int], Signs],
) -> tuple[list[str], NDArray[np.intp], dict[int, int], int]:
    """What the characters stand for that stand for anything, and which these are; the codes of those that the file
    gives no meaning, by their place, those of fonts of signs apart from letters'; and how many have none but a code
    that may be their own.

    Nearly all are what their code says, and need no look.
    """
    plain = shown & placed & (errors != 1) & (codes > 0x20) & (codes < 0x110000)
    plain &= ~np.isin(codes, _SPECIAL) & ~((codes >= 0x7F) & (codes < 0xA0)) & ~((codes >= 0xD800) & (codes < 0xF900))
    found: dict[int, str] = {}
    glyphs: dict[int, int] = {}
    unmapped = 0
    for index in np.flatnonzero(~plain & shown & placed).tolist():
        code, error = _whole(codes, index), int(errors[index])
        if code in _NOTHING or 0xD800 <= code < 0xDC00:
            continue
        if _PRIVATE[0] <= code < _PRIVATE[1] and (meant := sign(code, signs(index))):
            found[index] = meant
            continue
        text = chr(code) if 0x20 < code < 0xAD else _REPLACED.get(code) or _character(code)
        if error == 1 or code < 0x20 or 0x7F <= code < 0xA0 or text == UNKNOWN:
            if _means_nothing(code, error):
                glyphs[index] = code if signs(index) is Signs.NONE else code | _SIGN
                text = UNKNOWN
            else:
                unmapped += error == 1
        found[index] = text
    kept = np.union1d(np.flatnonzero(plain), np.array(list(found), dtype=np.intp))
    texts = np.where(plain, codes, 0x20)[kept].astype(np.uint32).view("U1").tolist()
    for place, text in zip(np.searchsorted(kept, list(found)).tolist(), found.values(), strict=True):
        texts[place] = text
    return texts, kept, glyphs, unmapped


def _whole(codes: NDArray[Any], index: int) -> int:
    """A character's code; that of a pair of surrogates stands where its second half is."""
    code, before = int(codes[index]), int(codes[index - 1]) if index else 0
    if 0xDC00 <= code < 0xE000 and 0xD800 <= before < 0xDC00:
        return 0x10000 + ((before - 0xD800) << 10) + (code - 0xDC00)
    return code


def _character(code: int) -> str:
    return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else UNKNOWN


def _means_nothing(code: int, error: int) -> bool:
    """Whether a code cannot be the character that is seen; a letter's code without a meaning often is that letter."""
    if code == 0x02 and error != 1:  # a hyphen at a line's end
        return False
    return code <= 0x20 or 0x7F <= code < 0xA0 or code == 0xFFFD or (error == 1 and _PRIVATE[0] <= code < _PRIVATE[1])


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
        signs=signs_of(name),
    )
