"""Tables drawn with ruling lines.

Strokes that touch make a lattice. Its upright strokes give column edges, its level ones row edges; where the
stroke between two neighbouring places is missing, they are one cell. A lattice that holds hardly any text is a
chart or a form's frame, not a table. Where strokes part the columns only, text rows part the rows.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from statistics import median

import numpy as np

from warmwire.layout.blocks.markers import CAPTION, NOTE
from warmwire.layout.page import Box, Line
from warmwire.layout.rows import bounds, is_value, reads_on, rows_of, size_of
from warmwire.layout.tables.forms import form_boxes
from warmwire.layout.tables.found import FoundTable, Slot, build, cell_text
from warmwire.layout.tables.strips import white_strips
from warmwire.layout.tables.wraps import table_rows

ON_EDGE = 0.4
"""A stroke lies on an edge, or touches another, that near to it in units of the body."""
ONE_EDGE = 0.6
"""Edges closer than that, in units of the body, are one: a double line."""
DRAWN = 0.6
"""So much of a place's side is drawn for it to be closed there."""
INSIDE = 0.6
"""So much of a line is in a lattice if it is one of its cells."""
FILLED = 0.2
"""So many of a table's cells hold text; less do in charts and frames."""
COLUMNS = 0.6
"""So many rows of one column, and so many of them figures, are several columns that no stroke parts."""
LOWEST, FEW_ROWS = 0.85, 10
"""Rows as low as that, in units of the body, hold no text: so many of them are a drawing."""
MAX_EDGES = 200
"""Most rows or columns of a lattice; more is a pattern, not a table."""
TITLE = 1.12
"""A title in a bar over a table is larger than its cells by this factor; recognised sizes of one are rough by 0.08."""
MOST_WIDE = 0.6
"""Share of the rows in one band that fill several columns; the others name groups of them."""
MOST_LABELLED = 0.6
"""Share of the rows in one band that have a label, or they are lines of one row, set in the middle or low."""
MAX_STROKES = 4000
"""More strokes than that are a drawing; the longest are kept."""


@dataclass(frozen=True, slots=True)
class _Lattice:
    """Edges in ascending order, and which strokes are drawn: `levels[i][j]` above place (i, j), `uprights[i][j]`
    left of it."""

    xs: list[float]
    ys: list[float]
    levels: list[list[bool]]
    uprights: list[list[bool]]

    @property
    def box(self) -> Box:
        return Box(self.xs[0], self.ys[0], self.xs[-1], self.ys[-1])


def grid_tables(lines: Sequence[Line], rules: Sequence[Box], size: float) -> list[FoundTable]:
    """Tables drawn by `rules` (thin boxes) around `lines`; `size` is the page's body size."""
    found: list[FoundTable] = []
    free = list(lines)
    for strokes in _touching(rules, ON_EDGE * size):
        lattice = _lattice(strokes, size)
        if lattice is None:
            continue
        inside = [line for line in free if _inside(line.box, lattice.box)]
        table = _fill(lattice, inside, size)
        if table is not None:
            found.append(table)
            taken = {id(line) for line in table.used}
            free = [line for line in free if id(line) not in taken]
    return found


def _touching(rules: Sequence[Box], slack: float) -> list[list[Box]]:
    """Groups of strokes that touch, largest first; of very many strokes the longest."""
    if len(rules) > MAX_STROKES:
        rules = sorted(rules, key=lambda rule: -max(rule.width, rule.height))[:MAX_STROKES]
    boxes = np.array([(rule.left, rule.top, rule.right, rule.bottom) for rule in rules]).reshape(-1, 4)
    left = np.arange(len(rules))
    groups: list[list[Box]] = []
    while len(left):
        group, edge = [], [int(left[0])]
        left = left[1:]
        while edge:
            stroke = edge.pop()
            group.append(rules[stroke])
            own, others = boxes[stroke], boxes[left]
            near = ((others[:, :2] - slack <= own[2:]) & (own[:2] - slack <= others[:, 2:])).all(axis=1)
            if near.any():
                edge += left[near].tolist()
                left = left[~near]
        groups.append(group)
    return sorted(groups, key=lambda group: -bounds(group).area)


