"""A font without a single stroke, for text that is to be found but not seen.

Invisible text needs no shapes, only widths and what each code means. So this font, of some 700 bytes, has one glyph for
everything: a line from corner to corner of its room, which has a height and a width (pdfium drops text that has none)
but no area that could be filled. Every code is half an em wide; characters get theirs in the order of their use, and a
ToUnicode map says what each stands for, beyond the basic plane too. Ligatures become their letters, which is what
people look for.
"""

from __future__ import annotations

import struct
import unicodedata
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from warmwire.errors import InputError

WIDTH: Final = 500
"""Width of every glyph, thousandths of an em."""

ASCENT: Final = 800
DESCENT: Final = 200
"""How far the font reaches above and below its baseline, thousandths of an em: one em together, so that a word's box
is as high as the font is large."""

_MOST: Final = 65_000
_NAME: Final = b"WarmwireGlyphless"


class Glyphless:
    """The font of one document. Codes are of two bytes."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}

    def encode(self, text: str) -> bytes:
        """`text` in the font's codes. Raises InputError where there are more characters than two bytes can tell."""
        return b"".join(struct.pack(">H", self._code(char)) for char in text)

    def _code(self, char: str) -> int:
        code = self._codes.setdefault(char, len(self._codes) + 1)
        if code > _MOST:
            raise InputError(f"the text has over {_MOST} different characters")
        return code

    def add_to(self, pdf: Any) -> Any:
        """Put the font into a document of pikepdf; returns the indirect object to name in the pages' resources."""
        from pikepdf import Array, Dictionary, Name

        file = pdf.make_stream(_font_file(), Length1=len(_font_file()))
        name = Name("/" + _NAME.decode())
        descriptor = Dictionary(
            Type=Name.FontDescriptor, FontName=name, Flags=5, FontBBox=Array([0, -DESCENT, WIDTH, ASCENT]),
            ItalicAngle=0, Ascent=ASCENT, Descent=-DESCENT, CapHeight=ASCENT, StemV=80, FontFile2=file,
        )  # fmt: skip
        glyphs = pdf.make_stream(b"\0\1" * (len(self._codes) + 1))
        descendant = Dictionary(
            Type=Name.Font, Subtype=Name.CIDFontType2, BaseFont=name, DW=WIDTH, CIDToGIDMap=glyphs,
            CIDSystemInfo=Dictionary(Registry=b"Adobe", Ordering=b"Identity", Supplement=0),
            FontDescriptor=pdf.make_indirect(descriptor),
        )  # fmt: skip
        font = Dictionary(
            Type=Name.Font, Subtype=Name.Type0, BaseFont=name, Encoding=Name("/Identity-H"),
            DescendantFonts=Array([pdf.make_indirect(descendant)]), ToUnicode=pdf.make_stream(self._meanings()),
        )  # fmt: skip
        return pdf.make_indirect(font)

    def _meanings(self) -> bytes:
        """The map from codes to text, as the PDF standard has it."""
        lines = [
            "/CIDInit /ProcSet findresource begin 12 dict begin begincmap",
            "/CIDSystemInfo <</Registry (Adobe) /Ordering (UCS) /Supplement 0>> def",
            "/CMapName /Adobe-Identity-UCS def /CMapType 2 def",
            "1 begincodespacerange <0000> <FFFF> endcodespacerange",
        ]
        codes = iter(self._codes.items())
        while block := list(islice(codes, 100)):
            lines.append(f"{len(block)} beginbfchar")
            lines.extend(f"<{code:04X}> <{char.encode('utf-16-be').hex()}>" for char, code in block)
            lines.append("endbfchar")
        lines.append("endcmap CMapName currentdict /CMap defineresource pop end end")
        return "\n".join(lines).encode()


def plain(text: str) -> str:
    """`text` as it is looked for: ligatures as their letters, and nothing that no encoding can hold."""
    letters = (unicodedata.normalize("NFKC", char) if "\ufb00" <= char <= "\ufb06" else char for char in text)
    return "".join(letters).encode("utf-16-be", "ignore").decode("utf-16-be")


def _font_file() -> bytes:
    """A TrueType file of an empty glyph and that line, with the tables that a reader of PDF asks for."""
    em = 1000
    box, steps = (0, -DESCENT, WIDTH, ASCENT), (0, WIDTH, -DESCENT, ASCENT + DESCENT)
    line = struct.pack(">hhhhhHHBBhhhh", 1, *box, 1, 0, 1, 1, *steps)  # one contour of two points
    tables = {
        b"cmap": struct.pack(">HHHHIHHHHH", 0, 1, 3, 1, 12, 6, 12, 0, 0, 1) + struct.pack(">H", 0),
        b"glyf": line,
        b"head": struct.pack(
            ">IIIIHHQQhhhhHHhhh",
            *(0x10000, 0x10000, 0, 0x5F0F3CF5, 0, em, 0, 0),  # versions, checksum, magic, flags, dates
            *(0, -DESCENT, WIDTH, ASCENT, 0, 8, 2, 0, 0),  # box, style, smallest size, direction, formats
        ),
        b"hhea": struct.pack(">IhhhHhhhhhhhhhhhH", 0x10000, ASCENT, -DESCENT, 0, WIDTH, *[0] * 3, 1, *[0] * 7, 1),
        b"hmtx": struct.pack(">Hhh", WIDTH, 0, 0),
        b"loca": struct.pack(">HHH", 0, 0, len(line) // 2),
        b"maxp": struct.pack(">IHHHHHHHHHHHHHH", 0x10000, 2, 2, 1, *[0] * 2, 1, *[0] * 8),
        b"name": struct.pack(">HHHHHHHHH", 0, 1, 18, 1, 0, 0, 6, len(_NAME), 0) + _NAME,
        b"post": struct.pack(">IIhhIIIII", 0x30000, 0, 0, 0, 0, 0, 0, 0, 0),
    }
    return b"".join(_pack(tables))


def _pack(tables: dict[bytes, bytes]) -> Iterator[bytes]:
    """The directory and the tables, each on a multiple of four bytes."""
    power = len(tables).bit_length() - 1
    yield struct.pack(">IHHHH", 0x10000, len(tables), 16 << power, power, 16 * (len(tables) - (1 << power)))
    at = 12 + 16 * len(tables)
    padded = {tag: data + bytes(-len(data) % 4) for tag, data in tables.items()}
    for tag, data in padded.items():
        total = sum(struct.unpack(f">{len(data) // 4}I", data)) & 0xFFFFFFFF
        yield struct.pack(">4sIII", tag, total, at, len(tables[tag]))
        at += len(data)
    yield from padded.values()
