"""The page reader: one page's pixels to DocTags.

Find the turn, then the lines, then the skew they share; rules and regions are looked for on the straight page.
Lines are read from the page as it came, so that no letter is resampled twice. Every step is one call of a model,
and between two steps the reader looks whether it is still wanted.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from warmwire.layout.doctags import write_elements
from warmwire.layout.page import Box, Element, Kind, Line
from warmwire.layout.structure import structure
from warmwire.models.base import Report
from warmwire.models.images import Image
from warmwire.models.pages.engines import Engines, Pixels, Quads
from warmwire.models.pages.geometry import Frame, skew_of, straight_boxes, straight_image, upright
from warmwire.models.pages.lines import crop, read_lines, split_at_rules
from warmwire.models.pages.strokes import find_rules


class PageReader:
    """Reads pages of print with the models inside the wheels of the extra `pages`.

    The constructor loads every model and runs each once. `threads` defaults to the number of processors, at most
    four: more do not help one page. Raises BackendUnavailableError when a part is missing.
    """

    name = "pages"

    def __init__(self, threads: int | None = None) -> None:
        self._engines = Engines(threads or min(os.cpu_count() or 1, 4))
        self._warm_up()

    def _warm_up(self) -> None:
        page = np.full((400, 300, 3), 255, np.uint8)
        page[190:200, 40:260] = 0
        self._engines.turn(page)
        self._engines.detect(page)
        self._engines.regions(page)
        self._engines.recognise([page[180:210]])

    def generate(
        self,
        image: Image,
        prompt: str,
        max_tokens: int | None,
        emit: Callable[[str], None],
        cancelled: threading.Event,
    ) -> Report:
        """Emit the page as DocTags, element by element, places in the frame of `image`.

        `prompt` and `max_tokens` do not apply. The report has `confidence` (0 to 1, the mean over letters), `turn`
        (degrees clockwise the page lay), `skew` (degrees) and `lines`.
        """
        height, width = image.shape[:2]
        report: dict[str, Any] = {"confidence": 0.0, "turn": 0, "skew": 0.0, "lines": 0}
        emit("<doctag>\n")
        for chunk in self._elements(image[:, :, ::-1], cancelled, report):
            if cancelled.is_set():
                return report
            emit(write_elements(chunk, width, height))
        emit("</doctag>")
        return report

    def _elements(self, image: Pixels, cancelled: threading.Event, report: dict[str, Any]) -> Iterator[list[Element]]:
        """The page's elements; the items of one list come together."""
        page, frame, quads = self._place(image, cancelled)
        report.update(turn=frame.turn, skew=round(frame.skew, 2))
        if cancelled.is_set():
            return
        straight = straight_image(page, frame.skew)
        regions = self._engines.regions(straight)
        boxes = straight_boxes(quads, frame)
        rules = find_rules(straight, _size(boxes))
        if cancelled.is_set():
            return
        quads, boxes = split_at_rules(quads, boxes, rules)
        lines = read_lines([crop(page, quad) for quad in quads], boxes, self._engines.recognise)
        report.update(lines=len(lines), confidence=round(_confidence(lines), 4))
        if cancelled.is_set():
            return
        elements = structure(lines, frame.width, frame.height, regions=regions, rules=rules)
        for element in elements:
            element.box = frame.original(element.box) if element.box is not None else None
        for _, chunk in groupby(
            enumerate(elements), key=lambda pair: -1 if pair[1].kind is Kind.LIST_ITEM else pair[0]
        ):
            yield [element for _, element in chunk]

    def _place(self, image: Pixels, cancelled: threading.Event) -> tuple[Pixels, Frame, Quads]:
        """The upright page, how it lies in the image, and its lines."""
        turn = self._engines.turn(image)
        page = upright(image, turn)
        quads = self._engines.detect(page)
        return page, Frame(turn, skew_of(quads), page.shape[1], page.shape[0]), quads


def _size(boxes: Sequence[Box]) -> float:
    """The body size in pixels, from the heights of the lines' boxes, which the detector draws generously."""
    return 0.72 * float(np.median([box.height for box in boxes])) if boxes else 20.0


def _confidence(lines: Sequence[Line]) -> float:
    letters = sum(len(line.text) for line in lines)
    return sum(line.confidence * len(line.text) for line in lines) / letters if letters else 0.0
