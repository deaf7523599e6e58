"""Embeddings and rerank by a server of the OpenAI format."""

from __future__ import annotations

import json
import threading
from typing import Any

import numpy as np
import pytest

from tests.openai_server import Exchange, FakeServer, serve_vectors
from warmwire.errors import BackendUnavailableError
from warmwire.models.openai.model import ChatModel
from warmwire.models.registry import load_model

pytest.importorskip("httpx")


def test_embeddings(server: FakeServer) -> None:
    serve_vectors(server)
    model = load_model(f"openai:{server.url}#m")
    assert isinstance(model, ChatModel)
    assert (model.capabilities.embed, model.capabilities.rerank, model.capabilities.dimensions) == (True, False, 3)
    result = model.embed(["x" * i for i in range(1, 80)], threading.Event(), task="retrieval_query")
    assert (len(result.vectors), result.dimensions, result.input_tokens, result.model) == (79, 3, 79, "m")
    for i, vector in enumerate(result.vectors, 1):
        assert np.allclose(vector, np.array([i, 2, 0]) / np.hypot(i, 2))
    assert model.embed(["abc"], threading.Event(), dimensions=1).vectors == [[1.0]]


def test_rerank(server: FakeServer) -> None:
    scores = [0.5, -3.0, 0.5, 9.25]

    def answer(exchange: Exchange) -> None:
        found = [{"index": i, "relevance_score": scores[i]} for i in range(len(exchange.body["documents"]))]
        exchange.json({"results": found[::-1], "usage": {"total_tokens": 8}})

    server.answers["/v1/rerank"] = answer
    model = load_model(f"openai:{server.url}#m")
    assert isinstance(model, ChatModel)
    ranking = model.rerank("q", ["a", "b", "c", "d"], threading.Event(), top_n=3)
    assert [(r.index, r.score) for r in ranking.results] == [(3, 9.25), (0, 0.5), (2, 0.5)]
    assert ranking.input_tokens == 8


@pytest.mark.parametrize(
    "answer",
    [
        {"data": []},
        {"data": [{"embedding": [1.0]}, {"embedding": [1.0, 2.0]}]},
        {"data": [{"embedding": []}, {"embedding": []}]},
        {"data": [{"embedding": [1e400]}, {"embedding": [1.0]}]},
        {"data": "x"},
        {"oops": 1},
    ],
)
def test_embeddings_that_are_none(server: FakeServer, answer: Any) -> None:
    serve_vectors(server)
    model = load_model(f"openai:{server.url}#m")
    server.answers["/v1/embeddings"] = lambda x: x.raw(
        json.dumps(answer).replace("Infinity", "1e400").encode(), 200, "application/json"
    )
    with pytest.raises(BackendUnavailableError):
        model.embed(["a", "b"], threading.Event())  # type: ignore[attr-defined]


@pytest.mark.parametrize("results", [[], [{"index": 0, "relevance_score": 1}] * 2, [{"index": 0}, {"index": 1}], 5])
def test_scores_that_are_none(server: FakeServer, results: Any) -> None:
    server.answers["/v1/rerank"] = lambda x: x.json({"results": [{"index": 0, "score": 1}]})
    model = load_model(f"openai:{server.url}#m")
    server.answers["/v1/rerank"] = lambda x: x.json({"results": results})
    with pytest.raises(BackendUnavailableError):
        model.rerank("q", ["a", "b"], threading.Event())  # type: ignore[attr-defined]
