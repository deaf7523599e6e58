"""GGUF models made once for all tests: what they say is known, token for token."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import tiny_gguf
from tests.gguf_support import load
from warmwire.models.openai.model import ChatModel


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory for models; each test names its own file."""
    return tmp_path_factory.mktemp("gguf")


@pytest.fixture(scope="session")
def chain(made: Path) -> ChatModel:
    return load(tiny_gguf.text_model(made / "chain.gguf", ["Hello", ", ", "world", "!"]))


@pytest.fixture(scope="session")
def seeing(made: Path) -> ChatModel:
    directory = made / "seeing"
    directory.mkdir()
    model = tiny_gguf.text_model(directory / "seeing-Q8_0.gguf", ["I ", "see"])
    tiny_gguf.projector(directory / "mmproj-seeing-F16.gguf", model)
    return load(model)


@pytest.fixture(scope="session")
def calling(made: Path) -> ChatModel:
    pieces = ["<tool_call>\n", '{"name": "add", "arguments": {"a": 1, "b": ', "2}}\n", "</tool_call>"]
    return load(tiny_gguf.text_model(made / "calling.gguf", pieces, template=tiny_gguf.TOOLS))


@pytest.fixture(scope="session")
def endless(made: Path) -> ChatModel:
    path = tiny_gguf.text_model(
        made / "endless.gguf", ["round ", "and "], loop=True, layers=4, hidden=512, context=8192
    )
    return load(path)


@pytest.fixture(scope="session")
def embedder(made: Path) -> ChatModel:
    return load(tiny_gguf.encoder(made / "embedder.gguf"))


@pytest.fixture(scope="session")
def ranker(made: Path) -> ChatModel:
    return load(tiny_gguf.encoder(made / "ranker.gguf", rank=True))


@pytest.fixture(autouse=True)
def _one_engine_at_a_time() -> Iterator[None]:
    """Engines of a test's own end with it, so that their threads do not slow the next one."""
    yield
    gc.collect()
