"""The lines of one column to paragraphs.

Whether a line opens a paragraph is weighed, since no single sign is sure: white above it, a last line that ended early,
the end of a sentence, an indent where indents open paragraphs or its lack where lines hang, another size or weight.
What the signs are measured against is the column's own (`measures`). Some are decisive alone: a list marker, a line
that leads to a page number, a place beside the line above or far below it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from warmwire.layout.blocks.indexes import index_openings
from warmwire.layout.blocks.lines import rows_in
from warmwire.layout.blocks.markers import Marker, find_markers, markers_of
from warmwire.layout.measures import DEEP, INDENT, ROUGHEST, Column, is_capital
from warmwire.layout.page import Box, Line
from warmwire.layout.rows import bounds, size_of

_CLAUSE = re.compile(r"(?:§\s?)?\d{1,2}(?:\.\d{1,2}){1,4}\.?\s|§\s?\d|\[\d{1,3}\]\s")
"""How a numbered clause opens: "2.1 The tenant pays"."""

_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_BARE = re.compile(r"([0-9⁰¹²³⁴-⁹]{1,2})\s?(?=[^\W\d_])")
"""The number of a note without any sign."""

_BROKEN = re.compile(r"\w[-‐\u00ad]$")

TICK = 20
"""Letters of a text that is a label of a chart rather than a sentence in a picture."""
FEWEST_TICKS = 4
"""So many labels in one picture are read together."""
SHORT = 0.5
"""A line of less than this share of its column's width, over one that fills it, is a heading of its own."""
FILLED = 0.85
"""A line of less than that share of the widest around it has not run on to the margin."""
FAR = 1.9
"""A step of so many usual ones parts whatever stands around it."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What each sign says for a new paragraph, against it if negative; more than 0 together opens one."""

    wide: float = 2.4
    wide_and_usual: float = 1.2
    wider: float = 1.2
    early: float = 1.2
    full: float = -1.8
    ended: float = 0.8
    short: float = 1.5
    open: float = -1.5
    small: float = -1.6
    capital: float = 0.3
    indent: float = 1.3
    indent_and_usual: float = 1.2
    flush_where_indented: float = -0.7
    outdent: float = 0.5
    outdent_and_usual: float = 3.0
    moved: float = 1.6
    size: float = 2.4
    marked: float = 3.2
    counted: float = 5.0
    capitals: float = 1.5
    lighter: float = 2.6
    bolder: float = 1.8


WEIGHTS = Weights()


@dataclass(slots=True)
class Paragraph:
    """Neighbouring lines of one column that belong together; a list item has its marker."""

    lines: list[Line]
    marker: Marker | None = None
    entry: bool = False
    """Whether its last line ends in what may be the number of a page, set apart, ..."""
    led: bool = False
    """... with dots that lead to it."""
    formula: bool = False
    early: list[bool] = field(default_factory=list)
    """Whether each line ended early, where that is known."""

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
    def set_in_lines(self) -> bool:
        """Whether its lines are to stay lines, as those of a verse or an address: all ended early, and no word did."""
        ends = list(zip(self.early, self.lines, strict=False))[:-1]
        return len(ends) > 0 and all(early and not _BROKEN.search(line.text) for early, line in ends)

    @property
    def texts(self) -> list[str]:
        """The text of each line, the first without its list marker."""
        texts = [line.text for line in self.lines]
        return [self.marker.rest, *texts[1:]] if self.marker else texts


