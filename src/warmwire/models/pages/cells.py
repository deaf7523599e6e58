"""The cells of one table's picture, as the table model sees them.

The model writes the table's HTML, tag by tag, and gives a box with every tag that opens a cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from warmwire.layout.page import Box
from warmwire.models.pages.regions import MEAN, SPREAD
from warmwire.models.pages.session import Session, planes
from warmwire.models.pages.tables import ModelCell

SIDE: Final = 488
"""The model's picture is a square of so many pixels; what a table leaves free is black."""


class TableModel:
    """Finds the cells of a table."""

    def __init__(self, path: Path, threads: int) -> None:
        self._session = Session(path, threads)
        tags = ["<td></td>" if tag == "<td>" else tag for tag in self._session.labels]
        self._tags = ["", *tags, ""]  # the first and last are the table's begin and end

    def __call__(self, image: NDArray[np.uint8]) -> list[ModelCell]:
        """The cells, row by row; boxes in pixels of `image`."""
        import cv2

        height, width = image.shape[:2]
        scale = SIDE / max(height, width)
        small = cv2.resize(image, (max(1, int(width * scale)), max(1, int(height * scale))))
        batch = np.zeros((1, 3, SIDE, SIDE), np.float32)
        batch[:, :, : small.shape[0], : small.shape[1]] = planes(np.asarray(small, np.uint8), MEAN, SPREAD)
        boxes, scores = self._session.run(batch)
        best = scores[0].argmax(axis=1).tolist()
        end = best.index(len(self._tags) - 1, 1) if len(self._tags) - 1 in best[1:] else len(best)
        return cells_of([self._tags[tag] for tag in best[:end]], boxes[0] * max(height, width))


def cells_of(tags: Sequence[str], corners: NDArray[np.float32]) -> list[ModelCell]:
    """The cells that the tags lay out, the box of each from the four corners that came with the tag."""
    cells: list[ModelCell] = []
    taken: set[tuple[int, int]] = set()
    row = column = 0
    for i, tag in enumerate(tags):
        if tag == "<tr>":
            column = 0
        elif tag == "</tr>":
            row += 1
        elif tag.startswith("<td"):
            spans = {"rowspan": 1, "colspan": 1}
            if tag == "<td":
                for word in tags[i + 1 :]:
                    name, equals, value = word.strip().partition("=")
                    if not equals:
                        break
                    spans[name] = int(value.strip('"'))
            while (row, column) in taken:
                column += 1
            points = corners[i].reshape(4, 2)
            box = Box(*map(float, (*points.min(axis=0), *points.max(axis=0))))
            cells.append(ModelCell(row, column, spans["rowspan"], spans["colspan"], box))
            taken.update((row + r, column + c) for r in range(spans["rowspan"]) for c in range(spans["colspan"]))
            column += spans["colspan"]
    return cells
