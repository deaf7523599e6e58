"""Images and sounds that arrive in requests: taken as they are, or refused before anything large is decoded."""

from __future__ import annotations

import base64
import io
import json
import re
import struct
import tracemalloc
import wave
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.bridge_support import png
from tests.support import random_image
from warmwire.bridge.bodies import ChatBody, read
from warmwire.bridge.convert import chat_request, media_in
from warmwire.bridge.media import Attachments
from warmwire.documents.input.open import open_source
from warmwire.errors import InvalidRequestError
from warmwire.media.images import decode_image
from warmwire.media.pictures import load_picture
from warmwire.wire.generation.messages import Attachment

Image = pytest.importorskip("PIL.Image")

# ---------------------------------------------------------------------- images


def data_uri(image: Any, kind: str = "png", **options: Any) -> str:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return f"data:image/{kind};base64," + base64.b64encode(buffer.getvalue()).decode()


def pixels(uri: str) -> Any:
    attachments = Attachments()
    assert attachments.add_image(uri, "here") == "image-1"
    return decode_image(attachments.found[0])


def test_an_image_is_taken_as_it_is() -> None:
    assert (pixels(png(random_image(4, 5))) == random_image(4, 5)).all()
    assert (
        pixels(png(random_image(4, 5)).replace("data:image/png;", "DATA:whatever;charset=x;"))
        == pixels(png(random_image(4, 5)))
    ).all()


def test_images_of_every_depth() -> None:
    assert pixels(data_uri(Image.new("RGBA", (2, 2), (255, 0, 0, 0))))[0, 0].tolist() == [255, 255, 255]
    assert pixels(data_uri(Image.new("LA", (2, 2), (0, 255))))[0, 0].tolist() == [0, 0, 0]
    assert pixels(data_uri(Image.new("1", (2, 2), 1)))[0, 0].tolist() == [255, 255, 255]
    palette = Image.new("RGB", (2, 2), "lime").quantize(4)
    assert pixels(data_uri(palette))[0, 0].tolist() == [0, 255, 0]
    assert pixels(data_uri(palette, "gif"))[0, 0].tolist() == [0, 255, 0]
    deep = Image.fromarray(np.full((2, 2), 0x80FF, np.uint16))
    assert pixels(data_uri(deep))[0, 0].tolist() == [128, 128, 128]
    assert abs(int(pixels(data_uri(Image.new("CMYK", (8, 8), (0, 0, 0, 0)), "jpeg"))[0, 0, 0]) - 255) < 3
    assert pixels(data_uri(Image.new("RGB", (8, 8), "red"), "webp", lossless=True))[0, 0].tolist() == [255, 0, 0]


@pytest.mark.parametrize("kind", ["deep", "narrow", "turned"])
def test_a_picture_is_the_same_page_for_every_verb(kind: str, tmp_path: Path) -> None:
    ramp = np.linspace(100, 3000, 60 * 80).reshape(60, 80).astype(np.uint16)
    options: dict[str, Any] = {"dpi": (204, 98)} if kind == "narrow" else {}
    picture = Image.fromarray(ramp if kind == "deep" else (ramp >> 4).astype(np.uint8))
    if kind == "turned":
        options["exif"] = picture.getexif()
        options["exif"][0x0112] = 6
    path = tmp_path / "x.png"
    picture.save(path, **options)
    uri = "data:image/png;base64," + base64.b64encode(path.read_bytes()).decode()
    source = open_source(str(path))
    page = source.page(0).render(72)
    source.close()
    assert np.array_equal(pixels(uri), page)
    assert np.array_equal(load_picture(path), page)
    assert np.ptp(page) > 150  # 12 bits of 16 are no black page


def test_square_pixels_are_paid_for() -> None:
    attachments = Attachments()
    picture = data_uri(Image.new("L", (4000, 2500)), dpi=(204, 98))
    for _ in range(2):
        attachments.add_image(picture, "here")
    with pytest.raises(InvalidRequestError, match="all of them 134217728"):
        attachments.add_image(picture, "here")