def paragraphs(lines: Sequence[Line], size: float) -> list[Paragraph]:
    """The paragraphs of one column, from top to bottom; `size` is the page's body size."""
    rows = rows_in(lines, size)
    if not rows:
        return []
    column = Column([row.line for row in rows], size)
    markers = [
        None if row.entry and marker is not None and not marker.sure else marker  # "3.1" before a title is a section
        for row, marker in zip(rows, find_markers(column.rows, size), strict=True)
    ]
    entries = index_openings(column, [row.entry for row in rows])
    found: list[Paragraph] = []
    for i, row in enumerate(rows):
        alone = i > 0 and (rows[i - 1].alone or row.alone or (row.entry and column.early[i - 1]))
        opens = (
            entries[i] if entries is not None else markers[i] is not None or not found or _opens(found[-1], i, column)
        )
        if found and not alone and not opens:
            found[-1].lines.append(row.line)
            found[-1].early.append(column.early[i])
            found[-1].entry, found[-1].led = row.entry, row.led
        else:
            found.append(Paragraph([row.line], markers[i], row.entry, row.led, early=[column.early[i]]))
    return found


def gathered(labels: Sequence[Paragraph]) -> list[Paragraph]:
    """The texts inside a picture, those of a few letters as one: the ticks of an axis, the names of its curves."""
    ticks = [part for part in labels if sum(len(line.text) for line in part.lines) <= TICK]
    if len(ticks) < FEWEST_TICKS:
        return list(labels)
    together = Paragraph([line for part in ticks for line in part.lines])
    return [together, *(part for part in labels if all(part is not tick for tick in ticks))]


def _opens(paragraph: Paragraph, i: int, column: Column) -> bool:
    """Whether line `i` opens a new paragraph below `paragraph`, which ends with the line before it."""
    last, line = column.rows[i - 1], column.rows[i]
    step = column.step(i)
    if paragraph.entry or last.box.left > line.box.right or line.box.left > last.box.right:
        return True
    if last.mono and line.mono:  # code: neither its short lines nor its indents mean anything
        return step > max(FAR, column.wide)
    if last.mono is not None and line.mono is not None and last.mono != line.mono and not _is_inline(i, column):
        return True
    if step < 0.25 or step > FAR:  # beside the last line, or well below it
        return True
    if (
        paragraph.marker
        and line.bold
        and not last.bold
        and line.box.left < paragraph.lines[0].box.left + INDENT * column.size
    ):
        return True
    exact = _is_exact(last) and _is_exact(line)
    if _size_changes(paragraph, i, column) > ROUGHEST and (exact or column.early[i - 1] or column.is_wide(i)):
        return True
    if _BROKEN.search(last.text) and line.text[:1].islower() and step < column.wide + 0.2:
        return False
    return _weigh(paragraph, i, column) > 0


def _is_inline(i: int, column: Column) -> bool:
    """Whether line `i` goes on with a sentence in another font, as with a name in a typewriter's: it stands under a
    full line that has not ended."""
    goes_on = not column.early[i - 1] and not column.ended[i - 1]
    return goes_on and not column.is_wide(i) and abs(column.shift(i)) < INDENT


def _weigh(paragraph: Paragraph, i: int, column: Column) -> float:
    """The signs for a new paragraph at line `i`, less those against it."""
    last, line, w = column.rows[i - 1], column.rows[i], WEIGHTS
    early, ended = column.early[i - 1], column.ended[i - 1]
    score = w.early if early else w.full
    score += w.ended if ended else w.open
    if early and not ended and not column.early[i] and column.share(i - 1) < SHORT:
        score += w.short
    start = line.text.lstrip("\"'“‘«»„(¿¡[")[:1]
    score += w.small if start.islower() else w.capital if start.isupper() else 0.0
    if _CLAUSE.match(line.text) or any(marker.sure for marker in markers_of(line.text)):
        score += w.marked if early or ended or column.shift(i) < -INDENT else w.capital
    if _counts_on(paragraph, line, column.size):
        score += w.counted
    if (early or ended) and is_capital(last.text) != is_capital(line.text):
        score += w.capitals
    step = column.step(i)
    if column.loose and early:
        score += w.wide
    elif column.is_wide(i):
        score += (w.wide + w.wide_and_usual * column.spaced) * min(1.0, (step - 1.04) / 0.16)
        score += w.wider * (step > column.wide + 0.25)
    if _size_changes(paragraph, i, column) > column.roughness:
        score += w.size
    score += _weight_change(paragraph, last, line, early or ended or column.share(i - 1) < FILLED)
    return score + (_item_shift if paragraph.marker else _shift)(paragraph, i, column)


