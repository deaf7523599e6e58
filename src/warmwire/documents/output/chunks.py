"""A reading cut for retrieval: JSON lines of passages with the headings above them, their pages and boxes.

A passage is what stands under one heading, cut between paragraphs where it grows longer than a model of embeddings
reads; a table is a passage of its own, as Markdown, with its caption. Running heads, feet and contents of pictures that
have no words are left out. docling-core has chunkers too, but importing one needs a tokenizer of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from warmwire.documents.output.flow import pair_captions
from warmwire.documents.output.tables import grid_of
from warmwire.documents.reading.record import Reading
from warmwire.layout.page import Element, Kind

LONGEST: Final = 2000
"""Characters of a passage beyond which a new one begins: some 500 tokens, which small models of embeddings read."""

_OUTSIDE: Final = (Kind.PAGE_HEADER, Kind.PAGE_FOOTER)


@dataclass(slots=True)
class _ChunkParts:
    headings: list[str]
    parts: list[str] = field(default_factory=list)
    places: list[dict[str, Any]] = field(default_factory=list)

    def add(self, text: str, page: int, element: Element) -> None:
        self.parts.append(text)
        place: dict[str, Any] = {"page": page, "kind": element.kind.value}
        if (box := element.box) is not None:
            place["box"] = [round(side, 1) for side in (box.left, box.top, box.right, box.bottom)]
        self.places.append(place)

    @property
    def size(self) -> int:
        return sum(map(len, self.parts))


def chunk_lines(reading: Reading) -> str:
    """A JSON object a line: `text`, `headings` from the outside in, `pages`, `places` (page, kind, box), `source`."""
    lines = []
    for number, chunk in enumerate(_chunks(reading)):
        found = {
            "id": number,
            "text": "\n\n".join(chunk.parts),
            "headings": chunk.headings,
            "pages": sorted({place["page"] for place in chunk.places}),
            "places": chunk.places,
            "source": reading.name,
        }
        lines.append(json.dumps(found, ensure_ascii=False) + "\n")
    return "".join(lines)


def _chunks(reading: Reading) -> Iterator[_ChunkParts]:
    headings: list[tuple[int, str]] = []
    chunk = _ChunkParts([])
    for page in reading.pages:
        captions = pair_captions(page.elements)
        paired = {id(caption) for caption in captions.values()}
        for index, element in enumerate(page.elements):
            if element.kind in _OUTSIDE or id(element) in paired:
                continue
            starts = element.kind in (Kind.TITLE, Kind.HEADING)
            text = _text(element, captions.get(index))
            if starts:
                level = 0 if element.kind is Kind.TITLE else element.level
                headings = [*(found for found in headings if found[0] < level), (level, text)]
            alone = element.kind is Kind.TABLE
            if chunk.parts and (starts or alone or chunk.size + len(text) > LONGEST):
                yield chunk
            if starts or alone or not chunk.parts or chunk.size + len(text) > LONGEST:
                chunk = _ChunkParts([heading for _, heading in headings])
            if text and not starts:
                chunk.add(text, page.record.page, element)
            if alone and chunk.parts:
                yield chunk
                chunk = _ChunkParts([heading for _, heading in headings])
    if chunk.parts:
        yield chunk


def _text(element: Element, caption: Element | None) -> str:
    if element.kind is Kind.TABLE:
        rows = grid_of(element.table).rows
        lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
        if lines:
            lines.insert(1, "|" + " --- |" * len(rows[0]))
        return "\n".join([*([caption.text, ""] if caption is not None else []), *lines])
    if element.kind is Kind.LIST_ITEM:
        return f"{element.marker or '-'} {element.text}"
    said = [element.text, caption.text if caption is not None else ""]
    return "\n".join(filter(None, said))
