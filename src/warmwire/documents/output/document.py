"""A reading as a docling-core document, and that as JSON.

The body is that of `flow`. List items are in nested groups, captions hang on their tables and pictures, text inside a
picture is its child, running heads and feet are furniture. Every item keeps its pages and its boxes there.
docling-core takes a second to load, so nothing but JSON may ask for it.

Its items are models of pydantic, a megabyte a dense page and most of that again as dictionaries. So JSON is written
while the document is built: once a block is complete, its items become text, and only their numbers stay taken.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from warmwire.documents.output.flow import FURNITURE, FlowPart, Item, Listing, clean, flow, is_tex, on_page
from warmwire.documents.reading.record import Reading
from warmwire.layout.page import Kind, Table

if TYPE_CHECKING:
    from docling_core.types.doc import DoclingDocument, ProvenanceItem, TableData

_ITEMS: Final = ("groups", "texts", "pictures", "tables")
"""The lists that a body's items stand in, each item known by its place there."""


def build_document(reading: Reading) -> DoclingDocument:
    """The whole reading as one document. Pages without elements are there too, with their sizes."""
    doc = _without_body(reading)
    for block in flow(reading):
        _add_block(doc, block)
    return doc


def document_json(reading: Reading, more: Mapping[str, Any]) -> Iterator[str]:
    """The document as JSON, indented by two, in pieces; `more` are further keys of the outermost object."""
    doc = _without_body(reading)
    written: dict[str, list[str]] = {name: [] for name in _ITEMS}
    for block in flow(reading):
        _add_block(doc, block)
        for name, texts in written.items():
            added: list[Any] = getattr(doc, name)
            for number in range(len(texts), len(added)):
                texts.append(_indented(_dump(added[number]), "    "))
                added[number] = None
    for name in _ITEMS:
        setattr(doc, name, [])
    fields = {**_dump(doc), **more}
    for number, (key, value) in enumerate(fields.items()):
        yield f"{',' if number else '{'}\n  {json.dumps(key)}: "
        if items := written.get(key):
            yield "["
            for place, text in enumerate(items):
                yield f"{',' if place else ''}\n    {text}"
            yield "\n  ]"
        else:
            yield _indented(value, "  ")
    yield "\n}"


def _dump(model: Any) -> Any:
    """As docling-core exports its documents."""
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def _indented(value: Any, indent: str) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2).replace("\n", f"\n{indent}")


def _without_body(reading: Reading) -> DoclingDocument:
    from docling_core.types.doc import DoclingDocument, Size

    doc = DoclingDocument(name=PurePath(reading.name).stem)
    for page in reading.pages:
        doc.add_page(page_no=page.record.page, size=Size(width=page.width, height=page.height))
    return doc


def _add_block(doc: DoclingDocument, block: Item | Listing) -> None:
    if isinstance(block, Listing):
        _add_list(doc, block, None)
    else:
        _add(doc, block)


def _add_list(doc: DoclingDocument, listing: Listing, parent: Any) -> None:
    group = doc.add_list_group(parent=parent)
    for item in listing.items:
        added = doc.add_list_item(
            item.text, enumerated=listing.ordered, marker=item.marker, prov=_place(item.parts[0]), parent=group
        )
        _finish(added, item)
        for inner in item.lists:
            _add_list(doc, inner, added)


def _add(doc: DoclingDocument, item: Item) -> None:
    from docling_core.types.doc import ContentLayer, DocItemLabel

    text, prov = item.text, _place(item.parts[0])
    match item.kind:
        case Kind.TITLE:
            _finish(doc.add_title(text, prov=prov), item)
        case Kind.HEADING:
            _finish(doc.add_heading(text, level=max(item.element.level, 1), prov=prov), item)
        case Kind.TABLE:
            data = _table_data(item.element.table or Table(0, 0))
            doc.add_table(data, caption=_add_caption(doc, item.caption), prov=prov)
        case Kind.PICTURE:
            picture = doc.add_picture(caption=_add_caption(doc, item.caption), prov=prov)
            if text:
                doc.add_text(DocItemLabel.TEXT, text, prov=prov, parent=picture)
        case Kind.FORMULA if is_tex(text):
            doc.add_formula(text, prov=prov)
        case Kind.FORMULA:
            doc.add_text(DocItemLabel.TEXT, text, prov=prov)
        case Kind.CODE:
            doc.add_code(text, prov=prov)
        case _:
            layer = ContentLayer.FURNITURE if item.kind in FURNITURE else None
            _finish(doc.add_text(DocItemLabel(item.kind.value), text, prov=prov, content_layer=layer), item)


def _add_caption(doc: DoclingDocument, caption: Item | None) -> Any:
    from docling_core.types.doc import DocItemLabel

    if caption is None:
        return None
    added = doc.add_text(DocItemLabel.CAPTION, caption.text, prov=_place(caption.parts[0]))
    _finish(added, caption)
    return added


def _finish(added: Any, item: Item) -> None:
    """Give a text its other places, and the link where all of its words are one: docling-core knows no others."""
    from pydantic import AnyUrl, ValidationError

    added.prov.extend(_place(part) for part in item.parts[1:])
    links = item.links
    if len(links) == 1 and "".join(links[0][0].split()) == "".join(item.text.split()):
        try:
            added.hyperlink = AnyUrl(links[0][1])
        except ValidationError:
            pass  # Markdown takes any


def _place(part: FlowPart) -> ProvenanceItem:
    """A part's page and its box there, and which letters of the item it has."""
    from docling_core.types.doc import BoundingBox, CoordOrigin, ProvenanceItem

    box = on_page(part.element.box, part.page)
    bounds = BoundingBox(l=box.left, t=box.top, r=box.right, b=box.bottom, coord_origin=CoordOrigin.TOPLEFT)
    span = (max(0, part.end - len(part.element.text)), part.end)
    return ProvenanceItem(page_no=part.page.record.page, bbox=bounds, charspan=span)


def _table_data(table: Table) -> TableData:
    """A table's cells. Without spans only the first row can be a header: Markdown has no second one."""
    from docling_core.types.doc import TableCell, TableData

    spans = any(cell.rowspan > 1 or cell.colspan > 1 for cell in table.cells)
    return TableData(
        num_rows=table.rows,
        num_cols=table.columns,
        table_cells=[
            TableCell(
                text=clean(cell.text),
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
