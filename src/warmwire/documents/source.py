"""A file as pages, whatever it is: what every kind of input gives the rest of the room.

A page's frame is upright, starts at its top left corner and is measured in the file's own unit: points for a PDF
(the crop box, after /Rotate), pixels for an image. Lines, rules, pictures and the boxes a model gives all live in it.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from warmwire.client import InputError
from warmwire.documents.links import Link
from warmwire.documents.outline import Bookmark
from warmwire.documents.urls import data_of, file_path, refuse, scheme_of
from warmwire.layout.page import Box, Line
from warmwire.layout.told import ToldPage

Image = NDArray[np.uint8]
"""Pixels: shape (height, width, 3), uint8, RGB."""

MAX_PIPED: Final = 1 << 30
"""Most bytes of a document taken from standard input or a pipe."""


@dataclass(slots=True)
class PageText:
    """What a page says of itself, without any model.

    `coverage` is the share of the page under visible text blocks, `largest_image` the share under its pictures,
    `printed` the share under those that look like print on paper. `outlines` counts drawn curves that may be letters.
    `resolution` is that of a scan's pictures in pixels per inch, 0 where the page is none.
    `quality` is how far the text can be trusted (0 to 1, see `quality`). `turn` is how far the page had to be turned
    clockwise, beyond /Rotate, for its text to stand upright, in degrees. `hidden` is text that nobody sees, `headings`
    are those that the file itself names, with their levels, `told` is all its structure tree says.
    """

    lines: list[Line] = field(default_factory=list)
    hidden: list[Line] = field(default_factory=list)
    rules: list[Box] = field(default_factory=list)
    figures: list[Box] = field(default_factory=list)
    coverage: float = 0.0
    largest_image: float = 0.0
    printed: float = 0.0
    outlines: int = 0
    resolution: float = 0.0
    quality: float = 1.0
    links: list[Link] = field(default_factory=list)
    turn: int = 0
    headings: list[tuple[int, str]] = field(default_factory=list)
    told: ToldPage | None = None
    blank: bool = False


class Page(Protocol):
    """One page. Its methods may be called from any thread, and raise `InputError` where the page is broken."""

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the upright frame, both above 0."""

    def text(self) -> PageText:
        """The file's own text."""

    def render(self, dpi: float) -> Image:
        """The upright picture, at most `MAX_PIXELS`. A picture file has its own pixels whatever `dpi` says."""

    def cut(self, box: Box) -> Image:
        """The picture of a part of the page, at the resolution of what is drawn there."""

    def close(self) -> None:
        """Free what the page holds."""


class Source(Protocol):
    """An open file of pages."""

    @property
    def name(self) -> str:
        """The file's name, "stdin" for standard input."""

    def __len__(self) -> int:
        """The number of pages, at least 1."""

    def page(self, index: int) -> Page:
        """Open a page, counted from 0. Raises `InputError` when it is broken."""

    def outline(self) -> list[Bookmark]:
        """The file's own table of contents, empty where it has none."""

    def close(self) -> None:
        """Close the file."""


def open_source(path: str, password: str = "") -> Source:
    """Open a document: a path, a `file:` or `data:` URL, or "-" for standard input. The kind is told from the bytes,
    never from the name.

    Raises:
        InputError: there is no such file, it is no document of a known kind, or the password is wrong.
    """
    if path == "-":
        data = _read_all(sys.stdin.buffer, "standard input")
        return open_bytes("stdin", data, password)
    match scheme_of(path):
        case "file":
            path = file_path(path)
        case "data":
            return open_bytes("data", data_of(path), password)
        case scheme if scheme:
            raise refuse(path)
    if not path:  # which would be the current directory
        raise InputError("a file name is empty; give a file")
    file = Path(path)
    try:
        if file.is_dir():
            raise InputError(f"{path} is a directory; give the files in it")
        if file.is_fifo():  # what a shell makes of <(command); it can be read once only
            data = _read_all(file.open("rb"), path)
            return open_bytes(path, data, password)
        if file.exists() and not file.is_file():
            raise InputError(f"{path} is not a file")
        with file.open("rb") as stream:
            head = stream.read(1024)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:  # ValueError: no path has a null in it
        raise InputError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from None
    return _open(path, file, head, password)


def open_bytes(name: str, data: bytes, password: str = "") -> Source:
    """Open a document that is in memory; `name` is what errors call it. Raises as `open_source`."""
    return _open(name, data, data[:1024], password)


def _read_all(stream: BinaryIO, name: str) -> bytes:
    with stream:
        data = stream.read(MAX_PIPED + 1)
    if len(data) > MAX_PIPED:
        raise InputError(f"{name} gives over {MAX_PIPED >> 30} GiB; give a file's path instead")
    return data


def _open(name: str, data: Path | bytes, head: bytes, password: str) -> Source:
    if not head:
        raise InputError(f"{name}: the file is empty (0 bytes)")
    if b"%PDF-" in head:
        from warmwire.documents.pdf import PdfSource

        return PdfSource(name, data, password)
    from warmwire.documents.images import ImageSource

    return ImageSource(name, data, head)
