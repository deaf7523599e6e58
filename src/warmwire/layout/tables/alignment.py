"""Tables without ruling lines: rows of short texts that line up under each other.

Rows of several cells that follow each other at even steps are a candidate, cut where its columns change. Strips of
white that nearly no row crosses part its columns. Whether it is a table its cells say (`evidence`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from statistics import median

from warmwire.layout.page import Box, Line
from warmwire.layout.rows import bounds, is_period, is_value, join_runs, rows_of, size_of
from warmwire.layout.tables.evidence import is_table
from warmwire.layout.tables.found import FoundTable, build, row_slots
from warmwire.layout.tables.heads import MOST, head_slots, pitch_of, stands_over
from warmwire.layout.tables.laid import CellRow, Laid
from warmwire.layout.tables.seams import seam_of
from warmwire.layout.tables.strips import clear_strips, columns_of
from warmwire.layout.tables.worded import FEWEST as FEWEST_WORDED

MIN_GAP = 0.7
"""Narrowest white between two columns, in units of the body size."""
NEAR = 4.5
"""Rows further apart, middle to middle and in units of the body, are not of one table."""
NAMED = 5.0
"""Between two rows the name of a group takes no more, in units of the body."""
BREAK = 1.9
"""A step that is wider than the usual one by that factor ends a table."""
FEW = 0.6
"""Rows that open a table with fewer cells, by that share of the usual number, are not of it."""
FLUSH = 0.6
"""Cells under each other begin or end this near to each other, in units of the body."""
ALIKE = 0.7
"""So many cells of two rows do where both are of one table."""
MAX_CUTS = 24
"""Most places tried for the end of one table and the beginning of the next."""
MAX_ENDS = 5
"""Most beginnings, and most ends, of a table within others that are tried."""


def aligned_table(lines: Sequence[Line], size: float, obstacles: Sequence[Box] = ()) -> FoundTable | None:
    """The first table among `lines`, or None; see `aligned_tables`."""
    return next(_tables(lines, size, obstacles), None)


def aligned_tables(
    lines: Sequence[Line], size: float, obstacles: Sequence[Box] = (), worded: bool = False
) -> list[FoundTable]:
    """The tables among `lines`, from top to bottom.

    `size` is the body size, `obstacles` are boxes a table cannot go over.
    `worded` asks for those only whose cells are texts that are read row by row for sure.
    """
    return list(_tables(lines, size, obstacles, worded))


def _tables(lines: Sequence[Line], body: float, obstacles: Sequence[Box], worded: bool = False) -> Iterator[FoundTable]:
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
            table = Laid.of(over if is_under else [], part, edges)
            if (worded and not table.is_worded) or not is_table(part, table):
                continue
            seam = seam_of(table.edges, table.head, table.body, [row.boxes for row in table.rows])
            halves = [
                list(_tables([line for line in _lines(table.rows) if (line.box.left > seam) == right], body, []))
                for right in (False, True)
                if seam is not None
            ]
            if halves and all(halves):
                yield from (found for half in halves for found in half)
            else:
                yield _build(table, size)


def _lines(rows: Sequence[CellRow]) -> list[Line]:
    return [line for row in rows for cell in row.cells for line in cell]


def _row(runs: Sequence[Line], body: float) -> CellRow:
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
    return CellRow(cells)


def _over(group: Sequence[CellRow], size: float) -> list[CellRow]:
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


def _is_head(head: Sequence[CellRow], edges: Sequence[tuple[float, float]], size: float) -> bool:
    """Whether rows above others, with these columns, can be of their head: each stands over several, or in columns."""
    return all(
        not any(_crosses(box, edges) for box in row.boxes)
        or stands_over([join_runs(cell) for cell in row.cells], edges, size)
        for row in head
    )


def _groups(rows: Sequence[CellRow], size: float, obstacles: Sequence[Box]) -> list[list[CellRow]]:
    """Rows that follow each other closely, single cells among them where they fit under the row of several above."""
    groups: list[list[CellRow]] = [[]]
    for i, row in enumerate(rows):
        last = groups[-1][-1] if groups[-1] else None
        near = last is not None and row.box.centre[1] - last.box.centre[1] < NEAR * size
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


def _is_inner(rows: Sequence[CellRow], place: int, group: Sequence[CellRow], size: float) -> bool:
    """Whether a single cell names the rows that follow: they go on in the columns of those above, at their step."""
    above = next((row for row in reversed(group[-3:]) if len(row.cells) > 1), None)
    below = next((row for row in rows[place + 1 : place + 3] if len(row.cells) > 1), None)
    if above is None or below is None or below.box.top - above.box.bottom > NAMED * size:
        return False
    if _figures(above) + _figures(below) < 4 or sum(len(row.cells) > 1 for row in group) < 2:
        return False
    alike = sum(
        any(
            abs(one.right - other.right) < FLUSH * size or abs(one.left - other.left) < FLUSH * size
            for other in above.boxes
        )
        for one in below.boxes
    )
    return alike >= ALIKE * max(len(above.boxes), len(below.boxes)) and rows[place].box.right < above.box.right


def _figures(row: CellRow) -> int:
    return sum(is_value(join_runs(cell).text) for cell in row.cells)


def _amounts(row: CellRow) -> int:
    """Figures of a row; years may be heads."""
    return sum(is_value(text) and not is_period(text) for text in (join_runs(cell).text for cell in row.cells))


def _fits(row: CellRow, group: Sequence[CellRow], size: float) -> bool:
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


def _even(group: list[CellRow]) -> list[list[CellRow]]:
    """Cut a group where the step to the next row is twice the usual one, and trim single cells at its ends."""
    steps = [below.box.centre[1] - above.box.centre[1] for above, below in pairwise(group)]
    usual = median([step for step, row in zip(steps, group[1:], strict=True) if len(row.cells) > 1] or [0.0])
    parts, part = [], group[:1]
    for step, row in zip(steps, group[1:], strict=True):
        if step > BREAK * usual:
            parts.append(part)
            part = []
        part.append(row)
    return [_trimmed(part) for part in (*parts, part)]


def _trimmed(part: list[CellRow]) -> list[CellRow]:
    """A group without the single cells it begins or ends with; those that go on with a cell above stay."""
    while part and len(part[0].cells) == 1:
        part = part[1:]
    while part and len(part[-1].cells) == 1 and part[-1].box.left <= part[0].boxes[0].right:
        part = part[:-1]
    return part


def _alike(group: list[CellRow], size: float) -> list[list[CellRow]]:
    """Cut a group between rows of different columns: below opening rows with far fewer cells than the rest, and where
    its rest alone, its head, or what lies between two others has more columns than all."""
    usual = median(len(row.cells) for row in group)
    few = next((i for i, row in enumerate(group) if len(row.cells) > FEW * usual), 0)
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


def _changes(group: Sequence[CellRow]) -> list[int]:
    """Where a group may be cut: in short ones anywhere, in long ones where the number of cells changes most."""
    places = range(2, len(group) - 1)
    if len(places) <= MAX_CUTS:
        return list(places)
    counts = [len(row.cells) for row in group]
    return sorted(sorted(places, key=lambda i: -abs(counts[i] - counts[i - 1]))[:MAX_CUTS])


def _inner(group: list[CellRow], size: float, count: int) -> tuple[int, int] | None:
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


def _collisions(group: Sequence[CellRow], edges: Sequence[tuple[float, float]]) -> int:
    """In how many rows two cells stand in one column."""
    return sum(len({columns_of(box, edges)[0] for box in row.boxes}) < len(row.cells) for row in group)


def _wide(group: Sequence[CellRow]) -> int:
    return sum(len(row.cells) > 1 for row in group)


def _crosses(box: Box, edges: Sequence[tuple[float, float]]) -> bool:
    return len(set(columns_of(box, edges))) > 1


def _column_edges(group: Sequence[CellRow], size: float) -> list[tuple[float, float]]:
    """The strips of white between columns, from left to right: (start, end) of each."""
    rows = [row for row in group if len(row.cells) > 1]
    if not rows:
        return []
    events = sorted(chain.from_iterable(row.events for row in rows))
    margin = min(row.box.left for row in rows)
    return [strip for strip in clear_strips(events, len(rows), MIN_GAP * size) if strip[0] > margin]


def _without_crossings(group: list[CellRow], edges: Sequence[tuple[float, float]]) -> list[CellRow]:
    """The longest part of a group whose single cells stay within one column, or stand between rows of several."""
    parts: list[list[CellRow]] = [[]]
    for i, row in enumerate(group):
        around = group[max(0, i - 1) : i], group[i + 1 : i + 2]
        inner = all(rows and len(rows[0].cells) > 1 for rows in around)
        if len(row.cells) == 1 and _crosses(row.boxes[0], edges) and not inner:
            parts.append([])
        else:
            parts[-1].append(row)
    return _trimmed(max(parts, key=len))


def _build(table: Laid, size: float) -> FoundTable:
    lines = table.body
    slots, first = head_slots(table.head, table.edges, size, pitch_of(lines)) if table.head else ([], 0)
    box = bounds(row.box for row in table.rows)
    for r, row in enumerate(lines, first):
        slots += row_slots(row, r, table.edges, box, size)
    found = build(slots, first + len(lines), len(table.edges) + 1, box, first or None)
    return FoundTable(found.element, _lines(table.rows))
