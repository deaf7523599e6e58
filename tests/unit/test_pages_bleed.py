"""What shines through from the other side of the sheet, with a reader that knows which way up each picture stands."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from warmwire.models.pages.decode import LineReading

cv2 = pytest.importorskip("cv2")

from warmwire.models.pages.bleed import without_back  # noqa: E402

GREY = 190


def _glance(crops: Sequence[np.ndarray]) -> list[LineReading]:
    """Reads lines that begin with a thick stroke, as those of the page itself do, and no others."""
    readings = []
    for crop in crops:
        ink = (crop.min(axis=2) < (int(crop.min()) + 255) / 2).sum(axis=0)
        columns = np.flatnonzero(ink)
        sure = 0.98 if len(columns) and ink[columns[0]] >= ink[columns[-1]] else 0.5
        readings.append(LineReading("two words here", sure, []))
    return readings


def _page(pale_is_mirrored: bool, paper: int = 250) -> tuple[np.ndarray, np.ndarray]:
    """Six dark lines and two pale ones, with their quads. A line is a high stroke and many low ones."""
    page, quads = np.full((500, 400, 3), paper, np.uint8), []
    for row in range(8):
        top, shade = 20 + 60 * row, GREY if row >= 6 else 20
        line = np.full((20, 300, 3), paper, np.uint8)
        line[:, 4:8] = shade
        line[12:, 20:290:8] = shade
        line[12:, 21:290:8] = shade
        page[top : top + 20, 50:350] = line[:, ::-1] if row >= 6 and pale_is_mirrored else line
        quads.append([[50, top - 4], [350, top - 4], [350, top + 24], [50, top + 24]])
    return page, np.array(quads, np.float32)


def test_pale_print_in_the_mirror_is_taken_away() -> None:
    page, quads = _page(pale_is_mirrored=True)
    front = without_back(page, quads, _glance)
    assert (front[:360] == page[:360]).all()
    assert front[375:].min() > 240


def test_pale_print_that_reads_as_it_stands_stays() -> None:
    page, quads = _page(pale_is_mirrored=False)
    assert without_back(page, quads, _glance) is page


def test_a_page_all_pale_stays() -> None:
    page, quads = _page(pale_is_mirrored=True)
    faded = np.maximum(page, GREY)
    assert without_back(faded, quads, _glance) is faded


def test_a_page_without_lines_stays() -> None:
    page = np.full((50, 50, 3), 255, np.uint8)
    assert without_back(page, np.zeros((0, 4, 2), np.float32), _glance) is page
