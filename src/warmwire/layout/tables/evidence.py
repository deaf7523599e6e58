"""Whether rows that line up are a table, told by what their cells say.

They are one when there are figures under each other, or a bold head over plain rows.
They are none when their columns read as prose, as list markers, or as labels ("Date:") beside their values, nor where
what stands side by side keeps off each other's baselines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from itertools import pairwise
from statistics import median

from warmwire.layout.blocks.entries import FEWEST, FEWEST_INDEXED, is_section
from warmwire.layout.blocks.indexes import is_indexed
from warmwire.layout.blocks.markers import markers_of, opens_item
from warmwire.layout.page import Line
from warmwire.layout.rows import are_details, is_label, is_prose, is_value, join_runs, reads_on
from warmwire.layout.tables.laid import CellRow, Laid
from warmwire.layout.tables.strips import columns_of

_FIGURE = re.compile(r"[^\d.]")
"""All but the figures of an amount and its point."""
VALUED = 0.6
"""So many of a column's cells are figures for it to speak for a table."""
BOLD, PLAIN = 0.6, 0.2
"""So much of a head is bold at least, and so much of what is below it at most."""
LABELLED = 0.8
"""So many rows have a label where all have."""
FULL, HALF, FILLED = 0.9, 0.5, 0.35
"""So many of a table's places hold text: of one without words, of others, of one with labels for all of many rows."""
LONG = 5
"""Rows that make a table long enough to have many places empty."""
BASELINE = 0.15
"""From row to row the second cell's middle moves against the first's by less, in units of the height, three times in
four: in 40 tables, scanned ones too, by 0.11 at most, and by 0.18 or more where two texts stand side by side."""


def is_table(group: Sequence[CellRow], table: Laid) -> bool:
    """Whether rows laid out as a table are one."""
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
    wide = sum(len(row.cells) > 1 for row in group)
    if count < 2 or wide < 2 or len(table.body) + bool(table.head) < 2 or not _is_filled(table, cells):
        return False
    if _are_entries(columns) or (count == 2 and are_details([line.text for line in columns[1]])):
        return False
    if any(_mostly(column, lambda line: is_label(line.text)) for column in columns[: None if count == 2 else -1]):
        return _has_figures(columns[1:]) and count > 3
    if count == 2 and _mostly(columns[0], lambda line: bool(markers_of(f"{line.text} x"))):
        return False
    if _has_bullets(columns) or any(map(_are_counted, columns[1:])) or _are_scales(columns):
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
    valued = sum(_mostly(column, lambda line: is_value(line.text), VALUED) for column in cells)
    if wide < 3 and not (count > 2 and valued > 1):
        return False
    head, below = table.head or table.body[:1], table.body[not table.head :]
    headed = _bold_share(head) >= BOLD and _bold_share(below) <= PLAIN
    full = len(table.body) >= LONG and sum(map(len, table.columns())) >= FULL * count * len(table.body)
    return valued > 0 or (count > 2 and (headed or full))


def _is_filled(table: Laid, cells: Sequence[Sequence[Line]]) -> bool:
    """Whether enough of a table's places hold text: more of a short one's, most of one without any word, as the numbers
    in a chart would be."""
    share = sum(map(len, cells)) / max(1, len(cells) * len(table.body))
    worded = any(char.isalpha() for row in (*table.head, *table.body) for line in row for char in line.text)
    labelled = len(table.body) >= LONG and len(cells[0]) >= LABELLED * len(table.body)
    return share >= (FULL if not worded else FILLED if labelled else HALF)


def _on_baselines(group: Sequence[CellRow]) -> bool:
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


def _are_scales(columns: Sequence[Sequence[Line]]) -> bool:
    """Whether all figures of three and more under each other fall by equal steps, as those beside a chart do."""
    counted = [column for column in columns if len(column) > 2 and all(is_value(line.text) for line in column)]
    return bool(counted) and all(map(_is_scale, counted))


def _is_scale(column: Sequence[Line]) -> bool:
    figures = [
        Decimal(digits)
        for line in column
        if (digits := _FIGURE.sub("", line.text)).count(".") < 2 and any(map(str.isdigit, digits))
    ]
    steps = {above - below for above, below in pairwise(figures)}
    return len(figures) == len(column) and len(steps) == 1 and steps.pop() > 0


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
