"""Rows of text without rules, as cells, and as they are laid out for a table of given columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from warmwire.layout.page import Box, Line
from warmwire.layout.rows import bounds, join_runs
from warmwire.layout.tables.heads import head_rows
from warmwire.layout.tables.strips import Strip, columns_of
from warmwire.layout.tables.worded import reads_by_rows
from warmwire.layout.tables.wraps import table_rows


@dataclass(frozen=True)
class CellRow:
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
class Laid:
    """Rows of text laid out as a table: the lines of its head, if it has several, and the cells of each row below."""

    rows: list[CellRow]
    edges: Sequence[Strip]
    head: list[list[Line]]
    body: list[list[Line]]

    @classmethod
    def of(cls, over: Sequence[CellRow], part: Sequence[CellRow], edges: Sequence[Strip]) -> Laid:
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
