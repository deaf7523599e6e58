"""What `warmwire.read` gives: a document that was read, its parts, and every way to write it.

A `Document` keeps what was read and how to open its source again; pictures are drawn when they are asked for. Boxes
are in the page's own frame: points of a PDF's crop box after /Rotate, or pixels of a picture, from the top left.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from warmwire.documents.input.source import Source
from warmwire.documents.output.cut import cut, draw
from warmwire.documents.output.export import export
from warmwire.documents.output.formats import Format, format_of
from warmwire.documents.output.tables import Grid, grid_of
from warmwire.documents.reading.record import PageRecord, Reading, ReadPage, Route, Status
from warmwire.errors import UsageError
from warmwire.layout.page import Box, Element, Kind

if TYPE_CHECKING:
    import pandas
    from docling_core.types.doc import DoclingDocument
    from PIL.Image import Image as PilImage

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """One page of a document.

    `record` has everything that is known of how it went; what is asked for most has a name of its own here.
    """

    document: Document
    _page: ReadPage

    @property
    def number(self) -> int:
        """Its number in the file, from 1."""
        return self._page.record.page

    @property
    def status(self) -> Status:
        """`ok`, `partial` (something was kept) or `failed`."""
        return self._page.record.status

    @property
    def route(self) -> Route:
        """Who read it: `model` or `file`."""
        return self._page.record.route

    @property
    def confidence(self) -> float | None:
        """How sure the model was, 0 to 1; None where the file was read."""
        return self._page.record.confidence

    @property
    def error(self) -> str:
        """What went wrong, "" where nothing did."""
        return self._page.record.error

    @property
    def elements(self) -> list[Element]:
        """Headings, paragraphs, list items, tables, pictures, ... in reading order."""
        return self._page.elements

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the frame that the elements' boxes are in."""
        return self._page.width, self._page.height

    @property
    def record(self) -> PageRecord:
        return self._page.record

    def markdown(self) -> str:
        """The page alone as Markdown, without running heads and feet."""
        return export(Reading(self.document.name, [self._page]), Format.MD)

    def image(self, dpi: float = 150.0) -> PilImage:
        """The page's picture; a picture file has its own pixels whatever `dpi` says. Raises InputError."""
        return self.document._with_source(lambda source: draw(source, self._page, dpi))


