"""Lines cut out along their own direction, and parted where rules and gutters pass."""

from __future__ import annotations

import numpy as np
import pytest

cv2 = pytest.importorskip("cv2")

from warmwire.layout.page import Box  # noqa: E402
from warmwire.models.pages.cuts import Cut, cut_out, split_at_gutters  # noqa: E402
from warmwire.models.pages.engines import LineReading  # noqa: E402
from warmwire.models.pages.geometry import level_short  # noqa: E402
from warmwire.models.pages.lines import read_lines  # noqa: E402
from warmwire.models.pages.strokes import ink_of  # noqa: E402


def _quad(box: Box) -> np.ndarray:
    return np.array(
        [[box.left, box.top], [box.right, box.top], [box.right, box.bottom], [box.left, box.bottom]], np.float32
    )


def _turned(width: float, height: float, degrees: float) -> np.ndarray:
    cos, sin = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * (width / 2, height / 2)
    return (corners @ np.array([[cos, sin], [-sin, cos]]) + 300).astype(np.float32)


def _angles(quad: np.ndarray) -> list[int]:
    page = np.full((600, 600, 3), 255, np.uint8)
    ((*cuts,),) = cut_out(page, quad[None], [Box(0, 0, 10, 10)], 0.0)
    return [round(cut.angle) for cut in cuts]


def test_a_line_is_cut_out_in_all_directions_it_may_have() -> None:
    assert _angles(_turned(200, 20, 1)) == [0]
    assert _angles(_turned(20, 200, 0)) == [-90, 90, 0]
    assert _angles(_turned(20, 34, 0)) == [0, -90, 90]  # a figure, or the end of something that stands
    assert _angles(_turned(200, 20, 45)) == [45, -135]
    assert _angles(_turned(30, 20, 30)) == [0] or _angles(_turned(30, 20, 30)) == [30]


def test_a_picture_of_standing_text_has_its_letters_upright() -> None:
    page = np.full((400, 400, 3), 255, np.uint8)
    cv2.putText(page, "Ax", (20, 60), cv2.FONT_HERSHEY_SIMPLEX, 1.5, (0, 0, 0), 3)
    lying = Box(10, 10, 250, 70)
    standing = Box(lying.top, 400 - lying.right, lying.bottom, 400 - lying.left)  # a quarter against the clock
    (plain,), (up, *_) = (
        cut_out(page, _quad(lying)[None], [lying], 0)[0],
        cut_out(np.ascontiguousarray(np.rot90(page)), _quad(standing)[None], [Box(0, 0, 60, 240)], 0)[0],
    )
    assert plain.image.shape == up.image.shape
    assert np.abs(plain.image.astype(int) - up.image).mean() < 12


def test_the_direction_that_reads_better_is_right() -> None:
    image = np.full((48, 400, 3), 255, np.uint8)
    cv2.putText(image, "text", (10, 36), cv2.FONT_HERSHEY_SIMPLEX, 1.2, (0, 0, 0), 2)
    cuts = [Cut(image, Box(0, 0, 40, 300), 40, -90.0), Cut(image[::-1, ::-1].copy(), Box(0, 0, 40, 300), 40, 90.0)]

    def recognise(images: object) -> list[LineReading]:
        return [
            LineReading("text", 0.99 if image[:, :200].min() < 128 else 0.4, [0.05, 0.1, 0.15, 0.2])
            for image in images  # type: ignore[attr-defined]
        ]

    for order in (cuts, cuts[::-1]):
        (line,) = read_lines([order], recognise).lines
        assert (line.text, line.angle, line.box) == ("text", -90.0, Box(0, 0, 40, 300))


def _columns(gap: int) -> tuple[np.ndarray, list[Box]]:
    """Ten rows of two columns, every third found as one line."""
    page = np.full((600, 1000, 3), 255, np.uint8)
    boxes = []
    for i in range(10):
        y = 40 + 50 * i
        cv2.rectangle(page, (20, y), (480, y + 20), (0, 0, 0), -1)
        cv2.rectangle(page, (480 + gap, y), (980, y + 20), (0, 0, 0), -1)
        halves = [Box(15, y - 5, 485, y + 25), Box(475 + gap, y - 5, 985, y + 25)]
        boxes += [Box(15, y - 5, 985, y + 25)] if i % 3 == 2 else halves
    return page, boxes


def test_two_columns_found_as_one_line_are_parted_at_their_gutter() -> None:
    page, boxes = _columns(30)
    quads = np.array([_quad(box) for box in boxes])
    parts, places = split_at_gutters(quads, boxes, ink_of(page, 20))
    assert len(places) == len(parts) == 20
    assert {round(place.right / 10) for place in places if place.left < 400} <= {48, 49, 50}


def test_a_wide_space_in_one_column_is_no_gutter() -> None:
    page, boxes = _columns(30)
    boxes = [Box(15, 35 + 50 * i, 985, 65 + 50 * i) for i in range(10)]
    assert len(split_at_gutters(np.array([_quad(box) for box in boxes]), boxes, ink_of(page, 20))[1]) == 10


def test_a_short_line_far_askew_keeps_its_angle() -> None:
    steep, slight = _turned(100, 20, 45), _turned(100, 20, 5)
    level = level_short(np.array([steep, slight]), 0.0)
    np.testing.assert_allclose(level[0], steep)
    assert abs(level[1][1][1] - level[1][0][1]) < 0.1


def test_a_long_line_that_is_read_badly_is_read_in_two_parts() -> None:
    image = np.full((48, 800, 3), 255, np.uint8)
    cv2.putText(image, "left", (10, 36), cv2.FONT_HERSHEY_SIMPLEX, 1.2, (0, 0, 0), 2)
    cv2.putText(image, "right", (690, 36), cv2.FONT_HERSHEY_SIMPLEX, 1.2, (0, 0, 0), 2)

    def recognise(images: object) -> list[LineReading]:
        whole = LineReading("lftrght", 0.6, [0.02, 0.04, 0.06, 0.9, 0.92, 0.94, 0.96])
        one, other = (
            LineReading("left", 0.99, [0.05, 0.08, 0.12, 0.16]),
            LineReading("right", 0.97, [0.75, 0.8, 0.85, 0.9, 0.95]),
        )
        return [
            whole if image.shape[1] == 800 else one if image[:, :100].min() < 128 else other
            for image in images  # type: ignore[attr-defined]
        ]

    box = Box(0, 0, 800, 48)
    (line,) = read_lines([[Cut(image, box, 48)]], recognise).lines
    assert (line.text, round(line.confidence, 3)) == ("left right", 0.979)
