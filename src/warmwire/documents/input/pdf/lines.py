"""Characters to lines.

pdfium gives characters in the order of the file. They are joined to pieces as long as they follow each other on one
baseline, and pieces of one line that the file holds apart are joined afterwards. A gap wider than words have parts
a line, since it may be a column's or a cell's.

Text that does not stand upright is set apart by its angle, and each angle is read as if the page were turned so that
it does. Upright CJK letters one below the other are a line too, read downwards.
"""

from __future__ import annotations

import math
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from warmwire.documents.input.pdf.chars import Characters, Space, Style
from warmwire.documents.input.pdf.frame import Frame, turn_box
from warmwire.layout.page import Box, Line
from warmwire.layout.runs import Run

_WORD_GAP: Final = 0.12  # of the font size: a narrower gap is inside a word
_SPACED_GAP: Final = 1.5  # of the font size: a wider gap parts a line even where the file has a space
_BARE_GAP: Final = 1.0  # the same between two text objects without a space
_RAISED_GAP: Final = 0.3  # of the font size, before a superscript of the same text
_LEVEL: Final = 5.0
"""Degrees that a line may slope and still belong to its quarter."""

_UPRIGHT_GAP: Final = 0.5  # of the font size, between letters one below the other
_FEWEST_BELOW: Final = 3
"""So many letters one below the other are a line; two may begin two lines."""

Place = tuple[float, float, float, float]
"""Left, top, right, bottom."""


@dataclass(slots=True)
class _Piece:
    """Characters that follow each other on one baseline; `at` is each one's place in the page's list, -1 for spaces."""

    style: Style
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


@dataclass(slots=True)
class Letters:
    """The characters on a page: where each of the page's list stands, and by whether they are seen and by their slope
    the numbers of those that are on it."""

    chars: Characters
    frame: Frame
    places: list[Place]
    groups: dict[tuple[bool, int], list[int]]

    def lines(self, seen: bool) -> list[Line]:
        """The lines of what is seen, or of what is not."""
        return [
            line
            for (is_seen, slope), members in self.groups.items()
            if is_seen == seen
            for line in _read_group(self.chars, members, self.places, slope, self.frame)
        ]

    def lines_in_order(self, members: Sequence[int]) -> list[Line]:
        """The lines of upright characters that are known to follow each other, and to be one text."""
        return [_line(piece, _box(piece), 0, self.chars) for piece in _in_order(self.chars, members, self.places)]

    def lines_of(self, members: list[int]) -> list[Line]:
        """The lines of some upright characters."""
        return list(_read_group(self.chars, members, self.places, 0, self.frame))

    def lines_without(self, used: set[int]) -> list[Line]:
        """The lines of what is seen, without some characters."""
        found: list[Line] = []
        for (seen, slope), members in self.groups.items():
            rest = [at for at in members if at not in used] if seen else []
            found += _read_group(self.chars, rest, self.places, slope, self.frame) if rest else []
        return found


def letters_of(chars: Characters, frame: Frame, is_seen: Callable[[Style, Box], bool]) -> Letters:
    """The characters that are on the page; text off it is neither seen nor hidden."""
    places, inside = _places(chars.boxes, frame)
    groups: dict[tuple[bool, int], list[int]] = defaultdict(list)
    known: dict[Style, tuple[bool | None, int]] = {}
    for index in inside:
        style = chars.styles[index]
        if style not in known:
            plain = Box(0.0, 0.0, 0.0, 0.0)
            known[style] = None if style.white else is_seen(style, plain), _slope(style.angle, frame)
        seen, slope = known[style]
        if seen is None:
            seen = is_seen(style, Box(*places[index]))
        groups[seen, slope].append(index)
    return Letters(chars, frame, places, groups)


def _places(boxes: NDArray[np.float64], frame: Frame) -> tuple[list[Place], list[int]]:
    """Boxes of user space in the frame, cut to the page, and the numbers of those that are on it."""
    if not len(boxes):
        return [], []
    width, height = frame.size
    x1, y1 = frame.point(boxes[:, 0], boxes[:, 1])
    x2, y2 = frame.point(boxes[:, 2], boxes[:, 3])
    left, right = np.maximum(np.minimum(x1, x2), 0.0), np.minimum(np.maximum(x1, x2), width)
    top, bottom = np.maximum(np.minimum(y1, y2), 0.0), np.minimum(np.maximum(y1, y2), height)
    inside = (left <= right) & (top <= bottom) & ((right > left) | (bottom > top))
    places = zip(left.tolist(), top.tolist(), right.tolist(), bottom.tolist(), strict=True)
    return list(places), np.flatnonzero(inside).tolist()


