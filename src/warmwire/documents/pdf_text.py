"""The text a PDF page holds: visible lines with their boxes, sizes and weights, and text that nobody sees.

pdfium gives characters in the order of the file. They are joined to pieces as long as they follow each other on one
baseline, and pieces of one line that the file holds apart are joined afterwards. A gap wider than words have parts
a line, since it may be a column's or a cell's.
"""

from __future__ import annotations

import ctypes
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from warmwire.documents.pdf_frame import Frame
from warmwire.documents.pdf_objects import Drawn, address, clip, drawings, is_painted, paint, walk
from warmwire.documents.quality import text_quality
from warmwire.documents.source import PageText
from warmwire.layout.page import Box, Line

_WORD_GAP: Final = 0.12  # of the font size: a narrower gap is inside a word
_SPACED_GAP: Final = 1.5  # of the font size: a wider gap parts a line even where the file has a space
_BARE_GAP: Final = 1.0  # the same between two text objects without a space
_BACKGROUND: Final = 0.8  # of the page: a larger picture is the page itself, not a figure
_SMALLEST_FIGURE: Final = 0.005  # of the page
_TYPEWRITERS: Final = ("courier", "mono", "consol", "typewriter", "cmtt", "nimbusmon", "menlo")
_LIGATURES: Final = {
    0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "ft", 0xFB06: "st",
    0xFFFE: "-", 0x02: "-", 0xA0: " ", 0xAD: "-",
}  # fmt: skip
"""What is not kept as it is; pdfium gives the hyphen at a line's end as one of the two odd ones."""


@dataclass(frozen=True, slots=True)
class _Style:
    """How one text object is drawn. `angle` is counterclockwise in user space, degrees."""

    visible: bool
    white: bool
    size: float
    angle: float
    bold: bool
    mono: bool
    order: int


@dataclass(slots=True)
class _Piece:
    """Characters that follow each other on one baseline."""

    box: Box
    style: _Style
    last: Box
    chars: list[str] = field(default_factory=list)
    sizes: Counter[float] = field(default_factory=Counter)
    bold: int = 0
    mono: int = 0

    @property
    def text(self) -> str:
        return "".join(self.chars).strip()


def read_page(page: Any, frame: Frame) -> PageText:
    """Everything a pdfium page says of itself. Hold the pdfium lock."""
    drawn = walk(page, frame)
    textpage = page.get_textpage()
    try:
        reader = _Reader(textpage.raw, drawn)
        characters = list(reader.characters())
    finally:
        textpage.close()
    turn = _turn(characters, frame)
    upright = frame.turned(turn)
    if turn:
        drawn = walk(page, upright)
    images = [box for _, box in drawn.images]
    cover = _cover_order(drawn, upright)
    dark = paint([*images, *drawn.fills], upright)

    def is_seen(style: _Style, box: Box) -> bool:
        return style.visible and style.order >= cover and not (style.white and not is_painted(dark, box, upright))

    lines, hidden = _lines(characters, upright, is_seen)
    if sum(len(line.text) for line in lines if line.mono) > 0.9 * sum(len(line.text) for line in lines):
        for line in lines:  # a page typed as a whole: the font tells nothing of code
            line.mono = None
    blocks = [Box(b.left, b.top - 0.15 * b.height, b.right, b.bottom + 0.15 * b.height) for b in (x.box for x in lines)]
    area = upright.size[0] * upright.size[1]
    figures = [box for box in images if _SMALLEST_FIGURE <= box.area / area < _BACKGROUND]
    return PageText(
        lines=lines,
        hidden=hidden,
        rules=drawn.rules,
        figures=[*figures, *drawings(drawn, upright)],
        coverage=float(paint(blocks, upright).mean()),
        largest_image=float(paint(images, upright).mean()),
        quality=text_quality("\n".join(line.text for line in lines), reader.unmapped),
        turn=turn,
        blank=drawn.count == 0 and not characters,
    )


def _cover_order(drawn: Drawn, frame: Frame) -> int:
    """The place in the drawing order from which on nothing is covered by a picture over the whole page."""
    area = frame.size[0] * frame.size[1]
    return max((order for order, box in drawn.images if box.area >= _BACKGROUND * area), default=0)


_Char = tuple[str, tuple[float, float, float, float], _Style, int]
"""Text, box in user space (left, bottom, right, top), style, and the space before it: one of the three below."""

_NO_SPACE, _GUESSED_SPACE, _REAL_SPACE = range(3)


