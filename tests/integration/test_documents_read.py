"""Whole documents through engines that work and engines that do not."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pil

from warmwire.client import (
    BackendUnavailableError,
    DialError,
    Engine,
    QueueFullError,
    Recognition,
    StreamLostError,
    TruncatedError,
)
from warmwire.documents.input.open import open_source
from warmwire.documents.input.pdf.file import PdfSource
from warmwire.documents.reading import reader as read_module
from warmwire.documents.reading.drawing import is_even
from warmwire.documents.reading.hidden import Hidden
from warmwire.documents.reading.reader import DocumentReader, ReadOptions
from warmwire.documents.reading.record import PageRecord, Reading, Route, Status
from warmwire.layout.page import Element, Kind
from warmwire.media.images import Image

DATA = Path(__file__).parents[1] / "data" / "documents"
SCANS = [2, 3, 4, 7, 9]
"""The pages of routes.pdf that go to the model."""


class Scribe:
    """An engine that says how large each picture is; `turns` gives the pages it fails on, counted from 1."""

    def __init__(self, **faults: Callable[[], Recognition]) -> None:
        self.faults = {int(key.lstrip("p")): fault for key, fault in faults.items()}
        self.pages = 0
        self.closed = False

    def read(self, image: Image, **_: Any) -> Recognition:
        self.pages += 1
        if self.pages in self.faults:
            return self.faults[self.pages]()
        height, width = image.shape[:2]
        text = f"<doctag><text><loc_50><loc_100><loc_250><loc_300>sheet {self.pages}: {width}x{height}</text></doctag>"
        return Recognition(text, "scribe", report={"confidence": 0.9, "turn": 0})

    def recognize(self, image: Image, **options: Any) -> str:
        return self.read(image, **options).text

    def close(self) -> None:
        self.closed = True


def fail(error: Exception) -> Callable[[], Recognition]:
    def fault() -> Recognition:
        raise error

    return fault


def read(name: str, engine: Engine, numbers: list[int] | None = None, *, tries: int = 1, **options: Any) -> Reading:
    """Failures are for good unless a test says otherwise."""
    source = open_source(str(DATA / name), "secret")
    reader = DocumentReader(lambda: engine, ReadOptions(tries=tries, **options))
    try:
        return reader.read(source, numbers or list(range(1, len(source) + 1)))
    finally:
        reader.close()
        source.close()


def words(elements: list[Element]) -> str:
    return " ".join(element.text for element in elements)


def test_each_page_comes_from_where_its_text_is() -> None:
    engine = Scribe()
    reading = read("routes.pdf", engine)
    assert [page.record.page for page in reading.pages] == list(range(1, 10))
    assert [page.record.page for page in reading.pages if page.record.route is Route.MODEL] == SCANS
    assert all(page.record.status is Status.OK for page in reading.pages)
    assert [words(page.elements).startswith("sheet") for page in reading.pages] == [
        number in SCANS for number in range(1, 10)
    ]
    assert "IGNORE" not in words(reading.pages[4].elements)
    assert engine.closed


def test_records_say_who_read_what_and_how_surely() -> None:
    scan = read("routes.pdf", Scribe(), [3]).pages[0].record
    assert (scan.engine, scan.confidence, scan.largest_image, scan.turn) == ("scribe", 0.9, 1.0, 0)
    own = read("frames.pdf", Scribe(), [5]).pages[0].record
    assert (own.engine, own.confidence, own.turn) == ("file", None, 90)


def test_boxes_are_in_the_frame_of_the_page() -> None:
    page = read("frames.pdf", Scribe(), [2], force=True).pages[0]
    assert (page.width, page.height) == (792, 612)
    box = page.elements[0].box
    assert box is not None
    assert (box.left, box.top) == pytest.approx((79.2, 122.4))


def test_text_on_its_side_comes_out_in_order_with_boxes_where_it_lies() -> None:
    page = read("frames.pdf", Scribe(), [5]).pages[0]
    assert page.elements[0].text == "Turned corner"
    box = page.elements[0].box
    assert box is not None
    assert box.height > box.width


def test_an_engine_is_made_for_the_first_page_that_needs_it_and_kept() -> None:
    made: list[Scribe] = []

    def connect() -> Engine:
        made.append(Scribe())
        return made[-1]

    reader = DocumentReader(connect)
    reader.read(open_source(str(DATA / "digital.pdf")), [1])
    assert not made
    reader.read(open_source(str(DATA / "routes.pdf")), [1, 2, 3])
    reader.read(open_source(str(DATA / "routes.pdf")), [4])
    assert len(made) == 1
    reader.close()
    assert made[0].closed


def test_a_plan_needs_no_engine() -> None:
    reader = DocumentReader(fail(AssertionError("no engine is needed")))  # type: ignore[arg-type]
    records = list(reader.plan(open_source(str(DATA / "routes.pdf")), list(range(1, 10))))
    assert [record.page for record in records if record.route is Route.MODEL] == SCANS


FAULTS: dict[str, Callable[[], Recognition]] = {
    "crash": fail(BackendUnavailableError("the worker died (signal 9)")),
    "lost": fail(StreamLostError("the connection ended")),
    "bug": fail(ZeroDivisionError("division by zero")),
    "empty": lambda: Recognition("<doctag></doctag>", "scribe"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_page_that_fails_costs_itself_only(fault: str) -> None:
    reading = read("routes.pdf", Scribe(p2=FAULTS[fault]))
    assert [record.page for record in reading.troubled] == [3]
    record = reading.troubled[0]
    assert (record.status, record.route) == (Status.PARTIAL, Route.MODEL)
    assert record.error
    assert words(reading.pages[2].elements) == "17", "the page keeps what the file itself says"
    assert words(reading.pages[3].elements).startswith("sheet 3")


@pytest.mark.parametrize("fault", ["crash", "lost"])
def test_a_page_whose_worker_died_is_given_to_another_once(fault: str) -> None:
    plain = Scribe()
    read("routes.pdf", plain)
    engine = Scribe(p2=FAULTS[fault])
    assert read("routes.pdf", engine, tries=2).troubled == []
    assert engine.pages == plain.pages + 1
    engine = Scribe(p2=FAULTS[fault], p3=FAULTS[fault])
    reading = read("routes.pdf", engine, tries=2)
    assert [record.page for record in reading.troubled] == [3]
    assert reading.troubled[0].error.endswith("(tried 2 times)")
    assert engine.pages == plain.pages + 1


def test_a_page_without_anything_to_keep_is_failed() -> None:
    reading = read("routes.pdf", Scribe(p1=FAULTS["crash"]), [2])
    assert reading.troubled[0].status is Status.FAILED
    assert "signal 9" in reading.troubled[0].error
    assert reading.pages[0].elements == []


def test_hidden_text_that_can_be_trusted_is_better_than_nothing() -> None:
    reading = read("routes.pdf", Scribe(p1=FAULTS["crash"], p2=FAULTS["crash"]), [4, 9], hidden=Hidden.DROP)
    garbage, covered = reading.pages
    assert garbage.elements == []
    assert "harbour" in words(covered.elements)


def test_what_arrived_before_a_failure_is_kept() -> None:
    partial = "<doctag><text>Half a page of good text</text><otsl><fcel>a<fc"
    for error in (BackendUnavailableError("died", partial=partial), TruncatedError("cut", partial=partial)):
        reading = read("routes.pdf", Scribe(p1=fail(error)), [3])
        assert reading.pages[0].elements[0].text == "Half a page of good text"
        assert reading.pages[0].elements[1].kind is Kind.TABLE
        assert reading.troubled[0].status is Status.PARTIAL


@pytest.mark.parametrize(
    "answer", ["<text>cut in the mid", "no tags at all", "<otsl><fcel>x<lcel><fcel>", "<text>a" * 500]
)
def test_malformed_answers_are_read_for_what_they_are(answer: str) -> None:
    reading = read("routes.pdf", Scribe(p1=lambda: Recognition(answer)), [2])
    assert reading.troubled == []
    assert reading.pages[0].elements


def test_a_model_that_reports_nonsense_does_no_harm() -> None:
    report = {"confidence": float("nan"), "turn": "sideways", "lines": -5, "unread": "many"}
    record = read("routes.pdf", Scribe(p1=lambda: Recognition("x", report=report)), [2]).pages[0].record
    assert (record.confidence, record.turn, record.lines, record.unread) == (None, 0, 0, 0)


@pytest.mark.parametrize(
    ("lines", "unread", "status", "said"),
    [
        (40, 0, Status.OK, ""),
        (40, 2, Status.OK, ""),
        (40, 3, Status.OK, ""),
        (40, 4, Status.OK, "4 of 44 lines are in a script the reader does not know, or too poorly printed to read"),
        (3, 3, Status.OK, "3 of 6 lines are in a script the reader does not know, or too poorly printed to read"),
        (3, 4, Status.PARTIAL, "4 of 7 lines are in a script the reader does not know, or too poorly printed to read"),
        (0, 2, Status.OK, ""),
    ],
)
def test_lines_that_could_not_be_read_are_told(lines: int, unread: int, status: Status, said: str) -> None:
    answer = Recognition("<text>some words</text>", report={"confidence": 0.9, "lines": lines, "unread": unread})
    page = read("routes.pdf", Scribe(p1=lambda: answer), [2]).pages[0]
    record = page.record
    assert (record.status, record.lines, record.unread, record.loss) == (status, lines, unread, said)
    assert record.error == (said if status is not Status.OK else "")
    assert words(page.elements) == "some words"


def test_a_page_of_which_nothing_could_be_read_says_so() -> None:
    answer = Recognition("<doctag></doctag>", report={"confidence": 0.0, "lines": 0, "unread": 12})
    record = read("routes.pdf", Scribe(p1=lambda: answer), [2]).pages[0].record
    assert record.status is Status.FAILED
    assert record.error.startswith("12 of 12 lines are in a script the reader does not know")
    assert record.confidence is None


def test_what_a_model_reports_of_its_elements_is_theirs_where_it_fits() -> None:
    text = "<doctag><section_header_level_1>One</section_header_level_1><text>words</text></doctag>"
    looks = [[50, 1, 0, 0.98], [30, 0, None, 0.9]]
    answer = Recognition(text, report={"elements": looks})
    page = read("routes.pdf", Scribe(p1=lambda: answer), [2], dpi=200.0).pages[0]
    assert [round(e.size) for e in page.elements] == [18, 11]  # drawn at 200 dots an inch
    assert [(e.bold, e.italic, e.confidence) for e in page.elements] == [(True, False, 0.98), (False, None, 0.9)]
    page = read("routes.pdf", Scribe(p1=lambda: Recognition(text, report={"elements": looks[:1]})), [2]).pages[0]
    assert [e.size for e in page.elements] == [0, 0]


@pytest.mark.parametrize("report", [None, [], "x", 7])
def test_a_host_that_reports_nothing_or_no_mapping_is_fine(report: Any) -> None:
    page = read("routes.pdf", Scribe(p1=lambda: Recognition("<text>x</text>", report=report)), [2]).pages[0]
    assert (page.record.status, page.record.confidence) == (Status.OK, None)


def test_lines_are_kept_where_their_structure_cannot_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> list[Element]:
        raise IndexError("list index out of range")

    monkeypatch.setattr(read_module, "structure", broken)
    page = read("digital.pdf", Scribe()).pages[0]
    assert page.record.status is Status.PARTIAL
    assert "IndexError" in page.record.error
    assert "Book number 8" in words(page.elements)


def test_a_busy_host_is_asked_again() -> None:
    busy, pauses = fail(QueueFullError("10 requests wait")), (0.0, 0.0)
    assert read("routes.pdf", Scribe(p1=busy, p2=busy), [2], busy_pauses=pauses).troubled == []
    engine = Scribe(p1=busy, p2=busy, p3=busy)
    assert "wait" in read("routes.pdf", engine, [2], busy_pauses=pauses).troubled[0].error


def test_a_host_that_is_gone_is_not_called_for_every_page() -> None:
    engine = Scribe(p2=fail(DialError("nobody listens")))
    reading = read("routes.pdf", engine)
    assert [record.page for record in reading.troubled] == SCANS[1:]
    assert engine.pages == 2


def test_no_engine_at_all_ends_the_run() -> None:
    reader = DocumentReader(fail(DialError("nobody listens")))  # type: ignore[arg-type]
    with pytest.raises(DialError):
        reader.read(open_source(str(DATA / "routes.pdf")), [1, 2, 3])


def test_a_page_that_cannot_be_opened_keeps_its_number(tmp_path: Path) -> None:
    noise = np.random.default_rng(1).integers(0, 255, (200, 200), dtype=np.uint8)
    pages = [Pil.fromarray(noise + k) for k in range(3)]
    path = tmp_path / "x.tif"
    pages[0].save(path, save_all=True, append_images=pages[1:], compression="tiff_adobe_deflate")
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle - 4000 : middle + 4000] = bytes(8000)
    path.write_bytes(bytes(data))
    reading = DocumentReader(Scribe).read(open_source(str(path)), [1, 2, 3])
    assert [record.page for record in reading.troubled] == [2]
    assert "decoded" in reading.troubled[0].error


def test_pages_are_drawn_while_the_engine_reads_and_never_more_than_one_ahead() -> None:
    seen: list[tuple[str, int]] = []

    class Watched:
        name = "watched"

        def __init__(self) -> None:
            self._source = open_source(str(DATA / "routes.pdf"))

        def __len__(self) -> int:
            return 6

        def page(self, index: int) -> Any:
            seen.append((threading.current_thread().name, index))
            return self._source.page(1)

        def outline(self) -> list[Any]:
            return []

        def close(self) -> None:
            self._source.close()

    class Slow(Scribe):
        def read(self, image: Image, **options: Any) -> Recognition:
            ahead = max(index for _, index in seen)
            assert ahead <= self.pages + 1
            return super().read(image, **options)

    done: list[PageRecord] = []
    DocumentReader(Slow).read(Watched(), [1, 2, 3, 4, 5, 6], done.append)
    assert [record.page for record in done] == [1, 2, 3, 4, 5, 6]
    assert all(record.status is Status.OK for record in done)
    assert {name for name, _ in seen} == {"warmwire-prepare_0"}


def test_a_sheet_too_large_to_draw_is_drawn_smaller_and_says_so(tmp_path: Path) -> None:
    pdf = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 14400 14400]/Contents 4 0 R>>endobj
4 0 obj<</Length 22>>stream
900 900 9000 9000 re f
endstream endobj
trailer<</Root 1 0 R>>"""
    path = tmp_path / "poster.pdf"
    path.write_bytes(pdf)
    shapes: list[tuple[int, ...]] = []

    class Measured(Scribe):
        def read(self, image: Image, **options: Any) -> Recognition:
            shapes.append(image.shape)
            return super().read(image, **options)

    reading = DocumentReader(Measured, ReadOptions(force=True)).read(open_source(str(path)), [1])
    assert shapes[0][0] * shapes[0][1] <= 22_400_000
    assert reading.pages[0].record.why.endswith("; drawn at 24 dots per inch: 200 by 200 inches are too large for more")
    assert "drawn" not in read("routes.pdf", Scribe(), [3]).pages[0].record.why


def test_a_long_file_is_opened_anew_now_and_then() -> None:
    plain = [page.elements for page in read("routes.pdf", Scribe()).pages]
    source = PdfSource("routes.pdf", DATA / "routes.pdf", renew_after=2)
    again = DocumentReader(Scribe).read(source, range(1, len(source) + 1))
    assert [page.elements for page in again.pages] == plain
    assert source.opened > 3
    source.close()
    source = PdfSource("routes.pdf", DATA / "routes.pdf", renew_after=2)
    first = source.page(0)
    for index in range(1, 6):
        source.page(index).close()
    assert source.opened == 1, "not while a page is open"
    assert first.text().lines
    first.close()
    source.close()


def test_empty_paper_is_told_from_a_page_that_was_not_read() -> None:
    paper = np.random.default_rng(3).normal(235, 6, (1200, 800, 3)).clip(0, 255).astype(np.uint8)
    assert is_even(paper)
    specks = paper.copy()
    specks[100:102, 100:102] = 0
    assert is_even(specks)
    line = paper.copy()
    line[600:620, 200:500] = 20
    assert not is_even(line)
