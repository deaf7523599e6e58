"""A searchable PDF: the file as it was read, with the words of its scanned pages as invisible text.

The objects of the file are copied as they are, their streams never unpacked, so pictures stay the same bit for bit. A
page gets one more content stream, before its own, where no graphics state of the page can disturb it. Pages that have
text of their own stay as they are, and so do those with an invisible layer that can be trusted. Pictures become a new
file, JPEG data as it is.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from typing import Any, Final

from warmwire.documents.input.pdf.file import PdfSource
from warmwire.documents.input.quality import TRUSTED, text_quality
from warmwire.documents.input.source import PageText, Source
from warmwire.documents.output.glyphless import Glyphless
from warmwire.documents.output.layer import FONT, text_layer
from warmwire.documents.output.picture_pdf import picture_page
from warmwire.documents.reading.record import Reading, ReadPage, Route
from warmwire.errors import InputError, UsageError

_ENOUGH: Final = 0.5
"""An earlier layer with less of the letters that were read now is not kept for all of them."""

_SIGNATURES_EXIST: Final = 1
"""The bit of /SigFlags that says so."""


def searchable_pdf(reading: Reading, source: Source, *, force: bool = False) -> bytes:
    """The file behind `source` with the text of `reading`.

    Raises InputError for an encrypted file and, unless `force`, for a signed one; UsageError without pikepdf.
    """
    try:
        import pikepdf
    except ImportError:
        raise UsageError("writing a searchable PDF needs pikepdf: pip install 'warmwire[pages]'") from None
    font = Glyphless()
    try:
        with _open(source, force) if isinstance(source, PdfSource) else pikepdf.new() as pdf:
            layers = dict(_layers(pdf, source, reading, font))
            shared = font.add_to(pdf) if layers else None
            for index, layer in layers.items():
                _add(pdf, index, layer, shared)
            stream = io.BytesIO()
            pdf.save(
                stream,
                compress_streams=False,
                stream_decode_level=pikepdf.StreamDecodeLevel.none,
                object_stream_mode=pikepdf.ObjectStreamMode.preserve,
                deterministic_id=True,
            )
            return stream.getvalue()
    except pikepdf.PdfError as error:
        raise InputError(f"{source.name}: the PDF cannot be rewritten ({error})") from None


def _open(source: PdfSource, force: bool) -> Any:
    """The file, if it may be changed."""
    import pikepdf

    encrypted = f"{source.name}: is encrypted, so no text can be added; write a copy without a password first"
    try:
        pdf = pikepdf.open(io.BytesIO(source.data) if isinstance(source.data, bytes) else source.data)
    except pikepdf.PasswordError:
        raise InputError(encrypted) from None
    if pdf.is_encrypted:
        pdf.close()
        raise InputError(encrypted)
    if not force and _is_signed(pdf):
        pdf.close()
        raise InputError(f"{source.name}: is signed, and added text would break the signature; --force adds it")
    return pdf


def _is_signed(pdf: Any) -> bool:
    form = pdf.Root.get("/AcroForm")
    flags = int(form.get("/SigFlags", 0)) if form is not None else 0
    return bool(flags & _SIGNATURES_EXIST) or "/Perms" in pdf.Root


def _layers(pdf: Any, source: Source, reading: Reading, font: Glyphless) -> Iterator[tuple[int, bytes]]:
    """The text layers that pages need, by the pages' places in the new file. Pictures get their pages first."""
    for index, page in enumerate(reading.pages):
        if not isinstance(source, PdfSource):
            layer = text_layer(page, picture_page(pdf, source, page), font)
        elif page.record.route is Route.MODEL:
            index, layer = page.record.page - 1, _pdf_layer(source, page, font)
        else:
            continue
        if layer:
            yield index, layer


def _pdf_layer(source: PdfSource, page: ReadPage, font: Glyphless) -> bytes:
    opened = source.page(page.record.page - 1)
    try:
        return b"" if _has_text(opened.text(), page) else text_layer(page, opened.frame.user_space, font)
    finally:
        opened.close()


def _has_text(text: PageText, page: ReadPage) -> bool:
    """Whether a page has text that stays: visible text, or an earlier layer as good as what was read now."""
    if any(len(line.text.strip()) > 1 for line in text.lines) and text.quality >= TRUSTED:
        return True
    hidden = "\n".join(line.text for line in text.hidden)
    read = sum(len(run.text) for run in page.runs) or sum(len(element.text) for element in page.elements)
    return bool(hidden.strip()) and text_quality(hidden) >= TRUSTED and len(hidden) >= _ENOUGH * read


def _add(pdf: Any, index: int, layer: bytes, font: Any) -> None:
    """Put a layer below what a page draws, and the font into its resources, which other pages may share."""
    from pikepdf import Dictionary, Name

    page = pdf.pages[index]
    resources = Dictionary(dict(page.resources.items()))
    fonts = Dictionary(dict(resources.get("/Font", Dictionary()).items()))
    fonts[f"/{FONT}"] = font
    resources[Name.Font] = fonts
    page.obj[Name.Resources] = resources
    stream = pdf.make_stream(zlib.compress(layer, 9), Filter=Name.FlateDecode)
    page.contents_add(stream, prepend=True)
