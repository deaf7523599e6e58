"""A document loader for LangChain.

from warmwire.loaders.langchain import WarmwireLoader

for document in WarmwireLoader("scan.pdf", split="page").lazy_load():
    print(document.metadata["page"], document.page_content)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document

from warmwire.documents.input.given import Given
from warmwire.loaders.parts import parts_of, split_of
from warmwire.reader import Reader


class WarmwireLoader(BaseLoader):
    """Loads documents, one after another; scanned pages are read by models on this machine.

    Args:
        sources: a path, bytes, an open file or a picture, or a list of such.
        split: "page" (a document a page), "document", or "chunk" (passages for retrieval with their headings).
        pages: which pages, such as "1,4-9,20-".
        options: those of `warmwire.Reader`: `jobs`, `socket`, `model`, `timeout`, ...

    Raises UsageError for what cannot be meant, InputError for a file that cannot be opened.
    """

    def __init__(self, sources: Given | list[Given], *, split: str = "page", pages: str = "", **options: Any) -> None:
        self._sources = sources if isinstance(sources, list) else [sources]
        self._split, self._pages, self._options = split_of(split), pages, options

    def lazy_load(self) -> Iterator[Document]:
        """Yield each part as soon as its document is read."""
        with Reader(**self._options) as reader:
            for source in self._sources:
                for text, about in parts_of(reader.read(source, pages=self._pages), self._split):
                    yield Document(page_content=text, metadata=about)
