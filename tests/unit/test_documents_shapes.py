"""Frames and shapes of a PDF page's objects."""

from __future__ import annotations

import pytest

from warmwire.documents.input.pdf.frame import Frame, apply
from warmwire.documents.input.pdf.objects import Drawn
from warmwire.layout.page import Box


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_a_frames_matrix_is_its_mapping(rotation: int) -> None:
    frame = Frame(10.0, -20.0, 110.0, 180.0, rotation)
    for x, y in ((10.0, -20.0), (0.0, 0.0), (33.5, 71.25)):
        assert apply(frame.matrix, x, y) == pytest.approx(frame.point(x, y))


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
@pytest.mark.parametrize("rotation", [0, 90])
def test_what_is_drawn_turns_with_the_page(turn: int, rotation: int) -> None:
    frame = Frame(10.0, 20.0, 110.0, 220.0, rotation)
    drawn = Drawn(rules=[frame.box(20, 30, 60, 32)], order={1: 2}, count=3)
    turned = drawn.turned(turn, frame)
    assert turned.rules == [frame.turned(turn).box(20, 30, 60, 32)]
    assert (turned.order, turned.count) == ({1: 2}, 3)
    assert drawn.rules == [frame.box(20, 30, 60, 32)]
    assert isinstance(turned.rules[0], Box)
