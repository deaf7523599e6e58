"""The page reader: one page's pixels to DocTags.

Find the turn, then the lines, then the skew they share; rules and pictures are looked for on the straight page.
Lines are read from the page as it came, so that no letter is resampled twice. Every step is one call of a model,
and between two steps the reader looks whether it is still wanted.

Elements are sent one by one, but only when all lines are read: what is bold, a heading, a title or in another script is
told by comparison with the whole page (docs/decisions/0004-a-page-is-read-whole.md).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np

from warmwire.layout.doctags.writer import write_elements
from warmwire.layout.looks import looks_of
from warmwire.layout.mirror import is_leftward, mirror_of, mirrored, unchanged
from warmwire.layout.page import Box, Element, Kind, Line
from warmwire.layout.runs import report_runs
from warmwire.layout.structure import structure
from warmwire.media.images import Image
from warmwire.models.effort import Quality
from warmwire.models.interface import Hearing, Progress, Report
from warmwire.models.pages.bleed import without_back
from warmwire.models.pages.cuts import crop, cut_out, split_at_gutters, split_at_rules
from warmwire.models.pages.engines import Engines, Pixels, Quads
from warmwire.models.pages.figures import find_figures
from warmwire.models.pages.geometry import (
    Frame,
    are_standing,
    checked_skew,
    level_short,
    short_lines,
    skew_of,
    straight_boxes,
    straight_image,
    upright,
)
from warmwire.models.pages.lines import dash_lines, loose, read_lines, unmarked, with_boxes, with_marks
from warmwire.models.pages.remains import rest_of
from warmwire.models.pages.strokes import find_marks, find_rules, ink_of
from warmwire.models.pages.tiles import find_lines
from warmwire.system.cpus import cores

SAMPLE = 6
"""How many short lines are tried upside down."""
SURE = 0.9
"""How surely they must read so for the page to be turned."""


class PageReader:
    """Reads pages of print with the models inside the wheels of the extra `pages`.

    The constructor loads every model and runs each once. `threads` defaults to the number of processors, at most
    four: more do not help one page. `languages` are those of lines in other scripts, for tesseract; what it has by
    default. Raises BackendUnavailableError when a part is missing.
    """

    name = "pages"

    def __init__(self, threads: int | None = None, quality: Quality = Quality.AUTO, languages: str = "") -> None:
        self._engines = Engines(threads or min(cores(), 4), quality, languages)
        self._warm_up()

    def _warm_up(self) -> None:
        page = np.full((400, 300, 3), 255, np.uint8)
        page[190:200, 40:260] = 0
        self._engines.turn(page)
        self._engines.detect(page)
        self._engines.recognise([page[180:210]])

    def generate(
        self,
        image: Image,
        prompt: str,
        max_tokens: int | None,
        emit: Callable[[str], None],
        cancelled: threading.Event,
    ) -> Report:
        """Emit the page as DocTags, element by element once all of it is read, places in the frame of `image`.

        `prompt` and `max_tokens` do not apply. The report has `confidence` (0 to 1, the mean over letters), `turn`
        (degrees clockwise the page lay), `skew` (degrees), `lines` and `unread`, how many more lines were seen that are
        in a script the recogniser does not know or too poor to read; none of their letters are given. `elements` has
        what DocTags cannot carry, for each element in order: size in pixels, bold, italic, confidence (see `looks`).
        `skipped` names the stages of the layout that failed, where some did. `words` says where every word stands (see
        `runs`), `readers` how many pictures of lines the model "tiny" read, "small" at least a part of, and "tesseract
        rus", say, in Russian.
        """
        height, width = image.shape[:2]
        emit("<doctag>\n")
        sight = self.look(image, cancelled, emit.progress if isinstance(emit, Hearing) else None)
        skipped: list[str] = []
        sent: list[Element] = []
        if sight is not None:
            for chunk in elements_of(sight, skipped):
                if cancelled.is_set():
                    break
                emit(write_elements(chunk, width, height))
                sent += chunk
        emit("</doctag>")
        report = sight.report(sent) if sight is not None else {"confidence": 0.0, "turn": 0, "lines": 0}
        return report | ({"skipped": skipped} if skipped else {})

    def look(self, image: Image, cancelled: threading.Event, progress: Progress | None = None) -> Sight | None:
        """Run the models over a page; None when cancelled meanwhile. `progress` hears of each line that is read."""
        self._engines.begin()
        turn, page, quads = self._upright(_reversed(image))
        if cancelled.is_set():
            return None
        front = without_back(page, quads, self._engines.glance)
        if front is not page:
            page, quads = front, find_lines(front, self._engines.detect)
        frame = Frame(turn, checked_skew(page, skew_of(quads)), page.shape[1], page.shape[0])
        quads = level_short(quads, frame.skew)
        straight = straight_image(page, frame.skew)
        boxes = straight_boxes(quads, frame)
        ink = ink_of(straight, _size(boxes))
        rules = find_rules(ink, _size(boxes))
        if cancelled.is_set():
            return None
        quads, boxes = split_at_gutters(*split_at_rules(quads, boxes, rules, ink), ink)
        figures = find_figures(ink, boxes, rules, _size(boxes))
        rest = rest_of(ink, straight, boxes, [*rules, *figures], _size(boxes))
        text = read_lines(
            cut_out(page, quads, boxes, frame.skew),
            partial(self._engines.recognise, progress=progress),
            cut_out(page, frame.quads(rest.places), rest.places, frame.skew),
            self._engines.scripts,
        )
        self._engines.readers.update({f"tesseract {name}": count for name, count in text.languages.items()})
        if cancelled.is_set():
            return None
        known = with_boxes(text.lines)
        marks = find_marks(ink, [loose(line) for line in known])
        lines = [*with_marks(known, marks), *unmarked([*text.rest, *dash_lines(known, rest.dashes)], marks)]
        return Sight(frame, lines, figures, rules, text.unread, dict(self._engines.readers))

    def _upright(self, image: Pixels) -> tuple[int, Pixels, Quads]:
        """The page's turn, the page turned back, and its lines.

        The orientation model sees the page's shape only and errs on dense tables and near-empty pages. Where lines
        stand upright it was wrong by a quarter, where they read better upside down by a half.
        """
        turn = self._engines.turn(image)
        page = upright(image, turn)
        quads = find_lines(page, self._engines.detect)
        if are_standing(quads):
            turn = (turn + 90) % 360
            page = upright(image, turn)
            quads = find_lines(page, self._engines.detect)
        if self._is_upside_down(page, quads):
            turn = (turn + 180) % 360
            page = upright(image, turn)
            quads = find_lines(page, self._engines.detect)
        return turn, page, quads

    def _is_upside_down(self, page: Pixels, quads: Quads) -> bool:
        """Try a few short lines, and where they read badly the other way up too. Hebrew upside down looks like Latin
        capitals, but not quite."""
        crops = [crop(page, quad) for quad in short_lines(quads, SAMPLE)]
        upright = self._sureness(crops)
        if upright >= SURE:
            return False
        return self._sureness([np.ascontiguousarray(image[::-1, ::-1]) for image in crops]) > max(upright + 0.05, SURE)

    def _sureness(self, crops: Sequence[Pixels]) -> float:
        """How surely lines are read, 0 to 1 and the mean over them; 1 without any."""
        readings = self._engines.glance(crops)
        return float(np.mean([reading.confidence for reading in readings])) if readings else 1.0


@dataclass(frozen=True, slots=True)
class Sight:
    """What the models see on a page: boxes are on the straight page that `frame` describes."""

    frame: Frame
    lines: list[Line]
    figures: list[Box]
    rules: list[Box]
    unread: int
    readers: dict[str, int] = field(default_factory=dict)

    def report(self, sent: Sequence[Element] = ()) -> dict[str, Any]:
        """What the reader says of the page and of the elements it has sent."""
        return {
            "confidence": round(_confidence(self.lines), 4),
            "turn": self.frame.turn,
            "skew": round(self.frame.skew, 2),
            "lines": len(self.lines),
            "unread": self.unread,
            "readers": self.readers,
            "elements": looks_of(sent),
            "words": report_runs(self.frame.run_as_it_came(line.run) for line in self.lines if line.run is not None),
        }


def elements_of(sight: Sight, skipped: list[str] | None = None) -> Iterator[list[Element]]:
    """The page's elements in the frame of the image as it came, one by one; the items of a list together.

    Stages of the layout that failed are named in `skipped`.
    """
    frame = sight.frame
    leftward = is_leftward(sight.lines)
    mirror = mirror_of(frame.width) if leftward else unchanged
    elements = structure(
        [mirrored(line, mirror) for line in sight.lines] if leftward else sight.lines,
        frame.width,
        frame.height,
        figures=[mirror(box) for box in sight.figures],
        rules=[mirror(rule) for rule in sight.rules],
        skipped=skipped,
    )
    for element in elements:
        element.box = mirror(element.box) if element.box is not None else None
        element.box = frame.original(element.box) if element.box is not None else None
    for _, chunk in groupby(enumerate(elements), key=lambda pair: -1 if pair[1].kind is Kind.LIST_ITEM else pair[0]):
        yield [element for _, element in chunk]


def _reversed(image: Image) -> Pixels:
    """An image with its colours in the order that OpenCV has them in."""
    import cv2

    return np.asarray(cv2.cvtColor(image, cv2.COLOR_RGB2BGR), np.uint8)


def _confidence(lines: Sequence[Line]) -> float:
    """The mean over letters, 0 to 1; 0 without any."""
    letters = sum(len(line.text) for line in lines)
    return sum(line.confidence * len(line.text) for line in lines) / letters if letters else 0.0


def _size(boxes: Sequence[Box]) -> float:
    """The body size in pixels, from the heights of the lines' boxes, which the detector draws generously."""
    return 0.72 * float(np.median([box.height for box in boxes])) if boxes else 20.0
