"""Which pages a model reads, and which ones speak for themselves.

A page is read from the file when its own text, its rules and its drawings explain the ink on it, however little that
is: a letter of four lines is as digital as a full page. What its text does not explain are pictures of print, and
letters drawn as curves.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from warmwire.documents.input.quality import SURE, TRUSTED, text_quality
from warmwire.documents.input.source import PageText
from warmwire.documents.reading.hidden import Hidden
from warmwire.documents.reading.record import Route
from warmwire.layout.page import Line

THRESHOLD: Final = 0.05
"""A page whose visible text covers less than this share of it goes to the model if there is more to read on it."""

PAGE_IMAGE: Final = 0.8
"""Pictures over this share of a page make it a scan, if it has only a line or two of text of its own."""

PRINT: Final = 0.1
"""Pictures of print over this share of a page are more than a logo or a seal."""

_STAMP_LINES: Final = 2

_LAYER: Final = 0.5
"""Hidden text may be that of a scan where pictures cover this share of the page, and it has so many letters."""
_LAYER_LETTERS: Final = 40

_OUTLINES: Final = 60
"""So many curves of the size of letters, and more than there are letters of text, are text that is drawn."""


def route(text: PageText, *, threshold: float = THRESHOLD, force: bool = False) -> tuple[Route, str]:
    """Who reads a page, and why in a few words. `threshold` 0 sends none to the model, `force` all."""
    lines = len({round(line.box.bottom) for line in text.lines})
    hidden = ", hidden text is not seen" if text.hidden else ""
    if force:
        return Route.MODEL, "forced"
    if threshold <= 0:
        return Route.FILE, "threshold 0"
    if text.blank:
        return Route.FILE, "nothing is drawn on the page"
    if not lines:
        return Route.MODEL, f"no visible text{_pictures(text.largest_image)}{hidden}"
    if text.quality < TRUSTED:
        return Route.MODEL, f"its text cannot be trusted (quality {text.quality:.2f})"
    if text.quality < SURE:
        return Route.MODEL, f"its text may not be what is seen (quality {text.quality:.2f})"
    if text.largest_image >= PAGE_IMAGE and lines <= _STAMP_LINES:
        return Route.MODEL, f"a picture of {text.largest_image:.0%} of the page, {_count(lines)} of text{hidden}"
    if text.coverage < threshold:
        covered = f"visible text covers {text.coverage:.1%} of the page"
        if text.printed > max(PRINT, text.coverage):
            return Route.MODEL, f"{covered} and a picture of print {text.printed:.0%}{hidden}"
        if text.outlines > max(_OUTLINES, sum(len(line.text) for line in text.lines)):
            return Route.MODEL, f"{covered}, and {text.outlines} drawn curves may be letters{hidden}"
    return Route.FILE, f"its text explains the page and covers {text.coverage:.0%} of it"


class Claim(NamedTuple):
    """Text that would do for a page that goes to the model, if its picture agrees; `name` is for the record."""

    name: str
    lines: list[Line]
    hidden: bool


def claim_of(text: PageText, hidden: Hidden = Hidden.AUTO) -> Claim | None:
    """The text that claims to be what a page shows: its own where that is in doubt, or a scan's hidden text."""
    if text.lines and TRUSTED <= text.quality < SURE:
        return Claim("its text", text.lines, False)
    if hidden is Hidden.DROP or text.largest_image < _LAYER:
        return None
    lines = [line for line in text.hidden if line.angle == 0]
    words = "\n".join(line.text for line in lines)
    if len(words) < _LAYER_LETTERS or text_quality(words) < TRUSTED:
        return None
    return Claim("hidden text", [*text.lines, *lines], True)


def _pictures(share: float) -> str:
    return f", a picture of {share:.0%} of the page" if share else ""


def _count(lines: int) -> str:
    return "1 line" if lines == 1 else f"{lines} lines"
