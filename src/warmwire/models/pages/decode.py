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
TINY_SPACE_SHARE = 0.1
"""The same for the tiny model, which is less clear: over 43 thousand pairs, one lost space in two had less, and of
pairs without one 9 had more, nearly all beside quotes, brackets and figures; inside words the most was 0.06."""
TINY_SPACE_DOUBT = 0.01
"""From this probability on a space of the tiny model's that is not written is doubted."""
UNSURE = 0.5
"""How sure a space that lost is at most, and the letter behind one that is not written and doubted."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What the recogniser made of one line.

    `places` are the middles of its letters, 0 to 1 along the line, and `sure` how probable each is at its most probable
    step, 0 to 1. `confidence` is the mean over the letters, spaces not counted; 0 without any.
    """

    text: str
    confidence: float
    places: Sequence[float]
    sure: Sequence[float] = ()


class Decoder:
    """Makes text of a model's scores. `characters` are the model's, the blank, at 0, included.

    `share` is the least probability at which a space that lost is written all the same, `doubt` that at which it is
    doubted.
    """

    def __init__(self, characters: Sequence[str], share: float = SPACE_SHARE, doubt: float = SPACE_SHARE) -> None:
        self._share, self._doubt = share, doubt
        self._characters = list(characters)
        self._space = self._characters.index(" ")

    def __call__(self, scores: NDArray[np.float32], share: float = 1.0) -> Reading:
        """The reading of one line from its probabilities (steps, characters), the line being `share` of them long."""
        best = scores.argmax(axis=1)
        starts = np.flatnonzero(np.diff(best, prepend=-1))
        ends = np.append(starts[1:], len(best))
        text, places, sure, letters = "", [], [], []
        before: int | None = None
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            if best[start] == 0:
                continue
            char = self._characters[best[start]]
            gap = self._gap(scores, best, before, start) if before is not None and " " not in (char, text[-1]) else 0.0
            if before is not None and gap >= self._share:
                text += " "
                places.append((before + start) // 2)
                sure.append(min(UNSURE, gap))
            probable = float(scores[start:end, best[start]].max())
            text += char
            places.append(start)
            sure.append(min(UNSURE, probable) if self._doubt <= gap < self._share else probable)
            if char != " ":  # which is easily seen, in a script that is not known as well
                letters.append(probable)
            before = start
        confidence = sum(letters) / len(letters) if letters else 0.0
        return Reading(text, confidence, [min(1.0, (place + 0.5) / len(scores) / share) for place in places], sure)

    def _gap(self, scores: NDArray[np.float32], best: NDArray[np.int64], start: int, end: int) -> float:
        """How probable a space is between the letters at two steps, 0 in a script that does not part words."""
        one, other = self._characters[best[start]], self._characters[best[end]]
        if ord(one[0]) > 0x2E7F or ord(other[0]) > 0x2E7F:
            return 0.0
        return float(scores[start + 1 : end, self._space].max(initial=0.0))
