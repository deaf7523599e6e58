"""Whether text that claims to be a page's says what its picture shows, from a few of its lines.

Some lines are cut out of the page's picture and put one below the other on a small page of their own. An engine reads
that in a fraction of the time a page takes, and over a socket like any other picture. The text is believed when what
was read has nearly all of its runs of three letters, in whatever order the engine gave its lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np

from warmwire.layout.page import Line
from warmwire.media.images import Image

AGREED: Final = 0.9
"""Share of the runs of three letters that must be found again. One wrong letter of a line costs three runs: texts with
three letters in a hundred wrong pass, the recogniser's own errors among them, with five they do not."""

_LINES: Final = 8
_SHORTEST: Final = 8
"""Letters of a line that says enough to be compared."""

_MARGIN: Final = 0.35
"""Room around a line that is cut out, and half of that between two, in heights of the line."""


def sample(lines: Sequence[Line]) -> list[Line]:
    """Some longer lines from all over the page."""
    long = [line for line in lines if len(_letters(line.text)) >= _SHORTEST and line.angle == 0]
    long.sort(key=lambda line: -len(line.text))
    long = sorted(long[: max(_LINES, len(long) // 2)], key=lambda line: line.box.top)
    step = max(1.0, len(long) / _LINES)
    return [long[int(index * step)] for index in range(min(_LINES, len(long)))]


def strips(image: Image, lines: Sequence[Line], width: float) -> Image | None:
    """The lines as a small page; `image` shows all of theirs, which is `width` wide in their unit."""
    scale = image.shape[1] / width
    cut = []
    for line in lines:
        box, room = line.box, _MARGIN * line.box.height
        rows = slice(max(0, round((box.top - room) * scale)), round((box.bottom + room) * scale))
        columns = slice(max(0, round((box.left - room) * scale)), round((box.right + room) * scale))
        piece = image[rows, columns]
        if piece.shape[0] >= 4 and piece.shape[1] >= 4:
            cut.append(piece)
    if not cut:
        return None
    gap = max(4, max(piece.shape[0] for piece in cut) // 4)
    paper = np.median(np.concatenate([piece[::4, ::4].reshape(-1, 3) for piece in cut]), axis=0).astype(np.uint8)
    height = sum(piece.shape[0] + gap for piece in cut) + 3 * gap
    page: Image = np.empty((height, max(piece.shape[1] for piece in cut) + 4 * gap, 3), dtype=np.uint8)
    page[:] = paper
    top = 2 * gap
    for piece in cut:
        page[top : top + piece.shape[0], 2 * gap : 2 * gap + piece.shape[1]] = piece
        top += piece.shape[0] + gap
    return page


def agreement(lines: Sequence[Line], read: str) -> float:
    """How much of the lines was read, from 0 to 1."""
    found, wanted = _runs(read), Counter[str]()
    for line in lines:
        wanted += _runs(line.text)
    return (wanted & found).total() / max(wanted.total(), 1)


def _letters(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def _runs(text: str) -> Counter[str]:
    letters = _letters(text)
    return Counter(letters[place : place + 3] for place in range(len(letters) - 2))
