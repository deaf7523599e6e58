"""Which lines of a page are believed, from how sure their letters are and what ink they leave unread."""

from __future__ import annotations

import pytest

pytest.importorskip("cv2")

from warmwire.models.pages.engines import LineReading
from warmwire.models.pages.ink import Ink
from warmwire.models.pages.legible import are_legible, is_greek, legibility


def score(text: str, confidence: float, unread: float = 0.0) -> float:
    return legibility(LineReading(text, confidence, []), Ink(unread=unread))


def judge(scores: list[float], letters: int = 30) -> list[bool]:
    return are_legible(scores, [letters] * len(scores), [20.0] * len(scores))


def test_a_line_is_as_legible_as_it_is_sure_and_whole() -> None:
    assert score("lamps near the harbour", 0.98) == pytest.approx(0.98)
    assert score("a o p c", 0.95, 0.9) == pytest.approx(0.095)  # the letters that Cyrillic shares with Latin
    assert score("", 0.0, 1.0) == 0


def test_doubt_counts_twice_in_words_that_mix() -> None:
    assert score("8006sm9 bsdsm039mm", 0.8) == pytest.approx(0.6)
    assert score("OhUS DhBO", 0.8) == pytest.approx(0.6)
    assert score("lamps 8006 WWII Harbour", 0.8) == pytest.approx(0.8)
    assert score("XKCD-3F9Z-QQ17 camelCase", 0.99) > 0.97  # nothing wrong with these where they are sure


@pytest.mark.parametrize(
    ("text", "greek"),
    [
        ("ιδιορθσει πντω δεδνων πτε", True),
        ("-x, --exclude=PAT εξαρεση αρχεων με", True),
        ("α + β = γ, ∆t = 0.5 s, σ² = 2.3", False),
        ("Tensors Σαβγ and Rμνρσ of the second kind", False),
        ("the word λόγος in a sentence", False),
        ("λ", False),
        ("", False),
    ],
)
def test_greek_prose_is_not_a_formula(text: str, greek: bool) -> None:
    assert is_greek(text) is greek
    assert (score(text, 0.9) == 0) is (greek or not text) or not text


def test_a_page_in_another_script_gives_nothing_but_what_stands_out() -> None:
    assert judge([0.4, 0.6, 0.5, 0.7, 0.3]) == [False] * 5
    assert judge([0.4, 0.6, 0.5, 0.98, 0.3]) == [False, False, False, True, False]


def test_a_poor_scan_is_kept() -> None:
    assert judge([0.85, 0.78, 0.9, 0.7, 0.88]) == [True] * 5


def test_a_strange_line_on_a_good_page_is_left_out() -> None:
    good = [0.97, 0.99, 0.98, 0.96]
    assert judge([*good, 0.7]) == [True] * 4 + [False]
    assert judge([*good, 0.7], letters=3) == [True] * 5  # three letters say little
    assert judge([*good, 0.4], letters=3) == [True] * 4 + [False]


def test_long_lines_say_more_about_a_page_than_short_ones() -> None:
    scores, letters = [0.98, 0.97, 0.99, 0.5], [2, 2, 2, 60]
    assert are_legible(scores, letters, [1.5, 1.5, 1.5, 40]) == [True, True, True, False]
    assert are_legible([0.8, 0.8, 0.8, 0.5], letters, [1.5, 1.5, 1.5, 40]) == [False] * 4


def test_strokes_taken_for_lines_say_nothing_about_a_page() -> None:
    assert (
        are_legible([0.8, 0.8, 0.0, 0.0, 0.0], [20] * 2 + [0] * 3, [20.0] * 2 + [0.0] * 3) == [True] * 2 + [False] * 3
    )
    assert are_legible([0.0], [0], [0.0]) == [False]
    assert are_legible([], [], []) == []
