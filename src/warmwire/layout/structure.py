"""From the lines of a page to its elements in reading order.

Running heads and feet go first, then ruled tables, whose text would mislead everything after. The rest is cut into
columns, columns into paragraphs, and these are told apart: headings, list items, captions, footnotes, text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise

from warmwire.layout.alignment import aligned_table
from warmwire.layout.code import code_text
from warmwire.layout.columns import Item, columns
from warmwire.layout.furniture import footnotes, furniture, is_caption, note_text
from warmwire.layout.grids import grid_tables
from warmwire.layout.headings import is_heading, level_of, title_of
from warmwire.layout.hyphens import compounds_of, join_lines
from warmwire.layout.markers import Style
from warmwire.layout.page import Box, Element, Kind, Line, Region, RegionKind
from warmwire.layout.paragraphs import Paragraph, paragraphs
from warmwire.layout.rows import body_size
from warmwire.layout.tables import Found

MAX_PICTURE_TEXT = 0.25
"""A figure with more of its area under text is no picture: the layout model took text for one."""

MIN_PROSE = 60
"""Letters outside of tables from which these, and not all, tell the size of the body: tables are often set smaller."""

Part = Paragraph | Element


def structure(
    lines: Sequence[Line],
    width: float,
    height: float,
    *,
    regions: Sequence[Region] = (),
    rules: Sequence[Box] = (),
    tables: Sequence[Found] = (),
) -> list[Element]:
    """Give the page's elements in reading order; every word of `lines` is in exactly one of them.

    `regions` are a layout model's guesses or the file's own pictures (`RegionKind.FIGURE`). `rules` are ruling
    lines: thin boxes, one per straight stroke (the sides of a drawn rectangle count each). `tables` were found by
    other means, over some of these very lines. All lengths are in one unit, the origin is the top left corner.
    """
    lines = [line for line in lines if line.text.strip()]
    size = body_size(lines)
    flow = _without(lines, [line for table in tables for line in table.used])
    ruled = grid_tables(flow, rules, size)
    tables = [*tables, *ruled]
    flow = _without(flow, [line for table in ruled for line in table.used])
    page = furniture(flow, height, size, regions, rules)
    pictures = _pictures(regions, page.text, tables, width * height, size)
    labels = {id(line): picture for picture in pictures for line in page.text if _inside(line.box, picture)}
    items: list[Item] = [line for line in page.text if id(line) not in labels]
    items += [table.element for table in tables]
    items += [Element(Kind.PICTURE, box=picture) for picture in pictures]
    seen = [region.box for region in regions if region.kind is RegionKind.TABLE and region.score >= 0.5]
    parts = [part for column in columns(items, size, seen) for part in _parts(column, size)]
    prose = [line for part in parts if isinstance(part, Paragraph) for line in part.lines]
    if sum(len(line.text) for line in prose) >= MIN_PROSE:
        size = body_size(prose)
    body = _Classifier(parts, height, size, regions, rules, compounds_of([line.text for line in lines])).elements()
    inner = [line for line in page.text if id(line) in labels]
    return [
        *_furniture(page.head, Kind.PAGE_HEADER),
        *_with_labels(body, inner, labels, size),
        *_furniture(page.foot, Kind.PAGE_FOOTER),
    ]


def _without(lines: Sequence[Line], used: Iterable[Line]) -> list[Line]:
    taken = {id(line) for line in used}
    return [line for line in lines if id(line) not in taken]


def _inside(box: Box, outer: Box) -> bool:
    return box.intersection(outer) >= 0.6 * box.area


def _furniture(lines: Sequence[Line], kind: Kind) -> list[Element]:
    return [Element(kind, line.text.strip(), line.box) for line in lines]


def _pictures(
    regions: Sequence[Region], lines: Sequence[Line], tables: Sequence[Found], area: float, size: float
) -> list[Box]:
    """Figures that are pictures: hardly covered by text, no table, and each only once; `area` is the page's."""
    pictures: list[Box] = []
    taken = [table.element.box for table in tables if table.element.box is not None]
    for region in sorted(regions, key=lambda region: -region.score):
        box = region.box
        if region.kind is not RegionKind.FIGURE or box.area <= 0 or box.area > 0.9 * area:
            continue
        text = sum(line.box.intersection(box) for line in lines)
        clash = any(box.intersection(other) > 0.3 * min(box.area, other.area) for other in (*taken, *pictures))
        if text < MAX_PICTURE_TEXT * box.area and not clash and not _is_text(box, lines, size):
            pictures.append(box)
    return pictures


def _is_text(figure: Box, lines: Sequence[Line], size: float) -> bool:
    """Whether a figure is the page itself, as in a photo of a sheet on a table, or a table on a tinted ground."""
    inside = [line for line in lines if _inside(line.box, figure)]
    if len(inside) < 5:
        return False
    if 2 * sum(len(line.text) for line in inside) > sum(len(line.text) for line in lines):
        return True
    table = aligned_table(inside, size)
    return table is not None and len(table.used) >= 0.8 * len(inside) and _rows(table) > 2


