"""Picture files as pages. No engine ever sees a file, only the upright RGB array that `PictureFile` makes of a page."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from warmwire.client import InputError, PictureFile
from warmwire.documents.outline import Bookmark
from warmwire.documents.source import Image, PageText
from warmwire.layout.page import Box

_FORMATS: Final = ("PNG", "JPEG", "TIFF", "WEBP")


class ImageSource:
    """A PNG, JPEG or WebP file of one page, or a TIFF file of one or more."""

    def __init__(self, name: str, data: Path | bytes) -> None:
        from PIL import UnidentifiedImageError

        self._name = name
        self._data = data
        try:
            self._file = PictureFile(data, _FORMATS)
        except UnidentifiedImageError:
            raise InputError(f"{name}: not a PDF, PNG, JPEG, TIFF or WebP file") from None
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
