"""Readings that the page as a whole, or their own ink, speaks against.

The recogniser knows several thousand Chinese letters and the accents of many languages, and now and then sees one
where there is none: a ticked box and a dash are Chinese letters to it, and a speck above an a an accent. A page
decides: where hardly any letter is Chinese, what looks like a box or a dash is one; and where hardly any letter has an
accent, one whose ink is no higher than that of small letters is read without.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

FEW_CHINESE = 0.02
"""A page of another language has a smaller share of Chinese letters that stand for neither box nor dash."""
FEW_ACCENTS = 0.004
"""A page of English has a smaller share of letters with accents, French 0.03, German and Spanish 0.015."""

_BOXES = str.maketrans({**dict.fromkeys("冈図囚网区凶", "☑"), **dict.fromkeys("口囗回日", "☐")})
_BOX = re.compile(r"^[冈図囚网区凶口囗回日](?=\s|$)")
_DASH = re.compile(r"(?<!\S)[一ー](?!\S)")


ABOVE = 230
"""Unicode's class of signs that stand above a letter."""


@cache
def plain(char: str) -> str:
    """A small letter without what stands above it; other letters as they are."""
    base, *signs = list(unicodedata.normalize("NFD", char))
    return base if base in "aceonsuyz" and all(unicodedata.combining(sign) == ABOVE for sign in signs) else char


def corrected(texts: Sequence[str], bare: Sequence[frozenset[int]]) -> list[str]:
    """The lines of a page; `bare` are, for each, the letters with an accent whose ink shows none."""
    letters = [char for text in texts for char in text if char.isalpha()]
    accents = sum(plain(char) != char for char in letters)
    chinese = sum(ord(char) > 0x2E7F for text in texts for char in _DASH.sub("", _BOX.sub("", text)))
    if accents < FEW_ACCENTS * len(letters):
        texts = [
            "".join(plain(char) if i in places else char for i, char in enumerate(text))
            for text, places in zip(texts, bare, strict=True)
        ]
    if chinese < FEW_CHINESE * len(letters):
        return [_DASH.sub("–", _BOX.sub(lambda match: match[0].translate(_BOXES), text)) for text in texts]
    return list(texts)