def _shift(paragraph: Paragraph, i: int, column: Column) -> float:
    """What the left edge of line `i` says."""
    last, line, w = column.rows[i - 1], column.rows[i], WEIGHTS
    shift = column.shift(i)
    hangs = column.hanging > column.indented
    if len(paragraph.lines) == 1 and _CLAUSE.match(last.text) and not _CLAUSE.match(line.text):
        return 0.0 if shift > -INDENT else w.outdent  # it hangs, as the text of a numbered clause does
    if abs(shift) > DEEP:
        return w.moved
    if shift > INDENT:
        back = -column.shift(i + 1) if i + 1 < len(column.rows) else shift
        if hangs or (back < INDENT and not column.early[i]):  # a block that is set in as a whole
            return 0.0
        return w.indent + w.indent_and_usual * (column.indented > 0)
    if shift < -INDENT:
        deeper = len(paragraph.lines) > 1 and paragraph.lines[0].box.left < last.box.left - INDENT * column.size
        return w.outdent_and_usual if hangs or deeper else w.outdent * (len(paragraph.lines) > 1)
    if hangs and len(paragraph.lines) == 1 and column.early[i - 1]:
        return w.outdent_and_usual  # an entry of one line among those that hang
    return w.flush_where_indented if column.indented > max(1, column.hanging) else 0.0


def _item_shift(item: Paragraph, i: int, column: Column) -> float:
    """What the left edge of line `i` says below a list item: its lines hang, or stand under its marker."""
    line, w = column.rows[i], WEIGHTS
    first = (line.box.left - item.lines[0].box.left) / column.size
    if len(item.lines) > 1:
        shift = column.shift(i)
        return w.outdent_and_usual if shift < -INDENT else w.moved if shift > INDENT else 0.0
    if first > INDENT:
        return w.full if first < DEEP else w.moved
    if first < -INDENT:
        capital = item.marker is not None and not item.marker.ordered and line.text.lstrip()[:1].isupper()
        clear = w.outdent_and_usual if capital or column.early[i - 1] else 0.0
        return clear + w.outdent * (not column.early[i - 1])
    return 0.0 if not column.early[i - 1] else w.moved


def _size_changes(paragraph: Paragraph, i: int, column: Column) -> float:
    """By which factor line `i` differs from the paragraph. A few letters that were recognised may be low ones, and look
    smaller than they are."""
    above, below = median(size_of(line) for line in paragraph.lines[-5:]), size_of(column.rows[i])
    smaller = paragraph.lines[-1] if above < below else column.rows[i]
    factor = max(above, below) / max(min(above, below), 1e-6)
    return factor**0.5 if len(smaller.text) < 12 and not _is_exact(smaller) else factor


def _is_exact(line: Line) -> bool:
    """Whether a line's size is the file's own: only there is its font known."""
    return line.mono is not None


def _counts_on(paragraph: Paragraph, line: Line, size: float) -> bool:
    """Whether a line and the paragraph are notes with bare numbers, "1 One" and "2 Another"."""
    first, second = _BARE.match(paragraph.lines[0].text), _BARE.match(line.text)
    if first is None or second is None or abs(paragraph.lines[0].box.left - line.box.left) > INDENT * size:
        return False
    return int(second[1].translate(_RAISED)) == int(first[1].translate(_RAISED)) + 1


def _weight_change(paragraph: Paragraph, last: Line, line: Line, closed: bool) -> float:
    """What a change between bold and plain says. Bold that runs on to the margin opens its paragraph as a run-in."""
    if last.bold is None or line.bold is None or last.bold == line.bold or not closed:
        return 0.0
    if last.bold:
        return WEIGHTS.lighter if paragraph.bold else 0.0
    return WEIGHTS.bolder