def _lattice(strokes: Sequence[Box], size: float) -> _Lattice | None:
    levels = [stroke for stroke in strokes if stroke.width >= stroke.height]
    uprights = [stroke for stroke in strokes if stroke.width < stroke.height]
    if len(levels) < 2 or not uprights:
        return None
    outer = bounds(strokes)
    xs = _edges([stroke.centre[0] for stroke in uprights], outer.left, outer.right, size)
    ys = _edges([stroke.centre[1] for stroke in levels], outer.top, outer.bottom, size)
    if not 3 <= len(xs) <= MAX_EDGES or not 2 <= len(ys) <= MAX_EDGES:
        return None
    if len(ys) > FEW_ROWS and median(below - above for above, below in pairwise(ys)) < LOWEST * size:
        return None
    across = sorted((stroke.centre[1], stroke.left, stroke.right) for stroke in levels)
    down = sorted((stroke.centre[0], stroke.top, stroke.bottom) for stroke in uprights)
    ys = _real(ys, xs, across, size)
    xs = _real(xs, ys, down, size)
    drawn_levels = [_borders(y, xs, across, size) for y in ys]
    drawn_uprights = [_borders(x, ys, down, size) for x in xs]
    return _Lattice(xs, ys, drawn_levels, [list(row) for row in zip(*drawn_uprights, strict=True)])


_Stroke = tuple[float, float, float]
"""Where a stroke lies across the edges, and where it starts and ends along them."""


def _real(edges: list[float], across: Sequence[float], strokes: Sequence[_Stroke], size: float) -> list[float]:
    """Edges with the border of at least one place drawn, and the outermost: a dash in the text is no edge."""
    inner = [edge for edge in edges[1:-1] if any(_borders(edge, across, strokes, size))]
    return [edges[0], *inner, edges[-1]]


def _borders(edge: float, across: Sequence[float], strokes: Sequence[_Stroke], size: float) -> list[bool]:
    """For each place along `edge`, between two of the edges `across`, whether its border is drawn by one of `strokes`,
    which are in ascending order."""
    first = bisect_right(strokes, edge - ON_EDGE * size, key=lambda stroke: stroke[0])
    last = bisect_left(strokes, edge + ON_EDGE * size, key=lambda stroke: stroke[0])
    along = sorted((start, end) for _, start, end in strokes[first:last])
    return [_drawn(along, start, end) for start, end in pairwise(across)]


def _edges(places: Sequence[float], low: float, high: float, size: float) -> list[float]:
    """Edges along one axis: strokes that are close are one; an open side of the lattice is an edge."""
    edges: list[float] = []
    for place in sorted(places):
        if not edges or place - edges[-1] > ONE_EDGE * size:
            edges.append(place)
    if edges and edges[0] - low > size:
        edges.insert(0, low)
    if edges and high - edges[-1] > size:
        edges.append(high)
    return edges


def _drawn(strokes: Sequence[tuple[float, float]], start: float, end: float) -> bool:
    """Whether strokes, in ascending order, cover most of the way from `start` to `end`."""
    covered, reached = 0.0, start
    for low, high in strokes:
        low, high = max(low, reached), min(high, end)
        if high > low:
            covered, reached = covered + high - low, high
    return covered >= DRAWN * (end - start)


def _inside(box: Box, outer: Box) -> bool:
    return box.area > 0 and box.intersection(outer) >= INSIDE * box.area


def _fill(lattice: _Lattice, lines: Sequence[Line], size: float) -> FoundTable | None:
    rows, columns = len(lattice.ys) - 1, len(lattice.xs) - 1
    slots = _slots(lattice)
    owner = {
        (r, c): slot for slot in slots for r in _span(slot.row, slot.rowspan) for c in _span(slot.column, slot.colspan)
    }
    for line in lines:
        x, y = line.box.centre
        owner[_place(lattice.ys, y), _place(lattice.xs, x)].lines.append(line)
    slots = [part for slot in slots for part in _split_tall(slot, lattice)]
    filled = [slot for slot in slots if slot.lines]
    if len(filled) < 3 or len(slots) < 4 or len({slot.column for slot in filled}) < 2:
        return None
    if len(filled) < FILLED * len(slots):
        return None
    if len({slot.column for slot in filled if not _is_closed(slot, lattice) and _is_text(slot)}) > 1:
        return None
    if any(
        _holds_columns([line for slot in filled if slot.column == c for line in slot.lines], size)
        for c in range(columns)
    ):
        return None  # its strokes do not part all columns: how text lines up does
    top, bottom = lattice.ys[0], lattice.ys[-1]
    if _is_title(slots[0], filled, columns):
        top = lattice.ys[slots[0].rowspan]
        slots[0].lines = []
    if _is_note(slots[-1], filled, columns):
        bottom = lattice.ys[slots[-1].row]
        slots[-1].lines = []
    box = replace(lattice.box, top=top, bottom=bottom)
    boxes = form_boxes(slots)
    if boxes:
        found = build(slots, rows, columns, box)
        return FoundTable(found.element, found.used, boxes)
    slots, rows = _split_rows(slots, rows)
    if len({slot.row for slot in slots if slot.lines}) < 2:
        return None
    return build(slots, rows, columns, box)


