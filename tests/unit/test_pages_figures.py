"""Pictures on scanned pages, by their ink."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from warmwire.layout.page import Box
from warmwire.models.pages.figures import find_figures
from warmwire.models.pages.strokes import find_rules, ink_of

cv2 = pytest.importorskip("cv2")

SIZE = 20.0
TEXT = [Box(100, y, 800, y + 28) for y in range(100, 500, 40)]


def page(*lines: Box) -> NDArray[np.uint8]:
    """A white page, 900 x 1200 pixels, with words where lines of text are."""
    image = np.full((1200, 900, 3), 250, np.uint8)
    for line in lines:
        words = "lines of ordinary text with words in them"
        cv2.putText(
            image, words, (int(line.left), int(line.bottom - 7)), cv2.FONT_HERSHEY_SIMPLEX, 0.8, (20, 20, 20), 2
        )
    return image


def found(image: NDArray[np.uint8], boxes: list[Box]) -> list[Box]:
    ink = ink_of(image, SIZE)
    return find_figures(ink, boxes, find_rules(ink, SIZE), SIZE)


def photo(image: NDArray[np.uint8], box: Box) -> None:
    """Grain as a photo has it."""
    height, width = int(box.height), int(box.width)
    grain = np.random.default_rng(1).integers(0, 255, (height // 8 + 1, width // 8 + 1), np.uint8)
    picture = cv2.resize(grain, (width, height), interpolation=cv2.INTER_CUBIC)
    image[int(box.top) : int(box.bottom), int(box.left) : int(box.right)] = picture[:, :, None]


def close(one: Box, other: Box) -> bool:
    return one.intersection(other) > 0.8 * one.union(other).area


def test_text_alone_is_no_picture() -> None:
    assert found(page(*TEXT), TEXT) == []


def test_a_photo_is_one() -> None:
    image, place = page(*TEXT), Box(200, 600, 700, 1000)
    photo(image, place)
    (figure,) = found(image, TEXT)
    assert close(figure, place)


def test_a_diagram_holds_its_labels() -> None:
    image = page(*TEXT)
    for x in range(3):
        cv2.circle(image, (250 + 200 * x, 750), 80, (0, 0, 0), 3)
        cv2.line(image, (330 + 200 * x, 750), (370 + 200 * x, 750), (0, 0, 0), 3)
    labels = [Box(210 + 200 * x, 740, 290 + 200 * x, 765) for x in range(3)]
    (figure,) = found(image, [*TEXT, *labels])
    assert close(figure, Box(170, 670, 730, 830))


def test_a_frame_around_text_and_a_band_behind_it_are_none() -> None:
    image = page(*TEXT)
    cv2.ellipse(image, (450, 300), (440, 290), 0, 0, 360, (0, 0, 0), 3)
    assert found(image, TEXT) == []
    image, heading = page(*TEXT), Box(120, 610, 400, 640)
    cv2.rectangle(image, (100, 600), (800, 650), (90, 90, 90), -1)
    photo(image, Box(110, 605, 790, 645))
    assert found(image, [*TEXT, heading]) == []


def test_the_edge_of_the_paper_is_none() -> None:
    image = page(*TEXT)
    photo(image, Box(0, 0, 60, 1200))
    assert found(image, TEXT) == []


def test_a_drop_cap_is_none() -> None:
    image = page(*TEXT)
    cv2.putText(image, "A", (110, 760), cv2.FONT_HERSHEY_SIMPLEX, 2.6, (0, 0, 0), 8)
    assert found(image, TEXT) == []
