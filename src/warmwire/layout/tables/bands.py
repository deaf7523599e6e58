"""Tables drawn with level rules only, as books set them: one above, one below the head, one at the foot, or one
under each row.

Rules of one extent that follow each other, with rows of several cells between them, bound a table: all that stands
between the first and the last belongs to it, a line over all columns too. What is above the second rule is the head.
Short rules in the head tell which columns a head stands over. Text in columns between two rules of a page is none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, pairwise
from statistics import median

from warmwire.layout.page import Box, Line
from warmwire.layout.rows import (
    SIGNS,
    bounds,
    is_label,
    is_period,
    is_value,
    join_signs,
    reads_on,
    rows_of,
    same_row,
    size_of,
)
from warmwire.layout.splits import split_at
from warmwire.layout.tables.chains import MAX_EMPTY, MIN_WHITE, MIN_WIDTH, RuleChain, chains_of, is_wide, joined_rules
from warmwire.layout.tables.found import FoundTable, build, row_slots
from warmwire.layout.tables.heads import head_slots, pitch_of
from warmwire.layout.tables.strips import Strip, columns_of, white_strips
from warmwire.layout.tables.wraps import table_rows

MIN_GAP = 0.7
"""Narrowest white between two cells of one row."""
LABELLED = 0.6
"""Share of its rows that begin with words, in a table with labels."""
LINES = 1.8
"""Lines of one cell follow each other within that step, in units of their size."""
MAX_HEAD = 6
"""Most lines of a head."""
FIGURED = 0.6
"""Share of the rows below a head that hold figures, for bands without any to be of the head."""
MAX_RULES = 300
"""More long level rules than that are a ruled sheet or a drawing."""


def banded_tables(lines: Sequence[Line], rules: Sequence[Box], size: float) -> list[FoundTable]:
    """Tables between level `rules`; `size` is the page's body size."""
    levels = [rule for rule in rules if rule.width > rule.height]
    joined = joined_rules(levels, size)
    long = [rule for rule in joined if rule.width > MIN_WIDTH * size]
    if len(long) < 2 or len(long) > MAX_RULES:
        return []
    found: list[FoundTable] = []
    free = list(lines)
    chains = chains_of(long, free, size)
    for chain in chains:
        inside = {id(line) for line in chain.lines}
        if not inside <= {id(line) for line in free} or _reaches_out(chain, chains, free, size):
            continue
        chain.bands += _below(chain, free, size)
        table = _table(chain, joined, free, size)
        if table is not None:
            found.append(table)
            used = {id(line) for line in table.used}
            free = [line for line in free if id(line) not in used]
    return found


def _reaches_out(chain: RuleChain, chains: Sequence[RuleChain], lines: Sequence[Line], size: float) -> bool:
    """Whether rows begin left of their rules, as where a sum is drawn under figures only: the table is a wider one.

    What is within rules of its own is another table, beside this one, if this one has labels.
    """
    left, top, bottom = chain.rules[0].left, chain.rules[0].top, chain.rules[-1].bottom
    outside = [line for line in lines if line.box.centre[0] < left and top < line.box.centre[1] < bottom]
    rows = chain.rows
    if sum(not is_value(row[0].text) for row in rows) >= LABELLED * len(rows):
        outside = [line for line in outside if not any(_is_within(line, other, size) for other in chains)]
    if reads_on(sorted(outside, key=lambda line: line.box.centre[1])):
        return False
    beside = sum(any(same_row(line.box, row[0].box) for line in outside) for row in rows)
    return beside > 0.4 * len(rows)


def _below(chain: RuleChain, lines: Sequence[Line], size: float) -> list[list[list[Line]]]:
    """What follows the last rule, where the rules bound a head only and its figures stand below: one band, or none."""
    if any(sum(is_value(line.text) for line in row) > 1 for row in chain.rows):
        return []
    last = chain.rules[-1]
    inside = [
        line
        for line in lines
        if line.box.centre[1] > last.bottom and last.left - size < line.box.left and line.box.right < last.right + size
    ]
    rows: list[list[Line]] = []
    foot, wide = last.bottom, 0
    for row in rows_of(inside):
        if min(line.box.top for line in row) - foot > MAX_EMPTY * size:
            break
        rows.append(row)
        foot = max(line.box.bottom for line in row)
        if is_wide(row, size):
            wide = len(rows)
        elif len(rows) > wide + 2:
            break
    if not rows or sum(is_value(line.text) for line in rows[0]) < 2:
        return []
    return [rows[:wide]]


