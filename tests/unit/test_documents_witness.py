"""Hidden and doubtful text: what is compared with the picture, and when it is believed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from warmwire.client import Recognition, StreamLostError
from warmwire.documents.input.open import open_source
from warmwire.documents.reading.drawing import drawing_dpi
from warmwire.documents.reading.hidden import Hidden
from warmwire.documents.reading.reader import DocumentReader, ReadOptions
from warmwire.documents.reading.record import ReadPage, Route
from warmwire.documents.reading.witness import agreement, sample, strips
from warmwire.layout.page import Box, Line
from warmwire.media.images import Image

DATA = Path(__file__).parents[1] / "data" / "documents"


class Echo:
    """An engine that reads `strip` off small pictures and "the page" off whole ones."""

    def __init__(self, strip: str | Exception) -> None:
        self.strip = strip
        self.shapes: list[tuple[int, ...]] = []

    def read(self, image: Image, **_: Any) -> Recognition:
        self.shapes.append(image.shape)
        whole = image.shape[0] > 1000
        if not whole and isinstance(self.strip, Exception):
            raise self.strip
        return Recognition(f"<doctag><text>{'the page' if whole else self.strip}</text></doctag>", "echo", report={})

    def recognize(self, image: Image, **options: Any) -> str:
        return self.read(image, **options).text

    def close(self) -> None:
        pass


def read(engine: Echo, page: int = 1, **options: Any) -> ReadPage:
    source = open_source(str(DATA / "layers.pdf"))
    reader = DocumentReader(lambda: engine, ReadOptions(**options))
    try:
        return reader.read(source, [page]).pages[0]
    finally:
        reader.close()
        source.close()


def seen() -> str:
    text = open_source(str(DATA / "layers.pdf")).page(0).text()
    return " ".join(line.text for line in reversed(text.hidden))


def test_hidden_text_is_kept_where_the_picture_agrees() -> None:
    engine = Echo(seen())
    page = read(engine)
    assert len(engine.shapes) == 1
    assert (page.record.route, page.record.engine) == (Route.FILE, "file")
    assert "hidden text agrees to 100% with 8 lines" in page.record.why
    assert page.elements[0].text.startswith("The keeper of the harbour")


def test_hidden_text_is_dropped_where_the_picture_says_something_else() -> None:
    page = read(Echo("Quite another text is on this page than what its layer of hidden words would have us believe"))
    assert page.record.route is Route.MODEL
    assert page.elements[0].text == "the page"
    assert "hidden text agrees to" in page.record.why


def test_hidden_text_is_kept_or_dropped_unasked() -> None:
    engine = Echo(seen())
    kept = read(engine, hidden=Hidden.KEEP)
    assert not engine.shapes
    assert (kept.record.route, kept.record.why.endswith("is kept as asked")) == (Route.FILE, True)
    assert read(engine, hidden=Hidden.DROP).record.route is Route.MODEL
    assert read(engine, force=True, hidden=Hidden.KEEP).record.route is Route.MODEL
    assert len(engine.shapes) == 2


def test_a_witness_that_fails_leaves_the_page_to_the_model() -> None:
    page = read(Echo(StreamLostError("the connection ended")))
    assert (page.record.route, page.elements[0].text) == (Route.MODEL, "the page")


def test_hidden_text_is_what_is_left_where_the_model_cannot_read_the_page() -> None:
    class Foreign(Echo):
        def read(self, image: Image, **_: Any) -> Recognition:
            return Recognition("<doctag></doctag>", "echo", report={"lines": 0, "unread": 30})

    page = read(Foreign(""))
    assert page.record.error.startswith("30 of 30 lines")
    assert page.elements[0].text.startswith("The keeper of the harbour")


def test_bad_hidden_text_is_not_asked_about() -> None:
    engine = Echo("")
    source = open_source(str(DATA / "routes.pdf"))
    reader = DocumentReader(lambda: engine, ReadOptions(hidden=Hidden.KEEP))
    assert reader.read(source, [4]).pages[0].record.route is Route.MODEL
    assert len(engine.shapes) == 1
    reader.close()


def test_text_in_doubt_is_kept_where_the_picture_agrees() -> None:
    own = " ".join(line.text for line in open_source(str(DATA / "layers.pdf")).page(1).text().lines)
    assert read(Echo(own), 2).record.route is Route.FILE
    assert read(Echo("The keeper of the harbour office counted the ships and wrote"), 2).record.route is Route.MODEL


def test_a_sample_is_of_lines_that_say_something_from_all_over_the_page() -> None:
    lines = [Line(Box(0, 10 * k, 100, 10 * k + 8), f"line number {k} of many") for k in range(40)]
    chosen = sample([*lines, Line(Box(0, 500, 9, 509), "17"), Line(Box(0, 0, 9, 99), "turned aside", angle=-90)])
    assert len(chosen) == 8
    assert chosen[0].box.top < 150 < 250 < chosen[-1].box.top
    assert sample([]) == []


def test_strips_are_the_lines_and_nothing_else() -> None:
    image = np.full((400, 300, 3), 240, np.uint8)
    image[102:108:2, 50:250] = 0
    image[200:210] = (255, 0, 0)
    strip = strips(image, [Line(Box(25, 50, 125, 55), "what is black")], 150)
    assert strip is not None
    assert (strip.max(axis=2) == 0).sum() == 600
    assert (strip[:, :, 1] == 240).sum() == strip[:, :, 1].size - 600
    assert strip.shape[1] > 200
    assert strips(image, [Line(Box(400, 900, 500, 910), "off the page")], 150) is None


def test_agreement_is_of_runs_of_letters_in_any_order() -> None:
    lines = [Line(Box(0, 0, 1, 1), "The first line."), Line(Box(0, 1, 1, 2), "港務局的書記")]
    assert agreement(lines, "港務局的書記\nthe FIRST line") == 1.0
    assert agreement(lines, "another text") < 0.2
    assert agreement([], "") == 0.0


@pytest.mark.parametrize(
    ("scan", "drawn"), [(0, 200), (40, 100), (72, 144), (96, 192), (150, 200), (250, 250), (1200, 300)]
)
def test_scans_are_drawn_at_their_own_resolution_within_bounds(scan: float, drawn: float) -> None:
    assert drawing_dpi(scan) == drawn


def test_the_resolution_is_that_of_the_picture_over_the_page() -> None:
    pages = open_source(str(DATA / "routes.pdf"))
    assert pages.page(1).text().resolution == pytest.approx(72 * 64 / 792)
    assert pages.page(0).text().resolution == 0
