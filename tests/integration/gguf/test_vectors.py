"""Embeddings and rerank of GGUF models."""

from __future__ import annotations

import threading
from pathlib import Path

import msgspec
import numpy as np
import pytest

from tests import tiny_gguf
from tests.gguf_support import ask, load
from tests.model_support import run
from warmwire.errors import InvalidRequestError
from warmwire.models.openai.model import ChatModel

pytest.importorskip("xllamacpp")


def test_embeddings_have_length_one(embedder: ChatModel) -> None:
    assert embedder.capabilities == msgspec.structs.replace(
        embedder.capabilities, generate=False, embed=True, rerank=False, dimensions=32
    )
    result = embedder.embed(["abc", "hello there", "abc"], threading.Event())
    assert (len(result.vectors), result.dimensions, result.model) == (3, 32, "encoder")
    assert np.allclose(np.linalg.norm(result.vectors, axis=1), 1)
    assert np.allclose(result.vectors[0], result.vectors[2], atol=1e-5)
    assert not np.allclose(result.vectors[0], result.vectors[1], atol=1e-3)
    assert result.input_tokens > 3


def test_dimensions_cut_and_normalise_again(embedder: ChatModel) -> None:
    whole = np.array(embedder.embed(["hello"], threading.Event()).vectors[0])
    short = embedder.embed(["hello"], threading.Event(), dimensions=8)
    assert short.dimensions == 8
    assert np.allclose(short.vectors[0], whole[:8] / np.linalg.norm(whole[:8]), atol=1e-5)
    for wrong in (0, 33):
        with pytest.raises(InvalidRequestError, match="1 to 32"):
            embedder.embed(["hello"], threading.Event(), dimensions=wrong)


def test_many_texts_keep_their_order(embedder: ChatModel) -> None:
    texts = [f"text {i}" for i in range(70)]
    result = embedder.embed(texts, threading.Event())
    assert len(result.vectors) == 70
    alone = embedder.embed([texts[40]], threading.Event()).vectors[0]
    assert np.allclose(result.vectors[40], alone, atol=1e-5)


def test_texts_that_are_computed_together_are_the_same(made: Path, embedder: ChatModel) -> None:
    """`parallel` puts several texts into one batch, as many as fit; one that fills it waits for the next."""
    together = load(tiny_gguf.encoder(made / "together.gguf"), "?parallel=8")
    assert together.capabilities.context == embedder.capabilities.context
    texts = [("word " * (i % 20 + 1)).strip() for i in range(70)]
    one, other = (model.embed(texts, threading.Event()) for model in (embedder, together))
    assert one.input_tokens == other.input_tokens
    assert np.allclose(one.vectors, other.vectors, atol=1e-3)
    with pytest.raises(InvalidRequestError, match="too large"):
        together.embed(["x" * 1000], threading.Event())


def test_a_text_over_the_context_is_invalid(embedder: ChatModel) -> None:
    with pytest.raises(InvalidRequestError, match="too large"):
        embedder.embed(["a b c " * 100], threading.Event())


def test_gemma_prefixes_go_before_the_text(embedder: ChatModel) -> None:
    from warmwire.models.openai.vectors import GEMMA_PREFIXES

    gemma = ChatModel("g", embedder.capabilities, embedder.upstream, prefixes=GEMMA_PREFIXES)
    never = threading.Event()
    query = gemma.embed(["abc"], never, task="retrieval_query").vectors[0]
    assert np.allclose(query, embedder.embed(["task: search result | query: abc"], never).vectors[0], atol=1e-5)
    assert np.allclose(gemma.embed(["abc"], never).vectors[0], embedder.embed(["abc"], never).vectors[0], atol=1e-5)


def test_ranking_is_sorted_stable_and_raw(ranker: ChatModel) -> None:
    assert ranker.capabilities.rerank
    never = threading.Event()
    documents = ["hello", "abc", "zzz", "hello", *(f"document {i}" for i in range(40))]
    ranking = ranker.rerank("abc", documents, never)
    scores = [result.score for result in ranking.results]
    assert scores == sorted(scores, reverse=True)
    assert sorted(result.index for result in ranking.results) == list(range(44))
    place = {result.index: i for i, result in enumerate(ranking.results)}
    assert place[3] == place[0] + 1  # the same document twice: the first comes first
    best = ranker.rerank("abc", documents, never, top_n=2).results
    assert [result.index for result in best] == [result.index for result in ranking.results[:2]]
    assert ranking.input_tokens > 44


def test_models_refuse_what_they_are_not_for(chain: ChatModel, embedder: ChatModel, ranker: ChatModel) -> None:
    never = threading.Event()
    for model in (embedder, ranker):
        with pytest.raises(InvalidRequestError, match="no text"):
            run(model, ask())
    with pytest.raises(InvalidRequestError):
        chain.embed(["a"], never)
    with pytest.raises(InvalidRequestError):
        embedder.rerank("a", ["b"], never)
