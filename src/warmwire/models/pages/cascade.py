"""Two readers of lines: a quick one for all of them, and a careful one, five times as slow, for what that one doubts.

Doubt is a matter of words, not of lines: of a line with one doubtful letter in it the careful reader is given the words
that have one, cut out at the spaces around them. A word of which little is sure is given with a word on either side,
for it reads a word better among others. A word that the quick reader has read elsewhere on the page without a doubt is
no invention of it, and is doubted less. Where the careful reader reads something else, the reading counts whose least
sure letter is surer. A line that is in doubt as a whole may be in a script that neither knows, of which the quick
reader makes more nonsense: there the careful one has the say. And where it corrects one word in ten, the page is not
the quick reader's (poor print, a language whose letters it mistakes without a doubt), and the careful one reads all
of it.

Measured on 2,300 lines of made pages and replicas (docs/performance.md): a letter's probability at its most probable
step tells doubtful words best. At its first step alone twice as many words are in doubt for the same gain.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from warmwire.models.pages.decode import UNSURE, WIDE, LineReading
from warmwire.models.pages.inked import quantile

Pixels = NDArray[np.uint8]
Read = Callable[[Sequence[Pixels]], list[LineReading]]

DOUBT: Final = 0.9
"""A word with a letter less sure than that, or beside a space that is no more than a guess, is read again ..."""
KNOWN_DOUBT: Final = 0.6
KNOWN_LETTERS: Final = 3
"""... one that stands without doubt elsewhere on the page, and is no shorter, only below the former. Of 290 such words
from there to 0.93 fewer were wrong than one in ten, and hardly any were read better."""
ALONE: Final = 0.75
"""A word with all letters surer than that is read without its neighbours."""
LOST: Final = 0.9
"""A line that is less sure than that on the whole is the careful reader's."""
CORRECTED: Final = 0.1
FEW: Final = 5
"""Where so large a share of a page's words was corrected, and not fewer than so many, all lines are read again. On made
pages it is 0.01 to 0.05."""
NEAR: Final = 0.25
"""How far from where a space was read a line is cut at most, in its heights: where there is least ink."""

_WORD: Final = re.compile(rf"[^ {chr(WIDE + 1)}-\U0010ffff]+|[^ ]")
_SIGNS: Final = re.compile(r"^\W+|\W+$")


@dataclass(frozen=True, slots=True)
class LetterSpan:
    """The letters `start` to `end` of a line, and between which places they lie, 0 to 1 along it."""

    start: int
    end: int
    left: float
    right: float


def cascade(crops: Sequence[Pixels], quick: Read, careful: Read) -> tuple[list[LineReading], int]:
    """The readings of lines, and of how many the careful reader read some."""
    readings = quick(crops)
    known = known_words(readings)
    parts = [(i, fitted(crops[i], part)) for i, reading in enumerate(readings) for part in doubtful(reading, known)]
    second = careful([cut(crops[i], part) for i, part in parts])
    first = [Counter(_words(reading)) for reading in readings]
    for (i, part), reading in reversed(list(zip(parts, second, strict=True))):  # from a line's end to its start
        readings[i] = better(readings[i], part, reading)
    corrected = sum((Counter(_words(readings[i])) - first[i]).total() for i in {i for i, _ in parts})
    if corrected >= max(FEW, CORRECTED * sum(words.total() for words in first)):
        return careful(crops), len(crops)
    return readings, len({i for i, _ in parts})


def _words(reading: LineReading) -> list[str]:
    return [reading.text[start:end] for start, end in words_of(reading.text)]


def known_words(readings: Sequence[LineReading]) -> set[str]:
    """The words of a page that are read without a doubt somewhere."""
    found = {
        _plain(reading.text[start:end])
        for reading in readings
        for start, end in words_of(reading.text)
        if min(reading.sure[start:end]) >= DOUBT
    }
    return {word for word in found if len(word) >= KNOWN_LETTERS}


def _plain(word: str) -> str:
    """A word without the signs around it, capitals or not."""
    return _SIGNS.sub("", word).casefold()


