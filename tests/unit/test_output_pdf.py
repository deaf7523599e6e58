"""Searchable PDFs: what is added, where it stands, and what stays as it was."""

from __future__ import annotations

import io
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pikepdf
import pypdfium2
import pytest
from PIL import Image as Pil

from tests.data.documents.writer import LETTER, PICTURE, Pdf, prose
from tests.data.documents.writer import text as shown
from warmwire.client import InputError
from warmwire.documents.input.given import opener
from warmwire.documents.output.pdf import searchable_pdf
from warmwire.documents.output.shares import lines_by_element
from warmwire.documents.reading.record import PageRecord, Reading, ReadPage, Route
from warmwire.layout.page import Box, Element, Kind
from warmwire.layout.runs import Run

WORDS = "Harbour of ships"
SPANS = ((0.0, 0.4), (0.5, 0.6), (0.7, 1.0))
RUN = Run(WORDS, (100.0, 200.0), (160.0, 0.0), (0.0, 20.0), SPANS)
PLACES = {"Harbour": (100, 164), "of": (180, 196), "ships": (212, 260)}
"""Left and right of each word in points, if the page's frame is in points."""


def reading(runs: list[Run], size: tuple[float, float] = (612.0, 792.0), route: Route = Route.MODEL) -> Reading:
    elements = [Element(Kind.TEXT, run.text, Box(*run.corner, 1, 1)) for run in runs]
    return Reading("x", [ReadPage(PageRecord(1, route), *size, elements, runs)])


def scan(box: tuple[int, ...] = LETTER, more: str = "") -> bytes:
    pdf = Pdf()
    pdf.page(PICTURE, box, more)
    return pdf.bytes()


def added(given: Any, read: Reading, **options: Any) -> bytes:
    source = opener(given)()
    try:
        return searchable_pdf(read, source, **options)
    finally:
        source.close()


@contextmanager
def textpage(data: bytes, number: int = 0) -> Iterator[Any]:
    pdf = pypdfium2.PdfDocument(data)
    page = pdf[number]
    text = page.get_textpage()
    yield text
    text.close()
    page.close()
    pdf.close()


def text_of(data: bytes, number: int = 0) -> str:
    with textpage(data, number) as text:
        return str(text.get_text_range())


def box_of(data: bytes, word: str) -> tuple[float, float, float, float]:
    """The word's box in user space: left, bottom, right, top."""
    with textpage(data) as text:
        found = text.search(word).get_next()
        assert found is not None, word
        boxes = [text.get_charbox(found[0] + k, loose=True) for k in range(found[1])]
    lefts, bottoms, rights, tops = zip(*boxes, strict=True)
    return min(lefts), min(bottoms), max(rights), max(tops)


FRAMES = {
    "plain": (LETTER, "", (612.0, 792.0), lambda x, y: (x, 792 - y)),
    "moved": ((50, 70, 662, 862), "", (612.0, 792.0), lambda x, y: (50 + x, 862 - y)),
    "cropped": (LETTER, "/CropBox[20 30 620 800]", (592.0, 762.0), lambda x, y: (20 + x, 792 - y)),
    "turned 90": (LETTER, "/Rotate 90", (792.0, 612.0), lambda x, y: (y, x)),
    "turned 180": (LETTER, "/Rotate 180", (612.0, 792.0), lambda x, y: (612 - x, y)),
    "turned 270": (LETTER, "/Rotate 270", (792.0, 612.0), lambda x, y: (612 - y, 792 - x)),
    "units": (LETTER, "/UserUnit 2", (612.0, 792.0), lambda x, y: (x, 792 - y)),
}


@pytest.mark.parametrize("frame", FRAMES)
def test_words_stand_where_they_are_seen(frame: str) -> None:
    box, more, size, place = FRAMES[frame]
    data = added(scan(box, more), reading([RUN], size))
    for word, (left, right) in PLACES.items():
        corners = [place(x, y) for x, y in ((left, 200), (right, 220))]
        xs, ys = zip(*corners, strict=True)
        assert box_of(data, word) == pytest.approx((min(xs), min(ys), max(xs), max(ys)), abs=1.5)


