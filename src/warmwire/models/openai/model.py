"""A model that answers in the OpenAI format, wherever it runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from warmwire.errors import CancelledError, InvalidRequestError
from warmwire.models.interface import Capabilities, Embeddings, Finish, Ranking, rank
from warmwire.models.openai.messages import chat_body
from warmwire.models.openai.stream import AnswerStream
from warmwire.models.openai.upstream import Upstream
from warmwire.models.openai.vectors import read_scores, read_vectors, shorten
from warmwire.wire.generation.messages import OutBlock, Request

_BATCH: Final = 32
"""Texts in one call: servers have caps, and a cancel is looked at between two calls."""


class ChatModel:
    """Chat, embeddings and rerank over an `Upstream`, as far as the capabilities go.

    `extra` is added to the body of every chat request; `prefixes` go before the texts of an embedding task.
    """

    def __init__(
        self,
        name: str,
        capabilities: Capabilities,
        upstream: Upstream,
        *,
        model: str = "",
        extra: Mapping[str, Any] | None = None,
        prefixes: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self.capabilities = capabilities
        self.upstream: Final = upstream
        self._model = {"model": model} if model else {}
        self._extra = dict(extra or {})
        self._prefixes = prefixes or {}

    def generate(self, request: Request, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> Finish:
        """Stream one answer. Raises RequestError with the wire's code; CancelledError once `cancelled` is set."""
        answer = AnswerStream(emit)
        body = self._model | self._extra | chat_body(request, self.capabilities)
        self.upstream.chat(body, answer.take, cancelled)
        if cancelled.is_set():
            raise CancelledError("the request was cancelled")
        return answer.finish()

    def embed(
        self,
        texts: list[str],
        cancelled: threading.Event,
        *,
        dimensions: int | None = None,
        task: str | None = None,
    ) -> Embeddings:
        """Vectors of length 1. Raises InvalidRequestError for more dimensions than the model has, and RequestError."""
        if not self.capabilities.embed:
            raise InvalidRequestError("this model makes no embeddings")
        prefix = self._prefixes.get(task or "", "")
        parts, tokens = [], 0
        for start in range(0, len(texts), _BATCH):
            batch = [prefix + text for text in texts[start : start + _BATCH]]
            body = self._model | {"input": batch, "encoding_format": "float"}
            matrix, read = read_vectors(self._call("embeddings", body, cancelled), len(batch))
            parts.append(matrix)
            tokens += read
        if len({part.shape[1] for part in parts}) != 1:
            raise InvalidRequestError("there is nothing to embed")
        vectors = shorten(np.concatenate(parts), dimensions)
        return Embeddings(vectors, len(vectors[0]), self.name, tokens)

    def rerank(
        self, query: str, documents: list[str], cancelled: threading.Event, *, top_n: int | None = None
    ) -> Ranking:
        """Documents by the model's own score. Raises RequestError."""
        if not self.capabilities.rerank:
            raise InvalidRequestError("this model does not rerank")
        scores: list[float] = []
        tokens = 0
        for start in range(0, len(documents), _BATCH):
            batch = documents[start : start + _BATCH]
            body = self._model | {"query": query, "documents": batch}
            found, read = read_scores(self._call("rerank", body, cancelled), len(batch))
            scores += found
            tokens += read
        return Ranking(rank(scores, top_n), self.name, tokens)

    def _call(self, path: str, body: dict[str, Any], cancelled: threading.Event) -> bytes:
        if cancelled.is_set():
            raise CancelledError("the request was cancelled")
        return self.upstream.call(path, body, cancelled)
