"""Boxes and dashes read as Chinese letters, and accents that no ink shows."""

from __future__ import annotations

import pytest

from warmwire.models.pages.signs import corrected, plain

ENGLISH = ["the quick brown fox jumps over the lazy dog and more of it"] * 8


@pytest.mark.parametrize(
    ("text", "expected"), [("冈 Planks", "☑ Planks"), ("口 Motors", "☐ Motors"), ("冈", "☑"), ("回家", "回家")]
)
def test_a_box_on_a_page_in_another_script_is_one(text: str, expected: str) -> None:
    assert corrected([*ENGLISH, text], [frozenset()] * 9)[-1] == expected


def test_a_dash_that_stands_alone_is_one_however_few_letters_there_are() -> None:
    texts = ["Halt", "一", "5.14", "ー", "一", "6.10 一"]
    assert corrected(texts, [frozenset()] * 6) == ["Halt", "–", "5.14", "–", "–", "6.10 –"]
    assert corrected(["一", "你们的学校"], [frozenset()] * 2)[0] == "一"


def test_on_a_chinese_page_a_letter_is_a_letter() -> None:
    assert corrected(["回 家", "我们今天在北京"], [frozenset()] * 2)[0] == "回 家"


def test_an_accent_without_ink_is_none_where_accents_are_rare() -> None:
    text = "a café"
    assert corrected([*ENGLISH, text], [frozenset()] * 9)[-1] == text
    assert corrected([*ENGLISH, text], [*[frozenset[int]()] * 8, frozenset({5})])[-1] == "a cafe"
    french = ["été à la plage près du café"] * 3
    assert corrected(french, [frozenset({0})] * 3) == french


def test_only_what_stands_above_a_small_letter_is_taken_from_it() -> None:
    assert [plain(char) for char in "éöñçíÉæ中"] == list("eonçíÉæ中")