def test_words_askew_stand_on_their_slope() -> None:
    run = Run(WORDS, (100.0, 200.0), (160.0, 16.0), (-2.0, 20.0), SPANS)
    data = added(scan(), reading([run]))
    left, bottom, right, top = box_of(data, "ships")
    assert (left + right) / 2 == pytest.approx(100 + 0.85 * 160 - 1, abs=2)
    assert (bottom + top) / 2 == pytest.approx(792 - (200 + 0.85 * 16 + 10), abs=2)


def test_the_file_itself_stays(tmp_path: Path) -> None:
    before = scan()
    data = added(before, reading([RUN]))
    assert len(data) < len(before) + 8000
    with pikepdf.open(io.BytesIO(before)) as old, pikepdf.open(io.BytesIO(data)) as new:
        kept = {stream.read_raw_bytes() for stream in new.objects if isinstance(stream, pikepdf.Stream)}
        for stream in old.objects:
            if isinstance(stream, pikepdf.Stream):
                assert stream.read_raw_bytes() in kept
    pages = [pypdfium2.PdfDocument(file)[0].render(scale=1).to_numpy() for file in (before, data)]
    assert (pages[0] == pages[1]).all()
    if shutil.which("qpdf"):
        (tmp_path / "x.pdf").write_bytes(data)
        subprocess.run(["qpdf", "--check", tmp_path / "x.pdf"], check=True, capture_output=True)


def test_the_same_twice_is_the_same_file() -> None:
    assert added(scan(), reading([RUN])) == added(scan(), reading([RUN]))


@pytest.mark.parametrize("text", ["ﬁne oﬃce", "日本語 中文", "naïve Ærø", "𝒳 😀 ok", "a ) ( \\ b"])
def test_every_letter_is_found(text: str) -> None:
    spans = tuple((k / 5, (k + 0.8) / 5) for k in range(len(text.split())))
    run = Run(text, (100.0, 200.0), (160.0, 0.0), (0.0, 20.0), spans)
    found = text_of(added(scan(), reading([run]))).split()
    assert found == text.replace("ﬁ", "fi").replace("ﬃ", "ffi").split()


def test_lines_follow_the_reading_order() -> None:
    left, right = Element(Kind.TEXT, box=Box(0, 0, 100, 200)), Element(Kind.TEXT, box=Box(120, 0, 220, 200))
    title = Element(Kind.TITLE, box=Box(0, 210, 220, 240))
    names = {"l1": (10, 10), "r1": (130, 10), "l2": (10, 30), "r2": (130, 30), "stray": (300, 40), "t": (10, 215)}
    runs = [Run(name, place, (50.0, 0.0), (0.0, 10.0), ((0.0, 1.0),)) for name, place in names.items()]
    read = ReadPage(PageRecord(1), 612, 792, [title, left, right], runs)
    found = [[run.text for run in lines] for _, lines in lines_by_element(read)]
    assert found == [["t"], ["l1", "l2"], ["r1", "r2", "stray"]]


def test_lines_follow_the_text_of_their_element() -> None:
    date = Element(Kind.TEXT, "Invoice no: 17593 over two columns", Box(0, 0, 100, 20))
    names = {"17593": (60, 5), "Invoice no:": (10, 5), "over two col-": (10, 15), "umns": (300, 5)}
    runs = [Run(name, place, (20.0, 0.0), (0.0, 5.0), ((0.0, 1.0),)) for name, place in names.items()]
    ((_, lines),) = lines_by_element(ReadPage(PageRecord(1), 612, 792, [date], runs))
    assert [run.text for run in lines] == ["Invoice no:", "17593", "over two col-", "umns"]


def test_pages_with_text_stay_as_they_are() -> None:
    pdf = Pdf()
    pdf.page(prose(72, 700, 12))
    for route in Route:
        assert WORDS not in text_of(added(pdf.bytes(), reading([RUN], route=route)))


@pytest.mark.parametrize(
    ("words", "kept"), [("The keeper of the harbour counted ships " * 3, True), ("qwz xk~d |f " * 9, False)]
)
def test_an_earlier_layer_is_kept_where_it_can_be_trusted(words: str, kept: bool) -> None:
    pdf = Pdf()
    pdf.page(PICTURE + shown(72, 700, words, more="3 Tr"))
    assert (WORDS not in text_of(added(pdf.bytes(), reading([RUN])))) is kept


