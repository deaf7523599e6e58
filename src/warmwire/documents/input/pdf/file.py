"""PDF files as pages, by pdfium.

pdfium is not safe to call from two threads, in whatever documents: every call into it is made under `LOCK`, and
everything it hands out is closed by hand, so that no finaliser calls it from elsewhere.
"""

from __future__ import annotations

import logging
import threading
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from warmwire.documents.input.outline import Bookmark, read_outline
from warmwire.documents.input.pdf.draw import draw
from warmwire.documents.input.source import PageText
from warmwire.errors import InputError
from warmwire.layout.page import Box
from warmwire.media.images import Image, fit_scale

if TYPE_CHECKING:
    from warmwire.documents.input.pdf.fields import Field
    from warmwire.documents.input.pdf.frame import PdfFrame
    from warmwire.documents.input.pdf.links import Target

LOCK: Final = threading.RLock()
"""Held around every call into pdfium."""

logging.getLogger("pypdfium2").addHandler(logging.NullHandler())  # else what it logs of a form is printed


class PdfSource:
    """An open PDF file, opened anew after `renew_after` pages: pdfium keeps all that it has read of one, a scan's
    pictures included."""

    opened = 0
    """How often the file has been opened."""

    def __init__(self, name: str, data: Path | bytes, password: str = "", *, renew_after: int = 100) -> None:
        self._name = name
        self.data = data
        self._password = password
        self._renew_after = renew_after
        self._loaded = 0
        self._pages: weakref.WeakSet[PdfPage] = weakref.WeakSet()
        with LOCK:
            self._pdf = self._open()
            self._count = len(self._pdf)
            if self._count < 1:
                self._pdf.close()
                raise InputError(f"{name}: the PDF has no pages")

    def _open(self) -> Any:
        import pypdfium2

        try:
            pdf = pypdfium2.PdfDocument(self.data, password=self._password or None)
        except pypdfium2.PdfiumError as error:
            raise InputError(f"{self._name}: {_reason(error, self._password)}") from None
        except OSError as error:
            raise InputError(f"{self._name}: cannot be read ({error.strerror or error})") from None
        try:
            pdf.init_forms()
        except pypdfium2.PdfiumError:
            pass  # filled fields are not drawn; the pages are
        self.opened += 1
        return pdf

    @property
    def name(self) -> str:
        return self._name

    def __len__(self) -> int:
        return self._count

    def page(self, index: int) -> PdfPage:
        import pypdfium2

        with LOCK:
            self._renew()
            try:
                page = self._load(index)
                self._pages.add(page)
                return page
            except (pypdfium2.PdfiumError, IndexError) as error:
                raise InputError(f"the page cannot be loaded ({error})") from None

    def _renew(self) -> None:
        """Let go of what pdfium has kept, now and then, where no page is open."""
        self._loaded += 1
        if self._loaded > self._renew_after and not any(page.is_open for page in self._pages):
            self._loaded = 1
            renewed = self._open()
            self._pdf.close()
            self._pdf = renewed

    def outline(self) -> list[Bookmark]:
        with LOCK:
            return read_outline(self._pdf)

    def _load(self, index: int) -> PdfPage:
        """The page; what is filled into a form and written over it becomes its text, and links are read before that."""
        import pypdfium2.raw as pdfium

        from warmwire.documents.input.pdf.fields import read_fields
        from warmwire.documents.input.pdf.links import has_notes, read_targets

        page = self._pdf[index]
        targets, fields = read_targets(self._pdf, page), read_fields(self._pdf.formenv, page)
        if self._pdf.formenv is not None or has_notes(page):
            pdfium.FPDFPage_Flatten(page, pdfium.FLAT_NORMALDISPLAY)
            page.close()
            page = self._pdf[index]
        return PdfPage(page, targets, fields)

    def close(self) -> None:
        with LOCK:
            self._pdf.close()


class PdfPage:
    """One page; its frame is the crop box after /Rotate, in points."""

    def __init__(self, page: Any, targets: list[Target], fields: list[Field]) -> None:
        from warmwire.documents.input.pdf.frame import PdfFrame

        self.is_open = True
        self._page = page
        self._targets = targets
        self._fields = fields
        try:
            self.frame: PdfFrame = PdfFrame.of_page(page)
        except InputError:
            page.close()
            raise

    @property
    def size(self) -> tuple[float, float]:
        return self.frame.size

    def text(self) -> PageText:
        import pypdfium2

        from warmwire.documents.input.pdf.text import read_page

        with LOCK:
            try:
                return read_page(self._page, self.frame, self._targets, self._fields)
            except pypdfium2.PdfiumError as error:
                raise InputError(f"the page's text cannot be read ({error})") from None

    def render(self, dpi: float) -> Image:
        import pypdfium2

        scale = fit_scale(*self.size, dpi / 72.0)
        with LOCK:
            try:
                return draw(self._page, scale)
            except pypdfium2.PdfiumError as error:
                raise InputError(f"the page cannot be drawn ({error})") from None

    def cut(self, box: Box) -> Image:
        import pypdfium2

        from warmwire.documents.input.pdf.cut import cut_page

        with LOCK:
            try:
                return cut_page(self._page, self.frame, box)
            except pypdfium2.PdfiumError as error:
                raise InputError(f"the page cannot be drawn ({error})") from None

    def close(self) -> None:
        self.is_open = False
        with LOCK:
            self._page.close()


def _reason(error: Any, password: str) -> str:
    """Why a PDF does not open, in words that say what to do."""
    import pypdfium2.raw as pdfium

    code = getattr(error, "err_code", None)
    if code == pdfium.FPDF_ERR_PASSWORD:
        return "the password is wrong" if password else "the PDF is encrypted; give its password with --password"
    if code == pdfium.FPDF_ERR_SECURITY:
        return "the PDF is protected in a way that is not supported"
    return "not a readable PDF (damaged, or cut off)"