class _Reader:
    """The characters of a text page, with their styles looked up once per text object."""

    def __init__(self, textpage: Any, drawn: Drawn) -> None:
        self._textpage = textpage
        self._drawn = drawn
        self._styles: dict[int, _Style] = {}
        self.unmapped = 0

    def characters(self) -> Iterator[_Char]:
        import pypdfium2.raw as pdfium

        rectangle = pdfium.FS_RECTF()
        page, space, high = self._textpage, _NO_SPACE, 0
        for index in range(max(0, pdfium.FPDFText_CountChars(page))):
            code = pdfium.FPDFText_GetUnicode(page, index)
            if code in (0x20, 0x0A, 0x0D, 0x09, 0xA0):
                guessed = pdfium.FPDFText_IsGenerated(page, index) == 1
                space = max(space, _GUESSED_SPACE if guessed else _REAL_SPACE)
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
            yield _LIGATURES.get(code) or _character(code), box, self._style(index), space
            space = _NO_SPACE

    def _style(self, index: int) -> _Style:
        import pypdfium2.raw as pdfium

        obj = pdfium.FPDFText_GetTextObject(self._textpage, index)
        key = address(obj)
        style = self._styles.get(key)
        if style is None:
            style = self._styles[key] = _read_style(self._textpage, index, obj, self._drawn.order.get(key, 1 << 30))
        return style


def _character(code: int) -> str:
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"


def _read_style(textpage: Any, index: int, obj: Any, order: int) -> _Style:
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
    return _Style(
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


def _turn(characters: list[_Char], frame: Frame) -> int:
    """How far most of the text makes the page lie on its side, beyond /Rotate: 0, 90, 180 or 270 clockwise."""
    turns = Counter(
        round((style.angle - frame.rotation) / 90) * 90 % 360 for _, _, style, _ in characters if style.visible
    )
    return turns.most_common(1)[0][0] if turns else 0


def _lines(characters: list[_Char], frame: Frame, is_seen: Any) -> tuple[list[Line], list[Line]]:
    """Visible and hidden lines; text off the page is neither."""
    seen: list[_Piece] = []
    unseen: list[_Piece] = []
    current: dict[bool, _Piece | None] = {True: None, False: None}
    for text, corners, style, space in characters:
        box = clip(frame.box(*corners), frame)
        if box is None or not (box.width or box.height):
            continue
        visible = is_seen(style, box)
        piece = current[visible]
        if piece is None or not _follows(piece, box, style, space, frame):
            piece = current[visible] = _Piece(box, style, box)
            (seen if visible else unseen).append(piece)
        elif space:
            piece.chars.append(" ")
        piece.chars.append(text)
        piece.box, piece.last = piece.box.union(box), box
        piece.sizes[style.size] += 1
        piece.bold += style.bold
        piece.mono += style.mono
    return [_line(p) for p in _join(seen, frame)], [_line(p) for p in _join(unseen, frame)]


def _is_level(style: _Style, frame: Frame) -> bool:
    """Whether the text runs from left to right in the frame."""
    return abs((style.angle - frame.rotation + 180) % 360 - 180) < 5


def _follows(piece: _Piece, box: Box, style: _Style, space: int, frame: Frame) -> bool:
    """Whether a character goes on where `piece` ends."""
    if abs(style.angle - piece.style.angle) > 1:
        return False
    if not _is_level(style, frame):
        return style.order == piece.style.order or _distance(piece.last, box) < 1.5 * max(style.size, 1.0)
    size = max(piece.style.size, style.size, 1.0)
    overlap = min(piece.box.bottom, box.bottom) - max(piece.box.top, box.top)
    if overlap < 0.4 * min(piece.last.height, box.height):
        return False
    together = style.order == piece.style.order or space == _REAL_SPACE
    limit = _SPACED_GAP if together else _BARE_GAP
    gap = box.left - piece.last.right
    backwards = gap < -0.5 * size and box.left < piece.last.left - 0.1 * size  # not so inside a ligature
    return gap < limit * size and not backwards


def _distance(one: Box, other: Box) -> float:
    return math.dist(one.centre, other.centre)


def _join(pieces: list[_Piece], frame: Frame) -> list[_Piece]:
    """Join neighbours on one baseline that the file holds apart."""
    level = [piece for piece in pieces if _is_level(piece.style, frame)]
    level.sort(key=lambda piece: (piece.box.bottom, piece.box.left))
    joined: list[_Piece] = []
    row: list[_Piece] = []
    for piece in level:
        if row and piece.box.bottom - row[0].box.bottom > 0.3 * max(row[0].style.size, 1.0):
            joined += _join_row(row)
            row = []
        row.append(piece)
    return [*joined, *_join_row(row), *(piece for piece in pieces if not _is_level(piece.style, frame))]


def _join_row(row: list[_Piece]) -> list[_Piece]:
    joined: list[_Piece] = []
    for piece in sorted(row, key=lambda piece: piece.box.left):
        before = joined[-1] if joined else None
        size = max(piece.style.size, 1.0)
        if before is None or not -0.3 * size < piece.box.left - before.box.right < 0.6 * size:
            joined.append(piece)
            continue
        if piece.box.left - before.box.right > _WORD_GAP * size:
            before.chars.append(" ")
        before.chars += piece.chars
        before.box = before.box.union(piece.box)
        before.sizes += piece.sizes
        before.bold += piece.bold
        before.mono += piece.mono
    return joined


def _line(piece: _Piece) -> Line:
    letters = sum(not char.isspace() for char in piece.chars) or 1
    return Line(
        piece.box,
        " ".join(piece.text.split()),
        size=max(piece.sizes, key=lambda size: (piece.sizes[size], size)),
        bold=2 * piece.bold > letters,
        mono=2 * piece.mono > letters,
    )
