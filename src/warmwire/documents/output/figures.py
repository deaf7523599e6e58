"""Figures as files: cut out of the pages at the resolution that they have there, and linked from Markdown and HTML."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from warmwire.documents.input.source import Source
from warmwire.documents.output.cut import cut
from warmwire.documents.output.flow import pair_captions
from warmwire.documents.reading.record import Reading, ReadPage
from warmwire.errors import InputError
from warmwire.layout.page import Element, Kind
from warmwire.system.files import write_file


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a document: where its file is, "" without one, and what it shows, in words."""

    path: str
    caption: str

    def link(self, base: Path) -> Figure:
        """The same with its path as a link from a file in `base`."""
        return Figure(quote(os.path.relpath(self.path, base).replace(os.sep, "/")), self.caption) if self.path else self


def write_figures(reading: Reading, source: Source, folder: Path, stem: str) -> list[Figure]:
    """Write every figure of a reading as `STEM-PAGE-NUMBER.png`; one that cannot be drawn has no file.

    Raises InputError where a file cannot be written.
    """
    figures = []
    for page, number, element, caption in _figures(reading):
        said = caption or f"Figure {number} on page {page.record.page}"
        try:
            image = cut(source, page, element.box)
        except InputError:
            figures.append(Figure("", said))
            continue
        data = io.BytesIO()
        image.save(data, "PNG")
        path = folder / f"{stem}-{page.record.page}-{number}.png"
        write_file(path, data.getvalue())
        figures.append(Figure(str(path), said))
    return figures


def _figures(reading: Reading) -> Iterator[tuple[ReadPage, int, Element, str]]:
    for page in reading.pages:
        captions = pair_captions(page.elements)
        number = 0
        for index, element in enumerate(page.elements):
            if element.kind is Kind.PICTURE:
                number += 1
                yield page, number, element, element.alt or (captions[index].text if index in captions else "")
