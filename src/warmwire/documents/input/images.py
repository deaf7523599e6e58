"""Picture files as pages. No engine ever sees a file, only the upright RGB array that `PictureFile` makes of a page."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from warmwire.documents.input.foreign import is_heic, no_document
from warmwire.documents.input.outline import Bookmark
from warmwire.documents.input.source import PageText
from warmwire.errors import InputError
from warmwire.layout.page import Box
from warmwire.media.images import Image
from warmwire.media.pictures import PictureFile

_FORMATS: Final = ("PNG", "JPEG", "TIFF", "WEBP", "GIF", "BMP")


class ImageSource:
    """A picture file: PNG, JPEG and BMP have one page, TIFF, GIF, WebP and HEIC one or more. `head` is its start."""

    def __init__(self, name: str, data: Path | bytes, head: bytes = b"") -> None:
        from PIL import UnidentifiedImageError

        self._name = name
        self._data = data
        formats = (*_FORMATS, _heif(name)) if is_heic(head) else _FORMATS
        try:
            self._file = PictureFile(data, formats)
        except UnidentifiedImageError:
            raise InputError(f"{name}: {no_document(head)}") from None
        except Exception as error:  # see PictureFile
            raise InputError(f"{name}: the picture cannot be read ({error})") from None

    @property
    def name(self) -> str:
        return self._name

    def __len__(self) -> int:
        return len(self._file)

    def page(self, index: int) -> ImagePage:
        try:
            return ImagePage(self._file.pixels(index))
        except Exception as error:  # see PictureFile
            raise InputError(f"the picture cannot be decoded ({error})") from None

    def outline(self) -> list[Bookmark]:
        return []

    def jpeg(self, index: int) -> Jpeg | None:
        """The page's own JPEG data, None where its pixels are not just these: another format, more than one page,
        or a picture that had to be made smaller or its pixels square."""
        found = self._file.jpeg()
        if found is None or index or len(self) != 1:
            return None
        data = self._data if isinstance(self._data, bytes) else self._data.read_bytes()
        return Jpeg(data, *found)

    def close(self) -> None:
        self._file.close()


def _heif(name: str) -> str:
    """Let Pillow know HEIC photos; returns its name for them. Raises InputError where their decoder is missing."""
    try:
        from pi_heif import register_heif_opener
    except ImportError:
        raise InputError(f"{name}: a HEIC photo, which needs one more package: pip install 'warmwire[heic]'") from None
    register_heif_opener()
    return "HEIF"


@dataclass(frozen=True, slots=True)
class Jpeg:
    """A JPEG file: its stored size, whether it is grey, how it is to be turned (as EXIF says, 1 to 8) and its
    resolution, 0 where it says none."""

    data: bytes
    width: int
    height: int
    grey: bool
    orientation: int
    dpi: float


class ImagePage:
    """One decoded picture."""

    def __init__(self, pixels: Image) -> None:
        self._pixels = pixels

    @property
    def size(self) -> tuple[float, float]:
        height, width = self._pixels.shape[:2]
        return float(width), float(height)

    def text(self) -> PageText:
        return PageText(largest_image=1.0, printed=1.0)

    def render(self, dpi: float) -> Image:
        return self._pixels

    def cut(self, box: Box) -> Image:
        height, width = self._pixels.shape[:2]
        left, top = max(0, math.floor(box.left)), max(0, math.floor(box.top))
        part = self._pixels[top : min(height, math.ceil(box.bottom)), left : min(width, math.ceil(box.right))]
        if not part.size:
            raise InputError("the part of the picture is empty")
        return part

    def close(self) -> None:
        pass
