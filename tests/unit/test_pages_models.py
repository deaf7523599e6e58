"""What stands around the models: pictures in, scores out."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("cv2")
pytest.importorskip("onnxruntime")

from warmwire.errors import BackendUnavailableError
from warmwire.models.pages import recogniser
from warmwire.models.pages.detector import LETTERS, USUAL_SIDE, lines_in, side_for
from warmwire.models.pages.recogniser import Recogniser, picture_of
from warmwire.models.pages.session import model_path, planes


def test_planes_are_channels_less_their_mean_over_their_spread() -> None:
    image = np.zeros((2, 3, 3), np.uint8)
    image[1, 2] = (255, 51, 0)
    values = planes(image, (0.5, 0.2, 0.0), (0.5, 0.1, 1.0))
    assert values.shape == (1, 3, 2, 3)
    assert values.dtype == np.float32
    assert values[0, :, 1, 2] == pytest.approx([1, 0, 0], abs=1e-6)
    assert values[0, :, 0, 0] == pytest.approx([-1, -2, 0], abs=1e-6)


def test_a_file_that_a_package_lacks_is_named() -> None:
    with pytest.raises(BackendUnavailableError, match="no_such_package is not installed"):
        model_path("no_such_package", "x.onnx")
    with pytest.raises(BackendUnavailableError, match=r"x\.onnx is missing"):
        model_path("numpy", "x.onnx")


def test_a_line_is_as_wide_as_it_is() -> None:
    batch, share = picture_of(np.full((48, 100, 3), 255, np.uint8))
    assert batch.shape == (1, 3, 48, 104)
    assert share == pytest.approx(100 / 104)
    assert batch[..., :100] == pytest.approx(1)
    assert not batch[..., 100:].any()
    assert picture_of(np.zeros((96, 50, 3), np.uint8))[0].shape == (1, 3, 48, 32)
    assert picture_of(np.zeros((96, 1, 3), np.uint8))[0].shape == (1, 3, 48, 8)


class Scores:
    """Takes the place of a model: says the letter that a picture is as bright as, and counts."""

    def __init__(self) -> None:
        self.runs = 0

    def run(self, batch: np.ndarray) -> list[np.ndarray]:
        self.runs += 1
        scores = np.zeros((1, batch.shape[3] // 8, 4), np.float32)
        scores[0, :, 1 + round(float(batch[0, 0, 0, 0]) + 1) // 2] = 1  # dark: a, bright: b
        return [scores, scores]  # what it sees, and what that probably is


@pytest.mark.parametrize("threads", [1, 2])
def test_a_picture_that_was_read_is_not_read_again(
    threads: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    scores = Scores()
    monkeypatch.setattr(recogniser, "Session", lambda *_: scores)
    monkeypatch.setattr(recogniser, "parted", lambda *_: ([], []))
    (tmp_path / "model").write_bytes(b"model")
    (tmp_path / "letters").write_text("a\nb\n")
    dark, bright = np.zeros((48, 80, 3), np.uint8), np.full((48, 80, 3), 255, np.uint8)
    heard: list[tuple[int, int]] = []
    with ThreadPoolExecutor(threads) as pool:
        read = Recogniser(tmp_path / "model", tmp_path / "letters", pool if threads > 1 else None)
        first = read([dark, bright], lambda done, total: heard.append((done, total)))
        assert [reading.text for reading in first] == ["a", "b"]
        assert heard == [(1, 2), (2, 2)]
        assert read([bright.copy(), dark[:, ::-1]]) == [first[1], first[0]]
        assert scores.runs == 2
        assert read([dark.reshape(96, 40, 3)])[0].text == "a"  # the same bytes in another shape
        assert scores.runs == 3
        read.forget()
        assert read([dark]) == [first[0]]
        assert scores.runs == 4


def test_patches_become_lines_grown_by_a_share_of_their_height() -> None:
    marks = np.zeros((100, 200), np.float32)
    marks[20:30, 10:150] = 0.9
    marks[60:62, 10:12] = 0.9  # a speck
    marks[80:90, 10:60] = 0.29  # too faint
    quads, scores = lines_in(marks, 400, 200)
    assert len(quads) == 1
    assert scores[0] > 0.8
    left, top = quads[0, 0]
    right, bottom = quads[0, 2]
    assert (left, top, right, bottom) == pytest.approx((4, 24, 316, 76), abs=4)
    assert lines_in(np.zeros((32, 32), np.float32), 10, 10)[0].shape == (0, 4, 2)


def test_the_detector_sees_a_page_at_the_scale_of_its_letters() -> None:
    import cv2

    page = np.full((1600, 1000, 3), 255, np.uint8)
    for y in range(400, 800, 40):
        cv2.putText(page, "letters in rows", (300, y), cv2.FONT_HERSHEY_SIMPLEX, 0.8, (0, 0, 0), 2, cv2.LINE_AA)
    height = LETTERS * 1600 / side_for(page)
    assert 10 < height < 20  # of a small letter and a capital here
    framed = cv2.rectangle(page.copy(), (20, 20), (980, 1580), (0, 0, 0), 2)
    assert side_for(framed) == side_for(page)
    assert side_for(np.full((1600, 1000, 3), 255, np.uint8)) == USUAL_SIDE


def test_corners_run_clockwise_from_the_top_left() -> None:
    import cv2

    marks = np.zeros((200, 200), np.float32)
    box = cv2.boxPoints(((100, 100), (120, 12), 10))
    cv2.fillPoly(marks, [box.astype(np.int32)], 0.9)
    (quad,), _ = lines_in(marks, 200, 200)
    assert quad[0, 0] < quad[1, 0]
    assert quad[0, 1] < quad[1, 1] < quad[2, 1]
    assert quad[3, 0] < quad[2, 0]
