"""Tables drawn with level rules only, as books set them: one above, one below the head, one at the foot, or one
under each row.

Rules of one extent that follow each other, with rows of several cells between them, bound a table: all that stands
between the first and the last belongs to it, a line over all columns too. What is above the second rule is the head.
Short rules in the head tell which columns a head stands over. Text in columns between two rules of a page is none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
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
from warmwire.layout.tables.found import Found, Slot, build
from warmwire.layout.tables.heads import head_slots, pitch_of
from warmwire.layout.tables.strips import Strip, columns_of, white_strips
from warmwire.layout.tables.wraps import table_rows

MIN_WIDTH = 8.0
"""A rule shorter than that, in units of the body, underlines a word."""
MIN_WHITE = 0.35
"""Narrowest white between two columns where four rows or more agree on it; else it is MIN_GAP."""
MIN_GAP = 0.7
"""Narrowest white between two cells of one row."""
MAX_BREAK = 2.0
"""A rule drawn in pieces goes on over gaps up to that; two tables side by side stand further apart."""
LABELLED = 0.6
"""Share of its rows that begin with words, in a table with labels."""
SEAM = 0.7
"""Pieces of one rule stand nearer to each other, in units of the body; tables side by side do not."""
MAX_EMPTY = 3.0
"""Rules with nothing between them belong to one table up to that distance, as the two of a double rule do."""
MAX_ALONE = 2.5
"""Most height of a row between two rules with one line in it, which names the rows that follow."""
LINES = 1.8
"""Lines of one cell follow each other within that step, in units of their size."""
MAX_HEAD = 6
"""Most lines of a head."""
FIGURED = 0.6
"""Share of the rows below a head that hold figures, for bands without any to be of the head."""
MAX_RULES = 300
"""More long level rules than that are a ruled sheet or a drawing."""


@dataclass(slots=True)
class _Chain:
    """Rules of one extent from top to bottom, and the rows of lines between each and the next."""

    rules: list[Box]
    bands: list[list[list[Line]]]

    @property
    def rows(self) -> list[list[Line]]:
        return [row for band in self.bands for row in band]

    @property
    def lines(self) -> list[Line]:
        return [line for band in self.bands for row in band for line in row]


def banded_tables(lines: Sequence[Line], rules: Sequence[Box], size: float) -> list[Found]:
    """Tables between level `rules`; `size` is the page's body size."""
    levels = [rule for rule in rules if rule.width > rule.height]
    joined = _joined(levels, size)
    long = [rule for rule in joined if rule.width > MIN_WIDTH * size]
    if len(long) < 2 or len(long) > MAX_RULES:
        return []
    found: list[Found] = []
    free = list(lines)
    chains = _chains(long, free, size)
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


def _reaches_out(chain: _Chain, chains: Sequence[_Chain], lines: Sequence[Line], size: float) -> bool:
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


def _below(chain: _Chain, lines: Sequence[Line], size: float) -> list[list[list[Line]]]:
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
        if _is_wide(row, size):
            wide = len(rows)
        elif len(rows) > wide + 2:
            break
    if not rows or sum(is_value(line.text) for line in rows[0]) < 2:
        return []
    return [rows[:wide]]


def _is_within(line: Line, chain: _Chain, size: float) -> bool:
    first, last = chain.rules[0], chain.rules[-1]
    return first.left - size < line.box.centre[0] < first.right and first.top < line.box.centre[1] < last.bottom


def _joined(levels: Sequence[Box], size: float) -> list[Box]:
    """Rules with those in one line that touch or nearly do made one: a table's rule is often drawn cell by cell.

    Where rules of two pieces are broken at one place, and none goes over it, two tables stand side by side.
    """
    rows: list[list[Box]] = []
    for rule in sorted(levels, key=lambda rule: (round(rule.centre[1] / (0.2 * size)), rule.left)):
        last = rows[-1][-1] if rows else None
        if last is None or abs(last.centre[1] - rule.centre[1]) >= 0.3 * size:
            rows.append([rule])
        elif rule.left - last.right < SEAM * size:
            rows[-1][-1] = last.union(rule)
        else:
            rows[-1].append(rule)
    seams = [
        (left.right, right.left)
        for left, right in (row for row in rows if len(row) == 2)
        if min(left.width, right.width) > MIN_WIDTH * size
    ]
    whole = [rule for row in rows for rule in row]
    joined: list[Box] = []
    for row in rows:
        joined.append(row[0])
        for left, right in pairwise(row):
            alike = sum(abs(left.right - a) < 0.5 * size and abs(right.left - b) < 0.5 * size for a, b in seams)
            crossed = any(rule.left < left.right and rule.right > right.left for rule in whole)
            if right.left - left.right < MAX_BREAK * size and not (len(row) == 2 and alike > 1 and not crossed):
                joined[-1] = joined[-1].union(right)
            else:
                joined.append(right)
    return joined


