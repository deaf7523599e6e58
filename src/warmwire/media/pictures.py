"""The one way from a picture file to pixels, so that the same file is the same page whoever sends it."""

from __future__ import annotations

import io
import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import numpy as np

from warmwire.errors import InputError, UsageError
from warmwire.media.images import Image, fit_scale

if TYPE_CHECKING:
    from PIL.Image import Image as PilImage

_FORMATS: Final = ("PNG", "JPEG", "TIFF", "WEBP", "GIF", "BMP")
"""What a request may show. Pillow knows more formats, one of which has it run a program."""

_MAX_FILE: Final = 1 << 30
"""Most bytes of a picture file that a request may show."""

_PAGED: Final = ("TIFF", "GIF", "WEBP", "HEIF")
"""Pillow's names of formats whose frames are pages; a JPEG's or PNG's others are previews and effects."""

_ORIENTATION: Final = 0x0112
"""EXIF's tag of how a picture is to be turned."""

_SUBFILE_TYPE: Final = 254
_REDUCED: Final = 1
"""TIFF's tag NewSubfileType, and the bit of it that marks a smaller copy of another page."""


def load_picture(path: str | os.PathLike[str]) -> Image:
    """The first picture in a file; raises as `read_picture`."""
    name = os.fspath(path)
    try:
        with open(path, "rb") as stream:
            return read_picture(stream, name)
    except FileNotFoundError:
        raise InputError(f"{name}: no such file") from None
    except OSError as error:
        raise InputError(f"{name}: cannot be read ({error.strerror or error})") from None


def read_picture(stream: BinaryIO, name: str) -> Image:
    """The first picture in what a stream gives, as `decode_picture` gives it; `name` is what errors call it.

    Raises InputError for what is no picture, UsageError for a PDF and where Pillow is missing, OSError as reading does.
    """
    data = stream.read(_MAX_FILE + 1)
    if b"%PDF-" in data[:1024]:
        raise UsageError(f"{name} is no picture; `warmwire ocr` reads documents")
    if len(data) > _MAX_FILE:
        raise InputError(f"{name}: over {_MAX_FILE >> 30} GiB, which is no picture that a request can carry")
    try:
        from PIL import UnidentifiedImageError
    except ImportError:
        raise UsageError("pictures need Pillow: pip install pillow") from None
    try:
        with closing(PictureFile(data, _FORMATS)) as file:
            return file.pixels(0)
    except UnidentifiedImageError:
        raise InputError(f"{name}: not a picture that can be read") from None
    except Exception as error:  # Pillow's readers raise whatever the bytes make their parsing meet
        raise InputError(f"{name}: not a picture that can be read ({error})") from None


class PictureFile:
    """An open picture file; its pages are decoded one at a time, from any thread.

    Pages are all frames of a TIFF but its previews, all of a GIF, WebP or HEIC, and the first of anything else. Every
    method raises what Pillow raises: whatever the bytes make its parsing meet.
    """

    def __init__(self, data: Path | bytes, formats: tuple[str, ...]) -> None:
        from PIL import Image as Pil

        self._lock = threading.Lock()
        with _quiet():
            self._picture = Pil.open(io.BytesIO(data) if isinstance(data, bytes) else data, formats=formats)
            self._frames = self._find_frames()

    def _find_frames(self) -> list[int]:
        if self._picture.format not in _PAGED:
            return [0]
        frames = []
        count = getattr(self._picture, "n_frames", 1)
        if self._picture.format != "TIFF":
            return list(range(count))
        for index in range(count):
            self._picture.seek(index)
            kind = getattr(self._picture, "tag_v2", {}).get(_SUBFILE_TYPE, 0)
            if not (isinstance(kind, int) and kind & _REDUCED):
                frames.append(index)
        return frames or [0]

    def __len__(self) -> int:
        return len(self._frames)

    def pixels(self, index: int) -> Image:
        """The page at `index`, as `decode_picture` gives it."""
        with self._lock, _quiet():
            self._picture.seek(self._frames[index])
            return decode_picture(self._picture)

    def jpeg(self) -> tuple[int, int, bool, int, float] | None:
        """Width, height, greyness, EXIF orientation and dots per inch of a JPEG file whose pixels `pixels` would only
        turn; None for any other."""
        picture = self._picture
        if picture.format not in ("JPEG", "MPO") or picture.mode not in ("L", "RGB"):
            return None
        orientation = picture.getexif().get(_ORIENTATION, 1)
        if _square_size(picture, picture.info.get("dpi")) != picture.size:
            return None
        dpi = picture.info.get("dpi", (0.0, 0.0))[0]
        return *picture.size, picture.mode == "L", orientation if orientation in range(1, 9) else 1, float(dpi)

    def close(self) -> None:
        self._picture.close()


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Pillow from warning of damage and of size: the first ends in an error or does not matter, the second is
    bounded by Pillow itself, which refuses what is twice as large."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def decode_picture(picture: PilImage) -> Image:
    """A picture that Pillow has opened as an upright RGB array (height, width, 3), uint8, at most `MAX_PIXELS`.

    Recognisers go wrong in silence on anything else: palettes and CMYK give no lines, 16-bit grey gives invented words.
    EXIF turns are applied, transparency is laid on white, oblong pixels (a fax at 204 by 98 dpi) are made square,
    and depths over 8 bits are scaled by the range that is used. Raises what Pillow raises: whatever the bytes make its
    parsing meet.
    """
    from PIL import Image as Pil
    from PIL import ImageOps

    picture.load()
    upright = ImageOps.exif_transpose(picture)
    if upright.mode in ("I", "F") or upright.mode.startswith("I;16"):
        upright = Pil.fromarray(_to_eight_bits(np.asarray(upright)))
    if upright.has_transparency_data:
        layer = upright.convert("RGBA")
        upright = Pil.new("RGB", layer.size, "white")
        upright.paste(layer, mask=layer.getchannel("A"))
    if upright.mode == "1":
        upright = upright.convert("L")
    size = _square_size(upright, picture.info.get("dpi"))
    if size != upright.size:
        upright = upright.resize(size, Pil.Resampling.BICUBIC)
    return np.array(upright.convert("RGB"), dtype=np.uint8)


def _to_eight_bits(values: np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Grey of any depth to 8 bits. A nearly even page keeps its depth's own scale, so that noise is not made ink."""
    values = np.nan_to_num(values.astype(np.float32), posinf=0.0, neginf=0.0)
    low, high = float(values.min()), float(values.max())
    full = next((top for top in (1.0, 255.0, 4095.0, 65535.0) if high <= top), high)
    if high - low < full / 8:
        low, high = min(low, 0.0), full
    return ((values - low) * (255.0 / (high - low))).round().astype(np.uint8)


def _square_size(picture: PilImage, dpi: Any) -> tuple[int, int]:
    """The size with square pixels and within the caps of the wire."""
    width, height = float(picture.width), float(picture.height)
    try:
        ratio = float(dpi[0]) / float(dpi[1])
    except (TypeError, ValueError, IndexError, ZeroDivisionError):
        ratio = 1.0
    if 1.2 < ratio < 4.5:
        height *= ratio
    elif 1.2 * ratio < 1.0 < 4.5 * ratio:
        width /= ratio
    scale = fit_scale(width, height, 1.0)
    return max(1, round(width * scale)), max(1, round(height * scale))
