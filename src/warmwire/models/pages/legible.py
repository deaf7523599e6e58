"""Which lines were read, and which only look so.

The recogniser knows Latin letters, Chinese and Japanese. It cannot say that a line is in another script: it leaves out
most of its letters and takes the rest for letters that it knows, but is less sure of these. So a line is as legible as
its letters are sure, times the share of its ink that they explain. Doubt counts twice where it comes with words that
mix letters and digits, or small letters and capitals: others' letters look like any of ours. Of what it can read,
nearly every line has 0.9 and more, of the rest nine in ten have less than 0.6; what is between is told by the rest of
the page (docs/decisions/0005-lines-in-unknown-scripts.md has the figures).

Greek is the one other script whose letters it knows, from formulas, but without accents: words of them are not read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import median

import numpy as np

from warmwire.models.pages.engines import LineReading
from warmwire.models.pages.ink import Ink

MIN_LINE = 0.5
"""A line less legible is noise, wherever it stands."""
MIN_SHARE = 0.75
"""A long line less legible than this share of the page's middle line is in another script than the page."""
LONG = 8
"""Letters from which on a line's own legibility is more than chance."""
MIN_PAGE = 0.75
"""A page that is less legible as a whole is in another script: what is in a known one has to stand out."""
STANDS_OUT = 0.85
"""How legible a line is that does."""
_GREEK_WORD = re.compile(r"[Ͱ-Ͽἀ-῿]{3,}")
_LATIN = re.compile(r"[A-Za-zÀ-ɏ]")
_WORD = re.compile(r"\w+")
_ODD = re.compile(r"[a-z][A-Z]|[A-Za-z][0-9]|[0-9][A-Za-z]")


def legibility(reading: LineReading, ink: Ink) -> float:
    """How far the reading of a line is to be believed, 0 to 1."""
    if is_greek(reading.text):
        return 0.0
    words = _WORD.findall(reading.text)
    odd = sum(len(word) for word in words if _ODD.search(word)) / max(1, sum(map(len, words)))
    return max(0.0, 1 - (1 - reading.confidence) * (1 + odd)) * (1 - ink.unread)


def are_legible(scores: Sequence[float], letters: Sequence[int], lengths: Sequence[float]) -> list[bool]:
    """For each line of a page whether its reading is to be believed.

    `scores` are from `legibility`, `letters` how many letters were read of each. `lengths` are those of the lines in
    any one unit, 0 for what is no line after all: long lines say more about the page than short ones.
    """
    if not any(lengths):
        return [False for _ in scores]
    if float(np.average(scores, weights=lengths)) < MIN_PAGE:
        return [score >= STANDS_OUT for score in scores]
    least = max(MIN_LINE, MIN_SHARE * median(score for score, length in zip(scores, lengths, strict=True) if length))
    return [score >= (least if count >= LONG else MIN_LINE) for score, count in zip(scores, letters, strict=True)]


def is_greek(text: str) -> bool:
    """Whether a line is Greek prose rather than a formula or a quoted word."""
    letters = sum(len(word) for word in _GREEK_WORD.findall(text))
    return letters >= 6 and letters > len(_LATIN.findall(text))
