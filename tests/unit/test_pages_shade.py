"""Lines of a page that lies half in shade measure as those in the light do."""

from __future__ import annotations

import numpy as np
import pytest

cv2 = pytest.importorskip("cv2")

from warmwire.layout.page import Box  # noqa: E402
from warmwire.models.pages.cuts import Cut  # noqa: E402
from warmwire.models.pages.engines import LineReading  # noqa: E402
from warmwire.models.pages.lines import read_lines  # noqa: E402
from warmwire.models.pages.shade import evened  # noqa: E402

TEXT = "lines of plain text"
PLACES = np.linspace(0.03, 0.97, len(TEXT)).tolist()


def _line(ground: int = 255, ink: int = 0) -> np.ndarray:
    image = np.full((48, 500, 3), ground, np.uint8)
    cv2.putText(image, TEXT, (10, 33), cv2.FONT_HERSHEY_SIMPLEX, 1.4, (ink,) * 3, 2, cv2.LINE_AA)
    return image


def _shaded(image: np.ndarray) -> np.ndarray:
    light = np.interp(np.arange(image.shape[1]), [0, 200, 300, 500], [1.0, 1.0, 0.5, 0.45])
    return (image * light[None, :, None]).astype(np.uint8)


def test_shade_is_neither_size_nor_weight() -> None:
    plain = _line()
    crops = [plain, plain, plain, _shaded(plain)]
    boxes = [Box(0, y, 500, y + 48) for y in range(0, 192, 48)]
    cuts = [[Cut(image, box, box.height)] for image, box in zip(crops, boxes, strict=True)]
    lines = read_lines(cuts, lambda images: [LineReading(TEXT, 0.99, PLACES) for _ in images]).lines
    assert [line.bold for line in lines] == [False] * 4
    assert lines[3].size == pytest.approx(lines[0].size, rel=0.06)


@pytest.mark.parametrize("image", [_line(), _line(ground=30, ink=230), _line()[:, :90]])
def test_even_paper_dark_grounds_and_short_lines_are_left(image: np.ndarray) -> None:
    assert evened(image) is image


def test_a_picture_one_row_high_has_a_shade_too() -> None:
    image = np.repeat(np.linspace(80, 240, 400).astype(np.uint8)[None, :, None], 3, axis=2)
    assert np.ptp(evened(image).astype(int)) < np.ptp(image.astype(int)) / 4
