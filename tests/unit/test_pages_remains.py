"""What is left on a page besides its lines: dashes, places to be read, and what is neither."""

from __future__ import annotations

import numpy as np
import pytest

cv2 = pytest.importorskip("cv2")

from warmwire.layout.page import Box  # noqa: E402
from warmwire.models.pages.remains import rest_of  # noqa: E402
from warmwire.models.pages.strokes import ink_of  # noqa: E402

SIZE = 28.0


def _page() -> np.ndarray:
    return np.full((700, 900, 3), 255, np.uint8)


def _word(page: np.ndarray, x: int, y: int, text: str = "Word") -> Box:
    """A word on a baseline, and the box that a detector gives it."""
    cv2.putText(page, text, (x, y), cv2.FONT_HERSHEY_SIMPLEX, 1.0, (0, 0, 0), 2, cv2.LINE_AA)
    return Box(x - 6, y - 30, x + 20 * len(text) + 6, y + 12)


def _table() -> tuple[np.ndarray, list[Box]]:
    page = _page()
    boxes = [_word(page, x, y) for y in range(100, 500, 50) for x in ((100,) if y > 150 else (100, 400, 600))]
    return page, boxes


def _rest(page: np.ndarray, boxes: list[Box], known: list[Box] | None = None) -> tuple[list[str], list[Box]]:
    rest = rest_of(ink_of(page, SIZE), page, boxes, known or [], SIZE)
    return [text for _, text in rest.dashes], rest.places


def test_dashes_in_cells_are_found_by_their_column_as_long_as_it_is() -> None:
    page, boxes = _table()
    for y in range(200, 500, 50):
        cv2.rectangle(page, (420, y - 10), (429, y - 7), (0, 0, 0), -1)
        cv2.rectangle(page, (620, y - 10), (637, y - 7), (0, 0, 0), -1)
    dashes, places = _rest(page, boxes)
    assert sorted(dashes) == ["-"] * 6 + ["–"] * 6
    assert places == []


@pytest.mark.parametrize(
    ("left", "top", "right", "bottom"),
    [
        (800, 290, 812, 293),  # in a row but under no column
        (420, 303, 432, 306),  # on the baseline: to write on
        (420, 620, 432, 623),  # in no row
        (420, 290, 520, 293),  # longer than any dash
        (420, 291, 422, 292),  # dirt
    ],
)
def test_what_is_no_dash(left: int, top: int, right: int, bottom: int) -> None:
    page, boxes = _table()
    cv2.rectangle(page, (left, top), (right, bottom), (0, 0, 0), -1)
    assert _rest(page, boxes)[0] == []


def test_a_figure_that_no_line_was_found_for_is_read_as_high_as_its_row() -> None:
    page, boxes = _table()
    _word(page, 400, 300, "7")
    dashes, (place,) = _rest(page, boxes)
    assert dashes == []
    assert (place.left < 402, place.right > 416, place.top <= 272, place.bottom >= 310) == (True,) * 4
    assert place.height < 2 * SIZE


def test_faint_print_known_pictures_and_drawings_are_left_alone() -> None:
    page, boxes = _table()
    cv2.putText(page, "back", (500, 600), cv2.FONT_HERSHEY_SIMPLEX, 1.0, (190, 190, 190), 2, cv2.LINE_AA)
    cv2.putText(page, "in a picture", (100, 600), cv2.FONT_HERSHEY_SIMPLEX, 1.0, (0, 0, 0), 2, cv2.LINE_AA)
    cv2.circle(page, (750, 400), 90, (0, 0, 0), 3)
    cv2.circle(page, (750, 400), 20, (0, 0, 0), 3)
    assert _rest(page, boxes, [Box(80, 560, 400, 620)]) == ([], [])
    assert _rest(_page(), []) == ([], [])
    assert _rest(_page(), boxes) == ([], [])
