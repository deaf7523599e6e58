"""Picture files as pages: decoded once, here, to upright 8-bit RGB.

Recognisers go wrong in silence on anything else: palettes and CMYK give no lines, 16-bit grey gives invented words,
EXIF turns and all but the first page of a TIFF are ignored. So no engine ever sees a file, only this array.
"""

from __future__ import annotations

import io
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from warmwire.client import InputError
from warmwire.documents.source import Image, PageText, fit_scale

if TYPE_CHECKING:
    from PIL.Image import Image as PilImage

_FORMATS: Final = ("PNG", "JPEG", "TIFF", "WEBP")
_REDUCED: Final = 1
"""The bit of TIFF's NewSubfileType that marks a smaller copy of another page."""


class ImageSource:
    """A PNG, JPEG or WebP file of one page, or a TIFF file of one or more."""

    def __init__(self, name: str, data: Path | bytes) -> None:
        from PIL import Image as Pil
        from PIL import UnidentifiedImageError

        self._name = name
        self._lock = threading.Lock()
        try:
            with _quiet():
                self._image = Pil.open(io.BytesIO(data) if isinstance(data, bytes) else data, formats=_FORMATS)
                self._frames = self._find_frames()
        except UnidentifiedImageError:
            raise InputError(f"{name}: not a PDF, PNG, JPEG, TIFF or WebP file") from None
        except Exception as error:  # Pillow's readers raise whatever the bytes make their parsing meet
            raise InputError(f"{name}: the picture cannot be read ({error})") from None

    def _find_frames(self) -> list[int]:
        """The frames that are pages: all of a TIFF's but its previews, the first of anything else."""
        if self._image.format != "TIFF":
            return [0]
        frames = []
        for index in range(getattr(self._image, "n_frames", 1)):
            self._image.seek(index)
            if not _tiff_tag(self._image, 254) & _REDUCED:
                frames.append(index)
        return frames or [0]

    @property
    def name(self) -> str:
        return self._name

    def __len__(self) -> int:
        return len(self._frames)

    def page(self, index: int) -> ImagePage:
        try:
            with self._lock, _quiet():
                self._image.seek(self._frames[index])
                return ImagePage(decode(self._image))
        except Exception as error:  # see __init__
            raise InputError(f"the picture cannot be decoded ({error})") from None

    def close(self) -> None:
        self._image.close()


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Pillow from warning of damage and of size: the first ends in an error or does not matter, the second is
    bounded by Pillow itself, which refuses what is twice as large."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


class ImagePage:
    """One decoded picture."""

    def __init__(self, pixels: Image) -> None:
        self._pixels = pixels

    @property
    def size(self) -> tuple[float, float]:
        height, width = self._pixels.shape[:2]
        return float(width), float(height)

    def text(self) -> PageText:
        return PageText(largest_image=1.0)

    def render(self, dpi: float) -> Image:
        return self._pixels

    def close(self) -> None:
        pass


def decode(picture: PilImage) -> Image:
    """An upright RGB array (height, width, 3), uint8, at most `MAX_PIXELS`.

    EXIF turns are applied, transparency is laid on white, oblong pixels (a fax at 204 by 98 dpi) are made square,
    and depths over 8 bits are scaled by the range that is used.
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


def _tiff_tag(picture: PilImage, tag: int) -> int:
    tags = getattr(picture, "tag_v2", {})
    value = tags.get(tag, 0)
    return value if isinstance(value, int) else 0
