"""A searchable PDF: the file as it was read, with the words of its scanned pages as invisible text.

The objects of the file are copied as they are, their streams never unpacked, so pictures stay the same bit for bit. A
page gets one more content stream, before its own, where no graphics state of the page can disturb it. Pages that have
text of their own stay as they are, and so do those with an invisible layer that can be trusted. Pictures become a new
file, JPEG data as it is.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, Final

from warmwire.documents.input.pdf.file import PdfSource
from warmwire.documents.input.quality import TRUSTED, text_quality
from warmwire.documents.input.source import PageText, Source
from warmwire.documents.output.glyphless import Glyphless
from warmwire.documents.output.layer import FONT, Layer, Place, text_layer
from warmwire.documents.output.picture_pdf import picture_page
from warmwire.documents.output.tags import add_tree, is_tagged
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
            places = dict(_places(pdf, source, reading))
            tagged = not is_tagged(pdf) and _are_all(places, reading, len(pdf.pages))
            layers = {index: text_layer(page, place, font, tagged=tagged) for index, (page, place) in places.items()}
            layers = {index: layer for index, layer in layers.items() if layer.content}
            shared = font.add_to(pdf) if layers else None
            after = pdf.make_stream(b"EMC\n") if layers and tagged else None
            for index, layer in layers.items():
                _add(pdf, index, layer, shared, after)
            if layers and tagged:
                add_tree(pdf, reading, {index: layer.pieces for index, layer in layers.items()})
            stream = io.BytesIO()
            pdf.save(
                stream,
                compress_streams=False,
                stream_decode_level=pikepdf.StreamDecodeLevel.none,
                object_stream_mode=_packing(tagged),
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


def _packing(tagged: bool) -> Any:
    """How objects that are no streams are written. A tree is thousands of small ones, so they are packed with it."""
    from pikepdf import ObjectStreamMode

    return ObjectStreamMode.generate if tagged else ObjectStreamMode.preserve


def _places(pdf: Any, source: Source, reading: Reading) -> Iterator[tuple[int, tuple[ReadPage, Place]]]:
    """The pages that need a layer, by their places in the new file, with what takes their points to user space.
    Pictures get their pages first."""
    for index, page in enumerate(reading.pages):
        if not isinstance(source, PdfSource):
            yield index, (page, picture_page(pdf, source, page))
        elif page.record.route is Route.MODEL:
            opened = source.page(page.record.page - 1)
            try:
                if not _has_text(opened.text(), page):
                    yield page.record.page - 1, (page, opened.frame.user_space)
            finally:
                opened.close()


def _are_all(places: Mapping[int, object], reading: Reading, count: int) -> bool:
    """Whether these are all pages with something to say: who follows a tree never comes to what is not in it."""
    return len(reading.pages) == count and len(places) == sum(
        page.record.route is Route.MODEL or bool(page.elements) for page in reading.pages
    )


def _has_text(text: PageText, page: ReadPage) -> bool:
    """Whether a page has text that stays: visible text, or an earlier layer as good as what was read now."""
    if any(len(line.text.strip()) > 1 for line in text.lines) and text.quality >= TRUSTED:
        return True
    hidden = "\n".join(line.text for line in text.hidden)
    read = sum(len(run.text) for run in page.runs) or sum(len(element.text) for element in page.elements)
    return bool(hidden.strip()) and text_quality(hidden) >= TRUSTED and len(hidden) >= _ENOUGH * read


def _add(pdf: Any, index: int, layer: Layer, font: Any, after: Any) -> None:
    """Put a layer below what a page draws, and the font into its resources, which other pages may share. `after`, if
    given, is the stream that ends an artifact: all that the page itself draws is one then."""
    from pikepdf import Dictionary, Name

    page = pdf.pages[index]
    resources = Dictionary(dict(page.resources.items()))
    fonts = Dictionary(dict(resources.get("/Font", Dictionary()).items()))
    fonts[f"/{FONT}"] = font
    resources[Name.Font] = fonts
    page.obj[Name.Resources] = resources
    content = layer.content + (b"/Artifact BMC\n" if after is not None else b"")
    page.contents_add(pdf.make_stream(zlib.compress(content, 9), Filter=Name.FlateDecode), prepend=True)
    if after is not None:
        page.contents_add(after)
