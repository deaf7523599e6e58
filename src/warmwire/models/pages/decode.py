"""The recogniser's scores to text, with the spaces it is shy of.

The recogniser was trained on Chinese as well, where words are not parted, and drops narrow spaces: "theturbines".
Its scores still show them: between the two letters the space loses to the blank, but is far likelier than inside
a word. So it is written where it is likely enough, even though it lost.

To ask for each of thousands of letters at each step is a sixth of a line's arithmetic. So a first look is for all but
Chinese and Japanese ones, a tenth of them. All are asked for where a letter is less than certain, and where there is
room for a letter that was not looked for: a Chinese one is then seen as blank, and is at least four steps wide. That is
one step in twenty.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Labels = NDArray[np.int64]
AmongAll = Callable[[NDArray[np.int64]], Floats]

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
CERTAIN = 0.99
"""A letter that is surer among the first look's is not looked at again: of 22,000 letters of Latin print, and of pages
in Korean, Chinese and six scripts that the model does not know, none was another one or 0.1 less sure among all."""
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
    """Makes text of what a model sees in a line.

    `characters` are the model's, the blank, at 0, included; the first look is for those with the numbers `some`.
    `share` is the least probability at which a space that lost is written all the same, `doubt` that at which it is
    doubted.
    """

    def __init__(
        self,
        characters: Sequence[str],
        some: Sequence[int],
        share: float = SPACE_SHARE,
        doubt: float = SPACE_SHARE,
    ) -> None:
        self._share, self._doubt = share, doubt
        self._characters = list(characters)
        self._some = np.array(some)
        self._space = self._characters.index(" ")

    def __call__(self, scores: Floats, among_all: AmongAll, share: float = 1.0) -> LineReading:
        """The reading of one line, which is `share` of its steps long.

        `scores` are the probabilities of the characters of the first look among each other, (steps, characters), and
        `among_all` gives those of all characters at some steps. Where one of these proves to be of a character that
        the first look was not for, all steps are looked at again.
        """
        best, probable = self._some[scores.argmax(axis=1)], scores.max(axis=1)
        spaces = scores[:, self._some == self._space][:, 0]
        starts, peaks = _letters(best, probable)
        asked = np.union1d(peaks[probable[peaks] < CERTAIN], _wide_blanks(best == 0))
        if not len(peaks):
            asked = np.arange(len(best))
        if len(asked):
            every = among_all(asked)
            probable[asked] = every[np.arange(len(asked)), best[asked]]
            doubtful = probable[asked] < 0.5
            if (every[doubtful].argmax(axis=1) != best[asked[doubtful]]).any():
                every = among_all(np.arange(len(best)))
                best, probable, spaces = every.argmax(axis=1), every.max(axis=1), every[:, self._space]
                starts, peaks = _letters(best, probable)
        return self._written(best[starts], starts, probable[peaks], spaces, share)

    def _written(self, labels: Labels, starts: Labels, most: Floats, spaces: Floats, share: float) -> LineReading:
        """Letters, each from a step on and so probable, as text; `spaces` is how probable a space is at every step."""
        if not len(labels):
            return LineReading("", 0.0, [], [])
        chars = [self._characters[label] for label in labels.tolist()]
        text, places, sure, letters = "", list[int](), list[float](), list[float]()
        before = 0
        for char, start, probable, gap in zip(
            chars, starts.tolist(), most.tolist(), _gaps(spaces, starts, chars), strict=True
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
        return LineReading(text, confidence, [min(1.0, (place + 0.5) / len(spaces) / share) for place in places], sure)


def _letters(best: Labels, probable: Floats) -> tuple[Labels, Labels]:
    """From which step on each letter of a line is the most probable character, and at which step it is so most."""
    starts = np.flatnonzero(np.diff(best, prepend=-1))
    most = np.maximum.reduceat(probable, starts)
    peaks = np.flatnonzero(np.repeat(most, np.diff(starts, append=len(best))) == probable)
    peaks = peaks[np.searchsorted(peaks, starts)]  # of several the first
    letters = best[starts] != 0
    return starts[letters], peaks[letters]


def _wide_blanks(blank: NDArray[np.bool_]) -> Labels:
    """The inner steps of stretches of at least four blanks."""
    three = np.zeros(len(blank) + 2, np.bool_)
    three[2:-2] = blank[:-2] & blank[1:-1] & blank[2:]
    return np.flatnonzero(three[1:-1] & (three[:-2] | three[2:]))


def _gaps(spaces: Floats, starts: Labels, chars: Sequence[str]) -> list[float]:
    """How probable a space is before each letter, after the one before it; 0 beside another space and in a script
    that does not part words."""
    between = np.append(spaces, np.float32(0))
    ends = np.stack([starts[:-1] + 1, starts[1:]], axis=1).ravel()
    gaps = np.maximum.reduceat(between, ends)[::2] if len(ends) else np.zeros(0, np.float32)
    gaps[np.diff(starts) == 1] = 0  # no step lies between
    parted = [char != " " and ord(char[0]) <= WIDE for char in chars]
    both = zip(gaps.tolist(), parted, parted[1:], strict=False)
    return [0.0, *(gap if one and other else 0.0 for gap, one, other in both)]
