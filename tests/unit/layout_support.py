"""Made pages: text set in lines, as a recogniser or a PDF text layer gives them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from warmwire.layout.page import Box, Element, Kind, Line

WIDTH, HEIGHT = 600.0, 800.0
SIZE = 10.0
ADVANCE = 0.5
"""Width of a letter, in units of the size."""


def line(x: float, y: float, text: str, size: float = SIZE, bold: bool | None = False, right: float = 0.0) -> Line:
    """A line whose top left corner is (x, y); `right` sets its right edge instead, with x ignored."""
    width = len(text) * ADVANCE * size
    left = right - width if right else x
    return Line(Box(left, y, left + width, y + size * 1.2), text, 1.0, size, bold)


def lines(x: float, y: float, texts: Iterable[str], size: float = SIZE, pitch: float = 1.3) -> list[Line]:
    """Lines under each other from (x, y)."""
    return [line(x, y + i * pitch * size, text, size) for i, text in enumerate(texts)]


def words_of(elements: Sequence[Element]) -> list[str]:
    """Every word of every element, sorted; list markers count as words."""
    texts = []
    for element in elements:
        texts.append(element.text)
        texts.append(element.marker)
        texts += [cell.text for cell in element.table.cells] if element.table else []
    return sorted(" ".join(texts).split())


def texts(elements: Sequence[Element], *kinds: Kind) -> list[str]:
    return [element.text for element in elements if not kinds or element.kind in kinds]


def grid(element: Element) -> list[list[str]]:
    """A table as rows of texts; a cell's text stands at its first place, "" elsewhere."""
    table = element.table
    assert table is not None
    rows = [[""] * table.columns for _ in range(table.rows)]
    for cell in table.cells:
        rows[cell.row][cell.column] = cell.text
    return rows


PROSE = (
    "The keeper counted the lamps near the river",
    "and wrote the number down in the green book",
    "before the boat left the harbour at noon and",
    "nobody came to see what the bell was for.",
)
OTHER = (
    "Our team painted the fence on Friday evening",
    "while the wind was low and the light was good",
    "for such work, which takes a steady hand and",
    "more time than most people are ready to give.",
)
