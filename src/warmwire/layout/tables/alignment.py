"""Tables without ruling lines: rows of short texts that line up under each other.

Rows of several cells that follow each other at even steps are a candidate. Strips of white that nearly no row
crosses part its columns. It is a table when its cells say so: figures under each other, a bold head over plain
rows, or a layout model that saw a table there. It is none when its columns read as prose, as list markers, or as
labels ("Date:") beside their values, nor where what stands side by side keeps off each other's baselines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from statistics import median

from warmwire.layout.blocks.entries import FEWEST, FEWEST_INDEXED, is_section
from warmwire.layout.blocks.indexes import is_indexed
from warmwire.layout.blocks.markers import markers_of, opens_item
from warmwire.layout.page import Box, Line
from warmwire.layout.rows import (
    are_details,
    bounds,
    is_label,
    is_period,
    is_prose,
    is_value,
    join_runs,
    reads_on,
    rows_of,
    size_of,
)
from warmwire.layout.tables.found import Found, Slot, build
from warmwire.layout.tables.heads import MOST, head_rows, head_slots, pitch_of, stands_over
from warmwire.layout.tables.seams import seam_of
from warmwire.layout.tables.strips import Strip, columns_of
from warmwire.layout.tables.worded import FEWEST as FEWEST_WORDED
from warmwire.layout.tables.worded import reads_by_rows
from warmwire.layout.tables.wraps import table_rows

MIN_GAP = 0.7
"""Narrowest white between two columns, in units of the body size."""
FULL, HALF, FILLED = 0.9, 0.5, 0.35
"""So many of a table's places hold text: of one without words, of others, of one with labels for all of many rows."""
LONG = 5
"""Rows that make a table long enough to have many places empty."""
MAX_CUTS = 24
"""Most places tried for the end of one table and the beginning of the next."""
MAX_ENDS = 5
"""Most beginnings, and most ends, of a table within others that are tried."""
BASELINE = 0.15
"""From row to row the second cell's middle moves against the first's by less, in units of the height, three times in
four: in 40 tables, scanned ones too, by 0.11 at most, and by 0.18 or more where two texts stand side by side."""


@dataclass(frozen=True)
class _Row:
    """Cells from left to right; each is one line made of runs that stand close."""

    cells: list[list[Line]]

    @cached_property
    def box(self) -> Box:
        return bounds(self.boxes)

    @cached_property
    def boxes(self) -> list[Box]:
        return [bounds(run.box for run in cell) for cell in self.cells]

    @cached_property
    def events(self) -> list[tuple[float, int]]:
        """Where cells begin (1) and end (-1), from left to right."""
        return sorted((x, step) for box in self.boxes for x, step in ((box.left, 1), (box.right, -1)))


@dataclass(frozen=True)
class _Laid:
    """Rows of text laid out as a table: the lines of its head, if it has several, and the cells of each row below."""

    rows: list[_Row]
    edges: Sequence[Strip]
    head: list[list[Line]]
    body: list[list[Line]]

    @classmethod
    def of(cls, over: Sequence[_Row], part: Sequence[_Row], edges: Sequence[Strip]) -> _Laid:
        """`over` stands over several columns of `part`."""
        rows = [*over, *part]
        lines = [[join_runs(cell) for cell in row.cells] for row in rows]
        depth = max(head_rows(lines, edges), len(over))
        body = table_rows(lines[depth:], lambda line: columns_of(line.box, edges))
        return cls(rows, edges, lines[:depth], [[line for i in row for line in lines[depth + i]] for row in body])

    @cached_property
    def is_worded(self) -> bool:
        """Whether its cells are texts that end where rows do."""
        return reads_by_rows(self.body, self.edges)

    def columns(self) -> list[list[Line]]:
        """The cells of each column below the head, each by its first line."""
        found: list[list[Line]] = [[] for _ in range(len(self.edges) + 1)]
        for row in self.body:
            firsts: dict[int, Line] = {}
            for line in row:
                firsts.setdefault(columns_of(line.box, self.edges)[0], line)
            for column, line in firsts.items():
                found[column].append(line)
        return found


