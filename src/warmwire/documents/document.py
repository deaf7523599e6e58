"""Elements to a docling-core document: one body in reading order, page after page.

List items become nested groups, captions hang on their tables and pictures, text inside a picture is its child,
running heads and feet are furniture. Every element keeps its page and its box there.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from warmwire.documents.across import OUTSIDE, broken_paragraph, goes_on
from warmwire.documents.record import PageRecord, Reading, ReadPage
from warmwire.layout.hyphens import Vocabulary, join_lines
from warmwire.layout.page import Box, Element, Kind, Table

if TYPE_CHECKING:
    from docling_core.types.doc import DoclingDocument, ProvenanceItem, TableData

_CAPTIONED: Final = (Kind.TABLE, Kind.PICTURE)
_TEX: Final = re.compile(r"\\[A-Za-z]+|[_^]\{")
"""What makes a formula TeX, which is what docling-core takes a formula for; others are text."""

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
"""What no output format can hold."""


Links = dict[str, list[tuple[str, str]]]
"""The links of items by their references: words and address."""


def build_document(reading: Reading, links: Links | None = None) -> DoclingDocument:
    """The whole reading as one document. Pages without elements are there too, with their sizes.

    docling-core knows links of whole items only; `links`, where given, is filled with all.
    """
    from docling_core.types.doc import DoclingDocument, Size

    doc = DoclingDocument(name=PurePath(reading.name).stem)
    vocabulary = Vocabulary.of(e.text for page in reading.pages for e in page.elements)
    builder = _Builder(doc, vocabulary, {} if links is None else links)
    for page, following in pairwise([*reading.pages, None]):
        if page is not None:
            doc.add_page(page_no=page.record.page, size=Size(width=page.width, height=page.height))
            builder.add_page(page, following)
    return doc


class _Builder:
    """Adds the elements of page after page to a document.

    A list goes on over a page break where its marks do, and a paragraph where one ends within a sentence: it is one
    item then, with a place on both pages.
    """

    def __init__(self, doc: DoclingDocument, vocabulary: Vocabulary, links: Links) -> None:
        self._doc = doc
        self._vocabulary = vocabulary
        self._links = links
        self._page = ReadPage(PageRecord(0))
        self._lists: list[tuple[int, bool, Any]] = []
        """Open lists from the outside in: level, whether it counts, its group."""
        self._broken: tuple[Element, Element] | None = None
        """The two parts of a paragraph that the page's end cuts."""
        self._first: Any = None
        """The item of the first of these parts."""

    def add_page(self, page: ReadPage, following: ReadPage | None) -> None:
        """Add a page's elements; `following` is the one after it."""
        second = self._broken[1] if self._broken is not None else None
        self._page = page
        self._broken = broken_paragraph(page, following) if following is not None else None
        captions = pair_captions(page.elements)
        taken = {id(caption) for caption in captions.values()}
        for index, element in enumerate(page.elements):
            if element is second:
                self._add_rest(element)
                continue
            if element.kind is not Kind.LIST_ITEM and element.kind not in OUTSIDE:
                self._lists.clear()
            if id(element) not in taken:
                item = self._add(element, captions.get(index))
                self._link(item, element)
                if self._broken is not None and element is self._broken[0]:
                    self._first = item
        if following is None or not goes_on(page, following):
            self._lists.clear()

    def _add_rest(self, rest: Element) -> None:
        """Add the second part of a paragraph to the item of the first. A paragraph over three pages stays that item."""
        item = self._first
        prov = self._prov(rest.box, rest.text)
        text = join_lines([item.text, _clean(rest.text)], self._vocabulary)
        prov.charspan = (max(0, len(text) - len(rest.text)), len(text))
        item.text = item.orig = text
        item.prov.append(prov)
        self._link(item, rest)
        # self._first stays: should this page end within the same paragraph, the next part belongs to it as well

    def _add(self, element: Element, caption: Element | None) -> Any:
        """Add an element, and give its item where it is text."""
        from docling_core.types.doc import ContentLayer, DocItemLabel

        doc, text, prov = self._doc, _clean(element.text), self._prov(element.box, element.text)
        match element.kind:
            case Kind.TITLE:
                return doc.add_title(text, prov=prov)
            case Kind.HEADING:
                return doc.add_heading(text, level=max(element.level, 1), prov=prov)
            case Kind.LIST_ITEM:
                return self._add_item(element, text, prov)
            case Kind.TABLE:
                data = _table_data(element.table or Table(0, 0))
                doc.add_table(data, caption=self._add_caption(caption), prov=prov)
            case Kind.PICTURE:
                picture = doc.add_picture(caption=self._add_caption(caption), prov=prov)
                if text:
                    doc.add_text(DocItemLabel.TEXT, text, prov=prov, parent=picture)
            case Kind.FORMULA if _TEX.search(text):
                doc.add_formula(text, prov=prov)
            case Kind.CODE:
                doc.add_code(text, prov=prov)
            case Kind.PAGE_HEADER | Kind.PAGE_FOOTER:
                label = DocItemLabel(element.kind.value)
                doc.add_text(label, text, prov=prov, content_layer=ContentLayer.FURNITURE)
            case Kind.FORMULA:
                doc.add_text(DocItemLabel.TEXT, text, prov=prov)
            case _:
                return doc.add_text(DocItemLabel(element.kind.value), text, prov=prov)
        return None

    def _add_item(self, item: Element, text: str, prov: ProvenanceItem) -> Any:
        lists = self._lists
        while lists and (lists[-1][0] > item.level or (lists[-1][0] == item.level and lists[-1][1] != item.ordered)):
            lists.pop()
        if not lists or lists[-1][0] < item.level:
            parent = self._last_item(lists[-1][2]) if lists else None
            lists.append((item.level, item.ordered, self._doc.add_list_group(parent=parent)))
        group = lists[-1][2]
        marker = _clean(item.marker) or (f"{len(group.children) + 1}." if item.ordered else "")
        return self._doc.add_list_item(text, enumerated=item.ordered, marker=marker, prov=prov, parent=group)

    def _last_item(self, group: Any) -> Any:
        """The item that a deeper list belongs to."""
        return group.children[-1].resolve(self._doc) if group.children else group

    def _add_caption(self, caption: Element | None) -> Any:
        from docling_core.types.doc import DocItemLabel

        if caption is None:
            return None
        prov = self._prov(caption.box, caption.text)
        item = self._doc.add_text(DocItemLabel.CAPTION, _clean(caption.text), prov=prov)
        self._link(item, caption)
        return item

    def _link(self, item: Any, element: Element) -> None:
        """Remember an element's links; one on all of its words is docling-core's as well."""
        from pydantic import AnyUrl, ValidationError

        if item is None or not element.links:
            return
        self._links.setdefault(item.self_ref, []).extend(element.links)
        (words, target), *others = element.links
        if not others and "".join(words.split()) == "".join(item.text.split()):
            try:
                item.hyperlink = AnyUrl(target)
            except ValidationError:
                pass  # Markdown takes any

    def _prov(self, box: Box | None, text: str) -> ProvenanceItem:
        """The element's page and box, the part of it that is on the page; the whole page where no box is known."""
        from docling_core.types.doc import BoundingBox, CoordOrigin, ProvenanceItem

        width, height = self._page.width, self._page.height
        box = box or Box(0.0, 0.0, width, height)
        left, right = (min(max(x, 0.0), width) for x in (box.left, box.right))
        top, bottom = (min(max(y, 0.0), height) for y in (box.top, box.bottom))
        bounds = BoundingBox(l=left, t=top, r=right, b=bottom, coord_origin=CoordOrigin.TOPLEFT)
        return ProvenanceItem(page_no=self._page.record.page, bbox=bounds, charspan=(0, len(text)))


