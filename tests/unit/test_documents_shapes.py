"""Frames and shapes of a PDF page's objects."""

from __future__ import annotations

import pytest

from warmwire.documents.input.pdf.frame import PdfFrame, apply
from warmwire.documents.input.pdf.objects import Drawn, joined_strips
from warmwire.layout.page import Box


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_a_frames_matrix_is_its_mapping(rotation: int) -> None:
    frame = PdfFrame(10.0, -20.0, 110.0, 180.0, rotation)
    for x, y in ((10.0, -20.0), (0.0, 0.0), (33.5, 71.25)):
        assert apply(frame.matrix, x, y) == pytest.approx(frame.point(x, y))


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
@pytest.mark.parametrize("rotation", [0, 90])
def test_what_is_drawn_turns_with_the_page(turn: int, rotation: int) -> None:
    frame = PdfFrame(10.0, 20.0, 110.0, 220.0, rotation)
    drawn = Drawn(rules=[frame.box(20, 30, 60, 32)], order={1: 2}, count=3)
    turned = drawn.turned(turn, frame)
    assert turned.rules == [frame.turned(turn).box(20, 30, 60, 32)]
    assert (turned.order, turned.count) == ({1: 2}, 3)
    assert drawn.rules == [frame.box(20, 30, 60, 32)]
    assert isinstance(turned.rules[0], Box)


def test_strips_of_one_picture_are_joined_and_neighbours_are_not() -> None:
    strips = [Box(0, 24.8 * row, 595, 24.8 * (row + 1)) for row in range(4)]
    tiles = [Box(100 + 50 * x, 300 + 40 * y, 150 + 50 * x, 340 + 40 * y) for x in range(2) for y in range(2)]
    apart = [Box(300, 300, 350, 340), Box(300, 350, 350, 390), Box(380, 300, 440, 345)]
    found = joined_strips([*strips, *tiles, *apart])
    assert sorted(found, key=lambda box: (box.left, box.top)) == [
        Box(0, 0, 595, 99.2),
        Box(100, 300, 200, 380),
        *apart,
    ]
