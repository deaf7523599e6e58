"""Characters to lines.

pdfium gives characters in the order of the file. They are joined to pieces as long as they follow each other on one
baseline, and pieces of one line that the file holds apart are joined afterwards. A gap wider than words have parts
a line, since it may be a column's or a cell's.

Text that does not stand upright is set apart by its angle, and each angle is read as if the page were turned so that
it does. Upright CJK letters one below the other are a line too, read downwards.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from warmwire.documents.input.pdf.chars import Characters, CharStyle, Space
from warmwire.documents.input.pdf.frame import PdfFrame, turn_box
from warmwire.documents.input.pdf.pieces import FEWEST_BELOW, TICK_BOXES, Piece, pieces_of
from warmwire.layout.page import Box, Line
from warmwire.layout.runs import Run

_WORD_GAP: Final = 0.12  # of the font size: a narrower gap is inside a word
_RAISED_GAP: Final = 0.3  # of the font size, before a superscript of the same text
_TYPED: Final = 0.9
"""Share of a line's letters in a typewriter font from which it is typed, and has not merely names in that font."""
_COMMENTS: Final = ("//", "/*", "# ", "--", ";;", "(*")
_SMALL_CAPITALS: Final = 0.65
"""Small capitals have that share of the size of the letters beside them, at least; a drop cap is larger than that."""
_LEVEL: Final = 5.0
"""Degrees that a line may slope and still belong to its quarter."""
_BOX: Final = 1.2
"""Height of a line's box in font sizes, where the font itself says nothing."""


@dataclass(slots=True)
class Letters:
    """The characters on a page: where each of the page's list stands, and by whether they are seen and by their slope
    the numbers of those that are on it."""

    chars: Characters
    frame: PdfFrame
    places: NDArray[np.float64]
    groups: dict[tuple[bool, int], NDArray[np.intp]]

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

    def lines_of(self, members: Sequence[int]) -> list[Line]:
        """The lines of some upright characters."""
        return _read_group(self.chars, np.array(members, dtype=np.intp), self.places, 0, self.frame)

    def lines_without(self, used: set[int], *, seen: bool = True) -> list[Line]:
        """The lines of what is seen, or of what is not, without some characters."""
        return [
            line
            for (is_seen, slope), members in self.groups.items()
            if is_seen == seen
            for line in _read_group(self.chars, members[~np.isin(members, list(used))], self.places, slope, self.frame)
        ]


def letters_of(chars: Characters, frame: PdfFrame, is_seen: Callable[[CharStyle, Box], bool]) -> Letters:
    """The characters that are on the page; text off it is neither seen nor hidden."""
    places, inside = _places(chars.boxes, frame)
    looks = chars.look_of[inside]
    seen = np.array([is_seen(style, Box(0.0, 0.0, 0.0, 0.0)) for style in chars.looks], dtype=np.bool_)[looks]
    slopes = np.array([_slope(style.angle, frame) for style in chars.looks], dtype=np.intp)[looks]
    for at in np.flatnonzero(np.array([style.white for style in chars.looks], dtype=np.bool_)[looks]).tolist():
        seen[at] = is_seen(chars.looks[looks[at]], Box(*places[inside[at]].tolist()))  # by what lies under it
    _, firsts, group_of = np.unique(2 * slopes + seen, return_index=True, return_inverse=True)
    groups = {
        (bool(seen[firsts[group]]), int(slopes[firsts[group]])): inside[group_of == group]
        for group in np.argsort(firsts).tolist()
    }
    return Letters(chars, frame, places, groups)


def forget_looks(lines: Iterable[Line]) -> None:
    """Take away what the font says of lines that nobody sees: it is made to fit the picture, often of one width."""
    for line in lines:
        line.bold = line.italic = line.mono = None
        if line.angle == 0:
            line.size = line.box.height / _BOX


