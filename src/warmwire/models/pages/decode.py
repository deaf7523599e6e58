"""The recogniser's scores to text, with the spaces it is shy of.

The recogniser was trained on Chinese as well, where words are not parted, and drops narrow spaces: "theturbines".
Its scores still show them: between the two letters the space loses to the blank, but is far likelier than inside
a word. So it is written where it is likely enough, even though it lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SPACE_SHARE = 0.02
"""Least probability at which a space that lost is written all the same. Over 48 thousand pairs of letters of known
text, all spaces that were missing had 0.04 or more, and all pairs without one 0.014 or less."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What the recogniser made of one line.

    `places` are the middles of its letters, 0 to 1 along the line, and `sure` how probable each is, 0 to 1; a space
    that was put in has 1. `confidence` is the mean over the letters, spaces not counted; 0 without any.
    """

    text: str
    confidence: float
    places: Sequence[float]
    sure: Sequence[float] = ()


def confidence_of(text: str, sure: Sequence[float]) -> float:
    """The mean over the letters of a line. A space is easily seen, in a script that is not known as well."""
    letters = [value for char, value in zip(text, sure, strict=True) if char != " "]
    return sum(letters) / len(letters) if letters else 0.0


class Decoder:
    """Makes text of a model's scores. `characters` are the model's, the blank, at 0, included."""

    def __init__(self, characters: Sequence[str]) -> None:
        self._characters = list(characters)
        self._space = self._characters.index(" ")

    def __call__(self, scores: NDArray[np.float32], share: float = 1.0) -> Reading:
        """The reading of one line from its probabilities (steps, characters), the line being `share` of them long."""
        best = scores.argmax(axis=1)
        first = np.ones(len(best), bool)
        first[1:] = best[1:] != best[:-1]
        steps = np.flatnonzero(first & (best != 0))
        text, at, sure = "", [], []
        for i, step in enumerate(steps):
            char = self._characters[best[step]]
            if i and self._gap(scores, best, int(steps[i - 1]), int(step)) and char != " " and not text.endswith(" "):
                text += " "
                at.append((int(steps[i - 1]) + int(step)) // 2)
                sure.append(1.0)
            text += char
            at.append(int(step))
            sure.append(float(scores[step, best[step]]))
        places = [min(1.0, (step + 0.5) / len(scores) / share) for step in at]
        return Reading(text, confidence_of(text, sure), places, sure)

    def _gap(self, scores: NDArray[np.float32], best: NDArray[np.int64], start: int, end: int) -> bool:
        """Whether a space may stand between the letters at two steps, of an alphabet that parts words."""
        one, other = self._characters[best[start]], self._characters[best[end]]
        if ord(one[0]) > 0x2E7F or ord(other[0]) > 0x2E7F:
            return False
        between = scores[start + 1 : end, self._space]
        return len(between) > 0 and float(between.max()) >= SPACE_SHARE
