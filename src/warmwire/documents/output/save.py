"""Results as bytes, and bytes as files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from warmwire.documents.input.pdf.file import PdfSource
from warmwire.documents.input.source import Source
from warmwire.documents.output.export import export
from warmwire.documents.output.formats import SUFFIX, Format, without_suffix
from warmwire.documents.output.tables import csv_files, workbook
from warmwire.documents.reading.record import Reading
from warmwire.system.files import write_file


def render(
    reading: Reading,
    form: Format,
    source: Source,
    *,
    force: bool = False,
    figures: Sequence[tuple[str, str]] = (),
) -> dict[str, bytes]:
    """A reading in one format: the files it takes, by what their names end in; none where there is nothing to say.

    `source` is the file that was read, which some formats have parts of. `force` changes a signed PDF. `figures` are
    links to the files of pictures and their captions, in order.
    Raises InputError where the format cannot hold it.
    """
    if form is Format.PDF:
        from warmwire.documents.output.pdf import searchable_pdf

        return {SUFFIX[form]: searchable_pdf(reading, source, force=force)}
    if form is Format.CSV:
        return csv_files(reading)
    if form is Format.XLSX:
        book = workbook(reading)
        return {SUFFIX[form]: book} if book else {}
    if form is Format.VIEWER:
        from warmwire.documents.output.viewer import viewer

        return {SUFFIX[form]: viewer(reading, source)}
    text = _text(reading, form, figures, is_pdf=isinstance(source, PdfSource))
    return {SUFFIX[form]: text.encode(errors="replace")} if text else {}  # a file's name may hold what no text can


def _text(reading: Reading, form: Format, figures: Sequence[tuple[str, str]], *, is_pdf: bool) -> str:
    match form:
        case Format.CHUNKS:
            from warmwire.documents.output.chunks import chunk_lines

            return chunk_lines(reading)
        case Format.HOCR:
            from warmwire.documents.output.places import hocr

            return hocr(reading, is_pdf=is_pdf)
        case Format.ALTO:
            from warmwire.documents.output.places import alto

            return alto(reading, is_pdf=is_pdf)
        case _:
            return export(reading, form, figures)


def save(
    reading: Reading, path: Path, form: Format, open_source: Callable[[], Source], images: Path | None = None
) -> None:
    """Write a reading to `path`, whole or not at all, and its figures to the folder `images` if there is one.

    Raises InputError where something cannot be written.
    """
    source = open_source()
    try:
        figures = linked_figures(reading, source, images, without_suffix(path.name), path.parent)
        parts = render(reading, form, source, figures=figures)
    finally:
        source.close()
    if len(parts) < 2:
        write_file(path, next(iter(parts.values()), b""))
    else:
        for suffix, data in parts.items():
            write_file(path.with_name(without_suffix(path.name) + suffix), data)


def linked_figures(
    reading: Reading, source: Source, folder: Path | None, stem: str, base: Path
) -> list[tuple[str, str]]:
    """Write the figures of a reading to a folder; their links from files in `base` and their captions, none without a
    folder."""
    if folder is None:
        return []
    from warmwire.documents.output.figures import write_figures

    linked = (figure.link(base) for figure in write_figures(reading, source, folder, stem))
    return [(figure.path, figure.caption) for figure in linked]
