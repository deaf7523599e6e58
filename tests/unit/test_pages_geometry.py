"""Turn, skew and the way back; no model needed."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from warmwire.layout.page import Box
from warmwire.models.pages.geometry import (
    Frame,
    are_standing,
    level_short,
    short_lines,
    skew_of,
    straight_boxes,
    upright,
)


def _quad(x: float, y: float, width: float, height: float, degrees: float = 0.0) -> np.ndarray:
    """A rectangle about (x, y), turned clockwise."""
    cos, sin = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * (width / 2, height / 2)
    return (corners @ np.array([[cos, sin], [-sin, cos]]) + (x, y)).astype(np.float32)


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_a_box_finds_its_ink_again(turn: int) -> None:
    page = np.zeros((60, 40, 3), np.uint8)
    page[10:20, 5:30] = 1
    came = np.rot90(page, -turn // 90)
    assert_allclose(upright(came, turn), page)
    box = Frame(turn, 0.0, 40, 60).original(Box(5, 10, 30, 20))
    inside = came[round(box.top) : round(box.bottom), round(box.left) : round(box.right)]
    assert inside.all()
    assert inside.sum() == came.sum()


def test_skew_is_that_of_most_lines() -> None:
    quads = np.array([_quad(300, 100 * i, 400, 20, 2.0) for i in range(1, 6)] + [_quad(300, 50, 30, 20, -8.0)])
    assert skew_of(quads) == pytest.approx(2.0, abs=0.01)
    assert skew_of(np.zeros((0, 4, 2), np.float32)) == 0.0


def test_straight_boxes_and_back() -> None:
    frame = Frame(0, 3.0, 800, 1000)
    quads = np.array([_quad(500, 300, 400, 20, 3.0)])
    (box,) = straight_boxes(quads, frame)
    assert (box.width, box.height) == pytest.approx((400, 20), abs=0.01)
    back = frame.original(box)
    assert back.centre == pytest.approx((500, 300), abs=0.01)
    assert back.height > 20


def test_short_lines_take_the_pages_angle() -> None:
    quads = np.array([_quad(100, 100, 80, 20, 4.0), _quad(300, 300, 400, 20, 4.0)])
    level = level_short(quads, 0.0)
    assert_allclose(level[0], _quad(100, 100, 80, 20), atol=0.01)
    assert_allclose(level[1], quads[1])
    assert level_short(quads[:0], 0.0).shape == (0, 4, 2)


def test_standing_lines_and_samples() -> None:
    lying = np.array([_quad(100, 20 * i, 20 * i, 15) for i in range(1, 9)])
    assert not are_standing(lying)
    assert are_standing(np.array([_quad(20 * i, 200, 15, 20 * i) for i in range(1, 9)]))
    assert not are_standing(lying[:0])
    widths = np.ptp(short_lines(lying, 3)[:, :, 0], axis=1)
    assert_allclose(widths, [40, 60, 80])
