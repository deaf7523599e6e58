"""What every page of a run leaves behind, besides its text."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from warmwire.documents.input.outline import Bookmark
from warmwire.layout.page import Element
from warmwire.layout.runs import Run

MIN_UNREAD = 3
"""So many lines that could not be read are no longer a smudge or a signature."""


class Route(StrEnum):
    """Who reads a page."""

    MODEL = "model"
    FILE = "file"


class Status(StrEnum):
    """How a page went: all of it, what could be kept of it, or nothing."""

    OK = "ok"
    PARTIAL = "partial"
    FAILED = "failed"


@dataclass(slots=True)
class PageRecord:
    """One page's record.

    `page` is its number in the file, from 1. `coverage` and `largest_image` are shares of the page from 0 to 1,
    `text_quality` and `confidence` (of the model, None without one) are from 0 to 1, `turn` is in degrees
    clockwise, `hidden_text` counts characters that nobody sees on the page. `lines` were read by a model, `unread`
    ones were seen and could not be; both 0 where it does not say. `readers` says how many pictures of lines each of a
    model's own models read. `structure` says what told the order and the kinds of a page that is read from the file:
    its layout, or its structure tree. `skipped` names stages of the layout that failed: the text is whole, its
    structure plainer. `error` says what went wrong.
    """

    page: int
    route: Route = Route.FILE
    why: str = ""
    coverage: float = 0.0
    largest_image: float = 0.0
    text_quality: float = 1.0
    hidden_text: int = 0
    turn: int = 0
    engine: str = ""
    status: Status = Status.OK
    confidence: float | None = None
    lines: int = 0
    unread: int = 0
    readers: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    error: str = ""
    structure: str = ""
    skipped: list[str] = field(default_factory=list)

    @property
    def loss(self) -> str:
        """A sentence on the lines that could not be read, empty where there are none or too few to matter."""
        if self.unread < max(MIN_UNREAD, 0.1 * self.lines):
            return ""
        share = f"{self.unread} of {self.lines + self.unread}"
        return f"{share} lines are in a script the reader does not know, or too poorly printed to read"

    @property
    def mostly_lost(self) -> bool:
        """Whether more lines could not be read than could."""
        return self.unread >= MIN_UNREAD and self.unread > self.lines

    def as_dict(self) -> dict[str, Any]:
        """The record as JSON has it. `seconds` is the one value that differs between two runs."""
        return asdict(self)


@dataclass(slots=True)
class ReadPage:
    """A page that was read: its record, the size of its frame, its elements in reading order, the lines that a model
    saw, where it says, and the headings that the file itself names, with their levels."""

    record: PageRecord
    width: float = 1.0
    height: float = 1.0
    elements: list[Element] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    headings: list[tuple[int, str]] = field(default_factory=list)


@dataclass(slots=True)
class Reading:
    """A document that was read. `pages` are the selected ones, in order, failed ones included; `outline` is the
    file's own."""

    name: str
    pages: list[ReadPage] = field(default_factory=list)
    outline: list[Bookmark] = field(default_factory=list)

    @property
    def troubled(self) -> list[PageRecord]:
        """The records of pages that are not whole."""
        return [page.record for page in self.pages if page.record.status is not Status.OK]