def _is_title(slot: Slot, filled: Sequence[Slot], columns: int) -> bool:
    """Whether the first cell is a bar over the whole table with its title in it, numbered or set larger than the rest:
    it heads the table and is no row of it."""
    if slot.colspan < columns or len(filled) < 4:
        return False
    if slot.lines and CAPTION.match(cell_text(slot.lines[:1])):
        return True
    if len(slot.lines) != 1:
        return False
    rest = median(size_of(line) for other in filled if other is not slot for line in other.lines)
    return size_of(slot.lines[0]) > TITLE * rest


def _is_note(slot: Slot, filled: Sequence[Slot], columns: int) -> bool:
    """Whether the last cell is a bar below the whole table that says where it is from, and no row of it."""
    return slot.colspan == columns and len(filled) > 3 and NOTE.match(cell_text(slot.lines[:1])) is not None


def _is_closed(slot: Slot, lattice: _Lattice) -> bool:
    """Whether a cell is drawn on all four sides."""
    bottom, right = slot.row + slot.rowspan, slot.column + slot.colspan
    across, down = _span(slot.column, slot.colspan), _span(slot.row, slot.rowspan)
    return all(lattice.levels[slot.row][c] and lattice.levels[bottom][c] for c in across) and all(
        lattice.uprights[r][slot.column] and lattice.uprights[r][right] for r in down
    )


def _is_text(slot: Slot) -> bool:
    """Whether a cell holds a column of text: rules between the columns of a page are no table's."""
    return reads_on(sorted(slot.lines, key=lambda line: line.box.centre[1]))


def _split_tall(slot: Slot, lattice: _Lattice) -> list[Slot]:
    """A cell over several rows of the lattice by row, where each of these has one line of it: labels beside cells that
    are drawn, with no stroke between them."""
    bands = [_place(lattice.ys, line.box.centre[1]) for line in slot.lines]
    if (
        slot.rowspan < 3
        or _is_closed(slot, lattice)
        or len(set(bands)) < len(bands)
        or len(bands) < MOST_LABELLED * slot.rowspan
    ):
        return [slot]
    own = dict(zip(bands, slot.lines, strict=True))
    rows = _span(slot.row, slot.rowspan)
    return [Slot(row, slot.column, 1, slot.colspan, [own[row]] if row in own else []) for row in rows]


def _holds_columns(lines: Sequence[Line], size: float) -> bool:
    """Whether one column of a lattice holds several: figures beside their labels, or a text beside others."""
    rows = rows_of(lines)
    several = [row for row in rows if any(b.box.left - a.box.right > size for a, b in pairwise(row))]
    if len(rows) < 3 or not several:
        return False
    figures = sum(any(is_value(line.text) for line in row[1:]) for row in several)
    if len(several) > COLUMNS * len(rows) and figures > COLUMNS * len(several):
        return True
    strips = white_strips([[line.box for line in row] for row in rows], size)
    beside = [line for row in rows for line in row if strips and line.box.left > strips[0][0]]
    return reads_on(beside)


def _span(start: int, count: int) -> range:
    return range(start, start + count)


def _place(edges: Sequence[float], value: float) -> int:
    return max(0, min(len(edges) - 2, bisect_right(edges, value) - 1))


def _slots(lattice: _Lattice) -> list[Slot]:
    """Cells: places joined where no stroke parts them. What would not be a rectangle stays apart."""
    rows, columns = len(lattice.ys) - 1, len(lattice.xs) - 1
    seen: set[tuple[int, int]] = set()
    slots = []
    for start in ((r, c) for r in range(rows) for c in range(columns)):
        if start in seen:
            continue
        cell = _joined(lattice, start)
        top, left = min(r for r, _ in cell), min(c for _, c in cell)
        height, width = max(r for r, _ in cell) - top + 1, max(c for _, c in cell) - left + 1
        if height * width == len(cell):
            slots.append(Slot(top, left, height, width, []))
        else:
            slots += [Slot(r, c, 1, 1, []) for r, c in cell]
        seen |= cell
    return slots


