"""Characters to pieces of lines: as long as they follow each other on one baseline in the order of the file.

A page has thousands of characters, and nearly each plainly follows the one before. So the page is cut first where that
has to be asked, for all characters at once; only there each sign is weighed.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from warmwire.documents.input.pdf.chars import Characters, CharStyle, Space

_SPACED_GAP: Final = 1.5  # of the font size: a wider gap parts a line even where the file has a space
_BARE_GAP: Final = 1.0  # the same between two text objects without a space
_OVERLAP: Final = 0.3  # of the font size: what reaches back no further follows without a question
_UPRIGHT_GAP: Final = 0.5  # of the font size, between letters one below the other
FEWEST_BELOW: Final = 3
"""So many letters one below the other are a line; two may begin two lines."""

_WORTHWHILE: Final = 16
"""Fewer letters are looked at faster one by one."""

TICK_BOXES: Final = frozenset("☐☑☒")
"""What opens a line of its own: a box and its label are a cell, or an item beside others."""

Place = tuple[float, float, float, float]
"""Left, top, right, bottom."""


@dataclass(slots=True)
class Piece:
    """Characters that follow each other on one baseline; `at` is each one's place in the page's list, -1 for spaces."""

    style: CharStyle
    left: float
    top: float
    right: float
    bottom: float
    last: Place
    chars: list[str] = field(default_factory=list)
    at: list[int] = field(default_factory=list)
    leftward: bool = False
    """Whether it has letters of a script that runs from right to left; the file's order is then the reader's."""
    downward: bool = False

    def add(self, text: str, at: int, place: Place, spaced: bool) -> None:
        if spaced and self.chars:
            self.chars.append(" ")
            self.at.append(-1)
        self.chars.append(text)
        self.at.append(at)
        self.last = place
        self.cover(place)

    def add_all(self, run: LetterRun) -> None:
        """Add the characters of a run after its first."""
        self.chars += run.chars
        self.at += run.at
        self.last = run.places[-1]
        self.cover(run.around)

    def cover(self, place: Place) -> None:
        left, top, right, bottom = place
        if left < self.left:
            self.left = left
        if top < self.top:
            self.top = top
        if right > self.right:
            self.right = right
        if bottom > self.bottom:
            self.bottom = bottom


def pieces_of(chars: Characters, members: Sequence[int] | NDArray[np.intp], places: NDArray[np.float64]) -> list[Piece]:
    """Pieces of lines, as far as characters follow each other in the file; `places` has one for each of the page."""
    pieces: list[Piece] = []
    piece: Piece | None = None
    for run in letter_runs(chars, np.asarray(members, dtype=np.intp), places):
        for number, (index, place) in enumerate(zip(run.members, run.places, strict=True)):
            if number == 1 and piece is not None and not (piece.leftward or piece.downward):
                piece.add_all(run)
                break
            text, style, space = chars.texts[index], chars.style(index), chars.spaces[index]
            leftward = _runs_left(text)
            if piece is not None and text not in TICK_BOXES and _follows(piece, place, style, space, leftward):
                if piece.downward and len(piece.chars) < FEWEST_BELOW:  # the second line's second letter
                    piece = _split_last(piece, pieces)
            elif piece is not None and _is_below(piece, text, place, style):
                piece.downward = True
                space = Space.NONE
            else:
                piece = Piece(style, *place, place)
                pieces.append(piece)
            piece.add(text, index, place, bool(space))
            piece.leftward = piece.leftward or leftward
    return pieces


@dataclass(slots=True)
class LetterRun:
    """Characters, and their places, of which each plainly follows the one before: `chars` and `at` are those after the
    first, with the spaces before them, as a piece has them; `around` is the box around all."""

    members: list[int]
    places: list[Place]
    chars: list[str]
    at: list[int]
    around: Place


def letter_runs(chars: Characters, members: NDArray[np.intp], places: NDArray[np.float64]) -> Iterator[LetterRun]:
    """The characters cut where it has to be asked whether they follow: a line of text is one run, or a few.

    What is found here is a part of what `_follows` says, for whole pages at once.
    """
    sides = left, top, right, bottom = places[members].T
    standing = list(zip(*sides.tolist(), strict=True))
    indices = members.tolist()
    if len(indices) < _WORTHWHILE:
        for index, place in zip(indices, standing, strict=True):
            yield LetterRun([index], [place], [], [], place)
        return
    texts = [chars.texts[index] for index in indices]
    follows = _plainly_follow(left, top, right, bottom, np.maximum(chars.sizes[members], 1.0))
    if odd := {text for text in set(texts) if text in TICK_BOXES or _runs_left(text)}:
        plain = np.array([text not in odd for text in texts])
        follows &= plain[1:] & plain[:-1]
    begins = np.flatnonzero(np.concatenate(([True], ~follows)))
    around = zip(
        np.minimum.reduceat(left, begins).tolist(), np.minimum.reduceat(top, begins).tolist(),
        np.maximum.reduceat(right, begins).tolist(), np.maximum.reduceat(bottom, begins).tolist(), strict=True,
    )  # fmt: skip
    slots = np.arange(len(texts)) + np.cumsum(chars.spaces[members] > 0)
    spread, at = np.full(slots[-1] + 1, " ", dtype=object), np.full(slots[-1] + 1, -1)
    spread[slots], at[slots] = texts, members
    letters, numbers = spread.tolist(), at.tolist()
    ends = [*begins[1:].tolist(), len(texts)]
    firsts, stops = (slots[begins] + 1).tolist(), (slots[np.array(ends) - 1] + 1).tolist()
    for begin, end, first, stop, box in zip(begins.tolist(), ends, firsts, stops, around, strict=True):
        yield LetterRun(indices[begin:end], standing[begin:end], letters[first:stop], numbers[first:stop], box)


def _plainly_follow(
    left: NDArray[np.float64],
    top: NDArray[np.float64],
    right: NDArray[np.float64],
    bottom: NDArray[np.float64],
    sizes: NDArray[np.float64],
) -> NDArray[np.bool_]:
    """Which characters after the first stand on the baseline of the one before and close to its right."""
    gap, heights = left[1:] - right[:-1], bottom - top
    shared = np.minimum(bottom[1:], bottom[:-1]) - np.maximum(top[1:], top[:-1])
    follows = (gap < _BARE_GAP * sizes[1:]) & (gap > -_OVERLAP * sizes[1:]) & (left[1:] >= left[:-1])
    found: NDArray[np.bool_] = follows & (shared >= 0.4 * np.minimum(heights[1:], heights[:-1]))
    return found


def _follows(piece: Piece, place: Place, style: CharStyle, space: int, leftward: bool) -> bool:
    """Whether a character goes on to the right (or, in some scripts, the left) of where `piece` ends."""
    left, top, right, bottom = place
    last_left, last_top, last_right, last_bottom = piece.last
    if piece.downward and len(piece.chars) >= FEWEST_BELOW:
        return False
    size = max(piece.style.size, style.size, 1.0)
    high, low = (last_top, last_bottom) if piece.downward else (piece.top, piece.bottom)
    overlap = (low if low < bottom else bottom) - (high if high > top else top)
    if overlap < 0.4 * min(last_bottom - last_top, bottom - top):
        return False
    together = style.order == piece.style.order or space == Space.REAL
    limit = (_SPACED_GAP if together else _BARE_GAP) * size
    if leftward or piece.leftward:  # numbers in between run to the right: any side of the piece may be its end
        return max(left - piece.right, piece.left - right) < limit
    gap = left - last_right
    backwards = gap < -0.5 * size and left < last_left - 0.1 * size  # not so inside a ligature
    return gap < limit and not backwards


def _is_below(piece: Piece, text: str, place: Place, style: CharStyle) -> bool:
    """Whether an upright CJK letter stands right below the one before, as in text that is written downwards."""
    if not (piece.downward or len(piece.chars) == 1) or not (_is_wide(text) and _is_wide(piece.chars[-1])):
        return False
    left, top, right, _ = place
    size = max(piece.style.size, style.size, 1.0)
    middle = abs(left + right - piece.last[0] - piece.last[2]) / 2
    step = top - piece.last[1]
    return middle < 0.3 * size and 0.5 * size < step and top - piece.last[3] < _UPRIGHT_GAP * size


def _is_wide(text: str) -> bool:
    return text >= "\u2e80" and unicodedata.east_asian_width(text[0]) == "W"


def _split_last(piece: Piece, pieces: list[Piece]) -> Piece:
    """Take back that the last letter stands below the one before: give it a piece of its own."""
    place, at, text = piece.last, piece.at.pop(), piece.chars.pop()
    piece.downward = False
    piece.bottom = min(piece.bottom, place[1])
    apart = Piece(piece.style, *place, place)
    apart.add(text, at, place, spaced=False)
    pieces.append(apart)
    return apart


def _runs_left(text: str) -> bool:
    return text >= "\u0590" and unicodedata.bidirectional(text[0]) in ("R", "AL")
