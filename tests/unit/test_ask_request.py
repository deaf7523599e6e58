"""What `ask` sends: pictures from files, arrays and PIL, sound from samples, tools, schemas."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pil
from PIL import TiffImagePlugin

from warmwire.client.generation.shared import ask_request
from warmwire.errors import InputError, InvalidRequestError, UsageError
from warmwire.media.audio import audio_attachment
from warmwire.wire.generation.messages import Tool
from warmwire.wire.generation.request import RequestReader, encode_request
from warmwire.wire.generation.validate import validate

PIXELS = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)


def test_pictures_of_every_kind_come_before_the_text(tmp_path: Path) -> None:
    file = tmp_path / "page.png"
    Pil.fromarray(PIXELS).save(file)
    request = ask_request("What is this?", {"images": [file, str(file), PIXELS, Pil.fromarray(PIXELS)]})
    assert [bytes(a.data) for a in request.attachments] == [PIXELS.tobytes()] * 4
    assert [block.type for block in request.messages[0].content] == ["image"] * 4 + ["text"]
    validate(request)


def test_everything_else_survives_the_wire() -> None:
    tool = Tool("clock", "tells the time", {"type": "object"})
    request = ask_request(
        "now?", {"system": "Be brief.", "tools": [tool], "tool_choice": "auto", "max_tokens": 5, "temperature": 0.5}
    )
    request.thinking = True
    (read,) = RequestReader().receive_data(b"".join(encode_request(request)))
    assert [m.role for m in read.messages] == ["system", "user"]
    assert (read.tools, read.tool_choice, read.max_tokens, read.temperature) == ([tool], "auto", 5, 0.5)
    schema = {"type": "object", "properties": {"x": {"type": "integer"}}}
    assert ask_request("x", {"json_schema": schema}).response_format == {"type": "json_schema", "schema": schema}


@pytest.mark.parametrize("samples", [np.array([0.5, -0.5]), np.array([16384, -16384], np.int16)])
def test_sound_is_float32_little_endian(samples: np.ndarray) -> None:
    request = ask_request("say it", {"audio": [(samples, 16000)]})
    (sound,) = request.attachments
    assert (sound.kind, sound.sample_rate) == ("audio", 16000)
    assert bytes(sound.data) == np.array([0.5, -0.5], "<f4").tobytes()
    validate(request)


@pytest.mark.parametrize(
    ("samples", "rate"),
    [(np.zeros((2, 2), np.float32), 16000), ([], 16000), (np.array([1, 2]), 16000), ([0.5], 0), ([0.5], 1 << 32)],
)
def test_what_is_no_sound(samples: object, rate: int) -> None:
    with pytest.raises(InvalidRequestError, match="audio 'a'"):
        audio_attachment("a", samples, rate)


def test_a_file_that_is_no_picture(tmp_path: Path) -> None:
    (tmp_path / "x.png").write_bytes(b"nothing")
    with pytest.raises(InputError, match="not a picture"):
        ask_request("x", {"images": [tmp_path / "x.png"]})
    with pytest.raises(InputError, match="no such file"):
        ask_request("x", {"images": [tmp_path / "none.png"]})


def test_a_document_is_no_picture_and_ocr_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.png").write_bytes(b"%PDF-1.7 and the rest")
    with pytest.raises(UsageError, match="is no picture; `warmwire ocr` reads documents"):
        ask_request("x", {"images": [tmp_path / "x.png"]})


def test_a_tiff_shows_its_page_and_not_the_preview_before_it(tmp_path: Path) -> None:
    data = io.BytesIO()  # the writer is closed twice, which a file would not bear
    with TiffImagePlugin.AppendingTiffWriter(data, new=True) as file:
        for kind, size in ((1, (2, 1)), (0, (3, 2))):
            Pil.new("L", size).save(file, "TIFF", tiffinfo={254: kind})
            file.newFrame()
    (tmp_path / "x.tif").write_bytes(data.getvalue())
    (shown,) = ask_request("x", {"images": [tmp_path / "x.tif"]}).attachments
    assert (shown.width, shown.height) == (3, 2)
