"""`structure` is total: whatever the page, no stage fails and every word comes once."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.timing import effort
from tests.unit.layout_support import HEIGHT, WIDTH, words_of
from warmwire.layout.page import Box, Line
from warmwire.layout.structure import structure

PLACES = st.one_of(
    st.integers(-2, 40).map(lambda n: n * 15.0),  # so that edges meet
    st.floats(-50, 900),
    st.sampled_from([0.0, -1e9, 1e300, float("nan"), float("inf"), float("-inf")]),
)
EXTENTS = st.one_of(st.integers(-1, 20).map(lambda n: n * 15.0), st.floats(0, 300), st.just(0.0))
TEXTS = st.sampled_from(
    ["one", "2", "3.", "a) b", "Total", "12.50", "x y z", "–", "*", "A long line that runs on as prose does here", "is"]
)


@st.composite
def boxes(draw: st.DrawFn) -> Box:
    left, top = draw(PLACES), draw(PLACES)
    return Box(left, top, left + draw(EXTENTS), top + draw(st.one_of(st.just(12.0), EXTENTS)))


@st.composite
def any_line(draw: st.DrawFn) -> Line:
    size = draw(st.sampled_from([0.0, 8.0, 10.0, 10.0, 14.0, -3.0, float("nan"), float("inf")]))
    bold, mono = draw(st.sampled_from([None, True, False])), draw(st.sampled_from([None, True, False]))
    angle = draw(st.sampled_from([0.0, 0.0, 0.0, 45.0, 90.0, -90.0, 180.0, float("nan")]))
    return Line(draw(boxes()), draw(TEXTS), 1.0, size, bold, mono, angle=angle)


LIMIT = 80
"""Most effort (see `effort`) of a page below: they take 3 to 30, and took thousands when work grew with the square of
what a page holds."""


def check(lines: list[Line], rules: list[Box], figures: list[Box]) -> None:
    skipped: list[str] = []
    found = structure(lines, WIDTH, HEIGHT, figures=figures, rules=rules, skipped=skipped)
    assert skipped == []
    assert words_of(found) == sorted(" ".join(line.text for line in lines).split())


@settings(max_examples=30, deadline=None)
@given(st.lists(any_line(), max_size=40), st.lists(boxes(), max_size=30), st.lists(boxes(), max_size=5))
def test_any_page_gives_its_words_once(lines: list[Line], rules: list[Box], figures: list[Box]) -> None:
    check(lines, rules, figures)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1 << 32))
def test_any_arrangement_of_cells_gives_its_words_once(seed: int) -> None:
    rng = random.Random(seed)
    step, pitch = rng.choice([30, 60, 110]), rng.choice([9, 13, 25])
    cells = [(c, r) for c in range(600 // step) for r in range(25) if rng.random() < rng.choice([0.4, 0.9])]
    words = ("ab", "12.5", "Some words", "–", "A cell of several words in it")
    page = []
    for c, r in cells:
        text = rng.choice(words)
        left, top = c * step + rng.choice([0, 0, 4]), 40 + r * pitch + rng.choice([0, 0, 2])
        page.append(Line(Box(left, top, left + 5 * len(text), top + 12), text, 1.0, 10.0, rng.random() < 0.2))
    check(page, [], [])


def _dense(count: int, rng: random.Random) -> list[Line]:
    words = ("word", "12.5", "–", "a few words", "1.")
    page = []
    for _ in range(count):
        left, top, text = rng.uniform(0, 580), rng.uniform(0, 790), rng.choice(words)
        page.append(Line(Box(left, top, left + 2 * len(text), top + 4), text, 1.0, 4.0))
    return page


def _gridded(count: int) -> list[Line]:
    return [
        Line(Box(c * 30, r * 8, c * 30 + 20, r * 8 + 6), f"{r}", 1.0, 5.0)
        for r in range(count // 20)
        for c in range(20)
    ]


def _columns(count: int) -> list[Line]:
    text = "some words of a line in a column of prose"
    return [
        Line(Box(c * 150, r * 8, c * 150 + 130, r * 8 + 6), text, 1.0, 5.0) for r in range(count // 4) for c in range(4)
    ]


@pytest.mark.parametrize("make", ["random", "grid", "columns", "one place"])
def test_two_thousand_lines_take_no_time_to_speak_of(make: str) -> None:
    pages = {
        "random": _dense(2000, random.Random(7)),
        "grid": _gridded(2000),
        "columns": _columns(2000),
        "one place": [Line(Box(10, 10, 30, 20), "word", 1.0, 10.0)] * 2000,
    }
    page = pages[make]
    _in_time(page, [])


@pytest.mark.parametrize("make", ["lattice", "random", "hatching"])
def test_ten_thousand_rules_take_no_time_to_speak_of(make: str) -> None:
    rng = random.Random(3)
    rules = {
        "lattice": [Box(0, i * 0.15, 600, i * 0.15 + 0.1) for i in range(5000)]
        + [Box(i * 0.12, 0, i * 0.12 + 0.1, 800) for i in range(5000)],
        "random": [
            Box(x, y, x + (w := rng.choice([0.5, 40])), y + 40.5 - w)
            for x, y in ((rng.uniform(0, 600), rng.uniform(0, 800)) for _ in range(10_000))
        ],
        "hatching": [Box(i % 100 * 6, i // 100 * 8, i % 100 * 6 + 5, i // 100 * 8 + 0.5) for i in range(10_000)],
    }[make]
    _in_time(_gridded(200), rules)


def _in_time(lines: list[Line], rules: list[Box]) -> None:
    assert effort(lambda: check(lines, rules, [])) <= LIMIT
