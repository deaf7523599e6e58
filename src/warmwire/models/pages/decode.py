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
WIDE = 0x2E7F
"""Letters after this one are Chinese or Japanese, which stand without spaces."""
UNSURE = 0.5
"""How sure a space that lost is at most, and the letter behind one that is not written and doubted."""


@dataclass(frozen=True, slots=True)
class LineReading:
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

    def __call__(self, scores: NDArray[np.float32], share: float = 1.0) -> LineReading:
        """The reading of one line from its probabilities (steps, characters), the line being `share` of them long."""
        best = scores.argmax(axis=1)
        starts = np.flatnonzero(np.diff(best, prepend=-1))
        most = np.maximum.reduceat(scores[np.arange(len(best)), best], starts)
        kept = best[starts] != 0
        starts, most = starts[kept], most[kept]
        if not len(starts):
            return LineReading("", 0.0, [], [])
        chars = [self._characters[label] for label in best[starts].tolist()]
        text, places, sure, letters = "", list[int](), list[float](), list[float]()
        before = 0
        for char, start, probable, gap in zip(
            chars, starts.tolist(), most.tolist(), self._gaps(scores, starts, chars), strict=True
        ):
            if gap >= self._share:
                text += " "
                places.append((before + start) // 2)
                sure.append(min(UNSURE, gap))
            text += char
            places.append(start)
            sure.append(min(UNSURE, probable) if self._doubt <= gap < self._share else probable)
            if char != " ":  # which is easily seen, in a script that is not known as well
                letters.append(probable)
            before = start
        confidence = sum(letters) / len(letters) if letters else 0.0
        return LineReading(text, confidence, [min(1.0, (place + 0.5) / len(scores) / share) for place in places], sure)

    def _gaps(self, scores: NDArray[np.float32], starts: NDArray[np.int64], chars: Sequence[str]) -> list[float]:
        """How probable a space is before each letter, after the one before it; 0 beside another space and in a script
        that does not part words."""
        between = np.append(scores[:, self._space], np.float32(0))
        ends = np.stack([starts[:-1] + 1, starts[1:]], axis=1).ravel()
        gaps = np.maximum.reduceat(between, ends)[::2] if len(ends) else np.zeros(0, np.float32)
        gaps[np.diff(starts) == 1] = 0  # no step lies between
        parted = [char != " " and ord(char[0]) <= WIDE for char in chars]
        both = zip(gaps.tolist(), parted, parted[1:], strict=False)
        return [0.0, *(gap if one and other else 0.0 for gap, one, other in both)]
