"""What every kind of input gives the rest of the house: a file as pages.

A page's frame is upright, starts at its top left corner and is measured in the file's own unit: points for a PDF
(the crop box, after /Rotate), pixels for an image. Lines, rules, pictures and the boxes a model gives all live in it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from warmwire.documents.input.links import Link
from warmwire.documents.input.outline import Bookmark
from warmwire.layout.page import Box, Line
from warmwire.layout.told.elements import ToldPage
from warmwire.media.images import Image


@dataclass(slots=True)
class PageText:
    """What a page says of itself, without any model.

    `coverage` is the share of the page under visible text blocks, `largest_image` the share under its pictures,
    `printed` the share under those that look like print on paper. `outlines` counts drawn curves that may be letters.
    `resolution` is that of a scan's pictures in pixels per inch, 0 where the page is none.
    `quality` is how far the text can be trusted (0 to 1, see `quality`). `turn` is how far the page had to be turned
    clockwise, beyond /Rotate, for its text to stand upright, in degrees. `hidden` is text that nobody sees, `headings`
    are those that the file itself names, with their levels, `told` is all that its structure tree says of the `lines`,
    or where there are none, of the `hidden` text.
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
