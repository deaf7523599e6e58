"""How far a file's own text can be trusted.

Fonts without a usable ToUnicode table, and text layers of poor recognisers, give text that looks like text to a
program and like nothing to a reader. The signs are those people report: replacement and private characters, control
characters, the names of glyphs in place of letters, words without a vowel, words with odd signs inside, and letters
side by side that no language puts there.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from typing import Final

from warmwire.documents.input.letters import pairs, shifted_strangeness, strangeness

TRUSTED: Final = 0.5
"""Text of a lower quality goes to the model."""

SURE: Final = 0.7
"""Text of a lower quality is compared with the picture."""

_FEWEST_PAIRS: Final = 60
"""A text with fewer pairs of letters cannot be judged by them; `letters` explains their bits."""

_PLAUSIBLE: Final = 4.5
"""Text of fewer bits a pair of letters is in some language. Real pages measured up to 4.2, abbreviations 4.8."""

_STRANGE: Final = 4.9
"""Text of more bits a pair is in no language, or a list of names. Text whose letters stand for others measured 4.7 to
6.5, lists of parts and genes 5.4, proteins 6.6: the picture tells these apart."""

_SHIFTED: Final = 1.5
"""Bits a pair that a text gains, and becomes plausible by, when letters that were moved along the alphabet are moved
back. Measured 2.4 and more there, under 0.4 on lists of parts and genes; every language loses more than one."""

_GLYPH_NAME: Final = re.compile(r"GLYPH[<(&]\S*|/g(?:id)?\d+|\(cid:\d+\)|/uni[0-9A-F]{4}\b")
_VOWEL: Final = re.compile(r"[aeiouyæœøı]")
_LATIN: Final = re.compile(r"[a-z]")
_ODD: Final = re.compile(r"\w[~|^]|[~|^]\w|[a-z]\d+[A-Za-z]|[A-Za-z]\d+[a-z]")
"""Signs and digits where words have none."""

_MIN_WORDS: Final = 12
"""A text of fewer words is not judged by its words."""


def text_quality(text: str, unmapped: int = 0) -> float:
    """A number from 0 (garbage) to 1 (clean); `unmapped` counts characters the font gives no meaning.

    Each of these alone makes it 0.5: 5 % of the characters have no meaning (real pages: less than 0.6 %), only 30 % of
    the words have a vowel (real pages: over 70 %), 40 % of the words have odd signs inside (real pages: under 2 %).
    Letters that were moved along the alphabet make it 0. Letters side by side that no language has make it 0.6, which
    means that the picture is asked. Characters without a meaning in the font do not count if, taken as they are, they
    are words of a language.
    """
    signs = Counter(text)
    characters = sum(count for char, count in signs.items() if not char.isspace())
    if not characters:
        return 1.0
    named = sum(len(name) for name in _GLYPH_NAME.findall(text))
    language, is_plausible = _language_quality(text)
    wrong = named + max(0 if is_plausible else unmapped, sum(count for char, count in signs.items() if _is_wrong(char)))
    clean = max(0.0, 1.0 - 10.0 * wrong / characters)
    return round(clean * min(_word_quality(text), language), 3)


def _language_quality(text: str) -> tuple[float, bool]:
    """What pairs of letters say, and whether they are those of some language; such text is right whatever its font."""
    counts = pairs(text)
    if counts.sum() < _FEWEST_PAIRS:
        return 1.0, False
    bits = strangeness(counts)
    if bits <= _PLAUSIBLE:
        return 1.0, True
    if shifted_strangeness(counts) < min(_PLAUSIBLE, bits - _SHIFTED):
        return 0.0, False
    return (1.0, False) if bits < _STRANGE else ((SURE + TRUSTED) / 2, False)


def _is_wrong(char: str) -> bool:
    if char in "\t\n\r":
        return False
    return char == "\ufffd" or unicodedata.category(char) in ("Cc", "Co", "Cn", "Cs")


def _word_quality(text: str) -> float:
    """What the words in Latin letters, of three characters and more, say."""
    words = with_vowel = odd = 0
    for word, count in Counter(text.split()).items():
        letters = word.lower() if word.isascii() else unicodedata.normalize("NFD", word.lower())
        if len(word) < 3 or not _LATIN.search(letters):
            continue
        words += count
        with_vowel += count * (_VOWEL.search(letters) is not None)
        odd += count * (_ODD.search(word) is not None)
    if words < _MIN_WORDS:
        return 1.0
    return min(1.0, with_vowel / words / 0.6) * max(0.0, min(1.0, 1.025 - 1.25 * odd / words))