def _clean(text: str) -> str:
    return _CONTROL.sub("", text)


def pair_captions(elements: list[Element]) -> dict[int, Element]:
    """The caption of each table and picture that has one right before or after it, the nearer one first."""
    pairs = [
        (_gap(elements[index], caption), index, caption)
        for at, caption in enumerate(elements)
        if caption.kind is Kind.CAPTION
        for index in (at + 1, at - 1)
        if 0 <= index < len(elements) and elements[index].kind in _CAPTIONED
    ]
    found: dict[int, Element] = {}
    taken: set[int] = set()
    for _, index, caption in sorted(pairs, key=lambda pair: pair[0]):
        if index not in found and id(caption) not in taken:
            found[index] = caption
            taken.add(id(caption))
    return found


def _gap(one: Element, other: Element) -> float:
    """The distance between two elements down the page."""
    if one.box is None or other.box is None:
        return 0.0
    return max(0.0, one.box.top - other.box.bottom, other.box.top - one.box.bottom)


def _table_data(table: Table) -> TableData:
    """A table's cells. Without spans only the first row can be a header: Markdown has no second one."""
    from docling_core.types.doc import TableCell, TableData

    spans = any(cell.rowspan > 1 or cell.colspan > 1 for cell in table.cells)
    return TableData(
        num_rows=table.rows,
        num_cols=table.columns,
        table_cells=[
            TableCell(
                text=_clean(cell.text),
                start_row_offset_idx=cell.row,
                end_row_offset_idx=cell.row + cell.rowspan,
                start_col_offset_idx=cell.column,
                end_col_offset_idx=cell.column + cell.colspan,
                row_span=cell.rowspan,
                col_span=cell.colspan,
                column_header=cell.header and (spans or cell.row == 0),
            )
            for cell in table.cells
        ],
    )
