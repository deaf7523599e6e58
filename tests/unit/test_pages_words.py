"""Where words begin and end in the picture of a line."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from warmwire.models.pages.engines import LineReading
from warmwire.models.pages.words import run_of, word_spans

STROKE = 6
"""Width of a letter's only stroke."""


def line_of(text: str, *, pitch: int = 20, dark: bool = False) -> tuple[NDArray[np.uint8], list[float], list[int]]:
    """A line of upright strokes, one for each letter; its letters' middles and the strokes' first columns."""
    picture = np.full((48, pitch * (len(text) + 2), 3), 250, np.uint8)
    starts = [pitch * (index + 1) for index in range(len(text))]
    for char, start in zip(text, starts, strict=True):
        if char != " ":
            picture[10:38, start : start + STROKE] = 20
    places = [(start + STROKE / 2) / picture.shape[1] for start in starts]
    return (255 - picture if dark else picture), places, starts


@pytest.mark.parametrize("dark", [False, True])
def test_words_end_where_their_ink_does(dark: bool) -> None:
    picture, places, starts = line_of("ab cde f", dark=dark)
    width = picture.shape[1]
    spans = word_spans(picture, "ab cde f", places)
    found = [(round(start * width), round(end * width)) for start, end in spans]
    assert found == [(starts[0], starts[1] + STROKE), (starts[3], starts[5] + STROKE), (starts[7], starts[7] + STROKE)]


def test_middles_in_the_white_still_find_it() -> None:
    picture, places, starts = line_of("ab cd")
    width = picture.shape[1]
    places[1] += 8 / width
    places[3] -= 8 / width
    (_, end), (start, _) = word_spans(picture, "ab cd", places)
    assert (round(end * width), round(start * width)) == (starts[1] + STROKE, starts[3])


def test_grain_does_not_hide_the_white() -> None:
    picture, places, starts = line_of("ab cd")
    grain = np.random.default_rng(3).integers(0, picture.shape[1], 60)
    picture[np.random.default_rng(4).integers(0, 48, 60), grain] = 20
    (_, end), (start, _) = word_spans(picture, "ab cd", places)
    width = picture.shape[1]
    assert end * width == pytest.approx(starts[1] + STROKE, abs=2)
    assert start * width == pytest.approx(starts[3], abs=2)


def test_words_without_white_meet_in_the_middle() -> None:
    picture = np.full((48, 200, 3), 20, np.uint8)
    picture[:10] = 250
    (_, end), (start, _) = word_spans(picture, "a b", [0.2, 0.5, 0.8])
    assert end == start == pytest.approx(0.5)


@pytest.mark.parametrize(("text", "places"), [("", []), ("  ", [0.1, 0.2]), ("ab", [0.5])])
def test_no_words_have_no_places(text: str, places: list[float]) -> None:
    assert word_spans(np.full((48, 100, 3), 250, np.uint8), text, places) == ()


def test_a_line_lies_where_it_was_cut_out() -> None:
    picture, places, _ = line_of("ab cd")
    quad = np.array([[100, 50], [240, 64], [238, 84], [98, 70]], np.float32)
    run = run_of(quad, picture, LineReading("ab cd", 0.9, places), (0.1, 0.6))
    assert run is not None
    assert run.corner == pytest.approx((99.8, 52))
    assert run.along == pytest.approx((140, 14))
    assert run.across == pytest.approx((-1, 10))
    assert run.confidence == 0.9
    assert run_of(None, picture, LineReading("ab cd", 0.9, places), (0, 1)) is None
