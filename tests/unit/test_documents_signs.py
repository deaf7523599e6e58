"""Signs of symbol fonts, small capitals, and letters in rings."""

from __future__ import annotations

import numpy as np
import pytest

from warmwire.documents.input.pdf.chars import UNKNOWN, Characters, CharStyle
from warmwire.documents.input.pdf.ligatures import name_glyphs
from warmwire.documents.input.pdf.signs import Signs, sign, signs_of


@pytest.mark.parametrize(
    ("code", "font", "meant"),
    [
        (0xF061, "Symbol", "α"),
        (0xF0A3, "abcdef+symbolmt", "≤"),
        (0xF0B7, "Symbol", "•"),
        (0xF0FE, "symbol", "⎭"),
        (0xF0FE, "wingdings-regular", "☑"),
        (0xF0A7, "xyzabc+Wingdings", "▪"),
        (0xF0A7, "helvetica", "▪"),
        (0xF061, "helvetica", None),
        (0xF761, "minion", "a"),
        (0xF7E9, "minion", "é"),
        (0xF735, "minion", "5"),
        (0xF740, "minion", None),
        (0xE061, "symbol", None),
    ],
)
def test_a_code_means_what_its_font_has(code: int, font: str, meant: str | None) -> None:
    assert sign(code, signs_of(font.lower())) == meant


def test_fonts_of_signs_are_known_by_their_names() -> None:
    assert signs_of("segoeuisymbol") is Signs.NONE


def test_a_letter_in_a_ring_is_a_sign() -> None:
    look = CharStyle(True, False, 10.0, 0.0, False, False, False, 0)
    boxes = [(0, 0, 5, 10), (8, 0, 18, 10), (11, 2, 15, 7), (20, 0, 25, 10)]
    chars = Characters(
        ["t", UNKNOWN, "c", "2"], np.array(boxes, dtype=np.float64), [look], np.zeros(4, dtype=np.intp),
        np.array([0, 2, 0, 1], dtype=np.int8), {1: (0, 13)},
    )  # fmt: skip
    found = name_glyphs(chars)
    assert found.texts == ["t", "©", "2"]
    assert found.spaces.tolist() == [0, 2, 1]
    assert found.glyphs == {}