def _places(boxes: NDArray[np.float64], frame: PdfFrame) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Boxes of user space as places in the frame, cut to the page, and the numbers of those that are on it."""
    width, height = frame.size
    x1, y1 = frame.point(boxes[:, 0], boxes[:, 1])
    x2, y2 = frame.point(boxes[:, 2], boxes[:, 3])
    left, right = np.maximum(np.minimum(x1, x2), 0.0), np.minimum(np.maximum(x1, x2), width)
    top, bottom = np.maximum(np.minimum(y1, y2), 0.0), np.minimum(np.maximum(y1, y2), height)
    inside = (left <= right) & (top <= bottom) & ((right > left) | (bottom > top))
    return np.stack([left, top, right, bottom], axis=1), np.flatnonzero(inside)


def _slope(angle: float, frame: PdfFrame) -> int:
    """How far text is turned clockwise in the frame, in whole degrees from -179 to 180; near a quarter it is that."""
    slope = (frame.rotation - angle) % 360.0
    quarter = round(slope / 90.0) * 90
    found = quarter if abs(slope - quarter) < _LEVEL else round(slope)
    return (found + 179) % 360 - 179


def _read_group(
    chars: Characters, members: NDArray[np.intp], places: NDArray[np.float64], slope: int, frame: PdfFrame
) -> list[Line]:
    """The lines of the characters that share one angle."""
    width, height = frame.size
    if slope == 0:
        sides = places[:, 0].tolist(), places[:, 2].tolist()
        return [_line(p, _box(p), 0, chars, _run(p, *sides)) for p in _pieces(chars, members, places)]
    if slope % 90 == 0:
        turned = frame.turned(-slope)
        inner, _ = _places(chars.boxes, turned)
        pieces = _pieces(chars, members, inner)
        return [_line(p, turn_box(_box(p), slope % 360, *turned.size), slope, chars) for p in pieces]
    leaning = _leaning(chars, members, places, slope)
    return [_line(p, _lean_back(_box(p), slope, width, height), slope, chars) for p in _pieces(chars, members, leaning)]


def _leaning(
    chars: Characters, members: NDArray[np.intp], places: NDArray[np.float64], slope: int
) -> NDArray[np.float64]:
    """Places on a page turned so that letters at `slope` stand upright.

    The box around a leaning letter is larger than the letter; its middle is known, and how large letters are.
    """
    cos, sin = math.cos(math.radians(slope)), math.sin(math.radians(slope))
    x, y = ((places[members, :2] + places[members, 2:]) / 2).T
    size = np.maximum(chars.sizes[members], 1.0)
    along, down = x * cos + y * sin, y * cos - x * sin
    found = places.copy()
    found[members] = np.stack([along - 0.25 * size, down - 0.5 * size, along + 0.25 * size, down + 0.5 * size], axis=1)
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


def _pieces(chars: Characters, members: NDArray[np.intp], places: NDArray[np.float64]) -> list[Piece]:
    """The whole lines of characters that stand upright in `places`."""
    return _join(pieces_of(chars, members, places))


def _in_order(chars: Characters, members: Sequence[int], places: NDArray[np.float64]) -> list[Piece]:
    """The same for characters whose order is known: pieces are joined to the one before or not at all."""
    joined: list[Piece] = []
    for piece in pieces_of(chars, members, places):
        before = joined[-1] if joined else None
        if before is None or piece.leftward or before.leftward or not _is_right_of(before, piece):
            joined.append(piece)
        else:
            told = chars.spaces[piece.at[0]] > Space.NONE and not _is_raised(before, piece)
            _append(before, piece, spaced=told or piece.left - before.right > _WORD_GAP * piece.style.size)
    return joined


def _is_right_of(before: Piece, piece: Piece) -> bool:
    """Whether a piece goes on in the line before it, whatever white there is between; what is raised or lowered does
    where it touches the line."""
    gap, size = piece.left - before.right, max(piece.style.size, 1.0)
    if _is_raised(before, piece):
        return -0.3 * size < gap < _RAISED_GAP * size and min(before.bottom, piece.bottom) > max(before.top, piece.top)
    return gap > -0.3 * size


def _is_raised(before: Piece, piece: Piece) -> bool:
    """Whether a piece stands higher or lower than the one before, and not on its baseline."""
    shared = min(before.bottom, piece.bottom) - max(before.top, piece.top)
    return shared <= 0.5 * min(before.bottom - before.top, piece.bottom - piece.top)


def _join(pieces: list[Piece]) -> list[Piece]:
    """Join neighbours on one baseline that the file holds apart."""
    level = [piece for piece in pieces if not piece.downward or len(piece.chars) < FEWEST_BELOW]
    level.sort(key=lambda piece: (piece.bottom, piece.left))
    joined = [piece for piece in pieces if piece.downward and len(piece.chars) >= FEWEST_BELOW]
    joined.sort(key=lambda piece: (-piece.right, piece.top))
    row: list[Piece] = []
    for piece in level:
        if row and piece.bottom - row[0].bottom > 0.3 * max(row[0].style.size, 1.0):
            joined += _join_row(row)
            row = []
        row.append(piece)
    return [*joined, *_join_row(row)]


def _join_row(row: list[Piece]) -> list[Piece]:
    """Join the pieces of one row that are near each other, from right to left where most of them run so."""
    leftward = 2 * sum(piece.leftward for piece in row) > len(row)
    joined: list[Piece] = []
    for piece in sorted(row, key=lambda piece: -piece.right if leftward else piece.left):
        before = joined[-1] if joined else None
        size = max(piece.style.size, 1.0)
        gap = _gap(before, piece, leftward) if before is not None else math.inf
        near = -0.3 * size < gap < 0.6 * size and piece.chars[0] not in TICK_BOXES
        if before is None or not (near or _is_comment(before, piece)):
            joined.append(piece)
            continue
        _append(before, piece, spaced=gap > _WORD_GAP * size)
    return joined


def _is_comment(before: Piece, piece: Piece) -> bool:
    """Whether a piece is what a line of code says beside itself."""
    code = before.style.mono and piece.style.mono and piece.left > before.right
    return code and "".join(piece.chars[:3]).startswith(_COMMENTS)


def _append(before: Piece, piece: Piece, spaced: bool) -> None:
    """Put a piece at the end of another."""
    if spaced:
        before.chars.append(" ")
        before.at.append(-1)
    before.chars += piece.chars
    before.at += piece.at
    before.cover((piece.left, piece.top, piece.right, piece.bottom))


def _gap(before: Piece, piece: Piece, leftward: bool) -> float:
    return before.left - piece.right if leftward else piece.left - before.right


def _box(piece: Piece) -> Box:
    return Box(piece.left, piece.top, piece.right, piece.bottom)


def _run(piece: Piece, lefts: Sequence[float], rights: Sequence[float]) -> Run | None:
    """Where the words of a line that is read from left to right stand, by the sides of the page's characters; None for
    a single word."""
    width = piece.right - piece.left
    if piece.leftward or piece.downward or -1 not in piece.at or width <= 0:
        return None
    spans: list[tuple[float, float]] = []
    begin = 0
    for end in [number for number, at in enumerate(piece.at) if at < 0] + [len(piece.at)]:
        if end > begin:
            first, last = piece.at[begin], piece.at[end - 1]
            start, stop = min(lefts[first], lefts[last]), max(rights[first], rights[last])
            spans.append(((start - piece.left) / width, (stop - piece.left) / width))
        begin = end + 1
    across = (0.0, piece.bottom - piece.top)
    return Run("".join(piece.chars), (piece.left, piece.top), (width, 0.0), across, tuple(spans))


def _line(piece: Piece, box: Box, slope: int, chars: Characters, run: Run | None = None) -> Line:
    letters = 0
    sizes: dict[float, int] = defaultdict(int)
    bold = italic = mono = 0
    for look, count in Counter(chars.look_of[[at for at in piece.at if at >= 0]].tolist()).items():
        style = chars.looks[look]
        letters += count
        sizes[style.size] += count
        bold += count * style.bold
        italic += count * style.italic
        mono += count * style.mono
    return Line(
        box,
        "".join(piece.chars),
        size=_size(sizes, piece, chars),
        bold=2 * bold > letters,
        italic=2 * italic > letters,
        mono=mono > _TYPED * letters,
        angle=float(slope),
        run=run,
    )


def _size(sizes: Mapping[float, int], piece: Piece, chars: Characters) -> float:
    """The size that most letters of a line have; small capitals count as the letters beside them, whose text they are:
    a line that names an ACT in such capitals is set no smaller than those around it."""
    most = max(sizes, key=lambda size: (sizes[size], size))
    if len(sizes) == 1:
        return most
    letters = [(chars.style(at).size, char) for char, at in zip(piece.chars, piece.at, strict=True) if at >= 0]
    full = max((size for size, char in letters if char.isalpha()), default=most)
    small = "".join(char for size, char in letters if size == most)
    return full if small.isupper() and most >= _SMALL_CAPITALS * full else most
