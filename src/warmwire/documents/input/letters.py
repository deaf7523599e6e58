"""What letters stand side by side in words, and so whether letters can be words of a language at all.

A font whose table gives every letter another's name leaves text of the right shape: words, vowels now and then, full
stops. Yet its pairs of letters are those of no language. `letters.bin` has how likely each letter is after another in
many languages of Latin script (made by `benchmarks/letters.py`); a text is judged by the language that suits it best,
and by whether the same text with every letter moved along the alphabet would suit one much better.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

LETTERS: Final = 27
"""A word's edge, and a to z."""

STEP: Final = 0.75
"""Bits that one step of the table stands for; a pair of the last step is as good as never seen."""

TABLE: Final = Path(__file__).with_name("letters.bin")

_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_OTHERS: Final = str.maketrans("øłđðıæœßþ", "olddiaost")
_LONGEST: Final = 100_000
"""Letters of a text that are looked at."""


def fold(text: str) -> list[int] | None:
    """Letters as numbers, without case and marks, 0 for a space; None where one is not Latin."""
    found = []
    for char in unicodedata.normalize("NFD", text.lower().translate(_OTHERS)):
        if char == " ":
            found.append(0)
        elif "a" <= char <= "z":
            found.append(ord(char) - 96)
        elif not unicodedata.combining(char):
            return None
    return found


def pairs(text: str) -> NDArray[np.float64]:
    """How often each pair stands in the words of a text."""
    words = _WORD.findall(text[:_LONGEST])
    others = [folded for word in words if not word.isascii() and (folded := fold(word))]
    plain = " ".join(["", *(word for word in words if word.isascii()), ""]).lower().encode()
    codes = np.frombuffer(plain, dtype=np.uint8).astype(np.intp) - 96  # letters from 1; a space, before all, to 0
    more = [code for folded in others for code in (*folded, 0)]
    codes = np.concatenate((np.maximum(codes, 0), np.array(more, dtype=np.intp)))
    counts = np.bincount(LETTERS * codes[:-1] + codes[1:], minlength=LETTERS * LETTERS)
    return counts.astype(np.float64).reshape(LETTERS, LETTERS)


def strangeness(counts: NDArray[np.float64]) -> float:
    """Bits a pair, in the language that suits the text best: few for text in one of them, many for any letters."""
    return float((_table() * counts).sum(axis=(1, 2)).min() / max(counts.sum(), 1.0))


def shifted_strangeness(counts: NDArray[np.float64]) -> float:
    """The same for the text with each letter moved along the alphabet, as far as suits best, but moved."""
    turns = []
    for shift in range(1, 26):
        order = np.concatenate(([0], 1 + (np.arange(26) + shift) % 26))
        turns.append(strangeness(counts[np.ix_(order, order)]))
    return min(turns)


def bits(first: str, second: str) -> float:
    """How unlikely the letter `second` is after `first`, in the language where it is least so; "" is a word's edge."""
    one, other = fold(first or " "), fold(second or " ")
    if not one or not other:
        return STEP * 15
    return float(_table()[:, one[-1], other[0]].min())


@cache
def _table() -> NDArray[np.float64]:
    """Bits for each language and pair."""
    packed = np.frombuffer(TABLE.read_bytes(), dtype=np.uint8)
    half = (LETTERS * LETTERS + 1) // 2
    steps = np.stack([packed >> 4, packed & 15], axis=1).reshape(-1, 2 * half)[:, : LETTERS * LETTERS]
    return steps.reshape(-1, LETTERS, LETTERS) * STEP
