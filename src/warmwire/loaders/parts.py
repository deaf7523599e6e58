"""What a framework gets of a document: the whole of it, each page, or passages cut for retrieval."""

from __future__ import annotations

import json
from collections.abc import Iterator
from enum import StrEnum
from typing import Any

from warmwire.documents.result import Document
from warmwire.errors import UsageError


class Split(StrEnum):
    """How a document is cut."""

    DOCUMENT = "document"
    PAGE = "page"
    CHUNK = "chunk"


def split_of(name: str) -> Split:
    """The way of cutting by that name. Raises UsageError for another."""
    if name not in set(Split):
        raise UsageError(f"there is no split {name!r}; there are {', '.join(Split)}")
    return Split(name)


def parts_of(document: Document, split: Split) -> Iterator[tuple[str, dict[str, Any]]]:
    """Texts in Markdown, empty ones left out, each with its metadata: `source`, and `page` or `pages` and `headings`.

    `error` is there where a page was not read whole.
    """
    base: dict[str, Any] = {"source": document.name}
    if split is Split.CHUNK:
        lines = next(iter(document.files("chunks").values()), b"").decode(errors="replace")
        for chunk in map(json.loads, lines.splitlines()):
            yield chunk["text"], base | {"pages": chunk["pages"], "headings": chunk["headings"]}
    elif split is Split.PAGE:
        for page in document.pages:
            text = page.markdown()
            about = base | {"page": page.number} | ({"error": page.error} if page.error else {})
            if text.strip():
                yield text, about
    elif text := document.markdown():
        yield (
            text,
            base
            | {"pages": [page.number for page in document.pages]}
            | ({"error": document.error} if document.error else {}),
        )
