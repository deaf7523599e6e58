"""What a program may hand over to be read."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pil

from warmwire.client import InputError, UsageError
from warmwire.documents.input.given import name_of, opener

PDF = Path(__file__).parents[1] / "data" / "documents" / "digital.pdf"
PIXELS = np.arange(30 * 20 * 3, dtype=np.uint8).reshape(30, 20, 3)


def size_of(given: Any) -> tuple[float, float]:
    source = opener(given)()
    try:
        assert len(source) == 1
        page = source.page(0)
        try:
            return page.size
        finally:
            page.close()
    finally:
        source.close()


@pytest.mark.parametrize(
    "given", [PDF, str(PDF), PDF.read_bytes(), bytearray(PDF.read_bytes()), memoryview(PDF.read_bytes())]
)
def test_paths_and_bytes_are_files(given: Any) -> None:
    assert size_of(given) == (612.0, 792.0)


def test_an_open_file_can_be_opened_again_and_keeps_its_name() -> None:
    with PDF.open("rb") as file:
        again = opener(file)
    for _ in range(2):
        source = again()
        assert source.name == str(PDF)
        source.close()
    assert size_of(io.BytesIO(PDF.read_bytes())) == (612.0, 792.0)


@pytest.mark.parametrize(
    "given",
    [
        Pil.fromarray(PIXELS),
        Pil.fromarray(PIXELS).convert("P"),
        PIXELS,
        PIXELS[:, :, 0],
        PIXELS[:, :, :1],
        np.dstack([PIXELS, PIXELS[:, :, 0]]),
    ],
    ids=["pillow", "palette", "rgb", "grey", "one channel", "rgba"],
)
def test_pictures_in_memory_are_documents_of_one_page(given: Any) -> None:
    assert size_of(given) == (20.0, 30.0)


def test_an_array_is_read_as_it_was() -> None:
    pixels = PIXELS.copy()
    source = opener(pixels)()
    pixels[:] = 0
    assert (source.page(0).render(200) == PIXELS).all()


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (7, UsageError, "int cannot be read; give a path"),
        (PIXELS.astype(np.float32), UsageError, "must be uint8, not float32"),
        (np.zeros((0, 5, 3), np.uint8), UsageError, "is no picture"),
        (np.zeros((2, 3, 4, 5), np.uint8), UsageError, "is no picture"),
        (io.StringIO("text"), UsageError, "open it with 'rb'"),
        ("nowhere.pdf", InputError, "nowhere.pdf: no such file"),
        (b"", InputError, "document: the file is empty"),
        (b"words", InputError, "document: plain text"),
    ],
)
def test_what_cannot_be_read_is_said(given: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        opener(given)()


def test_a_closed_file_is_said() -> None:
    file = PDF.open("rb")
    file.close()
    with pytest.raises(InputError, match="closed file"):
        opener(file)


def test_names() -> None:
    assert name_of("a/b.pdf") == name_of(Path("a/b.pdf")) == "a/b.pdf"
    assert name_of(b"") == name_of(PIXELS) == "document"
