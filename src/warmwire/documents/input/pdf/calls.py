"""Questions to pdfium about single characters.

A page has thousands of characters, and a call into pdfium costs more from Python than what it does there.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warmwire.documents.input.pdf.objects import address


class Calls(NamedTuple):
    """Calls of pdfium that take plain numbers for handles and places, which ctypes hands over in a third of the time.

    They are short, so that other threads can wait for them (PYFUNCTYPE) rather than be let in between any two.
    """

    count: Callable[[int], int]
    box: Callable[[int, int, int], int]
    ink: Callable[..., int]
    code: Callable[[int, int], int]
    error: Callable[[int, int], int]
    generated: Callable[[int, int], int]
    object: Callable[[int, int], int]
    matrix: Callable[[int, int, int], int]
    size: Callable[[int, int], float]
    colour: Callable[..., int]
    mode: Callable[[int], int]
    font: Callable[[int], int]


@cache
def calls() -> Calls:
    """Made once; pdfium is loaded then."""
    import pypdfium2.raw as pdfium

    pointer, number = ctypes.c_void_p, ctypes.c_int
    # A character's number comes last and goes undeclared, as an int: converting it would take 40 % of such a call.
    per_char = ctypes.PYFUNCTYPE(number, pointer)

    def plain(prototype: Any, function: Any) -> Any:
        return prototype(address(function))

    return Calls(
        count=plain(ctypes.PYFUNCTYPE(number, pointer), pdfium.FPDFText_CountChars),
        box=plain(ctypes.PYFUNCTYPE(number, pointer, number, pointer), pdfium.FPDFText_GetLooseCharBox),
        ink=plain(ctypes.PYFUNCTYPE(number, pointer, number, *[pointer] * 4), pdfium.FPDFText_GetCharBox),
        code=plain(ctypes.PYFUNCTYPE(ctypes.c_uint, pointer), pdfium.FPDFText_GetUnicode),
        error=plain(per_char, pdfium.FPDFText_HasUnicodeMapError),
        generated=plain(per_char, pdfium.FPDFText_IsGenerated),
        object=plain(ctypes.PYFUNCTYPE(ctypes.c_size_t, pointer), pdfium.FPDFText_GetTextObject),
        matrix=plain(ctypes.PYFUNCTYPE(number, pointer, number, pointer), pdfium.FPDFText_GetMatrix),
        size=plain(ctypes.PYFUNCTYPE(ctypes.c_double, pointer, number), pdfium.FPDFText_GetFontSize),
        colour=plain(ctypes.PYFUNCTYPE(number, pointer, number, *[pointer] * 4), pdfium.FPDFText_GetFillColor),
        mode=plain(ctypes.PYFUNCTYPE(number, pointer), pdfium.FPDFTextObj_GetTextRenderMode),
        font=plain(ctypes.PYFUNCTYPE(ctypes.c_size_t, pointer), pdfium.FPDFTextObj_GetFont),
    )


def told(
    question: Callable[..., Any], page: int, characters: Sequence[int], *more: Iterable[int], kind: Any = np.int64
) -> NDArray[Any]:
    """What pdfium answers of some characters of a page, in one sweep."""
    return np.fromiter(map(question, repeat(page), characters, *more), dtype=kind, count=len(characters))
