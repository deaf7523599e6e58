"""From lines to blocks: any column gives paragraphs, and any paragraphs elements, with every word in one of them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmwire.layout.blocks.hyphens import Vocabulary, join_lines
from warmwire.layout.blocks.kinds import blocks
from warmwire.layout.blocks.markers import find_markers, markers_of
from warmwire.layout.blocks.paragraphs import paragraphs
from warmwire.layout.page import Box, Element, Line

_SAMPLE = """the river Keeper LAMPS counted. Oscar said: wide, of and o x = 3 + y — - – * 1. 2. (a) b) [1] [12] 2.1 §
well known inter national co operation Figure 1: 12 1890 iii 3.50 ☐ • ¹ ´ 冈 東京 Abstract REFERENCES"""
WORDS = _SAMPLE.split()
SIZES = (0.0, 8.0, 10.0, 10.5, 14.0, 40.0)
number = st.floats(0, 900, allow_nan=False, width=32)
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join).map(str.strip).filter(bool)


@st.composite
def some_line(draw: st.DrawFn) -> Line:
    left, top = draw(number), draw(number)
    box = Box(left, top, left + draw(st.floats(0, 500, width=32)), top + draw(st.floats(0, 60, width=32)))
    flag = st.sampled_from((None, True, False))
    return Line(box, draw(texts), 1.0, draw(st.sampled_from(SIZES)), draw(flag), draw(flag))


def letters(items: list[str]) -> Counter[str]:
    """What must not get lost: letters and figures; hyphens, leader dots and spaces may."""
    return Counter(char for item in items for char in item if char.isalnum())


@given(st.lists(some_line(), max_size=40), st.sampled_from((1e-6, 8.0, 10.0, 30.0)))
def test_every_letter_is_in_one_block(lines: list[Line], size: float) -> None:
    parts = paragraphs(lines, size)
    assert letters([line.text for part in parts for line in part.lines]) == letters([line.text for line in lines])
    found: list[Element] = blocks(parts, 900, size, (), Vocabulary.of(line.text for line in lines))
    assert letters([f"{e.marker} {e.text}" for e in found]) == letters([line.text for line in lines])


@given(st.lists(st.text(alphabet="abcXYZ019-‐\u00ad .)’—\u2011é漢ß", max_size=12), max_size=8))
def test_lines_are_joined_whatever_they_end_in(parts: list[str]) -> None:
    joined = join_lines(parts, Vocabulary.of(parts))
    assert letters([joined]) == letters(parts)


@given(st.text(max_size=20))
def test_a_marker_and_the_rest_are_the_text(text: str) -> None:
    for marker in markers_of(text):
        assert letters([marker.text, marker.rest]) == letters([text])


@pytest.mark.parametrize("text", ["." * 200_000 + "x!", ". " * 100_000 + "!", "_" * 200_000 + "x y", "-" * 200_000])
def test_a_long_row_of_signs_takes_no_time(text: str) -> None:
    start = time.process_time()
    parts = paragraphs([Line(Box(0, 0, 400, 12), text, 1.0, 10.0)] * 2, 10.0)
    blocks(parts, 900, 10.0, (), Vocabulary.of([text]))
    assert time.process_time() - start < 2


def _column(text: Callable[[int], str], count: int) -> list[Line]:
    return [Line(Box(50, 13 * i, 450, 13 * i + 12), text(i), 1.0, 10.0, False) for i in range(count)]


@pytest.mark.parametrize(
    "text",
    [
        lambda i: "the keeper counted the lamps near the river",
        lambda i: f"{i % 90}. the keeper counted the lamps",
        lambda i: "o x = 3",
        lambda i: f"lamps, {i}",
        lambda i: f"Lamps .......... {i}",
    ],
)
def test_long_columns_take_time_in_proportion(text: Callable[[int], str]) -> None:
    """Eight times the lines would take 64 times as long if every line were set against every other."""

    def seconds(count: int) -> float:
        lines = _column(text, count)
        start = time.process_time()
        parts = paragraphs(lines, 10.0)
        blocks(parts, 900, 10.0, (), Vocabulary.of(line.text for line in lines))
        find_markers(lines, 10.0)
        return time.process_time() - start

    few = min(seconds(500) for _ in range(3))
    assert any(seconds(4000) < 20 * few + 0.2 for _ in range(3))
