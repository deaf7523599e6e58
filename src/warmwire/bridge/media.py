"""Images and sounds that arrive inside a request, as the attachments of the wire.

Nothing is fetched: a picture is a data URI or it is refused. Every size is read from a header and checked before
anything of that size is decoded.
"""

from __future__ import annotations

import base64
import binascii
import io
import wave
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from warmwire.client import MAX_ATTACHMENT_BYTES, MAX_ATTACHMENTS, MAX_FRAME, Attachment
from warmwire.errors import InvalidRequestError
from warmwire.media.images import MAX_PIXELS, image_attachment
from warmwire.media.pictures import decode_picture

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

_FORMATS: Final = ("PNG", "JPEG", "WEBP", "GIF")

_SAMPLE: Final = 4
"""Bytes of one sample on the wire, a float32."""


class Attachments:
    """Collects the attachments of one request within the caps of the wire; the methods return ids.

    `sample_rate` is the rate in Hz at which the model hears; None keeps that of the file.
    """

    def __init__(self, sample_rate: int | None = None) -> None:
        self._sample_rate = sample_rate
        self._size = 0
        self.found: list[Attachment] = []

    def add_image(self, uri: str, where: str) -> str:
        """A picture out of a data URI. Raises InvalidRequestError."""
        name = self._next_id("image", where)
        picture = _open(_data_of(uri, where), where)
        width, height = picture.size
        if width * height > MAX_PIXELS:
            raise InvalidRequestError(
                f"{where}: the image is {width}x{height}; at most {MAX_PIXELS} pixels can be sent, make it smaller"
            )
        self._charge(width * height * 3, where)
        try:
            pixels = decode_picture(picture)
        except Exception as error:  # Pillow's readers raise whatever the bytes make their parsing meet
            raise InvalidRequestError(f"{where}: the image cannot be decoded ({error})") from None
        self._charge(pixels.nbytes - width * height * 3, where)  # pixels that are not square are made so
        self.found.append(image_attachment(name, pixels))
        return name

    def add_audio(self, data: str, format: str, where: str) -> str:
        """A WAV file in base64. Raises InvalidRequestError."""
        name = self._next_id("audio", where)
        if format != "wav":
            raise InvalidRequestError(f"{where}: audio comes as wav, not {format!r}; convert it first")
        samples, rate = self._read_wav(_decode_base64(data, where), where)
        wanted = self._sample_rate or rate
        if wanted != rate:
            samples = _resample(samples, rate, wanted)
        if not len(samples):
            raise InvalidRequestError(f"{where}: there is no sound in this WAV file")
        self.found.append(Attachment("audio", name, sample_rate=wanted, data=samples.astype("<f4").tobytes()))
        return name

    def _read_wav(self, data: bytes, where: str) -> tuple[NDArray[np.float32], int]:
        """Mono samples from -1 to 1 and their rate in Hz."""
        try:
            with wave.open(io.BytesIO(data)) as file:
                channels, width, rate = file.getnchannels(), file.getsampwidth(), file.getframerate()
                frames = min(file.getnframes(), len(data) // (channels * width))
                if not 0 < rate <= 1_000_000 or width not in (1, 2, 3, 4):
                    raise wave.Error(f"{rate} Hz, {8 * width} bits")
                wanted = round(frames / rate * (self._sample_rate or rate))
                self._charge(_SAMPLE * max(frames * channels, wanted), where)  # as read, or as sent
                raw = file.readframes(frames)
        except InvalidRequestError:
            raise
        except Exception as error:  # `wave` raises EOFError, struct.error and its own
            raise InvalidRequestError(f"{where}: this is no WAV file of PCM samples ({error})") from None
        samples = _pcm(raw[: len(raw) // (channels * width) * channels * width], width)
        return samples.reshape(-1, channels).mean(axis=1, dtype=np.float32), rate

    def _next_id(self, kind: str, where: str) -> str:
        if len(self.found) >= MAX_ATTACHMENTS:
            raise InvalidRequestError(f"{where}: a request carries at most {MAX_ATTACHMENTS} images and sounds")
        return f"{kind}-{len(self.found) + 1}"

    def _charge(self, size: int, where: str) -> None:
        self._size += size
        if size > MAX_FRAME or self._size > MAX_ATTACHMENT_BYTES:
            raise InvalidRequestError(
                f"{where}: decoded, an image or a sound may have {MAX_FRAME} bytes, all of them {MAX_ATTACHMENT_BYTES}"
            )


def _data_of(uri: str, where: str) -> bytes:
    head, comma, payload = uri.partition(",")
    if not head[:5].lower() == "data:":
        raise InvalidRequestError(
            f"{where}: an image must be a data URI (data:image/png;base64,...); nothing is fetched from the network"
        )
    if not comma or not head.lower().endswith(";base64"):
        raise InvalidRequestError(f"{where}: a data URI must be in base64 (data:image/png;base64,...)")
    return _decode_base64(payload, where)


def _decode_base64(text: str, where: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidRequestError(f"{where}: this is no base64 ({error})") from None


def _open(data: bytes, where: str) -> Picture:
    """A picture of which only the header has been read."""
    from PIL import Image

    try:
        return Image.open(io.BytesIO(data), formats=_FORMATS)
    except Image.DecompressionBombError:
        raise InvalidRequestError(f"{where}: the image is far too large; make it smaller") from None
    except Exception:  # whatever the bytes make the parsers meet
        raise InvalidRequestError(f"{where}: this is no PNG, JPEG, WebP or GIF image") from None


def _pcm(raw: bytes, width: int) -> NDArray[np.float32]:
    """PCM samples of `width` bytes, from -1 to 1. WAV has 8 bits unsigned and all others signed, little-endian."""
    values: NDArray[Any]
    if width == 1:
        values = np.frombuffer(raw, np.uint8).astype(np.int16) - 128
    elif width == 3:
        padded = np.zeros((len(raw) // 3, 4), np.uint8)
        padded[:, 1:] = np.frombuffer(raw, np.uint8).reshape(-1, 3)
        values = padded.view("<i4").reshape(-1)
        width = 4
    else:
        values = np.frombuffer(raw, f"<i{width}")
    samples = values.astype(np.float32)
    samples /= 1 << (8 * width - 1)  # a power of two: nothing is rounded again
    return samples


def _resample(samples: NDArray[np.float32], rate: int, wanted: int) -> NDArray[np.float32]:
    """The same sound at another rate: its spectrum, cut or padded, so that nothing above the new band folds back."""
    count = round(len(samples) * wanted / rate)
    if not count:
        return samples[:0]
    spectrum = np.fft.rfft(samples)[: count // 2 + 1]
    sound: NDArray[np.float64] = np.fft.irfft(spectrum, count) * (count / len(samples))
    return sound.astype(np.float32)
