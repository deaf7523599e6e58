"""What a file is that is no document this room reads, and what to do with it, told from its first bytes."""

from __future__ import annotations

import re
from typing import Final

KINDS: Final = "PDF, PNG, JPEG, TIFF, WebP, GIF, BMP or HEIC file"

_HEIC: Final = re.compile(rb".{4}ftyp(hei[cxms]|hev[cxms]|mif1|msf1)", re.DOTALL)

_AS_PDF: Final = "; save it as PDF, or convert it: soffice --headless --convert-to pdf FILE"
_KNOWN: Final = (
    (re.compile(rb"PK\x03\x04.{26,}?(word/|xl/|ppt/|\[Content_Types\])", re.DOTALL), "an Office file" + _AS_PDF),
    (re.compile(rb"PK\x03\x04.{26}mimetypeapplication/epub", re.DOTALL), "an e-book; pandoc makes Markdown of it"),
    (re.compile(rb"PK\x03\x04.{26}mimetypeapplication/vnd\.oasis", re.DOTALL), "an OpenDocument file" + _AS_PDF),
    (re.compile(rb"PK\x03\x04"), "an archive; unpack it and give the files or the folder"),
    (re.compile(rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), "an old Office file" + _AS_PDF),
    (re.compile(rb"\{\\rtf"), "a rich text file" + _AS_PDF),
    (re.compile(rb"AT&TFORM.{4}DJV", re.DOTALL), "a DjVu file; convert it: ddjvu -format=pdf FILE FILE.pdf"),
    (re.compile(rb"%!PS"), "PostScript; convert it: ps2pdf FILE"),
    (re.compile(rb"\s*<(!doctype html|html)", re.IGNORECASE), "a web page; print it to PDF, or use pandoc"),
    (re.compile(rb"\x1f\x8b|BZh|\xfd7zXZ|7z\xbc\xaf|Rar!"), "packed; unpack it and give the files or the folder"),
    (re.compile(rb".{4}ftypavif", re.DOTALL), "an AVIF picture; convert it to PNG or JPEG"),
)


def is_heic(head: bytes) -> bool:
    """Whether a file is a photo as telephones take them."""
    return _HEIC.match(head) is not None


def no_document(head: bytes) -> str:
    """What to say of a file that starts like that and cannot be opened."""
    for pattern, kind in _KNOWN:
        if pattern.match(head):
            return f"not a document that can be read here, but {kind}"
    if _is_text(head):
        return "plain text, which needs no reading"
    return f"not a {KINDS}"


def _is_text(head: bytes) -> bool:
    """Whether a file starts as text does: printable UTF-8, whose last letter may be cut."""
    return bool(head) and all(c.isprintable() or c in "\t\r\n\f\ufeff" for c in head.decode(errors="replace")[:-1])