def aligned_table(
    lines: Sequence[Line], size: float, obstacles: Sequence[Box] = (), seen: Sequence[Box] = ()
) -> Found | None:
    """The first table among `lines`, or None; see `aligned_tables`."""
    return next(_tables(lines, size, obstacles, seen), None)


def aligned_tables(
    lines: Sequence[Line], size: float, obstacles: Sequence[Box] = (), seen: Sequence[Box] = (), worded: bool = False
) -> list[Found]:
    """The tables among `lines`, from top to bottom.

    `size` is the body size, `obstacles` are boxes a table cannot go over, `seen` where a layout model saw tables.
    `worded` asks for those only whose cells are texts that are read row by row for sure.
    """
    return list(_tables(lines, size, obstacles, seen, worded))


def _tables(
    lines: Sequence[Line], body: float, obstacles: Sequence[Box], seen: Sequence[Box], worded: bool = False
) -> Iterator[Found]:
    rows = [_row(row, body) for row in rows_of(lines)]
    for group in _groups(rows, body, obstacles):
        if worded and sum(len(row.cells) >= FEWEST_WORDED for row in group) < FEWEST_WORDED:
            continue
        size = min(body, median(size_of(line) for line in _lines(group)))
        over = _over(group, size)
        parts = _alike(group[len(over) :], size)
        for alike in parts:
            edges = _column_edges(alike, size)
            part = _without_crossings(alike, edges)
            if not edges or _wide(part) < 2:
                continue
            is_under = alike is parts[0] and part[0] is alike[0] and _is_head(over, edges, size)
            table = _Laid.of(over if is_under else [], part, edges)
            if (worded and not table.is_worded) or not _is_table(part, table, seen):
                continue
            seam = seam_of(table.edges, table.head, table.body, [row.boxes for row in table.rows])
            halves = [
                list(_tables([line for line in _lines(table.rows) if (line.box.left > seam) == right], body, [], seen))
                for right in (False, True)
                if seam is not None
            ]
            if halves and all(halves):
                yield from (found for half in halves for found in half)
            else:
                yield _build(table, size)


def _lines(rows: Sequence[_Row]) -> list[Line]:
    return [line for row in rows for cell in row.cells for line in cell]


def _row(runs: Sequence[Line], body: float) -> _Row:
    """Runs of one row as cells: what stands close is one, figures closer than words where they are set small."""
    cells: list[list[Line]] = []
    for run in runs:
        last = cells[-1][-1] if cells else None
        figures = last is not None and is_value(last.text) and is_value(run.text)
        size = min(body, size_of(run)) if figures else body
        if last is not None and run.box.left - last.box.right < MIN_GAP * size:
            cells[-1].append(run)
        else:
            cells.append([run])
    return _Row(cells)


def _over(group: Sequence[_Row], size: float) -> list[_Row]:
    """The first rows down to the last whose heads stand over several columns of the rows below: they say nothing of
    these."""
    count = next((i for i, row in enumerate(group) if 2 * _amounts(row) >= len(row.cells) - 1 > 0), 0)
    for place in range(min(count, MOST) - 1, -1, -1):
        rest = group[place + 1 :]
        if _wide(rest) < 2 or len(group[place].cells) >= max(len(row.cells) for row in rest[:MOST]):
            continue
        edges = _column_edges(rest, size)
        if stands_over([join_runs(cell) for cell in group[place].cells], edges, size):
            head = list(group[: place + 1])
            return head if _is_head(head, edges, size) else []
    return []


def _is_head(head: Sequence[_Row], edges: Sequence[tuple[float, float]], size: float) -> bool:
    """Whether rows above others, with these columns, can be of their head: each stands over several, or in columns."""
    return all(
        not any(_crosses(box, edges) for box in row.boxes)
        or stands_over([join_runs(cell) for cell in row.cells], edges, size)
        for row in head
    )


