"""What a page is, whoever read it: boxes, lines, elements.

Lengths are in the page's own unit (pixels of a rendered image, points of a PDF page), the origin is the top
left corner, y grows downwards. A recogniser or a PDF text layer gives `Line`s; the layout room turns them into
`Element`s in reading order; DocTags carries elements over the wire and back.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from warmwire.layout.runs import Run


@dataclass(frozen=True, slots=True)
class Box:
    """An upright rectangle; `left <= right`, `top <= bottom`."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top

    @property
    def area(self) -> float:
        return self.width * self.height

    @property
    def centre(self) -> tuple[float, float]:
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2

    def union(self, other: Box) -> Box:
        return Box(
            min(self.left, other.left),
            min(self.top, other.top),
            max(self.right, other.right),
            max(self.bottom, other.bottom),
        )

    def intersection(self, other: Box) -> float:
        """Area shared with `other`."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.bottom, other.bottom) - max(self.top, other.top)
        return width * height if width > 0 and height > 0 else 0.0


@dataclass(slots=True)
class Line:
    """One run of text on one baseline.

    `size` is the font size or, for recognised text, the height of the box; `confidence` is 0 to 1 and 1 where the
    text is certain (a PDF's own). `bold`, `italic` and `mono` (a typewriter font) are None where nobody can tell.
    `angle` is how far the line's baseline is turned clockwise on the page, in degrees from -180 to 180; text that is
    read from left to right has 0.

    A line is one run: text of two columns or two table cells is two lines, even on one baseline.
    """

    box: Box
    text: str
    confidence: float = 1.0
    size: float = 0.0
    bold: bool | None = None
    mono: bool | None = None
    italic: bool | None = None
    angle: float = 0.0
    run: Run | None = None
    """Where its words stand exactly, before anything was made level; None where nobody has looked."""


class Kind(StrEnum):
    """What an element is. The values are the DocTags tag names, except for headings and lists (see `doctags`)."""

    TITLE = "title"
    HEADING = "section_header"
    TEXT = "text"
    LIST_ITEM = "list_item"
    TABLE = "otsl"
    CAPTION = "caption"
    FOOTNOTE = "footnote"
    PAGE_HEADER = "page_header"
    PAGE_FOOTER = "page_footer"
    PICTURE = "picture"
    FORMULA = "formula"
    CODE = "code"
    CHECKED = "checkbox_selected"
    UNCHECKED = "checkbox_unselected"


@dataclass(slots=True)
class Cell:
    """One cell of a table; `row` and `column` are its first ones, counted from 0. `links` are those of an element."""

    text: str
    row: int
    column: int
    rowspan: int = 1
    colspan: int = 1
    header: bool = False
    links: list[tuple[str, str]] = field(default_factory=list)


@dataclass(slots=True)
class Table:
    """Cells in row order; every grid place is covered by at most one cell."""

    rows: int
    columns: int
    cells: list[Cell] = field(default_factory=list)


@dataclass(slots=True)
class Element:
    """One piece of a page, in the reading order of its list.

    `level` is a heading's level (1 is the highest below the title) or a list item's nesting depth (1 is the
    outermost). `marker` is a list item's own bullet or number as printed ("3.", "b)"), `ordered` whether it counts.
    `box` is None where a model gave no place. `size` is the font size in the page's own unit, 0 where nobody knows it;
    `bold` and `italic` are None where nobody can tell, `confidence` is from 0 to 1 and None likewise.
    `links` are the words that lead somewhere, in their order, and where to. `alt` says what a picture shows, where
    the file does.
    """

    kind: Kind
    text: str = ""
    box: Box | None = None
    level: int = 1
    ordered: bool = False
    marker: str = ""
    table: Table | None = None
    size: float = 0.0
    bold: bool | None = None
    italic: bool | None = None
    confidence: float | None = None
    links: list[tuple[str, str]] = field(default_factory=list)
    alt: str = ""
