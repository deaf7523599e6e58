"""Damaged files: a clear error or pages with records, never anything else."""

from __future__ import annotations

import io
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pil

from warmwire.client import InputError, Recognition
from warmwire.documents.input.open import open_source
from warmwire.documents.output.export import export
from warmwire.documents.output.formats import Format
from warmwire.documents.reading.reader import DocumentReader

DATA = Path(__file__).parents[1] / "data" / "documents"


class Blind:
    """An engine that sees nothing."""

    def read(self, image: Any, **_: Any) -> Recognition:
        assert image.dtype == np.uint8
        assert image.ndim == 3
        return Recognition("")

    def recognize(self, image: Any, **options: Any) -> str:
        return self.read(image, **options).text

    def close(self) -> None:
        pass


def picture(kind: str) -> bytes:
    noise = Pil.fromarray(np.random.default_rng(2).integers(0, 255, (60, 50, 3), dtype=np.uint8))
    stream = io.BytesIO()
    more: dict[str, Any] = {"save_all": True, "append_images": [noise, noise]} if kind == "TIFF" else {}
    noise.save(stream, kind, **more)
    return stream.getvalue()


def damaged(data: bytes, rng: random.Random) -> bytes:
    """`data` with some bytes changed, taken out or put in."""
    broken = bytearray(data)
    for _ in range(rng.choice((1, 3, 10, 40))):
        place = rng.randrange(len(broken))
        match rng.randrange(4):
            case 0:
                del broken[place : place + rng.randrange(1, 50)]
            case 1:
                broken[place:place] = rng.randbytes(rng.randrange(1, 20))
            case _:
                broken[place] = rng.randrange(256)
    return bytes(broken)


PDFS = ["digital", "frames", "routes", "words", "form", "encrypted", "hostile"]


@pytest.mark.parametrize("name", [*PDFS, "PNG", "JPEG", "TIFF", "WEBP"])
def test_damage_is_survived(name: str, tmp_path: Path) -> None:
    whole = (DATA / f"{name}.pdf").read_bytes() if name in PDFS else picture(name)
    rng = random.Random(name)
    path = tmp_path / "x"
    opened = 0
    for _ in range(12):
        path.write_bytes(damaged(whole, rng))
        try:
            source = open_source(str(path), "secret")
        except InputError:
            continue
        opened += 1
        numbers = list(range(1, min(len(source), 9) + 1))
        reading = DocumentReader(Blind).read(source, numbers)
        source.close()
        assert [page.record.page for page in reading.pages] == numbers
        assert all(record.error for record in reading.troubled)
        export(reading, Format.MD)
    assert opened, "the damage is not of the kind that this test is for"
