"""A converter for Haystack.

from warmwire.loaders.haystack import WarmwireConverter

pipeline.add_component("converter", WarmwireConverter(split="chunk"))
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from haystack import Document, component
from haystack.dataclasses import ByteStream

from warmwire.loaders.parts import parts_of, split_of
from warmwire.reader import Reader


@component
class WarmwireConverter:
    """Converts files to documents; scanned pages are read by models on this machine.

    `split` is "page" (a document a page), "document", or "chunk" (passages for retrieval with their headings);
    `options` are those of `warmwire.Reader`. Raises UsageError for what cannot be meant, InputError for a file that
    cannot be opened.
    """

    def __init__(self, *, split: str = "page", **options: Any) -> None:
        self._split, self._options = split_of(split), options

    @component.output_types(documents=list[Document])
    def run(
        self, sources: list[str | Path | ByteStream], meta: dict[str, Any] | list[dict[str, Any]] | None = None
    ) -> dict[str, list[Document]]:
        """Convert files; `meta` is for all of them, or one for each."""
        each = meta if isinstance(meta, list) else [meta or {}] * len(sources)
        documents = []
        with Reader(**self._options) as reader:
            for source, extra in zip(sources, each, strict=True):
                given: Any = source
                if isinstance(source, ByteStream):
                    given = io.BytesIO(source.data)
                    given.name = source.meta.get("file_path", "document")
                    extra = source.meta | extra
                for text, about in parts_of(reader.read(given), self._split):
                    documents.append(Document(content=text, meta=about | extra))
        return {"documents": documents}
