"""Tables that neither rules nor alignment explain, by the table model.

The model sees spans over columns that geometry cannot, and errs on long spans over rows and on dense pages. So it is
asked only where the layout model saw a table that has no lattice and whose text does not fill a plain grid, and its
answer counts only when nearly all text falls into its cells.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from warmwire.layout.page import Box, Line, Region, RegionKind
from warmwire.layout.rows import rows_of
from warmwire.layout.tables.alignment import MIN_GAP, aligned_table
from warmwire.layout.tables.found import Found, Slot, build
from warmwire.layout.tables.grids import grid_tables

MIN_SCORE = 0.6
"""Least score of a region that the table model is asked about."""
MIN_FIT = 0.95
"""Least share of a table's lines that must be explained: by alignment to spare the model, by its cells to use it."""
MAX_PLACES = 4000
"""A grid with more places is an accident of the model."""
SMALL = 700
"""A picture whose sides are all below this, in pixels, is enlarged twice: the model reads it better."""


@dataclass(frozen=True, slots=True)
class ModelCell:
    """One cell as the table model sees it; `box` in pixels of the picture it was given."""

    row: int
    column: int
    rowspan: int
    colspan: int
    box: Box


def model_tables(
    image: NDArray[np.uint8],
    lines: Sequence[Line],
    regions: Sequence[Region],
    rules: Sequence[Box],
    size: float,
    ask: Callable[[NDArray[np.uint8]], list[ModelCell]],
) -> list[Found]:
    """The tables of a straight page that only the model explains; `ask` gives its cells for the picture of one."""
    wanted = [region.box for region in regions if region.kind is RegionKind.TABLE and region.score >= MIN_SCORE]
    drawn = [table.element.box for table in grid_tables(lines, rules, size)] if wanted else []
    found = []
    for box in wanted:
        inside = [line for line in lines if line.box.intersection(box) >= 0.6 * line.box.area]
        if len(inside) < 4 or any(other is not None and other.intersection(box) > 0.3 * box.area for other in drawn):
            continue
        aligned = aligned_table(inside, size, seen=[box])
        if aligned is not None and len(aligned.used) >= MIN_FIT * len(inside) and _is_plain(aligned):
            continue
        table = _table(_cells(image, box, ask), inside, box, size)
        if table is not None:
            found.append(table)
    return found


def _is_plain(found: Found) -> bool:
    """Whether every place of a table has text of its own."""
    table = found.element.table
    return table is not None and sum(bool(cell.text) for cell in table.cells) == table.rows * table.columns


def _cells(image: NDArray[np.uint8], box: Box, ask: Callable[[NDArray[np.uint8]], list[ModelCell]]) -> list[ModelCell]:
    """The model's cells with boxes on the page."""
    import cv2

    left, top = max(0, round(box.left)), max(0, round(box.top))
    picture = image[top : round(box.bottom), left : round(box.right)]
    scale = 2 if max(picture.shape[:2]) < SMALL else 1
    if scale > 1:
        picture = np.asarray(cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC), np.uint8)
    return [
        ModelCell(
            cell.row,
            cell.column,
            cell.rowspan,
            cell.colspan,
            Box(
                left + cell.box.left / scale,
                top + cell.box.top / scale,
                left + cell.box.right / scale,
                top + cell.box.bottom / scale,
            ),
        )
        for cell in ask(picture)
    ]


def _table(cells: Sequence[ModelCell], lines: Sequence[Line], box: Box, size: float) -> Found | None:
    rows = max((cell.row + cell.rowspan for cell in cells), default=0)
    columns = max((cell.column + cell.colspan for cell in cells), default=0)
    if rows < 2 or columns < 2 or rows * columns > MAX_PLACES:
        return None
    slots = [Slot(cell.row, cell.column, cell.rowspan, cell.colspan, []) for cell in cells]
    fitting = 0
    for line in lines:
        shares = [line.box.intersection(cell.box) / max(line.box.area, 1e-6) for cell in cells]
        best = max(range(len(cells)), key=shares.__getitem__)
        if shares[best] >= 0.4:
            fitting += 1
            slots[best].lines.append(line)
    sides = (pair for slot in slots for row in rows_of(slot.lines) for pair in pairwise(row))
    if any(right.box.left - left.box.right > MIN_GAP * size for left, right in sides):
        return None  # texts apart from each other in one cell: the model missed a column
    if fitting < MIN_FIT * len(lines) or sum(bool(slot.lines) for slot in slots) < 0.5 * len(slots):
        return None
    return build(slots, rows, columns, box)
