"""Pictures of pages and figures, from the file that was read: drawn when asked for, so that nothing is kept."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING

from warmwire.documents.input.source import Page, Source
from warmwire.documents.reading.record import ReadPage
from warmwire.errors import InputError
from warmwire.layout.page import Box
from warmwire.media.images import Image

if TYPE_CHECKING:
    from PIL.Image import Image as PilImage


def draw(source: Source, read: ReadPage, dpi: float) -> PilImage:
    """A page's picture. Raises InputError where the file no longer has this page."""
    page = _same_page(source, read)
    try:
        return _picture(page.render(dpi))
    finally:
        page.close()


def small_jpeg(source: Source, read: ReadPage, dpi: float, longest: int, quality: int) -> str:
    """A page's picture as a JPEG in base64, at most `longest` pixels along a side; "" where it cannot be drawn."""
    try:
        picture = draw(source, read, dpi)
    except InputError:
        return ""
    picture.thumbnail((longest, longest))
    data = io.BytesIO()
    picture.convert("RGB").save(data, "JPEG", quality=quality)
    return base64.b64encode(data.getvalue()).decode()


def cut(source: Source, read: ReadPage, box: Box | None) -> PilImage:
    """A part of a page, or all of it, at the resolution of what is drawn there. Raises InputError likewise."""
    page = _same_page(source, read)
    try:
        return _picture(page.cut(box or Box(0.0, 0.0, *page.size)))
    finally:
        page.close()


def _same_page(source: Source, read: ReadPage) -> Page:
    """The page that was read: a file that has changed since has other pages, or none, at its number."""
    if read.record.page > len(source):
        raise InputError(f"{source.name} has changed since it was read: it has no page {read.record.page} now")
    page = source.page(read.record.page - 1)
    if page.size != (read.width, read.height):
        page.close()
        raise InputError(f"{source.name} has changed since it was read: page {read.record.page} has another size now")
    return page


def _picture(pixels: Image) -> PilImage:
    from PIL import Image as Pil

    return Pil.fromarray(pixels)
