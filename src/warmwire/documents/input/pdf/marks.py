"""Which marked content an object of a PDF page is: what ties the words on the page to its structure tree."""

from __future__ import annotations

import ctypes
from typing import Any, Final

UNMARKED: Final = -1
"""The mark of what the structure tree cannot name, ..."""
ARTIFACT: Final = -2
"""... and that of what a file says is no part of its text: running heads, page numbers, ornaments."""

_MOST: Final = 32
"""Marks of one object that are looked at; one inside the other, they are two or three."""

_NAME: Final = "Artifact"


def mark_of(obj: Any, outer: int = UNMARKED) -> int:
    """The number of the marked content that a pdfium object belongs to; `outer` is that of the form it stands in."""
    import pypdfium2.raw as pdfium

    number = pdfium.FPDFPageObj_GetMarkedContentID(obj)
    if number >= 0:
        return int(number)
    for index in range(min(max(0, pdfium.FPDFPageObj_CountMarks(obj)), _MOST)):
        if _name(pdfium.FPDFPageObj_GetMark(obj, index)) == _NAME:
            return ARTIFACT
    return outer


def _name(mark: Any) -> str:
    import pypdfium2.raw as pdfium

    buffer, length = (ctypes.c_ushort * 16)(), ctypes.c_ulong()
    if not mark or not pdfium.FPDFPageObjMark_GetName(mark, buffer, ctypes.sizeof(buffer), length):
        return ""
    return bytes(buffer)[: max(0, length.value - 2)].decode("utf-16-le", "replace")
