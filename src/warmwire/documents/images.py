"""Picture files as pages: opened here, and every page of a TIFF found; `decode_picture` makes upright RGB of them.

No engine ever sees a file, only that array.
"""

from __future__ import annotations

import io
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from warmwire.client import InputError, decode_picture
from warmwire.documents.source import Image, PageText

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
                return ImagePage(decode_picture(self._image))
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


def _tiff_tag(picture: PilImage, tag: int) -> int:
    tags = getattr(picture, "tag_v2", {})
    value = tags.get(tag, 0)
    return value if isinstance(value, int) else 0
