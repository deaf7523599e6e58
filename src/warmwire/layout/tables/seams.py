"""Two tables that stand side by side and look like one.

Each begins with labels and goes on with figures, so the second one's labels follow the first one's figures. That alone
is a table with notes between its figures. They are two where the heads of one are those of the other, where each has a
title of its own, or where rows of one stand between rows of the other.
"""

from __future__ import annotations

from collections.abc import Sequence

from warmwire.layout.page import Box, Line
from warmwire.layout.rows import is_value
from warmwire.layout.tables.strips import Strip, columns_of

MOSTLY = 0.6
"""Share of a column that is words, or figures, for all of it to be."""
ALONE = 0.3
"""Share of the lines of text that only one of two tables has, where they are not set row beside row."""


def seam_of(
    strips: Sequence[Strip],
    head: Sequence[Sequence[Line]],
    body: Sequence[Sequence[Line]],
    rows: Sequence[Sequence[Box]],
) -> float | None:
    """Where the second of two tables begins; `rows` are the boxes of each line of text, head and body."""
    columns: list[list[str]] = [[] for _ in range(len(strips) + 1)]
    for line in (line for row in body for line in row):
        columns[columns_of(line.box, strips)[0]].append(line.text)
    worded = [sum(not is_value(text) for text in column) >= MOSTLY * len(column) > 0 for column in columns]
    counted = [sum(map(is_value, column)) >= MOSTLY * len(column) > 0 for column in columns]
    for place in range(2, len(columns) - 1):
        if not (worded[0] and counted[place - 1] and worded[place] and counted[place + 1]):
            continue
        middle = sum(strips[place - 1]) / 2
        lines = [*head, *body[: not head]]
        if _are_titled(rows, middle, strips[place - 1]) or _are_alike(lines, strips, place) or _are_apart(rows, middle):
            return middle
    return None


def _are_titled(rows: Sequence[Sequence[Box]], middle: float, strip: Strip) -> bool:
    """Whether the first line of text is two titles: one begins at the left end, one where the second table does."""
    left = min(box.left for row in rows for box in row)
    height = rows[0][0].height
    titles = rows[0]
    return (
        len(titles) == 2
        and abs(titles[0].left - left) < height
        and abs(titles[1].left - strip[1]) < height
        and titles[0].right < middle < titles[1].left
    )


def _are_alike(head: Sequence[Sequence[Line]], strips: Sequence[Strip], place: int) -> bool:
    """Whether the columns right of a place have the heads of those left of it."""
    heads = [""] * (len(strips) + 1)
    for line in (line for row in head for line in row):
        heads[columns_of(line.box, strips)[0]] += line.text
    return len(heads) == 2 * place and sum(heads[i] == heads[i + place] != "" for i in range(place)) >= place - 1


def _are_apart(rows: Sequence[Sequence[Box]], middle: float) -> bool:
    """Whether many lines of text are in one of the tables only, among those of both."""
    sides = [{box.left > middle for box in row} for row in rows]
    last = max((i for i, side in enumerate(sides) if len(side) == 2), default=0)
    alone = sum(len(side) == 1 for side in sides[:last])
    return alone >= ALONE * last > 0