@dataclass(frozen=True, slots=True)
class DocumentTable:
    """A table: its page, its place there (None where nobody knows it), its caption and its cells."""

    page: DocumentPage
    element: Element
    caption: str

    @property
    def box(self) -> Box | None:
        return self.element.box

    @property
    def rows(self) -> list[list[str]]:
        """The text at each place of the grid; a cell over several places stands at its first one only."""
        return self._grid.rows

    @property
    def headers(self) -> int:
        """How many of the first rows are headers."""
        return self._grid.headers

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a data frame of text; several rows of headers become one, joined by a space."""
        import pandas

        return pandas.DataFrame(self._grid.body, columns=self._grid.columns)

    @property
    def _grid(self) -> Grid:
        return grid_of(self.element.table)


@dataclass(frozen=True, slots=True)
class DocumentPicture:
    """A figure: its page, its place there, its caption and the text inside it."""

    page: DocumentPage
    element: Element
    caption: str

    @property
    def box(self) -> Box | None:
        return self.element.box

    @property
    def text(self) -> str:
        return self.element.text

    @property
    def image(self) -> PilImage:
        """The figure cut out of its page at the resolution that it has there. Raises InputError."""
        page, element = self.page._page, self.element
        return self.page.document._with_source(lambda source: cut(source, page, element.box))


class Document:
    """A document that was read.

    `status` is `ok`, `partial` where a page is not whole, or `failed` where there is nothing: then, and where pages
    failed, `error` says why.
    """

    def __init__(self, reading: Reading, open_again: Callable[[], Source], error: str = "") -> None:
        self.reading = reading
        self.error = error or next((f"page {page.page}: {page.error}" for page in reading.troubled), "")
        self._open = open_again

    def __repr__(self) -> str:
        return f"<Document {self.name!r}: {len(self.pages)} pages, {self.status}>"

    @property
    def name(self) -> str:
        """The path as it was given, or a name for what has none."""
        return self.reading.name

    @property
    def status(self) -> Status:
        pages = self.reading.pages
        if not pages or all(page.record.status is Status.FAILED for page in pages):
            return Status.FAILED
        return Status.PARTIAL if self.reading.troubled else Status.OK

    @cached_property
    def pages(self) -> list[DocumentPage]:
        """The pages that were read, in order, failed ones included."""
        return [DocumentPage(self, page) for page in self.reading.pages]

    @cached_property
    def tables(self) -> list[DocumentTable]:
        """All tables, in order."""
        return [DocumentTable(*found) for found in self._captioned(Kind.TABLE)]

    @cached_property
    def pictures(self) -> list[DocumentPicture]:
        """All figures, in order."""
        return [DocumentPicture(*found) for found in self._captioned(Kind.PICTURE)]

    def _captioned(self, kind: Kind) -> Iterable[tuple[DocumentPage, Element, str]]:
        from warmwire.documents.output.flow import pair_captions

        for page in self.pages:
            captions = pair_captions(page.elements)
            for index, element in enumerate(page.elements):
                if element.kind is kind:
                    yield page, element, captions[index].text if index in captions else ""

    @cached_property
    def docling(self) -> DoclingDocument:
        """The document as docling-core's `DoclingDocument`."""
        from warmwire.documents.output.document import build_document

        return build_document(self.reading)

    def markdown(self) -> str:
        """The document as Markdown, without running heads and feet."""
        return export(self.reading, Format.MD)

    def html(self) -> str:
        """The document as HTML, likewise."""
        return export(self.reading, Format.HTML)

    def text(self) -> str:
        """The document as plain text, likewise."""
        return export(self.reading, Format.TEXT)

    def json(self) -> str:
        """Everything: a DoclingDocument with the record of each page, as JSON."""
        return export(self.reading, Format.JSON)

    def doctags(self) -> str:
        """Everything as DocTags."""
        return export(self.reading, Format.DOCTAGS)

    def pdf(self) -> bytes:
        """The file as it was, with the words of its scanned pages as invisible text; a picture as a new file.

        Raises InputError for an encrypted or signed file.
        """
        from warmwire.documents.output.pdf import searchable_pdf

        return self._with_source(lambda source: searchable_pdf(self.reading, source))

    def files(self, format: str) -> dict[str, bytes]:
        """The document in a format, as the files that it takes, by what their names end in: one, but for `csv`.

        Raises UsageError for a format that is not known, InputError where it cannot hold the document.
        """
        from warmwire.documents.output.save import render

        form = _known(format)
        return self._with_source(lambda source: render(self.reading, form, source))

    def save(
        self,
        path: str | os.PathLike[str],
        format: str | None = None,
        *,
        images: str | os.PathLike[str] | None = None,
    ) -> None:
        """Write the document to a file, whole or not at all; the suffix decides the format unless one is given.

        `images` is a folder that the figures are written to, which Markdown and HTML then show.

        Raises UsageError for a suffix or a format that is not known, InputError where the file cannot be written.
        """
        from warmwire.documents.output.save import save

        form = _known(format) if format is not None else format_of(path)
        save(self.reading, Path(path), form, self._open, Path(images) if images is not None else None)

    def _with_source(self, use: Callable[[Source], _T]) -> _T:
        source = self._open()
        try:
            return use(source)
        finally:
            source.close()


def _known(format: str) -> Format:
    if format not in set(Format):
        raise UsageError(f"there is no format {format!r}; there are {', '.join(Format)}")
    return Format(format)
