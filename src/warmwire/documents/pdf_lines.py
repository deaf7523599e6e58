"""Characters to lines.

pdfium gives characters in the order of the file. They are joined to pieces as long as they follow each other on one
baseline, and pieces of one line that the file holds apart are joined afterwards. A gap wider than words have parts
a line, since it may be a column's or a cell's.
"""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from warmwire.documents.pdf_chars import Char, Space, Style
from warmwire.documents.pdf_frame import Frame
from warmwire.documents.pdf_objects import clip
from warmwire.layout.page import Box, Line

_WORD_GAP: Final = 0.12  # of the font size: a narrower gap is inside a word
_SPACED_GAP: Final = 1.5  # of the font size: a wider gap parts a line even where the file has a space
_BARE_GAP: Final = 1.0  # the same between two text objects without a space


@dataclass(slots=True)
class _Piece:
    """Characters that follow each other on one baseline."""

    box: Box
    style: Style
    last: Box
    chars: list[str] = field(default_factory=list)
    sizes: Counter[float] = field(default_factory=Counter)
    bold: int = 0
    mono: int = 0
    leftward: bool = False
    """Whether it has letters of a script that runs from right to left; the file's order is then the reader's."""

    @property
    def text(self) -> str:
        return "".join(self.chars).strip()


def lines_of(
    characters: Sequence[Char], frame: Frame, is_seen: Callable[[Style, Box], bool]
) -> tuple[list[Line], list[Line]]:
    """Visible and hidden lines; text off the page is neither."""
    seen: list[_Piece] = []
    unseen: list[_Piece] = []
    current: dict[bool, _Piece | None] = {True: None, False: None}
    for text, corners, style, space in characters:
        box = clip(frame.box(*corners), frame)
        if box is None or not (box.width or box.height):
            continue
        visible = is_seen(style, box)
        piece = current[visible]
        leftward = _runs_left(text)
        if piece is None or not _follows(piece, box, style, space, frame, leftward):
            piece = current[visible] = _Piece(box, style, box)
            (seen if visible else unseen).append(piece)
        elif space:
            piece.chars.append(" ")
        piece.chars.append(text)
        piece.box, piece.last = piece.box.union(box), box
        piece.sizes[style.size] += 1
        piece.bold += style.bold
        piece.mono += style.mono
        piece.leftward = piece.leftward or leftward
    return [_line(p) for p in _join(seen, frame)], [_line(p) for p in _join(unseen, frame)]


def _is_level(style: Style, frame: Frame) -> bool:
    """Whether the text runs from left to right in the frame."""
    return abs((style.angle - frame.rotation + 180) % 360 - 180) < 5


def _runs_left(text: str) -> bool:
    return text >= "\u0590" and unicodedata.bidirectional(text[0]) in ("R", "AL")


def _follows(piece: _Piece, box: Box, style: Style, space: Space, frame: Frame, leftward: bool) -> bool:
    """Whether a character goes on where `piece` ends."""
    if abs(style.angle - piece.style.angle) > 1:
        return False
    if not _is_level(style, frame):
        return style.order == piece.style.order or _distance(piece.last, box) < 1.5 * max(style.size, 1.0)
    size = max(piece.style.size, style.size, 1.0)
    overlap = min(piece.box.bottom, box.bottom) - max(piece.box.top, box.top)
    if overlap < 0.4 * min(piece.last.height, box.height):
        return False
    together = style.order == piece.style.order or space == Space.REAL
    limit = _SPACED_GAP if together else _BARE_GAP
    if leftward or piece.leftward:  # numbers in between run to the right: any side of the piece may be its end
        return max(box.left - piece.box.right, piece.box.left - box.right) < limit * size
    gap = box.left - piece.last.right
    backwards = gap < -0.5 * size and box.left < piece.last.left - 0.1 * size  # not so inside a ligature
    return gap < limit * size and not backwards


def _distance(one: Box, other: Box) -> float:
    return math.dist(one.centre, other.centre)


def _join(pieces: list[_Piece], frame: Frame) -> list[_Piece]:
    """Join neighbours on one baseline that the file holds apart."""
    level = [piece for piece in pieces if _is_level(piece.style, frame)]
    level.sort(key=lambda piece: (piece.box.bottom, piece.box.left))
    joined: list[_Piece] = []
    row: list[_Piece] = []
    for piece in level:
        if row and piece.box.bottom - row[0].box.bottom > 0.3 * max(row[0].style.size, 1.0):
            joined += _join_row(row)
            row = []
        row.append(piece)
    return [*joined, *_join_row(row), *(piece for piece in pieces if not _is_level(piece.style, frame))]


def _join_row(row: list[_Piece]) -> list[_Piece]:
    """Join the pieces of one row that are near each other, from right to left where most of them run so."""
    leftward = 2 * sum(piece.leftward for piece in row) > len(row)
    joined: list[_Piece] = []
    for piece in sorted(row, key=lambda piece: -piece.box.right if leftward else piece.box.left):
        before = joined[-1] if joined else None
        size = max(piece.style.size, 1.0)
        gap = _gap(before, piece, leftward) if before is not None else math.inf
        if before is None or not -0.3 * size < gap < 0.6 * size:
            joined.append(piece)
            continue
        if gap > _WORD_GAP * size:
            before.chars.append(" ")
        before.chars += piece.chars
        before.box = before.box.union(piece.box)
        before.sizes += piece.sizes
        before.bold += piece.bold
        before.mono += piece.mono
    return joined


def _gap(before: _Piece, piece: _Piece, leftward: bool) -> float:
    return before.box.left - piece.box.right if leftward else piece.box.left - before.box.right


def _line(piece: _Piece) -> Line:
    letters = sum(not char.isspace() for char in piece.chars) or 1
    return Line(
        piece.box,
        " ".join(piece.text.split()),
        size=max(piece.sizes, key=lambda size: (piece.sizes[size], size)),
        bold=2 * piece.bold > letters,
        mono=2 * piece.mono > letters,
    )
