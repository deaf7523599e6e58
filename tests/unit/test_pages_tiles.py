"""Small letters on large sheets: looked for in tiles, each line once."""

from __future__ import annotations

import numpy as np
import pytest

cv2 = pytest.importorskip("cv2")

from warmwire.models.pages.tiles import SIDE, find_lines, joined  # noqa: E402


def _quad(left: float, top: float, right: float, bottom: float) -> np.ndarray:
    return np.array([[left, top], [right, top], [right, bottom], [left, bottom]], np.float32)


class Detector:
    """Finds rows of ink whose letters are at least 5 pixels high when a picture is brought down to `SIDE`."""

    def __init__(self) -> None:
        self.looks = 0

    def __call__(self, image: np.ndarray) -> np.ndarray:
        self.looks += 1
        scale = min(1.0, SIDE / max(image.shape[:2]))
        ink = (image.min(axis=2) < 128).astype(np.uint8)
        ink = cv2.dilate(ink, np.ones((1, 41), np.uint8))
        _, _, stats, _ = cv2.connectedComponentsWithStats(ink)
        quads = [_quad(x, y, x + w, y + h) for x, y, w, h, _ in stats[1:].tolist() if h * scale >= 5]
        return np.array(quads, np.float32).reshape(-1, 4, 2)


def _sheet(height: int, width: int, rows: list[tuple[int, int, str, float]]) -> np.ndarray:
    sheet = np.full((height, width, 3), 255, np.uint8)
    for x, y, text, scale in rows:
        cv2.putText(sheet, text, (x, y), cv2.FONT_HERSHEY_SIMPLEX, scale, (0, 0, 0), max(1, round(2 * scale)))
    return sheet


def test_each_small_line_of_a_long_sheet_is_found_once_and_whole() -> None:
    rows = [
        (100, y, "some words of a line in small letters that goes on for a while", 0.7) for y in range(60, 7000, 80)
    ]
    detect = Detector()
    quads = find_lines(_sheet(7000, 1400, rows), detect)
    assert detect.looks > 3
    assert len(quads) == len(rows)
    widths = np.ptp(quads[:, :, 0], axis=1)
    assert widths.min() > 0.98 * widths.max()


def test_a_large_title_beside_small_lines_stays_one_line() -> None:
    rows = [(100, y, "some words of a line in small letters that goes on", 0.7) for y in range(1500, 4000, 80)]
    sheet = _sheet(4200, 4200, rows)
    cv2.rectangle(sheet, (100, 200), (4000, 600), (0, 0, 0), -1)
    quads = find_lines(sheet, Detector())
    high = np.ptp(quads[:, :, 1], axis=1)
    assert (high > 200).sum() == 1
    assert len(quads) == len(rows) + 1


def test_a_page_whose_letters_are_seen_at_once_is_looked_at_once() -> None:
    rows = [(100, y, "words of a line", 2.0) for y in range(200, 3200, 120)]
    for size in ((3300, 2400), (1600, 1200)):
        detect = Detector()
        find_lines(_sheet(*size, rows), detect)
        assert detect.looks == 1
    detect = Detector()
    assert len(find_lines(np.full((4000, 3000, 3), 255, np.uint8), detect)) == 0
    assert detect.looks == 1


def test_parts_of_one_line_are_joined_and_lines_are_not() -> None:
    parts = np.array([_quad(0, 0, 100, 20), _quad(90, 1, 220, 21), _quad(0, 24, 220, 44), _quad(300, 0, 400, 20)])
    assert sorted(np.ptp(joined(parts)[:, :, 0], axis=1).tolist()) == [100, 220, 220]
    assert joined(parts[:0]).shape == (0, 4, 2)
