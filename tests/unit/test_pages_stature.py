"""The size of a font from letters whose heights are known, and sizes that agree."""

from __future__ import annotations

import numpy as np
import pytest

from warmwire.models.pages.stature import Group, Stature, sizes_of, stature_of

_TOPS = {Group.SMALL: 14, Group.TALL: 20, Group.CAPITAL: 20, Group.DIGIT: 20}


def _drawn(text: str, base: int = 40, step: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Boxes of ink as a font would draw them, 14 pixels a small letter and 20 a capital, and the letters' middles."""
    boxes = []
    for i, char in enumerate(text):
        if char == " ":
            continue
        top = base - (14 if char in "acemnorsuvwxzgpqy" else 20)
        boxes.append([i * step + 1, top, i * step + 11, base + (6 if char in "gpqy" else 0)])
    return np.array(boxes, np.int32), (np.arange(len(text)) + 0.5) * step


def _stature(text: str) -> Stature:
    return stature_of(*_arguments(text))


def _arguments(text: str) -> tuple[np.ndarray, str, np.ndarray, int]:
    boxes, middles = _drawn(text)
    return boxes, text, middles, 60


def test_each_letter_shows_the_height_of_its_kind() -> None:
    stature = _stature("Big dogs 12")
    assert stature.baseline == 40
    assert {group: height for group, (height, _) in stature.heights.items()} == {
        Group.CAPITAL: 20, Group.SMALL: 14, Group.TALL: 20, Group.DIGIT: 20,
    }  # fmt: skip
    assert stature.heights[Group.SMALL][1] == 4  # g, o, g, s


def test_lines_of_one_font_have_one_size_whatever_their_letters() -> None:
    texts = ["Some plain words here", "no one ever saw us", "ALL CAPITALS", "1984", "gypsy"]
    sizes = sizes_of([_stature(text) for text in texts], [1.0] * len(texts))
    assert sizes == pytest.approx([sizes[0]] * len(sizes), rel=0.02)
    assert sizes_of([_stature("Some plain words here")], [2.0])[0] == pytest.approx(2 * sizes[0], rel=0.02)


def test_a_dot_above_its_stem_is_one_letter_and_ink_far_from_letters_is_none() -> None:
    boxes, middles = _drawn("on")
    plain = stature_of(boxes, "on", middles, 60)
    dotted = np.array([*boxes.tolist(), [3, 20, 7, 23], [400, 1, 410, 59]], np.int32)
    assert stature_of(dotted, "in", middles, 60).heights == {Group.SMALL: (14, 1)}  # the dotted i shows nothing
    assert stature_of(dotted[[0, 1, 3]], "on", middles, 60) == plain


def test_a_line_without_letters_shows_nothing() -> None:
    assert stature_of(np.zeros((0, 4), np.int32), "text", np.arange(4.0), 48) == Stature()
    assert stature_of(np.array([[0, 20, 10, 22]], np.int32), "–", np.array([5.0]), 48) == Stature()
    assert sizes_of([Stature()], [1.0]) == [0.0]
    assert sizes_of([], []) == []


def test_sizes_within_their_error_are_one_and_others_are_not() -> None:
    def line(capital: float, letters: int) -> Stature:
        return Stature({Group.CAPITAL: (capital, letters)}, 40.0)

    sizes = sizes_of([line(20, 40), line(20.5, 30), line(19.6, 20), line(22, 30), line(22.4, 30)], [1.0] * 5)
    assert len({round(size, 3) for size in sizes[:3]}) == 1
    assert len({round(size, 3) for size in sizes[3:]}) == 1
    assert sizes[3] > 1.08 * sizes[0]


def test_an_accent_that_its_ink_does_not_show_is_bare() -> None:
    boxes, middles = _drawn("mañe sure")
    boxes[2, 1] -= 14  # the tilde
    assert stature_of(boxes, "mañé sure", middles, 60).bare == {3}
    assert _stature("some sure").bare == frozenset()