def test_an_image_is_upright() -> None:
    picture = Image.new("RGB", (20, 10))
    exif = picture.getexif()
    exif[0x0112] = 6
    assert pixels(data_uri(picture, "jpeg", exif=exif)).shape == (20, 10, 3)


def huge_png(width: int, height: int) -> str:
    """A header that promises a picture of any size, and hardly any data."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    body = b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(bytes(100))) + chunk(b"IEND", b"")
    return "data:image/png;base64," + base64.b64encode(body).decode()


@pytest.mark.parametrize(
    ("uri", "said"),
    [
        ("https://a.example/x.png", "nothing is fetched"),
        ("http://127.0.0.1/x.png", "nothing is fetched"),
        ("file:///etc/passwd", "nothing is fetched"),
        ("/etc/passwd", "nothing is fetched"),
        ("", "nothing is fetched"),
        ("data:image/png,abc", "must be in base64"),
        ("data:image/png;base64", "must be in base64"),
        ("data:image/png;base64,@@@@", "no base64"),
        ("data:image/png;base64,YQ", "no base64"),
        ("data:image/png;base64,YQ==é", "no base64"),
        ("data:image/png;base64,", "no PNG"),
        ("data:image/svg+xml;base64," + base64.b64encode(b"<svg/>").decode(), "no PNG"),
        (
            png(random_image(9, 9))[:-40] + "=" * (-len(png(random_image(9, 9))[:-40].partition(",")[2]) % 4),
            "cannot be decoded",
        ),
        (huge_png(20_000, 20_000), "too large"),
        (huge_png(6_000, 6_000), "6000x6000; at most 22369621 pixels"),
        (huge_png(100_000, 1_000), "pixels"),
        (huge_png(70_000, 1), "cannot be decoded|pixels an axis"),
    ],
    ids=lambda value: value[:40],
)
@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_images_that_cannot_be_taken(uri: str, said: str) -> None:
    attachments = Attachments()
    with pytest.raises(InvalidRequestError) as caught:
        attachments.add_image(uri, "here")
    assert re.search(said, str(caught.value))
    assert len(str(caught.value)) < 300
    assert attachments.found == []


def test_all_images_together_are_bounded() -> None:
    attachments = Attachments()
    picture = data_uri(Image.new("L", (4000, 5000)))
    for _ in range(2):
        attachments.add_image(picture, "here")
    with pytest.raises(InvalidRequestError, match="all of them 134217728"):
        attachments.add_image(picture, "here")


def test_the_number_of_attachments_is_bounded() -> None:
    attachments = Attachments()
    for n in range(32):
        assert attachments.add_image(png(random_image(1, 1)), "here") == f"image-{n + 1}"
    with pytest.raises(InvalidRequestError, match="at most 32"):
        attachments.add_image(png(random_image(1, 1)), "here")


# ---------------------------------------------------------------------- sound


def wav(samples: np.ndarray, rate: int = 16000, width: int = 2) -> str:
    """Samples (count, channels) from -1 to 1 as a WAV file in base64."""
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(samples.shape[1])
        file.setsampwidth(width)
        file.setframerate(rate)
        scaled = np.round(samples * ((1 << (8 * width - 1)) - 1)).astype("<i4")
        if width == 1:
            data = (scaled + 128).astype(np.uint8).tobytes()
        else:
            data = scaled.reshape(-1, 1).view(np.uint8).reshape(-1, 4)[:, :width].tobytes()
        file.writeframes(data)
    return base64.b64encode(buffer.getvalue()).decode()


def hear(data: str, sample_rate: int | None = None) -> tuple[np.ndarray, Attachment]:
    attachments = Attachments(sample_rate)
    attachments.add_audio(data, "wav", "here")
    (sound,) = attachments.found
    return np.frombuffer(sound.data, "<f4"), sound


def tone(rate: int, seconds: float = 0.5, hertz: float = 440) -> np.ndarray:
    return (0.5 * np.sin(2 * np.pi * hertz * np.arange(round(rate * seconds)) / rate))[:, None]


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_sound_of_every_depth(width: int) -> None:
    samples, sound = hear(wav(tone(16000), width=width))
    assert (sound.kind, sound.sample_rate, len(samples)) == ("audio", 16000, 8000)
    assert np.abs(samples - tone(16000)[:, 0]).max() < 2 / (1 << (8 * width - 1)) + 1e-6


def test_channels_are_mixed() -> None:
    samples, _ = hear(wav(np.hstack([tone(16000), -tone(16000), tone(16000)])))
    assert np.abs(samples - tone(16000)[:, 0] / 3).max() < 1e-3


@pytest.mark.parametrize("rate", [8000, 22050, 44100, 48000])
def test_sound_at_the_rate_of_the_model(rate: int) -> None:
    samples, sound = hear(wav(tone(rate), rate), 16000)
    assert (sound.sample_rate, len(samples)) == (16000, 8000)
    assert np.abs(samples[400:-400] - tone(16000)[400:-400, 0]).max() < 0.02
    assert hear(wav(tone(rate), rate))[1].sample_rate == rate


def test_what_the_new_rate_cannot_hold_does_not_fold_back() -> None:
    samples, _ = hear(wav(tone(48000, hertz=12000), 48000), 16000)
    assert np.abs(samples[400:-400]).max() < 0.02


def header(data: str, at: int, format: str, value: int) -> str:
    raw = bytearray(base64.b64decode(data))
    struct.pack_into(format, raw, at, value)
    return base64.b64encode(raw).decode()


@pytest.mark.parametrize(
    "data",
    [
        "",
        base64.b64encode(b"RIFF").decode(),
        base64.b64encode(b"ID3" + bytes(100)).decode(),
        header(wav(tone(16000)), 20, "<H", 3),  # float samples
        header(wav(tone(16000)), 22, "<H", 0),  # no channels
        header(wav(tone(16000)), 24, "<I", 0),  # no rate
        header(wav(tone(16000)), 24, "<I", 0xFFFFFFFF),
        header(wav(tone(16000)), 34, "<H", 64),  # samples of 8 bytes
    ],
)
def test_sounds_that_cannot_be_taken(data: str) -> None:
    with pytest.raises(InvalidRequestError, match="no WAV file of PCM samples"):
        hear(data)


def test_a_sound_that_lies_about_its_length() -> None:
    samples, _ = hear(header(wav(tone(16000)), 40, "<I", 0x7FFFFFF0))
    assert len(samples) == 8000


@pytest.mark.parametrize("frames", [0, 1])
def test_a_sound_of_nothing_is_refused(frames: int) -> None:
    """A host would wait for the bytes of an empty one, and we for its answer."""
    with pytest.raises(InvalidRequestError, match="no sound"):
        hear(wav(np.zeros((frames, 1)), rate=48000), 16000)


def test_a_sound_is_bounded_before_it_is_made_longer() -> None:
    slow = header(wav(np.zeros((1 << 20, 1)), width=1), 24, "<I", 1)
    with pytest.raises(InvalidRequestError, match="may have 67108864 bytes"):
        hear(slow, 16000)


@pytest.mark.parametrize("channels", [1, 100])
def test_a_sound_is_bounded_before_it_is_made_shorter(channels: int) -> None:
    fast = wav(np.zeros(((17 << 20) // channels, channels)), rate=1_000_000, width=1)
    tracemalloc.start()
    try:
        with pytest.raises(InvalidRequestError, match="may have 67108864 bytes"):
            hear(fast, 16000)
        assert tracemalloc.get_traced_memory()[1] < 3 * len(fast)
    finally:
        tracemalloc.stop()


def test_other_kinds_of_sound_are_named() -> None:
    with pytest.raises(InvalidRequestError, match="wav, not 'mp3'"):
        Attachments().add_audio("", "mp3", "here")


def test_sound_in_a_message() -> None:
    part = {"type": "input_audio", "input_audio": {"data": wav(tone(8000), 8000), "format": "wav"}}
    body = read(json.dumps({"messages": [{"role": "user", "content": [part]}]}).encode(), ChatBody)
    assert media_in(body) == {"input_audio"}
    assert chat_request(body).attachments[0].sample_rate == 8000
    assert media_in(read(b'{"messages":[{"role":"user","content":"x"}]}', ChatBody)) == set()