def _rows(found: Found) -> int:
    return found.element.table.rows if found.element.table is not None else 0


def _parts(column: Sequence[Item], size: float) -> Iterator[Part]:
    """A column's paragraphs and, between them, its tables and pictures."""
    for is_line, items in groupby(column, key=lambda item: isinstance(item, Line)):
        if is_line:
            yield from paragraphs([item for item in items if isinstance(item, Line)], size)
        else:
            yield from (item for item in items if isinstance(item, Element))


def _with_labels(
    body: Sequence[Element], inner: Sequence[Line], labels: dict[int, Box], size: float
) -> Iterator[Element]:
    """Each picture followed by the text inside it."""
    for element in body:
        yield element
        if element.kind is Kind.PICTURE:
            own = [line for line in inner if labels[id(line)] is element.box]
            for paragraph in paragraphs(own, size):
                yield Element(Kind.TEXT, join_lines(line.text for line in paragraph.lines), paragraph.box)


class _Classifier:
    """Tells the parts of one page apart; knows what stands before and after each."""

    def __init__(
        self,
        parts: Sequence[Part],
        height: float,
        size: float,
        regions: Sequence[Region],
        rules: Sequence[Box],
        compounds: frozenset[str],
    ) -> None:
        self.parts = parts
        self.size = size
        self.compounds = compounds
        self.figures = [part.box for part in parts if isinstance(part, Element) and part.box is not None]
        titles = [region.box for region in regions if region.kind is RegionKind.TITLE]
        texts = [part for part in parts if isinstance(part, Paragraph)]
        self.notes = {id(texts[i]) for i in footnotes(texts, height, size, rules)}
        self.headings = [
            part
            for part, after in pairwise((*parts, None))
            if isinstance(part, Paragraph)
            and id(part) not in self.notes
            and is_heading(part, after if isinstance(after, Paragraph) else None, size, titles)
        ]
        opening = next((i for i, part in enumerate(texts) if len(part.lines) > 2), len(texts))
        self.title = title_of([part for part in self.headings if part in texts[:opening]], self.headings, size)

    def elements(self) -> list[Element]:
        heads = {id(heading) for heading in self.headings}
        indents: list[float] = []
        found: list[Element] = []
        last: Paragraph | None = None
        for part in self.parts:
            if isinstance(part, Element):
                indents.clear()
                found.append(part)
                continue
            if part.marker is not None and id(part) not in heads:
                found.append(self._list_item(part, indents))
            else:
                indents.clear()
                element = self._text(part, id(part) in heads)
                if last is not None and found and self._goes_on(found[-1], element, last, part):
                    text = join_lines([found[-1].text, element.text], self.compounds)
                    found[-1] = replace(found[-1], text=text)
                else:
                    found.append(element)
            last = part
        return found

    def _list_item(self, part: Paragraph, indents: list[float]) -> Element:
        """A list item; `indents` are those of the open lists around it, outermost first."""
        marker = part.marker
        assert marker is not None
        left = part.lines[0].box.left
        while indents and left < indents[-1] - 0.8 * self.size:
            indents.pop()
        if not indents or left > indents[-1] + 0.8 * self.size:
            indents.append(left)
        kind = {Style.CHECKED: Kind.CHECKED, Style.UNCHECKED: Kind.UNCHECKED}.get(marker.style, Kind.LIST_ITEM)
        text = join_lines(part.texts, self.compounds)
        return Element(kind, text, part.box, level=len(indents), ordered=marker.ordered, marker=marker.text)

    def _text(self, part: Paragraph, is_heading: bool) -> Element:
        text = join_lines((line.text for line in part.lines), self.compounds)
        if part is self.title:
            return Element(Kind.TITLE, text, part.box)
        if id(part) in self.notes:
            return Element(Kind.FOOTNOTE, note_text(text), part.box)
        if is_caption(part, self.figures, self.size):
            return Element(Kind.CAPTION, text, part.box)
        if is_heading:
            return Element(Kind.HEADING, text, part.box, level=level_of(part, self.size))
        if all(line.mono for line in part.lines) and len(part.lines) > 1:
            return Element(Kind.CODE, code_text(part.lines), part.box)
        return Element(Kind.TEXT, text, part.box)

    def _goes_on(self, above: Element, element: Element, last: Paragraph, part: Paragraph) -> bool:
        """Whether a paragraph goes on here from the foot of the column before."""
        if above.kind is not Kind.TEXT or element.kind is not Kind.TEXT or not above.text or not element.text:
            return False
        moved = part.box.top < last.box.bottom  # from the foot of one column to the head of the next
        alike = abs(part.size - last.size) < 0.1 * self.size
        open_end = above.text[-1].isalnum() or above.text[-1] in ",-‐"
        return moved and alike and open_end and element.text[0].islower()
