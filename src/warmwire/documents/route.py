"""Which pages a model reads, and which ones speak for themselves."""

from __future__ import annotations

from typing import Final

from warmwire.documents.quality import TRUSTED
from warmwire.documents.record import Route
from warmwire.documents.source import PageText

THRESHOLD: Final = 0.05
"""A page whose visible text covers less than this share of it goes to the model."""

PAGE_IMAGE: Final = 0.8
"""Pictures over this share of a page make it a scan, if it has only a line or two of text of its own."""

_STAMP_LINES: Final = 2


def route(text: PageText, *, threshold: float = THRESHOLD, force: bool = False) -> tuple[Route, str]:
    """Who reads a page, and why in a few words. `threshold` 0 sends none to the model, `force` all."""
    lines = len({round(line.box.bottom) for line in text.lines})
    hidden = ", hidden text is not used" if text.hidden else ""
    if force:
        return Route.MODEL, "forced"
    if threshold <= 0:
        return Route.FILE, "threshold 0"
    if text.blank:
        return Route.FILE, "nothing is drawn on the page"
    if text.lines and text.quality < TRUSTED:
        return Route.MODEL, f"its text cannot be trusted (quality {text.quality:.2f})"
    if text.largest_image >= PAGE_IMAGE and lines <= _STAMP_LINES:
        return Route.MODEL, f"a picture of {text.largest_image:.0%} of the page, {_count(lines)} of text{hidden}"
    if text.coverage < threshold:
        return Route.MODEL, f"visible text covers {text.coverage:.1%} of the page{hidden}"
    return Route.FILE, f"visible text covers {text.coverage:.0%} of the page"


def _count(lines: int) -> str:
    return "no line" if lines == 0 else "1 line" if lines == 1 else f"{lines} lines"
