"""What ink tells: rules, marks, size and weight. Drawn with OpenCV, no model needed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from warmwire.layout.page import Box, Line
from warmwire.models.pages.decode import Decoder, LineReading

cv2 = pytest.importorskip("cv2")

from warmwire.models.pages.cuts import crop, split_at_rules  # noqa: E402
from warmwire.models.pages.ink import Ink  # noqa: E402
from warmwire.models.pages.ink import measure as measure_line  # noqa: E402
from warmwire.models.pages.inked import Inked  # noqa: E402
from warmwire.models.pages.lines import bold_from, with_boxes  # noqa: E402
from warmwire.models.pages.stature import sizes_of  # noqa: E402
from warmwire.models.pages.strokes import find_marks, find_rules, ink_of, mark_of  # noqa: E402

PLACES = np.linspace(0.1, 0.4, 7).tolist()
"""Roughly where the letters of a word are that fills the first half of a picture."""


def _page(height: int = 400, width: int = 600) -> np.ndarray:
    return np.full((height, width, 3), 255, np.uint8)


def _text(image: np.ndarray, text: str, x: int, y: int, scale: float = 1.0, thickness: int = 2) -> None:
    cv2.putText(image, text, (x, y), cv2.FONT_HERSHEY_SIMPLEX, scale, (0, 0, 0), thickness, cv2.LINE_AA)


def test_rules_are_found_and_letters_are_not() -> None:
    page = _page()
    cv2.rectangle(page, (50, 100), (500, 300), (0, 0, 0), 2)
    cv2.line(page, (50, 200), (500, 200), (60, 60, 60), 1)
    _text(page, "HILL lilt 1111", 80, 170)
    rules = find_rules(ink_of(page, 30), 30)
    level = sorted(round(rule.centre[1] / 10) * 10 for rule in rules if rule.width > rule.height)
    upright = sorted(round(rule.centre[0] / 10) * 10 for rule in rules if rule.width < rule.height)
    assert (level, upright) == ([100, 200, 300], [50, 500])


def test_grain_is_neither_rule_nor_drawing() -> None:
    grain = np.random.default_rng(1).normal(0, 8, (400, 600, 1))
    page = (230 + grain).repeat(3, axis=2).clip(0, 255).astype(np.uint8)
    ink = ink_of(page, 30)
    assert find_rules(ink, 30) == []


@pytest.mark.parametrize(
    ("draw", "mark"),
    [
        (lambda image: cv2.rectangle(image, (3, 3), (18, 18), 1, -1), "•"),
        (lambda image: cv2.circle(image, (10, 10), 5, 1, -1), "•"),
        (lambda image: cv2.rectangle(image, (1, 1), (20, 20), 1, 2), "☐"),
        (lambda image: (cv2.rectangle(image, (1, 1), (20, 20), 1, 2), cv2.line(image, (4, 4), (17, 17), 1, 2)), "☑"),
        (lambda image: cv2.line(image, (1, 10), (18, 10), 1, 2), "–"),
        (lambda image: cv2.putText(image, "S", (1, 19), cv2.FONT_HERSHEY_SIMPLEX, 0.8, 1, 2), ""),
    ],
)
def test_marks(draw: object, mark: str) -> None:
    image = np.zeros((24, 24), np.uint8)
    draw(image)  # type: ignore[operator]
    rows, columns = np.flatnonzero(image.any(axis=1)), np.flatnonzero(image.any(axis=0))
    assert mark_of(image[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1].astype(bool), 22) == mark


def test_marks_apart_from_their_text_come_in_lists() -> None:
    page = _page()
    boxes = []
    for y in (100, 150, 200, 300):
        _text(page, "item", 120, y)
        boxes.append(Box(118, y - 30, 200, y + 10))
    for y in (100, 150):
        cv2.circle(page, (80, y - 10), 6, (0, 0, 0), -1)
    cv2.circle(page, (60, 290), 6, (0, 0, 0), -1)  # alone in its column: dirt
    marks = find_marks(ink_of(page, 28), boxes)
    assert [mark.text if mark else None for mark in marks] == ["•", "•", None, None]


def _places(image: np.ndarray, count: int) -> list[float]:
    """Roughly where the letters of a word are."""
    columns = np.flatnonzero((image.min(axis=2) < 128).any(axis=0))
    middles = columns[0] + (np.arange(count) + 0.5) / count * (columns[-1] - columns[0])
    return (middles / image.shape[1]).tolist()


def measure(image: np.ndarray, text: str, places: Sequence[float]) -> Ink:
    return measure_line(Inked(image), text, places)


def _measured(text: str, scale: float, thickness: int) -> Ink:
    image = _page(60, 400)
    _text(image, text, 20, 42, scale, thickness)
    return measure(image, text, _places(image, len(text)))


def test_a_check_box_read_as_a_line_of_its_own_opens_the_line_beside_it() -> None:
    def line(text: str, left: float, top: float) -> Line:
        return Line(Box(left, top, left + 20 * len(text), top + 22), text, size=24)

    lines = [line("☑", 100, 100), line("paid in full", 140, 101), line("☐", 100, 200), line("far", 300, 200)]
    found = with_boxes(lines)
    assert [one.text for one in found] == ["☑ paid in full", "☐", "far"]
    assert found[0].box.left == 100


def test_size_and_weight_follow_the_font() -> None:
    inks = [_measured("Hamburg", scale, thickness) for scale, thickness in ((0.8, 1), (1.2, 2), (0.8, 3))]
    sizes = sizes_of([ink.stature for ink in inks], [1.0] * 3)
    assert sizes[1] / sizes[0] == pytest.approx(1.5, rel=0.1)
    assert inks[2].stroke > 1.4 * inks[0].stroke


def test_light_letters_on_a_dark_ground_measure_the_same() -> None:
    image = _page(60, 400)
    _text(image, "Hamburg", 20, 42)
    one, other = measure(image, "Hamburg", PLACES), measure(255 - image, "Hamburg", PLACES)
    assert (one.stature, one.start, one.end) == (other.stature, other.start, other.end)


def test_a_rough_rule_above_is_no_part_of_the_letters() -> None:
    plain, ruled = _page(60, 400), _page(60, 400)
    for image in (plain, ruled):
        _text(image, "Hamburg", 20, 42)
    for x in range(0, 400, 23):  # broken, and not quite level
        cv2.line(ruled, (x, 3 + x % 2), (x + 19, 4 + x % 3), (90, 90, 90), 3)
    places = _places(plain, 7)
    assert measure(ruled, "Hamburg", places).stature == measure(plain, "Hamburg", places).stature


def test_a_dash_shows_no_size() -> None:
    image = _page(48, 60)
    image[22:26, 20:40] = 0
    assert not measure(image, "一", [0.5]).stature.heights


def test_what_hangs_in_from_the_line_above_is_not_measured() -> None:
    plain, tight = _page(60, 400), _page(60, 400)
    for image in (plain, tight):
        _text(image, "Hamburg", 20, 42)
    _text(tight, "gypsy query", 20, 3)  # the feet of these reach in
    places = _places(plain, 7)
    assert measure(tight, "Hamburg", places).stature == measure(plain, "Hamburg", places).stature
    assert measure(tight, "Hamburg", places).top == measure(plain, "Hamburg", places).top


@pytest.mark.parametrize("bold", [1.18, 1.3])
def test_bold_is_told_by_the_pages_own_weights(bold: float) -> None:
    rng = np.random.default_rng(3)
    usual, strong = 0.1 * rng.normal(1, 0.015, 300), 0.1 * bold * rng.normal(1, 0.015, 40)
    bound = bold_from([*usual, *strong])
    assert usual.max() < bound < strong.min()
    assert bold_from(usual.tolist()) > usual.max()
    assert bold_from([]) == 0.0


def test_slanted_letters_lean() -> None:
    image = _page(60, 400)
    _text(image, "Hillbill", 20, 42)
    shear = np.float32([[1, -0.25, 10], [0, 1, 0]])
    leant = cv2.warpAffine(image, shear, (400, 60), borderValue=(255, 255, 255))
    slants = [measure(one, "Hillbill", _places(one, 8)).slant for one in (image, leant)]
    assert slants == [pytest.approx(0.0, abs=0.03), pytest.approx(0.25, abs=0.04)]
    assert measure(image, "Hil", PLACES[:3]).slant is None


def test_ink_far_from_every_letter_read_is_unread() -> None:
    image = _page(48, 400)
    _text(image, "Hamburg", 4, 34)
    cv2.line(image, (140, 40), (390, 40), (0, 0, 0), 2)  # to write on
    edge = int(np.flatnonzero((image[:36] < 128).any(axis=(0, 2)))[-1])
    letters = (np.arange(7) + 0.5) / 7 * edge / 400
    assert measure(image, "Hamburg", letters.tolist()).unread == 0
    assert 0.4 < measure(image, "Ham", letters[:3].tolist()).unread < 0.6
    assert measure(image, "H m", letters[:3].tolist()).unread == pytest.approx(
        measure(image, "Ham", letters[:3].tolist()).unread, abs=0.05
    )
    assert measure(image, "  ", [0.1, 0.3]).unread == 1  # spaces read nothing
    assert measure(image, "", []).unread == 1
    assert measure(_page(48, 400), "", []).unread == 0
    dots = _page(24, 400)
    for x in range(10, 380, 12):
        cv2.rectangle(dots, (x, 14), (x + 3, 17), (0, 0, 0), -1)
    assert measure(dots, "", []).unread == 0
    image[:38] = 255
    assert measure(image, "", []).unread == 0  # the rule alone is nothing to read


def test_a_line_through_a_rule_is_two_cells() -> None:
    quads = np.array([[[10, 10], [210, 10], [210, 30], [10, 30]]], np.float32)
    rule = Box(100, 0, 102, 100)
    ink = np.zeros((120, 240), np.uint8)
    parts, places = split_at_rules(quads, [Box(10, 10, 210, 30)], [rule], ink)
    assert [(box.left, box.right) for box in places] == [(10, 101), (101, 210)]
    assert parts[0][1][0] == parts[1][0][0] == 101
    short = Box(100, 8, 102, 32)  # the stem of a letter
    assert len(split_at_rules(quads, [Box(10, 10, 210, 30)], [short], ink)[1]) == 1
    border = Box(100, 2, 102, 40)  # of one cell
    assert len(split_at_rules(quads, [Box(10, 10, 210, 30)], [border], ink)[1]) == 2
    ink[10:30, 104:110] = 255  # a letter
    assert len(split_at_rules(quads, [Box(10, 10, 210, 30)], [border], ink)[1]) == 1


def test_crops_are_as_high_as_the_recogniser_wants() -> None:
    page = _page()
    for width, height in ((200, 20), (200, 90), (590, 2), (1, 1)):
        quad = np.array([[5, 5], [5 + width, 5], [5 + width, 5 + height], [5, 5 + height]], np.float32)
        image = crop(page, quad)
        assert image.shape[0] == 48 or width > 100 * height
        assert 1 <= image.shape[1] <= 4800


def test_spaces_that_lost_are_written() -> None:
    decode = Decoder(["blank", "a", "b", "中", " "], range(5))

    def read(steps: list[str], space: float) -> str:
        scores = np.full((len(steps), 5), 1e-4, np.float32)
        for i, step in enumerate(steps):
            scores[i, "_ab中 ".index(step)] = 0.9
            if step == "_":
                scores[i, 4] = space
        return decode(scores, lambda asked: scores[asked]).text

    assert read(list("a_b"), 0.05) == "a b"
    assert read(list("a_b"), 0.005) == "ab"
    assert read(list("a_中"), 0.05) == "a中"
    assert read(list("a_ b"), 0.05) == "a b"
    assert read(list("a_a"), 0.001) == "aa"
    assert read(list("__"), 0.9) == " " or read(list("__"), 0.05) == ""


def test_spaces_do_not_make_a_line_surer() -> None:
    decode = Decoder(["blank", "a", " "], range(3))
    scores = np.array([[0.0, 0.5, 0.0], [0.0, 0.0, 1.0], [0.0, 0.7, 0.0], [0.0, 0.0, 1.0]], np.float32)
    reading = decode(scores, lambda asked: scores[asked])
    assert (reading.text, reading.confidence) == ("a a ", pytest.approx(0.6))
    assert reading.places == pytest.approx([0.125, 0.375, 0.625, 0.875])
    assert decode(scores[1:2], lambda asked: scores[1:2][asked]) == LineReading(" ", 0.0, [0.5], [1.0])