def doubtful(reading: LineReading, known: Collection[str] = ()) -> list[LetterSpan]:
    """The parts of a line that are worth a second reading."""
    if reading.confidence < LOST:
        return [LetterSpan(0, len(reading.text), 0.0, 1.0)]
    words = list(words_of(reading.text))
    parts: list[LetterSpan] = []
    for i, (start, end) in enumerate(words):
        spaces = [reading.sure[at] for at in (start - 1, end) if 0 <= at < len(reading.text)]
        least = min(reading.sure[start:end])
        bound = KNOWN_DOUBT if _plain(reading.text[start:end]) in known else DOUBT
        if least >= bound and min(spaces, default=1.0) > UNSURE:
            continue
        beside = 0 if least >= ALONE else 1
        first, last = words[max(0, i - beside)][0], words[min(len(words) - 1, i + beside)][1]
        if parts and first <= parts[-1].end + 1:
            first = parts.pop().start
        parts.append(LetterSpan(first, last, _edge(reading, first), _edge(reading, last)))
    return parts


def words_of(text: str) -> Iterator[tuple[int, int]]:
    """Where the words of a line start and end; a letter of a script without spaces is a word."""
    return (match.span() for match in _WORD.finditer(text))


def _edge(reading: LineReading, at: int) -> float:
    """Where the letter at `at` is parted from the one before it: in the middle of the space, if there is one."""
    text, places = reading.text, reading.places
    if not at or at == len(text):
        return float(at > 0)
    for i in (at, at - 1):
        if text[i] == " ":
            return places[i]
    return (places[at - 1] + places[at]) / 2


def fitted(crop: Pixels, part: LetterSpan) -> LetterSpan:
    """The part with its sides moved to where there is least ink near them."""
    left, right = (_clear(crop, side) if 0 < side < 1 else side for side in (part.left, part.right))
    return replace(part, left=left, right=right) if right > left else part


def _clear(crop: Pixels, side: float) -> float:
    import cv2

    height, width = crop.shape[:2]
    at, reach = round(side * width), max(1, round(NEAR * height))
    start, end = max(0, at - reach), min(width, at + reach + 1)
    paper = quantile(cv2.calcHist([crop], [1], None, [256], [0, 256]).ravel(), 0.5)
    ink = np.abs(crop[:, start:end, 1] - paper).sum(axis=0)
    least = np.flatnonzero(ink <= ink.min() + 0.05 * (ink.max() - ink.min()))
    nearest = int(least[np.abs(least - (at - start)).argmin()])
    return float((start + nearest + 0.5) / width)


def cut(crop: Pixels, part: LetterSpan) -> Pixels:
    """The picture of a part of a line."""
    width = crop.shape[1]
    left = min(width - 1, int(part.left * width))
    return crop[:, left : max(left + 1, round(part.right * width))]


def better(reading: LineReading, part: LetterSpan, second: LineReading) -> LineReading:
    """A line with the second reading of a part of it, where that is the better one."""
    if part.end - part.start == len(reading.text) and reading.confidence < LOST:
        return second
    text, first = second.text.strip(), reading.text[part.start : part.end]
    skipped = len(second.text) - len(second.text.lstrip())
    sure = second.sure[skipped : skipped + len(text)]
    if not text or text == first or _least(text, sure) < _least(first, reading.sure[part.start : part.end]):
        return reading
    places = [part.left + place * (part.right - part.left) for place in second.places[skipped : skipped + len(text)]]
    kept = len(reading.text) - len(first)
    return LineReading(
        reading.text[: part.start] + text + reading.text[part.end :],
        (reading.confidence * kept + second.confidence * len(text)) / (kept + len(text)),
        [*reading.places[: part.start], *places, *reading.places[part.end :]],
        [*reading.sure[: part.start], *sure, *reading.sure[part.end :]],
    )


def _least(text: str, sure: Sequence[float]) -> float:
    """How sure the least sure letter is."""
    return min((value for char, value in zip(text, sure, strict=True) if char != " "), default=0.0)
