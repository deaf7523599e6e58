"""Where the links of a PDF page lead, and which words they are on."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from warmwire.documents.input.links import Link, is_target
from warmwire.documents.input.pdf.chars import Characters
from warmwire.documents.input.pdf.frame import PdfFrame
from warmwire.documents.input.pdf.paths import clip

MAX_LINKS: Final = 5000
"""Most links looked at on one page."""

_LONGEST: Final = 2048
"""Bytes of the longest address that is kept."""


class Target(NamedTuple):
    """A link's rectangle (left, bottom, right, top in user space) and its address."""

    corners: tuple[float, float, float, float]
    address: str


def read_targets(pdf: Any, page: Any) -> list[Target]:
    """The links of a pdfium page that lead out of the document. Hold the pdfium lock."""
    import pypdfium2.raw as pdfium

    found: list[Target] = []
    place, link, rectangle = ctypes.c_int(0), pdfium.FPDF_LINK(), pdfium.FS_RECTF()
    for _ in range(MAX_LINKS):
        if not pdfium.FPDFLink_Enumerate(page, place, link):
            break
        address = _address(pdf, pdfium.FPDFLink_GetAction(link))
        if is_target(address) and pdfium.FPDFLink_GetAnnotRect(link, rectangle):
            xs, ys = sorted((rectangle.left, rectangle.right)), sorted((rectangle.bottom, rectangle.top))
            found.append(Target((xs[0], ys[0], xs[1], ys[1]), address))
    return found


def has_notes(page: Any) -> bool:
    """Whether anything but links is laid over a page: text boxes, stamps, marks. Hold the pdfium lock."""
    import pypdfium2.raw as pdfium

    for index in range(min(max(0, pdfium.FPDFPage_GetAnnotCount(page)), MAX_LINKS)):
        note = pdfium.FPDFPage_GetAnnot(page, index)
        if note:
            kind = pdfium.FPDFAnnot_GetSubtype(note)
            pdfium.FPDFPage_CloseAnnot(note)
            if kind not in (pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_POPUP):
                return True
    return False


def _address(pdf: Any, action: Any) -> str:
    import pypdfium2.raw as pdfium

    if not action or pdfium.FPDFAction_GetType(action) != pdfium.PDFACTION_URI:
        return ""
    buffer = ctypes.create_string_buffer(_LONGEST)
    length = pdfium.FPDFAction_GetURIPath(pdf, action, buffer, _LONGEST)
    return buffer.raw[: length - 1].decode("utf-8", "replace") if 1 < length <= _LONGEST else ""


def anchor(targets: Sequence[Target], chars: Characters, frame: PdfFrame) -> list[Link]:
    """The links with the words whose letters have their middle inside; those on no words are left out."""
    if not targets or not len(chars):
        return []
    across, up = ((chars.boxes[:, :2] + chars.boxes[:, 2:]) / 2).T
    order = np.argsort(up, kind="stable")
    heights = up[order]
    links = []
    for (left, bottom, right, top), address in targets:
        level = order[np.searchsorted(heights, bottom) : np.searchsorted(heights, top, side="right")]
        members = np.sort(level[(across[level] >= left) & (across[level] <= right)]).tolist()
        text = "".join((" " if chars.spaces[at] else "") + chars.texts[at] for at in members).strip()
        box = clip(frame.box(left, bottom, right, top), frame)
        if text and box is not None:
            links.append(Link(text, address, box))
    return links
