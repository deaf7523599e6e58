"""From the runs of a column to its whole lines.

Near runs of a row are one line, a list marker and its text, a label and its value. A drop cap stands before the line it
opens, an accent that was read alone behind its line. A line beside two others that belong together, as a stamp beside
a heading, is read after these.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from warmwire.layout.blocks.markers import markers_of, opens_caption, opens_item
from warmwire.layout.page import Box, Line
from warmwire.layout.rows import is_label, is_value, join_runs, rows_of, size_of, without_leader

_LEADER = ".·… "
_FEWEST_DOTS = 4
_LED = re.compile(r"(?<![\w–-])(?:\w{1,7}|\w{1,3}[–-]\w{1,4})$")
"""What dots lead to at the end of a line of a table of contents."""
_PAGE = re.compile(r"\d{1,4}|[ivxlc]{1,6}|[A-Z]-?\d{1,3}")
"""A page number."""
NAME = 20
"""Letters of what a caption calls its figure, set apart from what it says of it: "Table 12."."""
DROPPED = 1.8
"""A drop cap is this many times as large as the text at least: it reaches over two lines."""
CLOSE = 1.6
"""Lines of one text follow each other within that step, in units of their size, ..."""
ALIKE = 1.1
"""... and are of one size, but for this factor."""


@dataclass(slots=True)
class FullLine:
    """A whole line. It is `alone` where it reaches over white, as a label and its value do, and an `entry` where what
    stands beyond the white may be a page number."""

    line: Line
    alone: bool = False
    entry: bool = False
    led: bool = False


def rows_in(lines: Sequence[Line], size: float) -> list[FullLine]:
    """The whole lines of one column, from top to bottom; `size` is the page's body size."""
    rows: list[FullLine] = []
    for across in rows_of(_with_initials(lines, size)):
        rows += [_row(runs, size) for runs in join_row(across, size)]
    return _with_asides(_with_accents(rows))


def _with_asides(rows: list[FullLine]) -> list[FullLine]:
    """Rows with each that stands beside two lines of one text moved behind the second."""
    rows = list(rows)
    for i in range(1, len(rows) - 1):
        above, aside, below = (row.line for row in rows[i - 1 : i + 2])
        size = size_of(above)
        close = below.box.centre[1] - above.box.centre[1] < CLOSE * size
        alike = max(size, size_of(below)) < ALIKE * min(size, size_of(below))
        if (
            close
            and alike
            and _shared(above.box, below.box) > 0 >= max(_shared(one.box, aside.box) for one in (above, below))
        ):
            rows[i], rows[i + 1] = rows[i + 1], rows[i]
    return rows


def _shared(one: Box, other: Box) -> float:
    return min(one.right, other.right) - max(one.left, other.left)


def _row(runs: Sequence[Line], size: float) -> FullLine:
    line = join_runs(runs)
    wide = any(right.box.left - left.box.right > 1.5 * size and not _is_marker(left) for left, right in pairwise(runs))
    led = _led(line.text)
    if led is not None or (wide and _PAGE.fullmatch(runs[-1].text.strip())):
        return FullLine(line if led is None else replace(line, text=led), entry=True, led=led is not None)
    return FullLine(line, alone=wide)


def _led(text: str) -> str | None:
    """A line of a table of contents without the dots that lead to its page number; None for any other."""
    number = _LED.search(text, max(0, len(text) - 8))
    if number is None:
        return None
    bare = text[: number.start()].rstrip(_LEADER)
    dots = sum(char != " " for char in text[len(bare) : number.start()])
    return f"{bare} {number[0]}" if bare and dots >= _FEWEST_DOTS else None


def _with_accents(rows: Sequence[FullLine]) -> list[FullLine]:
    """Rows with each accent or sign that stands alone over or in a line put behind that line."""
    kept: list[FullLine] = []
    for row in rows:
        above = kept[-1].line if kept else None
        if above is not None and (_is_accent(row.line) or _is_accent(above)) and _holds(above.box, row.line.box):
            line, sign = (above, row.line) if _is_accent(row.line) else (row.line, above)
            whole = kept[-1] if line is above else row
            kept[-1] = FullLine(replace(line, text=f"{line.text} {sign.text}"), whole.alone, whole.entry, whole.led)
        else:
            kept.append(row)
    return kept


def _is_accent(row: Line) -> bool:
    return len(row.text) <= 2 and not any(char.isalnum() for char in row.text)


def _holds(one: Box, other: Box) -> bool:
    """Whether one of two boxes lies over the other, by half its height and all of its width."""
    inner, outer = sorted((one, other), key=lambda box: box.width)
    shared = min(one.bottom, other.bottom) - max(one.top, other.top)
    return shared > 0.5 * min(one.height, other.height) and outer.left <= inner.left and inner.right <= outer.right


def _with_initials(lines: Sequence[Line], size: float) -> list[Line]:
    """Lines with each drop cap put before the line it opens."""
    kept = list(lines)
    for cap in lines:
        if len(cap.text) > 2 or not cap.text[:1].isalpha() or size_of(cap) < DROPPED * size:
            continue
        beside = [i for i, line in enumerate(kept) if _is_beside(cap, line)]
        if len(beside) > 1:
            first = min(beside, key=lambda i: kept[i].box.top)
            for i in beside:  # none of them is indented
                text = cap.text + kept[i].text if i == first else kept[i].text
                kept[i] = replace(kept[i], text=text, box=replace(kept[i].box, left=cap.box.left))
            kept = [line for line in kept if line is not cap]
    return kept


def _is_beside(cap: Line, line: Line) -> bool:
    """Whether a line stands right of a drop cap."""
    size, top = size_of(line), cap.box.top - 0.5 * size_of(line)
    return (
        -0.3 * size <= line.box.left - cap.box.right < 2 * size
        and top < line.box.centre[1] < cap.box.bottom
        and size_of(cap) > DROPPED * size
    )


def join_row(row: Sequence[Line], size: float) -> list[list[Line]]:
    """The runs of a row that belong together: near ones, a list marker and its text, a label and its value."""
    joined: list[list[Line]] = []
    for run in row:
        if joined and _belongs(joined[-1][-1], run, size):
            joined[-1][-1] = replace(joined[-1][-1], text=without_leader(joined[-1][-1].text))
            joined[-1].append(run)
        else:
            joined.append([run])
    return joined


def _belongs(left: Line, right: Line, size: float) -> bool:
    gap = right.box.left - left.box.right
    if opens_item(right.text):
        return False
    if gap < 0.9 * size:
        return True
    if _is_marker(left) or (opens_caption(left.text) and len(left.text) <= NAME):
        return gap < 4 * size
    return is_label(left.text) or (is_value(right.text) and not is_value(left.text))


def _is_marker(run: Line) -> bool:
    """Whether a run is the marker of a list item or the number of a clause, set apart from its text."""
    return len(run.text) <= 5 and bool(markers_of(f"{run.text} x"))