def _slope(angle: float, frame: Frame) -> int:
    """How far text is turned clockwise in the frame, in whole degrees from -179 to 180; near a quarter it is that."""
    slope = (frame.rotation - angle) % 360.0
    quarter = round(slope / 90.0) * 90
    found = quarter if abs(slope - quarter) < _LEVEL else round(slope)
    return (found + 179) % 360 - 179


def _read_group(chars: Characters, members: list[int], places: list[Place], slope: int, frame: Frame) -> Iterable[Line]:
    """The lines of the characters that share one angle."""
    width, height = frame.size
    if slope == 0:
        return [replace(_line(p, _box(p), 0, chars), run=_run(p, places)) for p in _pieces(chars, members, places)]
    if slope % 90 == 0:
        turned = frame.turned(-slope)
        inner, _ = _places(chars.boxes, turned)
        pieces = _pieces(chars, members, inner)
        return [_line(p, turn_box(_box(p), slope % 360, *turned.size), slope, chars) for p in pieces]
    leaning = _leaning(chars, members, places, slope)
    return [_line(p, _lean_back(_box(p), slope, width, height), slope, chars) for p in _pieces(chars, members, leaning)]


def _leaning(chars: Characters, members: list[int], places: list[Place], slope: int) -> list[Place]:
    """Places on a page turned so that letters at `slope` stand upright.

    The box around a leaning letter is larger than the letter; its middle is known, and how large letters are.
    """
    found = list(places)
    cos, sin = math.cos(math.radians(slope)), math.sin(math.radians(slope))
    for index in members:
        left, top, right, bottom = places[index]
        x, y, size = (left + right) / 2, (top + bottom) / 2, max(chars.styles[index].size, 1.0)
        along, down = x * cos + y * sin, y * cos - x * sin
        found[index] = along - 0.25 * size, down - 0.5 * size, along + 0.25 * size, down + 0.5 * size
    return found


def _lean_back(box: Box, slope: int, width: float, height: float) -> Box:
    """The box around a leaning line, cut to the page."""
    cos, sin = math.cos(math.radians(slope)), math.sin(math.radians(slope))
    xs, ys = zip(
        *((x * cos - y * sin, x * sin + y * cos) for x in (box.left, box.right) for y in (box.top, box.bottom)),
        strict=True,
    )
    return Box(
        min(max(min(xs), 0.0), width), min(max(min(ys), 0.0), height), max(min(max(xs), width), 0.0),
        max(min(max(ys), height), 0.0),
    )  # fmt: skip


def _pieces(chars: Characters, members: Sequence[int], places: Sequence[Place]) -> list[_Piece]:
    """The whole lines of characters that stand upright in `places`."""
    return _join(_begun(chars, members, places))


def _in_order(chars: Characters, members: Sequence[int], places: Sequence[Place]) -> list[_Piece]:
    """The same for characters whose order is known: pieces are joined to the one before or not at all."""
    joined: list[_Piece] = []
    for piece in _begun(chars, members, places):
        before = joined[-1] if joined else None
        if before is None or piece.leftward or before.leftward or not _is_right_of(before, piece):
            joined.append(piece)
        else:
            told = chars.spaces[piece.at[0]] > Space.NONE and not _is_raised(before, piece)
            _append(before, piece, spaced=told or piece.left - before.right > _WORD_GAP * piece.style.size)
    return joined


def _is_right_of(before: _Piece, piece: _Piece) -> bool:
    """Whether a piece goes on in the line before it, whatever white there is between; what is raised or lowered does
    where it touches the line."""
    gap, size = piece.left - before.right, max(piece.style.size, 1.0)
    if _is_raised(before, piece):
        return -0.3 * size < gap < _RAISED_GAP * size and min(before.bottom, piece.bottom) > max(before.top, piece.top)
    return gap > -0.3 * size


def _is_raised(before: _Piece, piece: _Piece) -> bool:
    """Whether a piece stands higher or lower than the one before, and not on its baseline."""
    shared = min(before.bottom, piece.bottom) - max(before.top, piece.top)
    return shared <= 0.5 * min(before.bottom - before.top, piece.bottom - piece.top)


def _begun(chars: Characters, members: Sequence[int], places: Sequence[Place]) -> list[_Piece]:
    """Pieces of lines, as far as characters follow each other in the file."""
    pieces: list[_Piece] = []
    piece: _Piece | None = None
    for index in members:
        text, style, space, place = chars.texts[index], chars.styles[index], chars.spaces[index], places[index]
        leftward = text >= "\u0590" and _runs_left(text)
        if piece is not None and _follows(piece, place, style, space, leftward):
            if piece.downward and len(piece.chars) < _FEWEST_BELOW:  # the second line's second letter
                piece = _split_last(piece, pieces)
        elif piece is not None and _is_below(piece, text, place, style):
            piece.downward = True
            space = Space.NONE
        else:
            piece = _Piece(style, *place, place)
            pieces.append(piece)
        piece.add(text, index, place, bool(space))
        piece.leftward = piece.leftward or leftward
    return pieces


