"""Markdown and plain text, by docling-core's serializers, with what readers of scans need changed.

- A table with spans is an HTML table: pipes would repeat the spanned cells.
- Text stays itself: what Markdown would take for markup is escaped, and nothing else is.
- Text inside pictures is kept.
- Links stand on the words they are on, not on whole items.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from docling_core.transforms.serializer.base import (
    BasePictureSerializer,
    BaseTableSerializer,
    BaseTextSerializer,
    SerializationResult,
)
from docling_core.transforms.serializer.common import create_ser_result
from docling_core.transforms.serializer.markdown import (
    MarkdownDocSerializer,
    MarkdownParams,
    MarkdownPictureSerializer,
    MarkdownTableSerializer,
    MarkdownTextSerializer,
)
from docling_core.transforms.serializer.plain_text import (
    PlainTextDocSerializer,
    PlainTextParams,
)
from docling_core.types.doc import CaptionPlacement, DocItemLabel, PictureItem, TableItem, TextItem
from pydantic import Field

from warmwire.documents.links import add_links

if TYPE_CHECKING:
    from docling_core.types.doc import DoclingDocument, TableData

    from warmwire.documents.document import Links

_INLINE: Final = re.compile(
    r"""\\(?=[!-/:-@\[-`{-~])   # a backslash that would escape
    |[*`]
    |(?<!\w)_|_(?!\w)           # emphasis; inside a word it is none
    |<(?=[A-Za-z/!?])           # HTML
    |&(?=\#?\w+;)               # an entity
    |\](?=\()                   # a link
    |~(?=~)""",
    re.VERBOSE,
)
_BLOCK: Final = re.compile(r"^(\s*)(?:([#>+-])(?=\s|$|[#>])|(\d{1,9})([.)])(?=\s|$))", re.MULTILINE)
"""What would start a heading, a quote or a list at the start of a line."""

_PLACEHOLDER: Final = "<!-- image -->"
"""Where a picture stands; no text can look like it, since its < would be escaped."""

_CHECKBOXES: Final = (DocItemLabel.CHECKBOX_SELECTED, DocItemLabel.CHECKBOX_UNSELECTED)


def escape(text: str) -> str:
    """`text` so that Markdown shows it as it is, inside a line."""
    return _INLINE.sub(lambda match: "\\" + match[0], text)


def escape_block(text: str) -> str:
    """The same for what Markdown reads at the start of a paragraph's lines; inline markup must be escaped already."""
    return _BLOCK.sub(lambda m: f"{m[1]}\\{m[2]}" if m[2] else f"{m[1]}{m[3]}\\{m[4]}", text)


class _TextSerializer(MarkdownTextSerializer):
    def serialize(
        self, *, item: TextItem, doc_serializer: Any, doc: DoclingDocument, **kwargs: Any
    ) -> SerializationResult:
        result = super().serialize(item=item, doc_serializer=doc_serializer, doc=doc, **kwargs)
        if type(item) is TextItem and item.label not in _CHECKBOXES:
            result.text = escape_block(result.text)
        result.text = add_links(result.text, getattr(doc_serializer, "links", {}).get(item.self_ref, ()))
        return result


class _TableSerializer(MarkdownTableSerializer):
    def serialize(
        self, *, item: TableItem, doc_serializer: Any, doc: DoclingDocument, **kwargs: Any
    ) -> SerializationResult:
        caption = doc_serializer.serialize_captions(item=item, **kwargs)
        table = create_ser_result(text=self.table_text(item.data), span_source=item)
        parts = [table, caption] if _is_below(item, doc) else [caption, table]
        text = "\n\n".join(part.text for part in parts if part.text)
        return create_ser_result(text=text, span_source=parts)

    def table_text(self, data: TableData) -> str:
        return markdown_table(data)


class _PlainTableSerializer(_TableSerializer):
    def table_text(self, data: TableData) -> str:
        return "\n".join(" | ".join(row) for row in _rows(data))


def _is_below(item: TableItem, doc: DoclingDocument) -> bool:
    """Whether a table's caption stands under it on the page."""
    captions = [ref.resolve(doc) for ref in item.captions]
    return bool(item.prov and captions and captions[0].prov) and captions[0].prov[0].bbox.t > item.prov[0].bbox.t


class _PictureSerializer(MarkdownPictureSerializer):
    def serialize(
        self, *, item: PictureItem, doc_serializer: Any, doc: DoclingDocument, **kwargs: Any
    ) -> SerializationResult:
        result = super().serialize(item=item, doc_serializer=doc_serializer, doc=doc, **kwargs)
        if found := doc_serializer.figures.get(item.self_ref):
            words = escape(" ".join(found[1].split())).replace("[", r"\[").replace("]", r"\]")
            result.text = result.text.replace(_PLACEHOLDER, f"![{words}]({found[0]})", 1)
        return result


class _DocSerializer(MarkdownDocSerializer):
    text_serializer: BaseTextSerializer = _TextSerializer()
    table_serializer: BaseTableSerializer = _TableSerializer()
    picture_serializer: BasePictureSerializer = _PictureSerializer()
    links: dict[str, list[tuple[str, str]]] = Field(default_factory=dict)
    figures: dict[str, tuple[str, str]] = Field(default_factory=dict)
    """Of pictures that have a file: the link to it and what it shows, by the item's reference."""

    def post_process(self, text: str, *, escape_html: bool = True, **kwargs: Any) -> str:
        """Escape a piece of text; docling-core says by `escape_html` whether it is code or a formula."""
        return escape(text) if escape_html else text


class _PlainSerializer(PlainTextDocSerializer):
    table_serializer: BaseTableSerializer = _PlainTableSerializer()


def to_markdown(doc: DoclingDocument, links: Links, figures: Mapping[str, tuple[str, str]] | None = None) -> str:
    """The document as Markdown, without running heads and feet; `figures` as `_DocSerializer` has them."""
    params = MarkdownParams(
        traverse_pictures=True, caption_placement=CaptionPlacement.LAYOUT, image_placeholder=_PLACEHOLDER
    )
    return _DocSerializer(doc=doc, params=params, links=links, figures=dict(figures or {})).serialize().text


def to_text(doc: DoclingDocument) -> str:
    """The document as plain text: no markup but list marks and the pipes of tables."""
    params = PlainTextParams(traverse_pictures=True, caption_placement=CaptionPlacement.LAYOUT)
    return _PlainSerializer(doc=doc, params=params).serialize().text


def markdown_table(data: TableData) -> str:
    """A table in Markdown: pipes, or HTML where cells span."""
    if not data.num_rows or not data.num_cols:
        return ""
    if any(cell.row_span > 1 or cell.col_span > 1 for cell in data.table_cells):
        return _html_table(data)
    rows = [[escape(text).replace("|", "\\|") for text in row] for row in _rows(data)]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|" + " --- |" * data.num_cols)
    return "\n".join(lines)


def _rows(data: TableData) -> list[list[str]]:
    """The text at each place of the grid; a cell's text stands at its first place only."""
    rows = [[""] * data.num_cols for _ in range(data.num_rows)]
    for cell in data.table_cells:
        rows[cell.start_row_offset_idx][cell.start_col_offset_idx] = " ".join(cell.text.split())
    return rows


def _html_table(data: TableData) -> str:
    """An HTML table without blank lines, which would end it in Markdown."""
    rows: list[list[str]] = [[] for _ in range(data.num_rows)]
    for cell in sorted(data.table_cells, key=lambda cell: cell.start_col_offset_idx):
        tag = "th" if cell.column_header else "td"
        spans = f' rowspan="{cell.row_span}"' if cell.row_span > 1 else ""
        spans += f' colspan="{cell.col_span}"' if cell.col_span > 1 else ""
        text = html.escape(" ".join(cell.text.split()), quote=False)
        rows[cell.start_row_offset_idx].append(f"<{tag}{spans}>{text}</{tag}>")
    return "<table>\n" + "\n".join(f"<tr>{''.join(row)}</tr>" for row in rows) + "\n</table>"