def _groups(rows: Sequence[_Row], size: float, obstacles: Sequence[Box]) -> list[list[_Row]]:
    """Rows that follow each other closely, single cells among them where they fit under the row of several above."""
    groups: list[list[_Row]] = [[]]
    for i, row in enumerate(rows):
        last = groups[-1][-1] if groups[-1] else None
        near = last is not None and row.box.centre[1] - last.box.centre[1] < 4.5 * size
        apart = last is None or any(last.box.bottom < box.centre[1] < row.box.top for box in obstacles)
        if (
            near
            and not apart
            and (len(row.cells) > 1 or _fits(row, groups[-1], size) or _is_inner(rows, i, groups[-1], size))
        ):
            groups[-1].append(row)
        else:
            groups.append([row] if len(row.cells) > 1 else [])
    return [part for group in groups for part in _even(group) if sum(len(row.cells) > 1 for row in part) >= 2]


def _is_inner(rows: Sequence[_Row], place: int, group: Sequence[_Row], size: float) -> bool:
    """Whether a single cell names the rows that follow: they go on in the columns of those above, at their step."""
    above = next((row for row in reversed(group[-3:]) if len(row.cells) > 1), None)
    below = next((row for row in rows[place + 1 : place + 3] if len(row.cells) > 1), None)
    if above is None or below is None or below.box.top - above.box.bottom > 5 * size:
        return False
    if _figures(above) + _figures(below) < 4 or sum(len(row.cells) > 1 for row in group) < 2:
        return False
    alike = sum(
        any(
            abs(one.right - other.right) < 0.6 * size or abs(one.left - other.left) < 0.6 * size
            for other in above.boxes
        )
        for one in below.boxes
    )
    return alike >= 0.7 * max(len(above.boxes), len(below.boxes)) and rows[place].box.right < above.box.right


def _figures(row: _Row) -> int:
    return sum(is_value(join_runs(cell).text) for cell in row.cells)


def _amounts(row: _Row) -> int:
    """Figures of a row; years may be heads."""
    return sum(is_value(text) and not is_period(text) for text in (join_runs(cell).text for cell in row.cells))


def _fits(row: _Row, group: Sequence[_Row], size: float) -> bool:
    """Whether a single cell goes on with a cell above: within its column, and not the second alone in the first."""
    box = row.box
    reaching = (other for other in reversed(group) if len(other.cells) > 1 and other.box.left <= box.left + 0.5 * size)
    above = next(reaching, None)
    if above is None:
        return False
    boxes = above.boxes
    place = sum(other.left <= box.left + 0.5 * size for other in boxes) - 1
    if place < 0 or (place + 1 < len(boxes) and box.right > boxes[place + 1].left - 0.3 * size):
        return False
    return place > 0 or len(group[-1].cells) > 1


def _even(group: list[_Row]) -> list[list[_Row]]:
    """Cut a group where the step to the next row is twice the usual one, and trim single cells at its ends."""
    steps = [below.box.centre[1] - above.box.centre[1] for above, below in pairwise(group)]
    usual = median([step for step, row in zip(steps, group[1:], strict=True) if len(row.cells) > 1] or [0.0])
    parts, part = [], group[:1]
    for step, row in zip(steps, group[1:], strict=True):
        if step > 1.9 * usual:
            parts.append(part)
            part = []
        part.append(row)
    return [_trimmed(part) for part in (*parts, part)]


def _trimmed(part: list[_Row]) -> list[_Row]:
    """A group without the single cells it begins or ends with; those that go on with a cell above stay."""
    while part and len(part[0].cells) == 1:
        part = part[1:]
    while part and len(part[-1].cells) == 1 and part[-1].box.left <= part[0].boxes[0].right:
        part = part[:-1]
    return part