def _joined(lattice: _Lattice, start: tuple[int, int]) -> set[tuple[int, int]]:
    rows, columns = len(lattice.ys) - 1, len(lattice.xs) - 1
    cell, edge = {start}, [start]
    while edge:
        r, c = edge.pop()
        ways = [
            (r - 1, c, r > 0 and not lattice.levels[r][c]),
            (r + 1, c, r + 1 < rows and not lattice.levels[r + 1][c]),
            (r, c - 1, c > 0 and not lattice.uprights[r][c]),
            (r, c + 1, c + 1 < columns and not lattice.uprights[r][c + 1]),
        ]
        for row, column, is_open in ways:
            if is_open and (row, column) not in cell:
                cell.add((row, column))
                edge.append((row, column))
    return cell


def _split_rows(slots: list[Slot], rows: int) -> tuple[list[Slot], int]:
    """Split each band of the grid that holds several rows of text which line up over its columns."""
    done: list[Slot] = []
    shift = 0
    parted = _rows_of_bands(slots, rows)
    by_row: list[list[Slot]] = [[] for _ in range(rows)]
    for slot in slots:
        by_row[slot.row].append(slot)
    for band, (here, parts) in enumerate(zip(by_row, parted, strict=True)):
        if len(parts) < 2:
            done += [Slot(slot.row + shift, slot.column, slot.rowspan, slot.colspan, slot.lines) for slot in here]
            continue
        for slot in here:
            done += _split_slot(slot, parts, band + shift)
        shift += len(parts) - 1
    return done, rows + shift


def _rows_of_bands(slots: Sequence[Slot], rows: int) -> list[list[list[Line]]]:
    """For each band between two level rules, the lines of each row of the table in it; nothing where it is one."""
    spans = {id(line): (slot.column, slot.column + slot.colspan - 1) for slot in slots for line in slot.lines}
    lines: list[list[Line]] = [[] for _ in range(rows)]
    for slot in slots:
        lines[slot.row] += slot.lines
    spanned = {band for slot in slots if slot.rowspan > 1 for band in _span(slot.row, slot.rowspan)}
    bands = [[] if band in spanned else rows_of(own) for band, own in enumerate(lines)]
    text = [row for band in bands for row in band]
    ends = list(accumulate(map(len, bands)))
    parts = table_rows(text, lambda line: spans[id(line)], ends)
    found: list[list[list[Line]]] = []
    for end, own_text in zip(ends, bands, strict=True):
        own = [[line for i in part for line in text[i]] for part in parts if end - len(own_text) <= part[0] < end]
        found.append(own if _are_rows(own, len(own_text), spans) else [])
    return found


def _are_rows(parts: Sequence[Sequence[Line]], count: int, spans: Mapping[int, tuple[int, int]]) -> bool:
    """Whether parts of one band, of so many rows of text, are rows of the table: most fill several of its columns, and
    the first of these, where labels stand."""
    filled = [{spans[id(line)][0] for line in part} for part in parts]
    first = min((column for columns in filled for column in columns), default=0)
    if sum(first in columns for columns in filled) < MOST_LABELLED * len(parts):
        return False
    wide = [part for part, columns in zip(parts, filled, strict=True) if len(columns) > 1]
    if count == 2 and not (len(wide) == 2 and all(any(is_value(line.text) for line in part) for part in parts)):
        return False
    return len(wide) >= MOST_WIDE * len(parts)


def _split_slot(slot: Slot, parts: Sequence[Sequence[Line]], first: int) -> list[Slot]:
    own = {id(line) for line in slot.lines}
    if len(slot.lines) == 1 and len(parts) > 2:  # one entry in the middle of many rows stands for all of them
        place = next(i for i, part in enumerate(parts) if any(id(line) in own for line in part))
        if 0 < place < len(parts) - 1 or len(parts[place]) == 1:
            return [Slot(first, slot.column, len(parts), slot.colspan, slot.lines)]
    return [
        Slot(first + i, slot.column, 1, slot.colspan, [line for line in part if id(line) in own])
        for i, part in enumerate(parts)
    ]
