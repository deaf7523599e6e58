"""Writes PDF files byte by byte, without a PDF library, and the text and rules that many pages have."""

from __future__ import annotations

import zlib

FONTS = {"F1": "Helvetica", "F2": "Helvetica-Bold", "F3": "Courier"}
LETTER = (0, 0, 612, 792)
WORDS = "The keeper of the harbour office counted the ships and wrote their names into the book again".split()


def text(x: float, y: float, words: str, size: float = 11, font: str = "F1", more: str = "") -> str:
    """A line of text at a place of user space; `more` are operators before it."""
    shown = words.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)").replace("\r", r"\r")
    return f"q BT {more} /{font} {size} Tf 1 0 0 1 {x} {y} Tm ({shown}) Tj ET Q\n"


def prose(x: float, top: float, lines: int, size: float = 11) -> str:
    """So many lines of about 80 letters."""
    rows = (" ".join(WORDS[(row * 3 + k) % len(WORDS)] for k in range(14)) for row in range(lines))
    return "".join(text(x, top - row * size * 1.3, line, size) for row, line in enumerate(rows))


def rules(x: float, top: float, widths: list[float], heights: list[float]) -> str:
    """A grid of strokes."""
    right, bottom = x + sum(widths), top - sum(heights)
    strokes = []
    for k in range(len(widths) + 1):
        at = x + sum(widths[:k])
        strokes.append(f"{at} {top} m {at} {bottom} l S")
    for k in range(len(heights) + 1):
        at = top - sum(heights[:k])
        strokes.append(f"{x} {at} m {right} {at} l S")
    return "0.7 w " + " ".join(strokes) + "\n"


GREY = "/Type/XObject/Subtype/Image/Width 48/Height 64/ColorSpace/DeviceGray/BitsPerComponent 8"
PICTURE = "q 612 0 0 792 0 0 cm /Im Do Q\n"


class Pdf:
    """A file under construction; object 1 is the catalogue and 2 the page tree."""

    def __init__(self) -> None:
        self.objects: list[bytes] = [b"<</Type/Catalog/Pages 2 0 R>>", b""]
        self.pages: list[int] = []
        fonts = " ".join(
            f"/{key} {self.add(f'<</Type/Font/Subtype/Type1/BaseFont/{name}/Encoding/WinAnsiEncoding>>')} 0 R"
            for key, name in FONTS.items()
        )
        grey = bytes(90 if (x // 8 + y // 8) % 2 else 240 for y in range(64) for x in range(48))
        image = self.stream(grey, GREY)
        self.resources = f"<</Font<<{fonts}>>/XObject<</Im {image} 0 R>>>>"

    def add(self, body: str | bytes) -> int:
        self.objects.append(body.encode("latin-1") if isinstance(body, str) else body)
        return len(self.objects)

    def stream(self, data: bytes, more: str = "") -> int:
        packed = zlib.compress(data, 9)
        head = f"<<{more}/Filter/FlateDecode/Length {len(packed)}>>stream\n".encode()
        return self.add(head + packed + b"\nendstream")

    def page(self, content: str, box: tuple[int, ...] = LETTER, more: str = "", resources: str = "") -> None:
        body = self.stream(content.encode("latin-1"))
        self.pages.append(
            self.add(
                f"<</Type/Page/Parent 2 0 R/MediaBox[{' '.join(map(str, box))}]{more}"
                f"/Resources {resources or self.resources}/Contents {body} 0 R>>"
            )
        )

    def bytes(self, trailer: str = "") -> bytes:
        kids = " ".join(f"{page} 0 R" for page in self.pages)
        self.objects[1] = f"<</Type/Pages/Count {len(self.pages)}/Kids[{kids}]>>".encode()
        out, places = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"), []
        for number, body in enumerate(self.objects, 1):
            places.append(len(out))
            out += b"%d 0 obj\n" % number + body + b"\nendobj\n"
        start = len(out)
        out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(places) + 1)
        out += b"".join(b"%010d 00000 n \n" % place for place in places)
        out += f"trailer\n<</Size {len(places) + 1}/Root 1 0 R{trailer}>>\nstartxref\n{start}\n%%EOF\n".encode()
        return bytes(out)


def mapping(pdf: Pdf, letters: dict[int, str]) -> int:
    """A ToUnicode table: the letters that codes stand for."""
    mapped = "".join(f"<{code:02X}> <{letter.encode('utf-16-be').hex()}>\n" for code, letter in letters.items())
    table = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def\n"
        f"1 begincodespacerange <00> <FF> endcodespacerange {len(letters)} beginbfchar\n{mapped}endbfchar "
        "endcmap end end"
    )
    return pdf.stream(table.encode())