def _chains(rules: Sequence[Box], lines: Sequence[Line], size: float) -> list[_Chain]:
    """Rules of one extent with rows of cells between them."""
    extents: list[list[Box]] = []
    for rule in sorted(rules, key=lambda rule: (rule.left, rule.top)):
        alike = next((e for e in reversed(extents[-40:]) if _same_extent(e[0], rule, size)), None)
        if alike is None:
            extents.append([rule])
        else:
            alike.append(rule)
    chains = []
    for extent in (extent for extent in extents if len(extent) > 1):
        extent.sort(key=lambda rule: rule.centre[1])
        chain = _Chain(extent[:1], [])
        left, right = extent[0].left - size, extent[0].right + size
        inside = sorted(
            (line for line in lines if left < line.box.centre[0] < right), key=lambda line: line.box.centre[1]
        )
        for above, below in pairwise(extent):
            band = rows_of(line for line in inside if above.centre[1] < line.box.centre[1] < below.centre[1])
            empty = below.centre[1] - above.centre[1] > MAX_EMPTY * size
            if not _is_tabular(band, below.centre[1] - above.centre[1], size) if band else empty:
                chains.append(chain)
                chain = _Chain([below], [])
            else:
                chain.rules.append(below)
                chain.bands.append(band)
        chains.append(chain)
    return [chain for chain in chains if len(chain.rules) > 1 and any(chain.bands)]


def _same_extent(one: Box, other: Box, size: float) -> bool:
    return abs(one.left - other.left) < size and abs(one.right - other.right) < size


def _is_tabular(rows: Sequence[Sequence[Line]], height: float, size: float) -> bool:
    """Whether what stands between two rules may be rows of a table: no sentences that run on, no long lines alone, and
    no heading between two tables."""
    if len(rows) == 1 and not _is_wide(rows[0], size):
        return height < MAX_ALONE * size
    band = [line for row in rows for line in row]
    small = sum(line.text.lstrip()[:1].islower() and line.text.count(" ") > 2 for line in band)
    if len(band) > 6 and small >= 0.35 * len(band):
        return False
    wide = [row for row in rows if _is_wide(row, size)]
    labels = [row for row in rows if not _is_wide(row, size) and any(_stands_beside(row, other) for other in wide)]
    return len(wide) >= 0.3 * (len(rows) - len(labels))


def _stands_beside(row: Sequence[Line], other: Sequence[Line]) -> bool:
    """Whether a line is as high on the page as part of a row: one line of a label whose figures are in its middle."""
    one, two = row[0].box, other[-1].box
    return min(one.bottom, two.bottom) - max(one.top, two.top) > 0.2 * min(one.height, two.height)


def _is_wide(row: Sequence[Line], size: float) -> bool:
    return any(right.box.left - left.box.right > MIN_WHITE * size for left, right in pairwise(row))


def _table(chain: _Chain, rules: Sequence[Box], lines: Sequence[Line], size: float) -> Found | None:
    top = _head_above(chain, lines, size)
    if top:
        chain.bands.insert(0, top)
    bands = _split_runs([_with_signs(band) for band in chain.bands if band], size)
    count = _head_bands(bands, size)
    head = [row for band in bands[:count] for row in band]
    body = [row for band in bands[count:] for row in band]
    wide = [row for row in body if _is_wide(row, size)]
    strips = _strips(wide or [row for row in head if len(row) > 1], head, size)
    if not strips or len(wide) + bool(head) < 2 or not _says_so(chain, head, wide, body, strips):
        return None
    groups = _row_groups(bands[count:], strips, size)
    pitch = pitch_of([line for row in group for line in row] for group in groups)
    slots, depth = head_slots(head, strips, size, pitch, [rule for rule in rules if rule not in chain.rules])
    for r, group in enumerate(groups, depth):
        slots += _row_slots(group, r, strips)
    box = bounds([*chain.rules, *(line.box for line in chain.lines)])
    found = build(slots, depth + len(groups), len(strips) + 1, box, headers=depth or None)
    return Found(found.element, chain.lines)


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
        rest = [row for band in bands[count + 1 :] for row in band if _is_wide(row, size)]
        counted = sum(map(_has_figures, rest))
        if any(_has_figures(row) or not _is_wide(row, size) for row in rows) or counted < FIGURED * len(rest):
            break
        count += 1
    return count


def _has_figures(row: Sequence[Line]) -> bool:
    """Whether there are figures beside a row's label; years may be heads."""
    return any(is_value(line.text) and not is_period(line.text) for line in row[1:])


def _head_above(chain: _Chain, lines: Sequence[Line], size: float) -> list[list[Line]]:
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
    if not rows or not _is_wide(rows[-1], size) or rule.top - rows[-1][0].box.bottom > size:
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
    chain: _Chain,
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


def _row_slots(rows: Sequence[Sequence[Line]], place: int, strips: Sequence[Strip]) -> list[Slot]:
    """The cells of one row of the table."""
    count = len(strips) + 1
    spans = sorted((columns_of(line.box, strips), i) for i, line in enumerate(line for row in rows for line in row))
    lines = [line for row in rows for line in row]
    slots: list[Slot] = []
    owner: dict[int, Slot] = {}
    for (first, last), i in spans:
        if first in owner:
            owner[first].lines.append(lines[i])
            continue
        others = [a for (a, _), _ in spans if a > first]
        last = min([last, *(a - 1 for a in others)])
        slot = Slot(place, first, 1, last - first + 1, [lines[i]])
        slots.append(slot)
        owner.update(dict.fromkeys(range(first, last + 1), slot))
    return slots + [Slot(place, c, 1, 1, []) for c in range(count) if c not in owner]
