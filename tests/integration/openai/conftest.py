"""A server of the OpenAI format and its only model, `m`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.openai_server import FakeServer, fake_server
from warmwire.models.openai.model import ChatModel
from warmwire.models.registry import load_model


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    for variable in ("WARMWIRE_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    with fake_server() as fake:
        yield fake


@pytest.fixture
def model(server: FakeServer) -> ChatModel:
    loaded = load_model(f"openai:{server.url}#m")
    assert isinstance(loaded, ChatModel)
    return loaded
