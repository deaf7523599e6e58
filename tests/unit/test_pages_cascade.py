"""Two readers of lines: what is doubted, how it is cut out, and which reading counts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from warmwire.models.pages.cascade import LetterSpan, better, cascade, cut, doubtful, fitted, known_words, words_of
from warmwire.models.pages.decode import Decoder, LineReading

CROP = np.full((48, 480, 3), 255, np.uint8)


def line(text: str, **unsure: float) -> LineReading:
    """A reading whose letters are sure, but those named."""
    sure = [unsure.get(char, 0.99) for char in text]
    return LineReading(text, sum(sure) / len(sure), [(i + 0.5) / len(text) for i in range(len(text))], sure)


def test_words_are_parted_by_spaces_and_chinese_letters_are_words() -> None:
    assert list(words_of("ab  c")) == [(0, 2), (4, 5)]
    assert list(words_of("a中文 b")) == [(0, 1), (1, 2), (2, 3), (4, 5)]
    assert list(words_of("")) == []


def test_what_is_sure_is_not_read_again() -> None:
    assert doubtful(line("all of it is sure")) == []


def test_a_doubtful_word_is_read_again_with_its_neighbours() -> None:
    text = "one two three four fqve six seven eight nine ten eleven"
    (part,) = doubtful(line(text, q=0.6))
    assert text[part.start : part.end] == "four fqve six"
    assert part.left == pytest.approx((text.index(" four") + 0.5) / len(text))
    assert part.right == pytest.approx((text.index(" seven") + 0.5) / len(text))


def test_parts_that_meet_are_one() -> None:
    text = "aaa bbb cqc ddd eqe fff ggg hhh iii jjj kkk lll mmm nnn"
    (part,) = doubtful(line(text, q=0.6))
    assert text[part.start : part.end] == "bbb cqc ddd eqe fff"
    (part,) = doubtful(line("axa bbb cxc", x=0.6))
    assert (part.start, part.end) == (0, 11)


def test_a_line_in_doubt_as_a_whole_is_read_again_as_a_whole() -> None:
    assert doubtful(line("xxx yyy", x=0.5, y=0.6)) == [LetterSpan(0, 7, 0.0, 1.0)]
    assert doubtful(LineReading("", 0.0, [])) == [LetterSpan(0, 0, 0.0, 1.0)]


def test_a_space_that_is_a_guess_is_doubted() -> None:
    text = "one two three four fi ve six seven eight nine ten eleven"
    reading = line(text)
    sure = list(reading.sure)
    sure[text.index(" ve")] = 0.3
    (part,) = doubtful(LineReading(text, 0.99, reading.places, sure))
    assert text[part.start : part.end] == "fi ve"


def test_a_word_of_which_much_is_sure_is_read_without_its_neighbours() -> None:
    text = "one two three fozr five six seven"
    (part,) = doubtful(line(text, z=0.7))
    assert text[part.start : part.end] == "three fozr five"
    (part,) = doubtful(line(text, z=0.85))
    assert text[part.start : part.end] == "fozr"


def test_a_word_that_stands_elsewhere_without_doubt_is_doubted_less() -> None:
    known = known_words([line("a harbour, seen"), line("by the Harbour")])
    assert known == {"harbour", "seen", "the"}
    text = "along a Harbour, and away"
    assert doubtful(line(text, H=0.7), known) == []
    assert len(doubtful(line(text, H=0.7))) == len(doubtful(line(text, H=0.5), known)) == 1
    assert known_words([line("unsure", u=0.85)]) == set()


def test_parts_are_cut_where_there_is_no_ink() -> None:
    crop = CROP.copy()
    crop[10:40, 100:230] = 0
    crop[10:40, 236:400] = 0
    part = fitted(crop, LetterSpan(0, 3, 0.0, 225 / 480))
    assert 230 <= part.right * 480 <= 236
    assert cut(crop, part).shape == (48, round(part.right * 480), 3)
    assert cut(CROP, LetterSpan(0, 1, 0.999, 0.9991)).shape[1] >= 1


def test_the_surer_reading_of_a_part_counts() -> None:
    first = line("a cxt sat", x=0.6)
    part = LetterSpan(2, 5, 0.2, 0.6)
    found = better(first, part, line(" cat"))
    assert found.text == "a cat sat"
    assert len(found.places) == len(found.sure) == len(found.text)
    assert found.places == sorted(found.places)
    assert found.confidence > first.confidence
    assert better(first, part, line("cot", o=0.5)) == first
    assert better(first, part, LineReading("", 0.0, [])) == first


def test_a_line_in_doubt_as_a_whole_is_the_careful_readers() -> None:
    unknown = line("xyx", x=0.5, y=0.5)
    nothing = LineReading("", 0.0, [])
    assert better(unknown, LetterSpan(0, 3, 0.0, 1.0), nothing) == nothing


def test_the_careful_reader_sees_doubtful_parts_only() -> None:
    text = "one two three four fqve six seven eight nine ten eleven"
    seen: list[int] = []

    def careful(crops: Sequence[np.ndarray]) -> list[LineReading]:
        seen.extend(crop.shape[1] for crop in crops)
        return [line("four five six") for _ in crops]

    readings, again = cascade([CROP] * 30, lambda crops: [line(text, q=0.6)] + [line("all sure")] * 29, careful)
    assert readings[0].text == text.replace("q", "i")
    assert again == 1
    assert len(seen) == 1
    assert seen[0] < 160


def test_a_page_with_many_corrections_is_read_again_as_a_whole() -> None:
    readings, again = cascade(
        [CROP] * 10,
        lambda crops: [line("wxrds", x=0.88)] * 5 + [line("wrong words here")] * 5,
        lambda crops: [line("words")] * len(crops),
    )
    assert [reading.text for reading in readings] == ["words"] * 10
    assert again == 10


def test_a_space_that_nearly_was_makes_the_letter_behind_it_unsure() -> None:
    decode = Decoder(["", "a", "b", " "], range(4), share=0.1, doubt=0.01)

    def read(space: float) -> LineReading:
        scores = np.array([[0, 0.9, 0, 0], [0.9, 0, 0, space], [0, 0, 0.8, 0]], np.float32)
        return decode(scores, lambda steps: scores[steps])

    assert (read(0.2).text, read(0.2).sure[1]) == ("a b", pytest.approx(0.2))
    assert (read(0.05).text, read(0.05).sure[1]) == ("ab", 0.5)
    assert (read(0.001).text, read(0.001).sure[1]) == ("ab", pytest.approx(0.8))
    assert read(0.05).confidence == pytest.approx(0.85)


def test_a_letter_is_as_sure_as_at_its_most_probable_step() -> None:
    decode = Decoder(["", "a", " "], range(3))
    scores = np.array([[0, 0.5, 0], [0, 0.9, 0], [0.9, 0, 0]], np.float32)
    reading = decode(scores, lambda steps: scores[steps])
    assert (reading.text, reading.sure) == ("a", [pytest.approx(0.9)])