def _follows(piece: _Piece, place: Place, style: Style, space: Space, leftward: bool) -> bool:
    """Whether a character goes on to the right (or, in some scripts, the left) of where `piece` ends."""
    left, top, right, bottom = place
    last_left, last_top, last_right, last_bottom = piece.last
    if piece.downward and len(piece.chars) >= _FEWEST_BELOW:
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


def _is_below(piece: _Piece, text: str, place: Place, style: Style) -> bool:
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


def _split_last(piece: _Piece, pieces: list[_Piece]) -> _Piece:
    """Take back that the last letter stands below the one before: give it a piece of its own."""
    place, at, text = piece.last, piece.at.pop(), piece.chars.pop()
    piece.downward = False
    piece.bottom = min(piece.bottom, place[1])
    apart = _Piece(piece.style, *place, place)
    apart.add(text, at, place, spaced=False)
    pieces.append(apart)
    return apart


def _runs_left(text: str) -> bool:
    return unicodedata.bidirectional(text[0]) in ("R", "AL")


def _join(pieces: list[_Piece]) -> list[_Piece]:
    """Join neighbours on one baseline that the file holds apart."""
    level = [piece for piece in pieces if not piece.downward or len(piece.chars) < _FEWEST_BELOW]
    level.sort(key=lambda piece: (piece.bottom, piece.left))
    joined = [piece for piece in pieces if piece.downward and len(piece.chars) >= _FEWEST_BELOW]
    joined.sort(key=lambda piece: (-piece.right, piece.top))
    row: list[_Piece] = []
    for piece in level:
        if row and piece.bottom - row[0].bottom > 0.3 * max(row[0].style.size, 1.0):
            joined += _join_row(row)
            row = []
        row.append(piece)
    return [*joined, *_join_row(row)]


def _join_row(row: list[_Piece]) -> list[_Piece]:
    """Join the pieces of one row that are near each other, from right to left where most of them run so."""
    leftward = 2 * sum(piece.leftward for piece in row) > len(row)
    joined: list[_Piece] = []
    for piece in sorted(row, key=lambda piece: -piece.right if leftward else piece.left):
        before = joined[-1] if joined else None
        size = max(piece.style.size, 1.0)
        gap = _gap(before, piece, leftward) if before is not None else math.inf
        if before is None or not -0.3 * size < gap < 0.6 * size:
            joined.append(piece)
            continue
        _append(before, piece, spaced=gap > _WORD_GAP * size)
    return joined


def _append(before: _Piece, piece: _Piece, spaced: bool) -> None:
    """Put a piece at the end of another."""
    if spaced:
        before.chars.append(" ")
        before.at.append(-1)
    before.chars += piece.chars
    before.at += piece.at
    before.cover((piece.left, piece.top, piece.right, piece.bottom))


def _gap(before: _Piece, piece: _Piece, leftward: bool) -> float:
    return before.left - piece.right if leftward else piece.left - before.right


def _box(piece: _Piece) -> Box:
    return Box(piece.left, piece.top, piece.right, piece.bottom)


def _run(piece: _Piece, places: Sequence[Place]) -> Run | None:
    """Where the words of a line that is read from left to right stand; None for a single word."""
    width = piece.right - piece.left
    if piece.leftward or piece.downward or -1 not in piece.at or width <= 0:
        return None
    spans: list[tuple[float, float]] = []
    start = end = math.nan
    for at in (*piece.at, -1):
        if at >= 0:
            left, _, right, _ = places[at]
            start, end = (left, right) if math.isnan(start) else (min(start, left), max(end, right))
        elif not math.isnan(start):
            spans.append(((start - piece.left) / width, (end - piece.left) / width))
            start = end = math.nan
    across = (0.0, piece.bottom - piece.top)
    return Run("".join(piece.chars), (piece.left, piece.top), (width, 0.0), across, tuple(spans))


def _line(piece: _Piece, box: Box, slope: int, chars: Characters) -> Line:
    letters = 0
    sizes: dict[float, int] = defaultdict(int)
    bold = italic = mono = 0
    for at in piece.at:
        if at >= 0:
            style = chars.styles[at]
            letters += 1
            sizes[style.size] += 1
            bold += style.bold
            italic += style.italic
            mono += style.mono
    return Line(
        box,
        "".join(piece.chars),
        size=max(sizes, key=lambda size: (sizes[size], size)),
        bold=2 * bold > letters,
        italic=2 * italic > letters,
        mono=2 * mono > letters,
        angle=float(slope),
    )
