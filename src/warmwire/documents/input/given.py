"""What a program may hand over to be read: a path, bytes, an open file, a Pillow image or an array of pixels."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, BinaryIO, Final, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from warmwire.documents.input.images import ImagePage
from warmwire.documents.input.open import MAX_PIPED, open_bytes, open_source
from warmwire.documents.input.outline import Bookmark
from warmwire.documents.input.source import Source
from warmwire.documents.input.urls import scheme_of
from warmwire.errors import InputError, UsageError
from warmwire.media.images import Image, fit_scale
from warmwire.media.pictures import decode_picture

if TYPE_CHECKING:
    from PIL.Image import Image as PilImage

Given: TypeAlias = "str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO | PilImage | NDArray[Any]"
"""A file's path, its bytes, an object open for reading bytes, a Pillow image, or an array (height, width[, 1, 3 or 4])
of uint8."""

_UNNAMED: Final = "document"


def opener(given: Given, password: str = "") -> Callable[[], Source]:
    """How to open what was given, as often as wanted: an open file is read at once, from where it stands to its end.

    Raises UsageError for what is none of `Given`, InputError for a file that cannot be read or is too long.
    """
    if isinstance(given, (str, os.PathLike)):
        path = os.fspath(given)
        return lambda: open_source(path, password)
    if isinstance(given, (bytes, bytearray, memoryview)):
        data = bytes(given)
        return lambda: open_bytes(_UNNAMED, data, password)
    if hasattr(given, "read") and not hasattr(given, "convert"):
        name, content = _read_stream(cast(BinaryIO, given))
        return lambda: open_bytes(name, content, password)
    if hasattr(given, "convert"):
        picture = cast("PilImage", given)
        name = name_of(picture)
        return lambda: PixelSource(name, _decoded(picture, name))
    if isinstance(given, np.ndarray):
        pixels = _checked(given)
        return lambda: PixelSource(_UNNAMED, pixels)
    kinds = "a path, bytes, a file opened with 'rb', a Pillow image or an array"
    raise UsageError(f"{type(given).__name__} cannot be read; give {kinds}")


def name_of(given: Given) -> str:
    """What a document is called before it is opened."""
    if isinstance(given, (str, os.PathLike)):
        path = os.fspath(given)
        return "data" if scheme_of(path) == "data" else path
    name = getattr(given, "name", None) or getattr(given, "filename", None)
    return name if isinstance(name, str) else _UNNAMED


class PixelSource:
    """A picture in memory as a document of one page."""

    def __init__(self, name: str, pixels: Image) -> None:
        self.name = name
        self._pixels = pixels

    def __len__(self) -> int:
        return 1

    def page(self, index: int) -> ImagePage:
        if index:
            raise InputError("a picture has one page only")
        return ImagePage(self._pixels)

    def outline(self) -> list[Bookmark]:
        return []

    def close(self) -> None:
        pass


def _read_stream(stream: BinaryIO) -> tuple[str, bytes]:
    name = name_of(stream)
    try:
        data = stream.read(MAX_PIPED + 1)
    except (OSError, ValueError) as error:  # ValueError: it is closed, or is text that does not decode
        raise InputError(f"{name}: cannot be read ({error})") from None
    if isinstance(data, str):
        raise UsageError(f"{name} is open as text; open it with 'rb'")
    if len(data) > MAX_PIPED:
        raise InputError(f"{name} gives over {MAX_PIPED >> 30} GiB; give its path instead")
    return name, bytes(data)


def _decoded(picture: PilImage, name: str) -> Image:
    try:
        return decode_picture(picture)
    except Exception as error:  # Pillow's readers raise whatever the bytes make their parsing meet
        raise InputError(f"{name}: the picture cannot be read ({error})") from None


def _checked(pixels: NDArray[Any]) -> Image:
    """The array as RGB that a frame of the wire can hold; a copy, since its owner may go on to change it."""
    if pixels.dtype != np.uint8:
        raise UsageError(f"an array of pixels must be uint8, not {pixels.dtype}")
    shape = pixels.shape
    if pixels.ndim not in (2, 3) or 0 in shape or (pixels.ndim == 3 and shape[2] not in (1, 3, 4)):
        raise UsageError(f"an array of shape {shape} is no picture; (height, width), or with 1, 3 or 4 channels, is")
    if pixels.ndim == 2 or shape[2] == 1:
        pixels = np.repeat(pixels.reshape(*shape[:2], 1), 3, axis=2)
    pixels = np.array(pixels[:, :, :3], dtype=np.uint8, order="C")
    if fit_scale(shape[1], shape[0], 1.0) == 1.0:
        return pixels
    from PIL import Image as Pil

    return _decoded(Pil.fromarray(pixels), _UNNAMED)