def _alike(group: list[_Row], size: float) -> list[list[_Row]]:
    """Cut a group between rows of different columns: below opening rows with far fewer cells than the rest, and where
    its rest alone, its head, or what lies between two others has more columns than all."""
    usual = median(len(row.cells) for row in group)
    few = next((i for i, row in enumerate(group) if len(row.cells) > 0.6 * usual), 0)
    if few > 1:
        return _alike(_trimmed(group[:few]), size) + _alike(group[few:], size)
    whole = len(_column_edges(group, size))
    cuts = _changes(group)
    rests = [(len(_column_edges(group[cut:], size)), -cut) for cut in cuts if _wide(group[cut:]) > 2]
    heads = [(len(_column_edges(group[:cut], size)), cut) for cut in cuts if _wide(group[:cut]) > 2]
    inner = _inner(group, size, max([whole, *(count for count, _ in (*rests, *heads))]))
    if inner is None and _collisions(group, _column_edges(group, size)) > 2:
        inner = _inner(group, size, whole - 1)
    if inner is not None:
        start, end = inner
        parts = (_trimmed(group[:start]), group[start:end], _trimmed(group[end:]))
        return [part for third in parts if third for part in _alike(third, size)]
    if rests and max(rests)[0] > whole:
        cut = -max(rests)[1]
        edges = _column_edges(group[cut:], size)
        while _wide(group[cut:]) > 3 and any(_crosses(box, edges) for box in group[cut].boxes):
            cut += 1
    elif heads and max(heads)[0] > whole:
        cut = max(heads)[1]
        edges = _column_edges(group[:cut], size)
        while _wide(group[:cut]) > 3 and any(_crosses(box, edges) for box in group[cut - 1].boxes):
            cut -= 1
    else:
        return [group]
    return [part for half in (_trimmed(group[:cut]), _trimmed(group[cut:])) if half for part in _alike(half, size)]


def _changes(group: Sequence[_Row]) -> list[int]:
    """Where a group may be cut: in short ones anywhere, in long ones where the number of cells changes most."""
    places = range(2, len(group) - 1)
    if len(places) <= MAX_CUTS:
        return list(places)
    counts = [len(row.cells) for row in group]
    return sorted(sorted(places, key=lambda i: -abs(counts[i] - counts[i - 1]))[:MAX_CUTS])


def _inner(group: list[_Row], size: float, count: int) -> tuple[int, int] | None:
    """The rows, as start and end, of a table with more than `count` gaps that stands between two others of fewer."""
    steps = [len(below.cells) - len(above.cells) for above, below in pairwise(group)]
    starts = sorted((i + 1 for i, step in enumerate(steps) if step > 1), key=lambda i: -steps[i - 1])[:MAX_ENDS]
    ends = sorted((i + 1 for i, step in enumerate(steps) if step < -1), key=lambda i: steps[i - 1])[:MAX_ENDS]
    found = [
        (len(_column_edges(group[start:end], size)), end - start, start)
        for start in starts
        for end in ends
        if end > start and _wide(group[start:end]) > 2
    ]
    gaps, length, start = max(found, default=(0, 0, 0))
    return (start, start + length) if gaps > count and 0 < length < len(group) else None


def _collisions(group: Sequence[_Row], edges: Sequence[tuple[float, float]]) -> int:
    """In how many rows two cells stand in one column."""
    return sum(len({columns_of(box, edges)[0] for box in row.boxes}) < len(row.cells) for row in group)


def _wide(group: Sequence[_Row]) -> int:
    return sum(len(row.cells) > 1 for row in group)


def _crosses(box: Box, edges: Sequence[tuple[float, float]]) -> bool:
    return len(set(columns_of(box, edges))) > 1