def test_fonts_that_pages_share_are_left_alone() -> None:
    pdf = Pdf()
    pdf.page(PICTURE)
    pdf.page(PICTURE + shown(72, 60, "17"))
    data = added(pdf.bytes(), reading([RUN]))
    with pikepdf.open(io.BytesIO(data)) as new:
        assert "/WwGlyphless" in new.pages[0].resources.Font
        assert "/WwGlyphless" not in new.pages[1].resources.Font
        assert "/F1" in new.pages[0].resources.Font
    assert "17" in text_of(data, 1)


def test_a_model_without_lines_gives_its_elements() -> None:
    read = reading([])
    words = "The keeper of the harbour office counted ships"
    read.pages[0].elements = [Element(Kind.TEXT, words, Box(72, 72, 172, 120))]
    assert text_of(added(scan(), read)).split() == words.split()


def test_an_encrypted_file_is_refused() -> None:
    path = Path(__file__).parents[1] / "data" / "documents" / "encrypted.pdf"
    source = opener(path, "secret")()
    with pytest.raises(InputError, match=r"encrypted\.pdf: is encrypted, so no text can be added"):
        searchable_pdf(reading([RUN]), source)
    source.close()


def test_a_signed_file_is_refused_unless_forced() -> None:
    with pikepdf.open(io.BytesIO(scan())) as pdf:
        pdf.Root.AcroForm = pikepdf.Dictionary(SigFlags=3, Fields=pikepdf.Array())
        stream = io.BytesIO()
        pdf.save(stream)
    with pytest.raises(InputError, match="is signed, and added text would break the signature"):
        added(stream.getvalue(), reading([RUN]))
    assert WORDS in text_of(added(stream.getvalue(), reading([RUN]), force=True))


def image_file(pixels: np.ndarray[Any, Any]) -> bytes:
    stream = io.BytesIO()
    Pil.fromarray(pixels).save(stream, "PNG")
    return stream.getvalue()


def picture_file(form: str, mode: str = "RGB", **options: Any) -> bytes:
    pixels = np.zeros((300, 400, 3), np.uint8) + 240
    pixels[20:80, 30:90] = (200, 20, 20)
    pixels[200:280, 300:380] = (20, 20, 200)
    stream = io.BytesIO()
    Pil.fromarray(pixels).convert(mode).save(stream, form, **options)
    return stream.getvalue()


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_jpeg_is_taken_as_it_is_and_stands_upright(orientation: int) -> None:
    exif = Pil.Exif()
    exif[0x0112] = orientation
    given = picture_file("JPEG", exif=exif.tobytes(), quality=95, dpi=(144, 144))
    source = opener(given)()
    pixels = source.page(0).render(0)
    height, width = pixels.shape[:2]
    run = Run(WORDS, (100.0, 200.0), (160.0, 0.0), (0.0, 20.0), SPANS)
    data = searchable_pdf(reading([run], (width, height)), source)
    assert given in data
    page = pypdfium2.PdfDocument(data)[0]
    assert page.get_size() == pytest.approx((width / 2, height / 2))
    drawn = page.render(scale=2).to_numpy()[:, :, ::-1].astype(int)
    assert abs(drawn - pixels).mean() < 2
    assert box_of(data, "of") == pytest.approx((90, height / 2 - 110, 98, height / 2 - 100), abs=1)


@pytest.mark.parametrize("mode", ["RGB", "L", "1", "P"])
def test_other_pictures_lose_nothing(mode: str) -> None:
    given = picture_file("PNG", mode)
    if mode == "RGB":
        given = image_file(np.random.default_rng(2).integers(0, 255, (300, 400, 3), np.uint8))
    source = opener(given)()
    pixels = source.page(0).render(0)
    data = searchable_pdf(reading([RUN], (400.0, 300.0)), source)
    with pikepdf.open(io.BytesIO(data)) as pdf:
        image = pikepdf.PdfImage(pdf.pages[0].resources.XObject.Im)
        assert image.mode == mode
        assert (np.asarray(image.as_pil_image().convert("RGB")) == pixels).all()
    assert "Harbour" in text_of(data)