def _is_within(line: Line, chain: RuleChain, size: float) -> bool:
    first, last = chain.rules[0], chain.rules[-1]
    return first.left - size < line.box.centre[0] < first.right and first.top < line.box.centre[1] < last.bottom


def _table(chain: RuleChain, rules: Sequence[Box], lines: Sequence[Line], size: float) -> FoundTable | None:
    top = _head_above(chain, lines, size)
    if top:
        chain.bands.insert(0, top)
    bands = _split_runs([_with_signs(band) for band in chain.bands if band], size)
    count = _head_bands(bands, size)
    head = [row for band in bands[:count] for row in band]
    body = [row for band in bands[count:] for row in band]
    wide = [row for row in body if is_wide(row, size)]
    strips = _strips(wide or [row for row in head if len(row) > 1], head, size)
    if not strips or len(wide) + bool(head) < 2 or not _says_so(chain, head, wide, body, strips):
        return None
    groups = _row_groups(bands[count:], strips, size)
    pitch = pitch_of([line for row in group for line in row] for group in groups)
    box = bounds([*chain.rules, *(line.box for line in chain.lines)])
    slots, depth = head_slots(head, strips, size, pitch, [rule for rule in rules if rule not in chain.rules])
    for r, group in enumerate(groups, depth):
        slots += row_slots([line for row in group for line in row], r, strips, box, size)
    found = build(slots, depth + len(groups), len(strips) + 1, box, headers=depth or None)
    return FoundTable(found.element, chain.lines)


