"""A part of a PDF page as a picture, as fine as what is drawn there."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from warmwire.documents.input.pdf.frame import PdfFrame
from warmwire.errors import InputError
from warmwire.layout.page import Box
from warmwire.media.images import Image, fit_scale

_LEAST_DPI: Final = 150.0
"""Drawings have no resolution of their own; at this one their labels can be read."""

_MOST_DPI: Final = 600.0
"""A small picture may be of any resolution; no scanner that is used for documents shows more."""


def cut_page(page: Any, frame: PdfFrame, box: Box) -> Image:
    """The part `box` of a pdfium page. Hold the pdfium lock. Raises PdfiumError, InputError for an empty part."""
    width, height = frame.size
    left, top = max(box.left, 0.0), max(box.top, 0.0)
    right, bottom = min(box.right, width), min(box.bottom, height)
    if right - left < 1 or bottom - top < 1:
        raise InputError("the part of the page is too small to be drawn")
    scale = fit_scale(right - left, bottom - top, _resolution(page, frame, box) / 72.0)
    crop = (left, height - bottom, width - right, top)
    bitmap = page.render(scale=scale, crop=crop, rev_byteorder=True, prefer_bgrx=False)
    try:
        pixels: Image = np.array(bitmap.to_numpy()[:, :, :3], dtype=np.uint8, order="C")
        return pixels
    finally:
        bitmap.close()


def _resolution(page: Any, frame: PdfFrame, box: Box) -> float:
    """The finest resolution of the pictures under a box, in dots per inch."""
    import pypdfium2.raw as pdfium

    found = _LEAST_DPI
    for obj in page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_IMAGE], max_depth=12):
        if obj.level == 0 and not frame.box(*obj.get_bounds()).intersection(box):
            continue
        metadata = pdfium.FPDF_IMAGEOBJ_METADATA()
        if pdfium.FPDFImageObj_GetImageMetadata(obj, page, metadata):
            found = max(found, metadata.horizontal_dpi, metadata.vertical_dpi)
    return min(found, _MOST_DPI)
