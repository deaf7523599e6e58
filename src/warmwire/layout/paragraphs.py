"""The lines of one column to paragraphs.

A paragraph ends where the next line stands further off than lines of one paragraph do, is set in another size or
weight, opens a list item, or is indented as first lines are; or where a line stops well short of the margin at
the end of a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from warmwire.layout.markers import Marker, find_markers, markers_of
from warmwire.layout.page import Box, Line
from warmwire.layout.rows import bounds, is_label, is_value, join_runs, rows_of, size_of, without_leader

MAX_SIZE_STEP = 1.13
"""Sizes of lines of one paragraph differ by less than this factor (recognised sizes are rough)."""

_LEADER = re.compile(r"(?:[.·…]\s?){4,}\s*\w{1,5}$")
"""How a line of a table of contents ends."""

_CLAUSE = re.compile(r"(?:§\s?)?\d{1,2}(?:\.\d{1,2}){1,4}\.?\s|§\s?\d|\[\d{1,3}\]\s")
"""How a numbered clause opens: "2.1 The tenant pays"."""

_ENDS = (".", "!", "?", ":", "…", ".”", '."', "。", "！", "？", ".)", ";", "；", "：")


@dataclass(slots=True)
class Paragraph:
    """Neighbouring lines of one column that belong together; a list item has its marker."""

    lines: list[Line]
    marker: Marker | None = None

    @property
    def box(self) -> Box:
        return bounds(line.box for line in self.lines)

    @property
    def size(self) -> float:
        return median(size_of(line) for line in self.lines)

    @property
    def bold(self) -> bool:
        return all(line.bold for line in self.lines)

    @property
    def texts(self) -> list[str]:
        """The text of each line, the first without its list marker."""
        texts = [line.text for line in self.lines]
        return [self.marker.rest, *texts[1:]] if self.marker else texts


def paragraphs(lines: Sequence[Line], size: float) -> list[Paragraph]:
    """The paragraphs of one column, from top to bottom; `size` is the page's body size."""
    rows: list[Line] = []
    apart: set[int] = set()  # places of lines that reach over white, as a label and its value do: each for itself
    for row in rows_of(lines):
        for runs in join_row(row, size):
            if any(
                right.box.left - left.box.right > 1.5 * size and not _is_marker(left) for left, right in pairwise(runs)
            ):
                apart |= {len(rows), len(rows) + 1}
            rows.append(join_runs(runs))
    if not rows:
        return []
    column = bounds(line.box for line in rows)
    markers = find_markers(rows, size)
    pitch = _pitch(rows)
    found: list[Paragraph] = []
    for i, line in enumerate(rows):
        following = rows[i + 1] if i + 1 < len(rows) else None
        if (
            found
            and i not in apart
            and markers[i] is None
            and not _breaks(found[-1], line, following, column, pitch, size)
        ):
            found[-1].lines.append(line)
        else:
            found.append(Paragraph([line], markers[i]))
    return found


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
    if gap < 0.9 * size:
        return True
    if _is_marker(left):
        return gap < 4 * size
    return is_label(left.text) or (is_value(right.text) and not is_value(left.text))


def _is_marker(run: Line) -> bool:
    """Whether a run is the marker of a list item or the number of a clause, set apart from its text."""
    return len(run.text) <= 5 and bool(markers_of(f"{run.text} x"))


def _pitch(lines: Sequence[Line]) -> float:
    """The usual distance between lines of one paragraph, in units of their size: the lower quarter of all."""
    steps = sorted(
        (below.box.centre[1] - above.box.centre[1]) / max(size_of(above), size_of(below))
        for above, below in pairwise(lines)
        if below.box.left < above.box.right and above.box.left < below.box.right
    )
    steps = [step for step in steps if 0.5 < step < 2.6]
    return steps[len(steps) // 4] if steps else 1.5


def _breaks(paragraph: Paragraph, line: Line, following: Line | None, column: Box, pitch: float, size: float) -> bool:
    """Whether `line` opens a new paragraph below `paragraph`."""
    last = paragraph.lines[-1]
    if _LEADER.search(last.text):
        return True
    step = (line.box.centre[1] - last.box.centre[1]) / max(size_of(last), size_of(line))
    if last.mono and line.mono:  # code: neither its short lines nor its indents mean anything
        return step > 2.5
    if last.mono is not None and line.mono is not None and last.mono != line.mono:
        return True
    small, large = sorted((size_of(last), size_of(line)))
    if large > MAX_SIZE_STEP * small or _weight_changes(last, line, paragraph, following):
        return True
    if step < 0.3 or step > 1.35 * pitch:  # beside the last line, or well below it
        return True
    if last.box.left > line.box.right or line.box.left > last.box.right:
        return True
    short = last.box.right < column.right - 0.12 * column.width
    ended = last.text.rstrip().endswith(_ENDS)
    if ended and (short or len(paragraph.lines) > 1) and step > 1.09 * pitch:
        return True
    if step > 1.18 * pitch and (ended or short):
        return True
    if paragraph.marker is not None:
        return _leaves_item(paragraph, line, short, size)
    if ended and short and last.box.right < column.right - 0.3 * column.width:
        return True
    if len(paragraph.lines) == 1 and _CLAUSE.match(last.text) and not short and not _CLAUSE.match(line.text):
        return False  # it hangs, as the text of a numbered clause does
    if _breaks_block(last, line, column, size):
        return True
    return _indented(last, line, following, size)


def _weight_changes(last: Line, line: Line, paragraph: Paragraph, following: Line | None) -> bool:
    """Whether bold text ends or begins here; a bold line inside a paragraph of plain ones may be emphasis."""
    if last.bold is None or line.bold is None or last.bold == line.bold:
        return False
    if last.bold:
        return paragraph.bold
    return following is None or following.bold is not False or line.text[:1].isupper()


def _leaves_item(item: Paragraph, line: Line, short: bool, size: float) -> bool:
    """Whether `line` is no continuation of a list item: it stands left of the item's text."""
    if len(item.lines) > 1:
        return abs(line.box.left - item.lines[-1].box.left) > 0.8 * size
    hangs = line.box.left > item.lines[0].box.left + 0.5 * size
    return not hangs and (short or line.box.left < item.lines[0].box.left - 0.5 * size)


def _breaks_block(last: Line, line: Line, column: Box, size: float) -> bool:
    """Whether text that fills the column begins below a line set in its middle, or a clause below one that hangs."""
    if last.box.left - line.box.left > 1.2 * size and _CLAUSE.match(line.text):
        return True
    full = line.box.width > 0.9 * column.width and line.text[:1].isupper()
    return full and last.box.left - line.box.left > 4 * size


def _indented(last: Line, line: Line, following: Line | None, size: float) -> bool:
    """Whether `line` is set in as the first line of a paragraph is."""
    indent = line.box.left - last.box.left
    if not 0.8 * size < indent < 4 * size:
        return False
    return following is None or abs(following.box.left - last.box.left) < 0.5 * size
