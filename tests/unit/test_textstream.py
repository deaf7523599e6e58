"""Pieces that end anywhere: cut at every place, the result is the same."""

from __future__ import annotations

import itertools

import pytest

from warmwire.system.text import printable
from warmwire.wire.generation.text import Repetition, StopStrings, WholeCharacters


def cuts(text: str) -> list[list[str]]:
    """The text whole, in single characters, and cut at every pair of places."""
    whole = [[text], list(text)]
    pairs = itertools.combinations(range(len(text) + 1), 2)
    return whole + [[text[:a], text[a:b], text[b:]] for a, b in pairs]


@pytest.mark.parametrize("text", ["plain", "é世界", "😀👩‍👩‍👧", "a😀b世c"])
def test_surrogate_halves_are_joined(text: str) -> None:
    halves = "".join(chr(unit) for unit in memoryview(text.encode("utf-16-le")).cast("H"))
    for pieces in cuts(halves):
        stream = WholeCharacters()
        out = [stream.feed(piece) for piece in pieces]
        assert "".join(out) + stream.end() == text
        for piece in out:
            piece.encode()  # each piece can travel


@pytest.mark.parametrize(
    ("broken", "shown"),
    [("a\ud83d", "a\ufffd"), ("\ud83dx", "\ufffdx"), ("x\ude00y", "x\ufffdy"), ("\ud83d\ud83d\ude00", "\ufffd😀")],
)
def test_lone_halves_become_replacement_characters(broken: str, shown: str) -> None:
    for pieces in cuts(broken):
        stream = WholeCharacters()
        assert "".join(stream.feed(piece) for piece in pieces) + stream.end() == shown


def test_at_most_one_unit_is_held_back() -> None:
    stream = WholeCharacters()
    assert stream.feed("abc\ud83d") == "abc"
    assert stream.feed("\ude00") == "😀"
    assert stream.end() == ""


@pytest.mark.parametrize(
    ("text", "shown", "stopped"),
    [
        ("one</doctag>two", "one", "</doctag>"),
        ("one</doc two", "one</doc two", ""),
        ("</doctag>", "", "</doctag>"),
        ("a</</doctag>b", "a</", "</doctag>"),
        ("x<|end|>y</doctag>", "x", "<|end|>"),
        ("nothing", "nothing", ""),
        ("ends </docta", "ends </docta", ""),
    ],
)
def test_text_ends_exactly_at_a_stop_string(text: str, shown: str, stopped: str) -> None:
    for pieces in cuts(text):
        stream = StopStrings(["</doctag>", "<|end|>"])
        out = "".join(stream.feed(piece) for piece in pieces)
        if not stream.found:
            out += stream.end()
        assert (out, stream.found) == (shown, stopped)


def test_no_stop_strings_hold_nothing_back() -> None:
    stream = StopStrings([])
    assert stream.feed("<") == "<"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("two\nlines  and\ttabs", "two lines and tabs"),
        ("\x1b[31mred\x07\u202e", "[31mred"),
        ("Größe 世界", "Größe 世界"),
        ("x" * 99, "x" * 40),
        ("\x00\n ", ""),
    ],
)
def test_words_of_others_are_fit_to_be_printed(text: str, shown: str) -> None:
    assert printable(text, 40) == shown


def looped(text: str, size: int = 7) -> bool:
    """Whether a text fed in pieces is found to loop."""
    watch = Repetition()
    return any(watch.feed(text[i : i + size]) for i in range(0, len(text), size))


@pytest.mark.parametrize(
    "passage", ["a", "the same ", "<text>Total amount due on the invoice</text>\n", "x" * 199 + "y"]
)
@pytest.mark.parametrize("size", [1, 7, 64])
def test_a_loop_is_found(passage: str, size: int) -> None:
    start = "<doctag><page_header>A page that begins well.</page_header>\n"
    assert looped(start + passage * (5000 // len(passage)), size)


def test_a_loop_with_wandering_boxes_is_found() -> None:
    lines = "".join(
        f"<text><loc_{i % 500}><loc_{i * 7 % 500}><loc_400><loc_410>over and over</text>\n" for i in range(200)
    )
    assert looped("<doctag>" + lines)


def test_a_loop_is_found_soon() -> None:
    watch, count = Repetition(), 0
    while not watch.feed("again and again. "):
        count += len("again and again. ")
        assert count < 4000
    assert count > 2500


@pytest.mark.parametrize(
    "page",
    [
        "Contents " + "." * 150 + " 7\n" + "Index " + "." * 140 + " 9\n",
        "<otsl>" + ("<ecel>" * 12 + "<nl>") * 20 + "</otsl>" + "Words that follow the table and fill the page. " * 4,
        "".join(f"<list_item>Item number {i} costs {i * 3}.99</list_item>\n" for i in range(300)),
        "".join(f"<text><loc_{i}><loc_{i}><loc_400><loc_410>row {i * 7919 % 1000}</text>\n" for i in range(300)),
    ],
)
def test_pages_that_repeat_honestly_are_not_cut(page: str) -> None:
    assert not looped(page)