def _column_edges(group: Sequence[_Row], size: float) -> list[tuple[float, float]]:
    """The strips of white between columns, from left to right: (start, end) of each."""
    rows = [row for row in group if len(row.cells) > 1]
    if not rows:
        return []
    allowed = 0 if len(rows) < 4 else max(1, len(rows) // 10)
    events = sorted(chain.from_iterable(row.events for row in rows))
    strips = []
    covered, start = 0, None
    for x, step in events:
        covered += step
        if covered <= allowed and start is None:
            start = x
        elif covered > allowed and start is not None:
            if x - start >= MIN_GAP * size:
                strips.append((start, x))
            start = None
    margin = min(row.box.left for row in rows)
    return [strip for strip in strips if strip[0] > margin]


def _without_crossings(group: list[_Row], edges: Sequence[tuple[float, float]]) -> list[_Row]:
    """The longest part of a group whose single cells stay within one column, or stand between rows of several."""
    parts: list[list[_Row]] = [[]]
    for i, row in enumerate(group):
        around = group[max(0, i - 1) : i], group[i + 1 : i + 2]
        inner = all(rows and len(rows[0].cells) > 1 for rows in around)
        if len(row.cells) == 1 and _crosses(row.boxes[0], edges) and not inner:
            parts.append([])
        else:
            parts[-1].append(row)
    return _trimmed(max(parts, key=len))


def _is_table(group: Sequence[_Row], table: _Laid, seen: Sequence[Box]) -> bool:
    edges, count = table.edges, len(table.edges) + 1
    cells = table.columns()
    columns: list[list[Line]] = [[] for _ in range(count)]
    whole: list[list[Line]] = [[] for _ in range(count)]  # what stays within its column
    for row in group:
        for cell, box in zip(row.cells, row.boxes, strict=True):
            first, last = columns_of(box, edges)
            columns[first].append(join_runs(cell))
            if first == last:
                whole[first].append(columns[first][-1])
    wide = _wide(group)
    if count < 2 or wide < 2 or len(table.body) + bool(table.head) < 2 or not _is_filled(table, cells):
        return False
    if _are_entries(columns) or (count == 2 and are_details([line.text for line in columns[1]])):
        return False
    if any(_mostly(column, lambda line: is_label(line.text)) for column in columns[: None if count == 2 else -1]):
        return _has_figures(columns[1:]) and count > 3
    if count == 2 and _mostly(columns[0], lambda line: bool(markers_of(f"{line.text} x"))):
        return False
    if _has_bullets(columns) or any(map(_are_counted, columns[1:])):
        return False
    figures = any(_mostly(column, lambda line: is_value(line.text)) for column in columns if 2 * len(column) >= wide)
    if table.is_worded:
        return True
    if sum(map(reads_on, whole)) > 1 or not (figures or _on_baselines(group)):
        return False
    if any(map(reads_on, columns)) and not any(_mostly(column, lambda line: is_value(line.text)) for column in columns):
        return False
    prose = sum(is_prose(column) for column in columns)
    if prose > 1 or (prose and count == 2 and not _mostly(columns[1], lambda line: is_value(line.text))):
        return False
    if not table.head and not any(is_value(line.text) for line in table.body[0]):
        cells = [column[1:] for column in cells]  # what heads the others says nothing of them
    valued = sum(_mostly(column, lambda line: is_value(line.text), 0.6) for column in cells)
    box = bounds(row.box for row in group)
    backed = any(box.intersection(other) >= 0.6 * min(box.area, other.area) for other in seen)
    if wide < 3 and not (backed or (count > 2 and valued > 1)):
        return False
    headed = _bold_share(table.head or table.body[:1]) >= 0.6 and _bold_share(table.body[not table.head :]) <= 0.2
    full = len(table.body) >= LONG and sum(map(len, table.columns())) >= FULL * count * len(table.body)
    return backed or valued > 0 or (count > 2 and (headed or full))


def _is_filled(table: _Laid, cells: Sequence[Sequence[Line]]) -> bool:
    """Whether enough of a table's places hold text: more of a short one's, most of one without any word, as the numbers
    in a chart would be."""
    share = sum(map(len, cells)) / max(1, len(cells) * len(table.body))
    worded = any(char.isalpha() for row in (*table.head, *table.body) for line in row for char in line.text)
    labelled = len(table.body) >= LONG and len(cells[0]) >= 0.8 * len(table.body)
    return share >= (FULL if not worded else FILLED if labelled else HALF)


def _on_baselines(group: Sequence[_Row]) -> bool:
    """Whether cells stand on the baselines of their rows; texts side by side, each for itself, only do by chance."""
    wide = [row for row in group if len(row.cells) > 1]
    if len(wide) < 5:
        return True
    drops = [row.boxes[1].centre[1] - row.boxes[0].centre[1] for row in wide]  # a page askew or curled has them too
    changes = sorted(abs(below - above) for above, below in pairwise(drops))
    return changes[3 * len(changes) // 4] <= BASELINE * median(row.boxes[0].height for row in wide)


def _are_entries(columns: Sequence[Sequence[Line]]) -> bool:
    """Whether columns are those of an index, or a contents' entries and their pages, numbered and rising."""
    if all(_mostly(column, lambda line: is_indexed(line.text)) for column in columns):
        return sum(map(len, columns)) >= FEWEST_INDEXED
    if len(columns) != 2 or len(columns[0]) != len(columns[1]) or len(columns[0]) < FEWEST:
        return False
    pages = [int(line.text) for line in columns[1] if line.text.isdecimal() and len(line.text) < 5]
    rises = len(pages) == len(columns[1]) and pages == sorted(pages)
    return rises and _mostly(columns[0], lambda line: is_section(line.text))


def _has_bullets(columns: Sequence[Sequence[Line]]) -> bool:
    """Whether a column holds nothing but the bullets before another's texts."""
    return any(_mostly(column, lambda line: line.text == "*" or opens_item(f"{line.text} x")) for column in columns)


def _are_counted(column: Sequence[Line]) -> bool:
    """Whether a column that stands beside another is a list of its own: texts that are counted, or nothing but the
    numbers of such, with their full stops or brackets."""
    texts = [line.text.strip() for line in column]
    alone = [marks[0].value for text in texts if text[-1:] in ".)]" and (marks := markers_of(f"{text} x"))]
    if len(alone) == len(texts) >= FEWEST:
        return alone == list(range(alone[0], alone[0] + len(alone)))
    marks = [marks[0] for text in texts if not is_value(text) and (marks := markers_of(text))]
    counted = [mark.value for mark in marks if mark.ordered and mark.sure]
    return len(counted) >= FEWEST and counted == list(range(1, len(counted) + 1))


def _has_figures(columns: Sequence[Sequence[Line]]) -> bool:
    """Whether most columns hold figures: what stands before them labels rows, not values beside it."""
    return sum(_mostly(column, lambda line: is_value(line.text)) for column in columns) > 0.5 * len(columns)


def _bold_share(rows: Sequence[Sequence[Line]]) -> float:
    lines = [line for row in rows for line in row]
    return sum(bool(line.bold) for line in lines) / max(len(lines), 1)


def _mostly(column: Sequence[Line], test: Callable[[Line], bool], share: float = 0.5) -> bool:
    return bool(column) and sum(test(line) for line in column) >= share * len(column)


def _build(table: _Laid, size: float) -> Found:
    lines = table.body
    slots, first = head_slots(table.head, table.edges, size, pitch_of(lines)) if table.head else ([], 0)
    for r, row in enumerate(lines, first):
        slots += _row_slots(row, r, table.edges)
    found = build(slots, first + len(lines), len(table.edges) + 1, bounds(row.box for row in table.rows), first or None)
    return Found(found.element, _lines(table.rows))


def _row_slots(cells: Sequence[Line], place: int, edges: Sequence[tuple[float, float]]) -> list[Slot]:
    taken: dict[int, Slot] = {}
    for cell in cells:
        first, last = columns_of(cell.box, edges)
        if first in taken:
            taken[first].lines.append(cell)
            continue
        last = last if all(c not in taken for c in range(first, last + 1)) else first
        taken.update(dict.fromkeys(range(first, last + 1), Slot(place, first, 1, last - first + 1, [cell])))
    missing = [Slot(place, c, 1, 1, []) for c in range(len(edges) + 1) if c not in taken]
    return [*{id(slot): slot for slot in taken.values()}.values(), *missing]
