"""What the codes of symbol fonts, and of small capitals, stand for.

Fonts of signs have no letters to name, so their glyphs are put where nothing else is: word processors add 0xF000 to a
glyph's code. What the code means depends on the font then. Adobe's fonts have small capitals and old-style figures in
the same way from 0xF700 on.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class Signs(IntEnum):
    """Which signs a font has."""

    NONE = 0
    SYMBOL = 1
    DINGBATS = 2


_SYMBOL: Final = dict(
    zip(
        (*range(0x21, 0x7F), *range(0xA0, 0xF0), *range(0xF1, 0xFF)),
        "!∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"
        "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪"
        "〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭",
        strict=True,
    )
)
"""Adobe's Symbol, which is also that of word processors."""

_DINGBATS: Final = {
    0x6C: "●", 0x6E: "■", 0x6F: "☐", 0x71: "☐", 0x72: "☐", 0x75: "◆", 0x76: "❖", 0x77: "◆", 0x78: "☒", 0x9F: "•",
    0xA1: "○", 0xA7: "▪", 0xA8: "☐", 0xD8: "‣", 0xDF: "←", 0xE0: "→", 0xE8: "➔", 0xF0: "⇨", 0xFB: "✗", 0xFC: "✓",
    0xFD: "☒", 0xFE: "☑",
}  # fmt: skip
"""The bullets, boxes and arrows of Wingdings."""

_USUAL: Final = {0xB7: "•", 0xA7: "▪", 0xD8: "‣", 0xA8: "☐", 0x6F: "☐", 0xFE: "☑", 0xFC: "✓"}
"""What is meant in a font that does not say which signs it has."""

_SMALL: Final = frozenset(
    {0x21, 0x24, 0x26, *range(0x30, 0x3A), 0x3F, *range(0x61, 0x7B), 0xA1, 0xA2, 0xBF, *range(0xE0, 0xFF)} - {0xF7}
)


def signs_of(name: str) -> Signs:
    """Which signs a font has, by its name in small letters."""
    if "wingdings" in name:
        return Signs.DINGBATS
    return Signs.SYMBOL if name.split("+")[-1].startswith(("symbol", "standardsymbols")) else Signs.NONE


def sign(code: int, signs: Signs) -> str | None:
    """What a code for private use stands for, None where nobody knows."""
    if 0xF700 <= code < 0xF800 and code - 0xF700 in _SMALL:
        return chr(code - 0xF700)
    if not 0xF000 <= code < 0xF100:
        return None
    known = (_USUAL, _SYMBOL, _DINGBATS)[signs]
    return known.get(code - 0xF000)
