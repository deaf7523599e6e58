"""Documents for LangChain, LlamaIndex and Haystack, with the real packages."""

from __future__ import annotations

from pathlib import Path

import pytest

from warmwire.errors import InputError, UsageError

pytest.importorskip("pypdfium2")

FILE = Path(__file__).parents[1] / "data" / "documents" / "digital.pdf"


def test_langchain() -> None:
    pytest.importorskip("langchain_core")
    from warmwire.loaders.langchain import WarmwireLoader

    pages = WarmwireLoader(str(FILE)).load()
    assert [page.metadata for page in pages] == [{"source": str(FILE), "page": n} for n in range(1, len(pages) + 1)]
    assert "#" in pages[0].page_content
    (whole,) = WarmwireLoader([FILE.read_bytes()], split="document").load()
    assert whole.metadata["pages"] == [page.metadata["page"] for page in pages]
    assert pages[0].page_content.split() == whole.page_content.split()[: len(pages[0].page_content.split())]
    chunks = WarmwireLoader(str(FILE), split="chunk", pages="1").load()
    assert {"pages", "headings"} <= chunks[0].metadata.keys()
    with pytest.raises(UsageError, match="there is no split 'word'; there are document, page, chunk"):
        WarmwireLoader(str(FILE), split="word")
    with pytest.raises(InputError, match="no such file"):
        WarmwireLoader("/nowhere.pdf").load()


def test_llama_index() -> None:
    pytest.importorskip("llama_index.core")
    from llama_index.core import SimpleDirectoryReader

    from warmwire.loaders.llama_index import WarmwireReader

    documents = SimpleDirectoryReader(input_files=[FILE], file_extractor={".pdf": WarmwireReader()}).load_data()
    assert "#" in documents[0].text
    assert documents[0].metadata["page"] == 1
    assert documents[0].metadata["file_name"] == "digital.pdf"
    assert WarmwireReader(split="document").load_data(FILE, {"owner": "me"})[0].metadata["owner"] == "me"


def test_haystack() -> None:
    pytest.importorskip("haystack")
    from haystack import Pipeline
    from haystack.dataclasses import ByteStream

    from warmwire.loaders.haystack import WarmwireConverter

    pipeline = Pipeline()
    pipeline.add_component("converter", WarmwireConverter(split="document"))
    stream = ByteStream(FILE.read_bytes(), meta={"file_path": "in.pdf"})
    found = pipeline.run({"converter": {"sources": [FILE, stream], "meta": [{"n": 1}, {"n": 2}]}})
    documents = found["converter"]["documents"]
    assert [one.meta["n"] for one in documents] == [1, 2]
    assert documents[1].meta["source"] == "in.pdf"
    assert documents[0].content == documents[1].content
