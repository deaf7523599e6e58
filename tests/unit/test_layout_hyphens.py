"""What becomes of a hyphen at the end of a line."""

from __future__ import annotations

import pytest

from tests.timing import effort
from warmwire.layout.blocks.hyphens import Vocabulary, join_lines


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (["a small libra-", "rian came"], "a small librarian came"),
        (["the inter-", "national treaty"], "the international treaty"),
        (["INTER-", "NATIONAL TREATY"], "INTERNATIONAL TREATY"),
        (["die Schiff-", "fahrt"], "die Schifffahrt"),
        (["Haupt-", "und Nebensatz"], "Haupt- und Nebensatz"),
        (["the Anglo-", "Saxon kings"], "the Anglo-Saxon kings"),
        (["from 3-", "4 days"], "from 3-4 days"),
        (["and 3-", "methylbutanal"], "and 3-methylbutanal"),
        (["the (S)-", "enantiomer"], "the (S)-enantiomer"),
        (["the Meyer-", "Lansky group"], "the Meyer-Lansky group"),
        (["a DNA-", "binding site"], "a DNA-binding site"),
        (["by X-", "ray, or e-", "mail"], "by X-ray, or e-mail"),
        (["a state-of-", "the-art house"], "a state-of-the-art house"),
        (["the daughter-", "in-law"], "the daughter-in-law"),
        (["twenty-", "five"], "twenty-five"),
        (["ten-", "dency"], "tendency"),
        (["post-", "war, post-", "poned"], "post-war, postponed"),
        (["co-", "operation and re-", "entry"], "co-operation and re-entry"),
        (["long-", "term, long-", "ing"], "long-term, longing"),
        (["well-", "known but un-", "known"], "well-known but unknown"),
        (["mother-of-", "pearl"], "mother-of-pearl"),
        (["it was – or so he said -", "a small boat"], "it was – or so he said - a small boat"),
        (["a soft\u00ad", "ware and auto\u00admatic"], "a software and automatic"),
        (["老工程师今年", "三月介绍了"], "老工程师今年三月介绍了"),
        (["", "one", " ", "two-", ""], "one two-"),
        (["-", "x"], "- x"),
        ([], ""),
    ],
)
def test_hyphens_at_line_ends(parts: list[str], text: str) -> None:
    assert join_lines(parts) == text


@pytest.mark.parametrize(
    ("page", "parts", "text"),
    [
        (["a sea-born wind"], ["the sea-", "born"], "the sea-born"),
        (["the lamp post stood", "near lamps and the river bank there"], ["a river-", "bank"], "a river-bank"),
        (["the longtime friend of"], ["a long-", "time"], "a longtime"),
        (["here Housework is done"], ["the house-", "work"], "the housework"),
    ],
)
def test_the_page_knows_its_words(page: list[str], parts: list[str], text: str) -> None:
    assert join_lines(parts, Vocabulary.of(page)) == text


def test_a_broken_word_does_not_vouch_for_its_parts() -> None:
    lines = ["they saw a libra-", "rian and another libra-", "rian"]
    assert join_lines(lines, Vocabulary.of(lines)) == "they saw a librarian and another librarian"


def test_long_words_take_no_time() -> None:
    word = "abcdefghij" * 20_000 + "-"
    lines = [word] * 5
    assert len(join_lines(lines, Vocabulary.of(lines))) > 900_000
    assert effort(lambda: join_lines(lines, Vocabulary.of(lines))) < 20
