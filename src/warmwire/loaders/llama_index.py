"""A reader for LlamaIndex.

from warmwire.loaders.llama_index import WarmwireReader

documents = SimpleDirectoryReader("scans", file_extractor={".pdf": WarmwireReader()}).load_data()
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from llama_index.core.readers.base import BaseReader
from llama_index.core.schema import Document

from warmwire.documents.input.given import Given
from warmwire.loaders.parts import parts_of, split_of
from warmwire.reader import Reader


class WarmwireReader(BaseReader):
    """Reads documents; scanned pages are read by models on this machine.

    `split` is "page" (a document a page), "document", or "chunk" (passages for retrieval with their headings);
    `options` are those of `warmwire.Reader`. Raises UsageError for what cannot be meant, InputError for a file that
    cannot be opened.
    """

    def __init__(self, *, split: str = "page", **options: Any) -> None:
        self._split, self._options = split_of(split), options

    def lazy_load_data(
        self, file: Given, extra_info: dict[str, Any] | None = None, pages: str = "", **_: Any
    ) -> Iterator[Document]:
        """Yield the parts of one document; `extra_info` goes into the metadata of each."""
        with Reader(**self._options) as reader:
            for text, about in parts_of(reader.read(file, pages=pages), self._split):
                yield Document(text=text, metadata=about | (extra_info or {}))
