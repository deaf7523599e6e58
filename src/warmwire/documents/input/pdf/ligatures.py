"""Glyphs that a file gives no meaning, guessed where they are ligatures inside words or the quotes of TeX.

A glyph is the same one everywhere in its font. So each is decided once, from all the words it stands in: which of the
usual ligatures makes words of them, by the pairs of letters and by the page's other words; how wide it is beside the
font's own letters; and its code, since TeX puts ligatures in fixed places. What fits none stays unknown, and counts
against the text: no letter is lost unseen.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from warmwire.documents.input.letters import pairs, strangeness
from warmwire.documents.input.pdf.chars import Characters, Space, without

_RARITY: Final = {"fi": 0.1, "ff": 0.4, "fl": 0.45, "ffi": 0.6, "ffl": 0.85, "ft": 0.65}
"""The ligatures, and how seldom each is, in bits that weigh as much as those of a pair of letters."""

_CODES: Final = {
    11: "ff", 12: "fi", 13: "fl", 14: "ffi", 15: "ffl", 27: "ff", 28: "fi", 29: "fl", 30: "ffi", 31: "ffl",
}  # fmt: skip
"""Where TeX's encodings OT1 and T1 have them."""

_SIGNS: Final = {
    0x10: "“", 0x11: "”", 0x12: "„", 0x15: "–", 0x16: "—",
    0x82: "‚", 0x84: "„", 0x85: "…", 0x91: "‘", 0x92: "’", 0x93: "“", 0x94: "”", 0x95: "•", 0x96: "–", 0x97: "—",
}  # fmt: skip
"""Codes of T1 and of Windows that stand for signs; no other use of them is common."""

_RINGED: Final = {"c": "©", "C": "©", "r": "®", "R": "®"}

_PLACED, _KNOWN, _WIDE = 0.6, 1.0, 4.0
"""Bits for a code's own ligature, for words that stand elsewhere too, against a font size of difference in width."""

_WORST: Final = 5.4
"""Bits a pair of words that are none; rare names come near to it."""

_SHARE, _FEW = 0.03, 5
"""Share of a page's characters, and their number, over which unknown glyphs are more than its ligatures and quotes:
ligatures are one letter in seventy."""

_LONGEST: Final = 20
_MOST_WORDS: Final = 200
"""Letters on either side, and words, that a glyph is judged by."""

_WIDTHS: Final = {"f": 0.31, "i": 0.27, "l": 0.27, "t": 0.31}
"""Widths of letters in font sizes, where a font shows none of its own."""

_WORD: Final = re.compile(r"[^\W\d_]{4,}")


class _Use(NamedTuple):
    """A glyph between the letters before and after it, and its width in font sizes."""

    before: str
    after: str
    width: float

    def is_inside(self, strictly: bool) -> bool:
        """Whether it stands in a word, `strictly` with letters on both sides."""
        if self.after[:1].isupper():
            return False
        return bool(self.before and self.after) if strictly else bool(self.before or self.after)


def name_glyphs(chars: Characters) -> Characters:
    """The characters with letters in place of the unknown glyphs that can be told; the others stay."""
    chars = _with_rings(chars)
    if len(chars.glyphs) > max(_FEW, _SHARE * len(chars)):
        return chars
    fonts: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for at, (font, code) in chars.glyphs.items():
        fonts[font][code].append(at)
    known = frozenset(_WORD.findall("".join(_words(chars)).lower())) if fonts else frozenset()
    for font, codes in fonts.items():
        meanings = _ligatures(chars, codes, known, _widths(chars, font))
        for code, places in codes.items():
            meaning = meanings.get(code) or _SIGNS.get(code)
            for at in places if meaning else ():
                chars.texts[at] = meaning or ""
                del chars.glyphs[at]
    return chars


def _with_rings(chars: Characters) -> Characters:
    """The characters with each letter that an unknown glyph is drawn around as one sign: TeX draws © so."""
    rings = []
    for at in chars.glyphs:
        inner = chars.texts[at + 1] if at + 1 < len(chars) else ""
        if sign := _RINGED.get(inner):
            left, low, right, high = chars.boxes[at]
            x, y = (chars.boxes[at + 1, :2] + chars.boxes[at + 1, 2:]) / 2
            if left < x < right and low < y < high:
                chars.texts[at + 1], chars.spaces[at + 1] = sign, chars.spaces[at]
                rings.append(at)
    return without(chars, np.array(rings, dtype=np.intp))


def _ligatures(
    chars: Characters, codes: dict[int, list[int]], known: frozenset[str], widths: dict[str, float]
) -> dict[int, str]:
    """The ligatures of one font's codes; no two codes have the same, the surest choose first."""
    offers: list[tuple[float, int, str]] = []
    for code, places in codes.items():
        judged = places[:_MOST_WORDS]
        inside = [use for at in judged if (use := _use(chars, at)).is_inside(code in _SIGNS)]
        if 2 * len(inside) > len(judged):
            offers += [(_cost(ligature, inside, code, known, widths), code, ligature) for ligature in _RARITY]
    chosen: dict[int, str] = {}
    for cost, code, ligature in sorted(offers):
        if cost < _WORST and code not in chosen and ligature not in chosen.values():
            chosen[code] = ligature
    return chosen


def _cost(ligature: str, uses: Sequence[_Use], code: int, known: frozenset[str], widths: dict[str, float]) -> float:
    """How badly a ligature suits a glyph, in bits a pair of letters."""
    words = [use.before + ligature + use.after for use in uses]
    width = sorted(use.width for use in uses)[len(uses) // 2]
    off = abs(width - sum(widths[letter] for letter in ligature))
    share = sum(word.lower() in known for word in words) / len(words)
    placed = _PLACED if _CODES.get(code) == ligature else 0.0
    return strangeness(pairs(" ".join(words))) + _RARITY[ligature] + _WIDE * off - _KNOWN * share - placed


def _use(chars: Characters, at: int) -> _Use:
    texts, spaces = chars.texts, chars.spaces
    first = at
    while first > max(0, at - _LONGEST) and spaces[first] == Space.NONE and _is_latin(texts[first - 1]):
        first -= 1
    last = at + 1
    while last < min(len(texts), at + _LONGEST) and spaces[last] == Space.NONE and _is_latin(texts[last]):
        last += 1
    left, _, right, _ = chars.boxes[at]
    width = float(right - left) / max(chars.style(at).size, 1.0)
    return _Use("".join(texts[first:at]), "".join(texts[at + 1 : last]), width)


def _is_latin(text: str) -> bool:
    return text.isalpha() and text < "\u0180"


def _words(chars: Characters) -> list[str]:
    """The page's text in the order of the file, unknown glyphs as they are."""
    return [(" " if space else "") + text for text, space in zip(chars.texts, chars.spaces, strict=True)]


def _widths(chars: Characters, font: int) -> dict[str, float]:
    """How wide the letters of ligatures are in a font."""
    found = dict(_WIDTHS)
    for letter in found:
        for at, text in enumerate(chars.texts):
            if text == letter and chars.style(at).font == font:
                left, _, right, _ = chars.boxes[at]
                found[letter] = float(right - left) / max(chars.style(at).size, 1.0)
                break
    return found
