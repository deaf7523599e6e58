"""`warmwire.read`, `Reader` and `AsyncReader`, over hosts of the library and without any."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warmwire
from tests.reader_support import listening
from tests.support import PATIENCE
from warmwire.layout.page import Kind

DATA = Path(__file__).parents[1] / "data" / "documents"
DIGITAL, ROUTES = DATA / "digital.pdf", DATA / "routes.pdf"


class Scribe:
    """A page handler that gives every page a figure with a caption; `wait` holds it until it is cancelled."""

    name = "scribe"

    def __init__(self) -> None:
        self.pages = 0
        self.wait = False
        self.waiting = threading.Event()

    def generate(
        self,
        image: np.ndarray[Any, Any],
        prompt: str,
        max_tokens: int | None,
        emit: Callable[[str], None],
        cancelled: threading.Event,
    ) -> dict[str, Any]:
        self.pages += 1
        emit("<doctag><text>The harbour office.</text>")
        emit("<picture><loc_100><loc_100><loc_300><loc_200></picture>")
        emit("<caption><loc_100><loc_210><loc_300><loc_220>Figure 1. A ship.</caption>")
        if self.wait:
            self.waiting.set()
            assert cancelled.wait(PATIENCE)
        emit("</doctag>")
        return {"confidence": 0.75}


@pytest.fixture
def scribe(path: str) -> Iterator[Scribe]:
    handler = Scribe()
    with listening(handler, path):
        yield handler


def test_a_document_with_text_needs_no_model(tmp_path: Path) -> None:
    doc = warmwire.read(DIGITAL)
    assert (doc.name, doc.status, doc.error) == (str(DIGITAL), "ok", "")
    (page,) = doc.pages
    assert (page.number, page.status, page.route, page.confidence, page.error) == (1, "ok", "file", None, "")
    assert page.elements[0].kind is Kind.TITLE
    assert page.size == (612.0, 792.0)
    assert page.image(72).size == (612, 792)
    assert doc.markdown().startswith("# Log Books of the Harbour\n")
    assert "<h1>Log Books of the Harbour</h1>" in doc.html()
    assert doc.text().startswith("Log Books of the Harbour\n")
    assert '"schema_name": "DoclingDocument"' in doc.json()
    assert doc.docling.pages[1].size.width == 612
    (table,) = doc.tables
    assert table.rows == [["Ship", "Year"], ["Gannet", "1871"], ["Two|Sisters", "1902"]]
    assert table.headers == 1
    assert table.box is not None
    assert table.to_pandas().to_dict("list") == {"Ship": ["Gannet", "Two|Sisters"], "Year": ["1871", "1902"]}
    doc.save(tmp_path / "new" / "x.md")
    assert (tmp_path / "new" / "x.md").read_text() == doc.markdown()
    doc.save(tmp_path / "x.pdf")
    assert (tmp_path / "x.pdf").read_bytes() == doc.pdf()
    doc.save(tmp_path / "y", format="json")
    assert (tmp_path / "y").read_text() == doc.json()


def test_what_cannot_be_saved_is_said(tmp_path: Path) -> None:
    doc = warmwire.read(DIGITAL)
    with pytest.raises(
        warmwire.UsageError, match=r"x\.docx: there is no format with the suffix \.docx; there are \.md, "
    ):
        doc.save(tmp_path / "x.docx")
    with pytest.raises(warmwire.UsageError, match="there is no format 'word'"):
        doc.save(tmp_path / "x.md", format="word")
    (tmp_path / "file").touch()
    with pytest.raises(warmwire.InputError, match="cannot be written"):
        doc.save(tmp_path / "file" / "x.md")


@pytest.mark.parametrize(
    ("source", "options", "words"),
    [
        ("nowhere.pdf", {}, "nowhere.pdf: no such file"),
        (b"words", {}, "plain text, which needs no reading"),
        (DATA / "encrypted.pdf", {}, "encrypted"),
        (DIGITAL, {"pages": "7"}, "has no page 7; it has 1"),
    ],
)
def test_a_file_that_cannot_be_opened_raises(source: Any, options: dict[str, str], words: str) -> None:
    with pytest.raises(warmwire.InputError, match=words):
        warmwire.read(source, **options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"jobs": 0}, "jobs is 0"),
        ({"timeout": float("nan")}, "timeout is nan"),
        ({"model": "nonsense"}, "unknown model 'nonsense'"),
        ({"model": "x.gguf", "socket": "/s"}, "give one of them"),
        ({"pages": "3-1"}, "runs backwards"),
    ],
)
def test_what_cannot_be_meant_raises(options: dict[str, Any], words: str) -> None:
    with pytest.raises(warmwire.UsageError, match=words):
        warmwire.read(DIGITAL, **options)


def test_pages_figures_and_records_come_through_a_host(scribe: Scribe, path: str) -> None:
    heard: list[int] = []
    doc = warmwire.read(ROUTES, pages="1-3", socket=path, on_page=lambda record: heard.append(record.page))
    assert heard == [1, 2, 3]
    assert scribe.pages == 2
    assert [page.route for page in doc.pages] == ["file", "model", "model"]
    assert doc.pages[1].confidence == 0.75
    picture = doc.pictures[0]
    assert (picture.page.number, picture.caption) == (2, "Figure 1. A ship.")
    assert picture.image.size == pytest.approx((510, 330), abs=1)  # 244.8 by 158.4 points at 150 dpi


def test_a_figure_of_a_picture_is_its_own_pixels(scribe: Scribe, path: str) -> None:
    pixels = np.random.default_rng(1).integers(0, 255, (500, 500, 3), np.uint8)
    doc = warmwire.read(pixels, socket=path)
    assert (np.asarray(doc.pictures[0].image) == pixels[100:200, 100:300]).all()


def test_a_page_that_fails_raises_nothing(scribe: Scribe, path: str) -> None:
    scribe.wait = True
    doc = warmwire.read(ROUTES, pages="1-2", socket=path, timeout=0.5)
    assert doc.status == "partial"
    assert "page 2: " in doc.error
    assert "0.5 s" in doc.error
    assert doc.pages[1].status == "partial"
    assert "The harbour office." in doc.markdown()


def test_one_bad_file_does_not_end_the_others(scribe: Scribe, path: str) -> None:
    with warmwire.Reader(socket=path) as reader:
        docs = list(reader.read_all([DIGITAL, "nowhere.pdf", ROUTES], pages="1,2"))
    assert [doc.status for doc in docs] == ["ok", "failed", "ok"]
    assert docs[1].error == "nowhere.pdf: no such file"
    assert docs[1].name == "nowhere.pdf"
    assert docs[1].markdown() == ""
    with pytest.raises(warmwire.UsageError, match="closed"):
        reader.read(DIGITAL)


def test_what_the_caller_raises_reaches_the_caller() -> None:
    def stop(record: Any) -> None:
        raise ZeroDivisionError

    with warmwire.Reader() as reader, pytest.raises(ZeroDivisionError):
        list(reader.read_all([DIGITAL], on_page=stop))


def test_no_host_ends_a_run() -> None:
    with warmwire.Reader(socket=DIGITAL) as reader, pytest.raises(warmwire.WarmwireError, match=r"digital\.pdf"):
        list(reader.read_all([ROUTES, DIGITAL]))


def test_asyncio_reads_as_well_and_gives_up_when_cancelled(scribe: Scribe, path: str) -> None:
    async def run() -> None:
        heard: list[int] = []
        async with warmwire.AsyncReader(socket=path) as reader:
            doc = await reader.read(ROUTES, pages="1-2", on_page=lambda record: heard.append(record.page))
            assert (doc.status, heard) == ("ok", [1, 2])
            docs = [doc async for doc in reader.read_all([DIGITAL, "nowhere.pdf"])]
            assert [doc.status for doc in docs] == ["ok", "failed"]
            scribe.wait = True
            task = asyncio.create_task(reader.read(ROUTES, pages="2"))
            await asyncio.to_thread(scribe.waiting.wait, PATIENCE)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            scribe.wait = False
            assert (await reader.read(ROUTES, pages="2")).status == "ok"

    asyncio.run(run())


def test_a_file_that_changed_gives_no_wrong_figure(scribe: Scribe, path: str, tmp_path: Path) -> None:
    file = tmp_path / "x.pdf"
    file.write_bytes(ROUTES.read_bytes())
    doc = warmwire.read(file, pages="2", socket=path)
    file.write_bytes(DIGITAL.read_bytes())
    with pytest.raises(warmwire.InputError, match="has changed since it was read"):
        _ = doc.pictures[0].image
