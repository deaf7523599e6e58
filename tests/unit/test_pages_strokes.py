"""Ruling lines of pages: which strokes are borders of cells, and which are letters."""

from __future__ import annotations

import numpy as np
import pytest

cv2 = pytest.importorskip("cv2")

from warmwire.models.pages.strokes import find_rules, ink_of  # noqa: E402

SIZE = 30
"""The body size, pixels."""


def _page(*strokes: tuple[int, int, int, int]) -> np.ndarray:
    page = np.full((400, 600, 3), 255, np.uint8)
    for left, top, right, bottom in strokes:
        cv2.line(page, (left, top), (right, bottom), (0, 0, 0), 2)
    return page


def _uprights(page: np.ndarray) -> list[tuple[int, int, int]]:
    rules = find_rules(ink_of(page, SIZE), SIZE)
    return sorted(
        (round(rule.centre[0]), round(rule.top), round(rule.bottom)) for rule in rules if rule.height > rule.width
    )


def test_a_border_one_row_high_goes_from_rule_to_rule() -> None:
    """Beside a spanning cell it may be all there is of a column's border, and is no longer than a large letter."""
    levels = [(50, y, 550, y) for y in (100, 144, 188)]
    ((x, top, bottom),) = _uprights(_page(*levels, (300, 100, 300, 144)))
    assert (abs(x - 300) < 4, abs(top - 100) < 5, abs(bottom - 144) < 5) == (True, True, True)


@pytest.mark.parametrize("stem", [(300, 108, 300, 138), (300, 100, 300, 130), (575, 100, 575, 144)])
def test_the_stem_of_a_letter_between_rules_is_none(stem: tuple[int, int, int, int]) -> None:
    levels = [(50, y, 550, y) for y in (100, 144)]
    assert _uprights(_page(*levels, stem)) == []


def test_a_long_border_is_found_once() -> None:
    levels = [(50, y, 550, y) for y in (100, 144, 188)]
    assert len(_uprights(_page(*levels, (300, 100, 300, 188)))) == 1