def _with_signs(rows: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """Rows with signs of money joined to their amounts."""
    if any(line.text.strip() in SIGNS for row in rows for line in row):
        return rows_of(join_signs([line for row in rows for line in row]))
    return [list(row) for row in rows]


def _head_bands(bands: Sequence[Sequence[Sequence[Line]]], size: float) -> int:
    """How many bands are the head: the first, and those of heads below it where figures begin further down."""
    if len(bands) < 2 or len(bands[0]) > MAX_HEAD:
        return 0
    count = 1
    while count < len(bands) - 1 and sum(map(len, bands[: count + 1])) <= MAX_HEAD:
        rows = bands[count]
        rest = [row for band in bands[count + 1 :] for row in band if is_wide(row, size)]
        counted = sum(map(_has_figures, rest))
        if any(_has_figures(row) or not is_wide(row, size) for row in rows) or counted < FIGURED * len(rest):
            break
        count += 1
    return count


def _has_figures(row: Sequence[Line]) -> bool:
    """Whether there are figures beside a row's label; years may be heads."""
    return any(is_value(line.text) and not is_period(line.text) for line in row[1:])


def _head_above(chain: RuleChain, lines: Sequence[Line], size: float) -> list[list[Line]]:
    """The row of several cells right above the first rule, and bold lines over it: a head that no rule stands over."""
    rule = chain.rules[0]
    near = [
        line
        for line in lines
        if -0.3 * size < rule.top - line.box.bottom < MAX_HEAD * size
        and rule.left - size < line.box.left
        and line.box.right < rule.right + size
    ]
    rows = rows_of(near)
    if not rows or not is_wide(rows[-1], size) or rule.top - rows[-1][0].box.bottom > size:
        return []
    texts = [line.text for line in rows[-1]]
    if all(map(is_value, texts)) and not all(map(is_period, texts)):
        return []
    head = rows[-1:]
    for row in rows[-2::-1]:
        near_by = head[0][0].box.centre[1] - row[0].box.centre[1] < LINES * size_of(row[0])
        is_title = len(row) == 1 and row[0].box.left < rows[-1][0].box.left + size
        if is_title or not near_by or not all(line.bold for line in (*row, *rows[-1])):
            break
        head.insert(0, row)
    return head


def _split_runs(bands: list[list[list[Line]]], size: float) -> list[list[list[Line]]]:
    """Rows with runs cut where a column begins: a cell of the head and others say so, and all rows agree."""
    rows = [row for band in bands for row in band]
    for head in [line for row in bands[0][:MAX_HEAD] for line in row[1:]]:
        x = head.box.left
        starts = sum(any(abs(line.box.left - x) < 0.35 * size for line in row) for row in rows)
        crossing = [line for row in rows for line in row if line.box.left < x - size and line.box.right > x + size]
        cuts = {id(line): split_at(line, x, 1.5 * size) for line in crossing}
        reach = sum(row[-1].box.right > x + size for row in rows)
        if starts < 2 or not crossing or starts + len(crossing) < 0.9 * reach or None in cuts.values():
            continue
        for row in rows:
            row[:] = [part for line in row for part in (cuts.get(id(line)) or (line,))]
    return bands


def _strips(rows: Sequence[Sequence[Line]], head: Sequence[Sequence[Line]], size: float) -> list[Strip]:
    boxes = [[line.box for line in row] for row in rows]
    least = MIN_WHITE if len(rows) >= 4 else MIN_GAP
    return white_strips([*boxes, *([line.box for line in row] for row in head[-1:])], least * size)


def _says_so(
    chain: RuleChain,
    head: Sequence[Sequence[Line]],
    wide: Sequence[Sequence[Line]],
    body: Sequence[Sequence[Line]],
    strips: Sequence[Strip],
) -> bool:
    """Whether the cells are a table's: figures in a column, or rows enough, and neither prose nor labels. Without any
    word they are those of a chart."""
    if not any(char.isalpha() for row in (*head, *body) for line in row for char in line.text):
        return False
    columns: list[list[Line]] = [[] for _ in range(len(strips) + 1)]
    for row in body:
        for line in row:
            first, last = columns_of(line.box, strips)
            if first == last:
                columns[first].append(line)
    if sum(reads_on(column) for column in columns) > 1:
        return False
    if any(column and sum(is_label(line.text) for line in column) >= 0.5 * len(column) for column in columns[:-1]):
        return False
    valued = sum(sum(is_value(line.text) for line in column) >= 0.6 * len(column) > 0 for column in columns[1:])
    if len(chain.rules) > 2:
        return valued > 0 or (len(wide) >= 2 and len(columns) > 2) or len(wide) > 3
    return valued > 0 and len(wide) >= 2


def _row_groups(
    bands: Sequence[Sequence[Sequence[Line]]], strips: Sequence[Strip], size: float
) -> list[list[list[Line]]]:
    """Rows of text to rows of the table: what only goes on with cells above joins them."""
    each = len(bands) > 2 and median(len(band) for band in bands) <= 3  # a rule under each row
    rows = [row for band in bands for row in band]
    ends = list(accumulate(len(band) for band in bands))
    parts = table_rows(rows, lambda line: columns_of(line.box, strips), ends)
    groups: list[list[list[Line]]] = []
    for end, band in zip(ends, bands, strict=True):
        if each and _is_one_row(band, strips):
            groups.append([list(row) for row in band])
        else:
            groups += [[list(rows[i]) for i in part] for part in parts if end - len(band) <= part[0] < end]
    return groups


def _is_one_row(band: Sequence[Sequence[Line]], strips: Sequence[Strip]) -> bool:
    """Whether what stands between two rules is one row: most of its columns of figures hold one figure."""
    figures = Counter(columns_of(line.box, strips)[0] for row in band for line in row if is_value(line.text))
    stacked = sum(count > 1 for count in figures.values())
    steps = [below[0].box.centre[1] - above[0].box.centre[1] for above, below in pairwise(band)]
    together = all(step < LINES * size_of(row[0]) for step, row in zip(steps, band, strict=False))
    return together and 2 * stacked <= len(figures)
