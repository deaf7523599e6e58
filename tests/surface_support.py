"""What the tests of embeddings and rerank share: requests, and a model that answers on every surface."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.support import PATIENCE
from warmwire.client import EmbedUnsupportedError, InvalidRequestError
from warmwire.models.interface import Capabilities, Embeddings, Finish, Ranking, rank
from warmwire.transport.paths import Surface
from warmwire.wire.generation.messages import OutBlock, Request

E, R, G = Surface.EMBEDDINGS, Surface.RERANK, Surface.GENERATION
BOTH = pytest.mark.parametrize("surface", [E, R], ids=["embeddings", "rerank"])

GOOD: dict[Surface, dict[str, Any]] = {E: {"id": "x", "input": ["a"]}, R: {"id": "x", "query": "q", "documents": ["d"]}}


def task(surface: Surface, key: str) -> dict[str, Any]:
    """A request of a surface that `Vectors` knows by `key`."""
    return {"id": key, "input": [key]} if surface is E else {"id": key, "query": key, "documents": ["d", "e"]}


class Vectors:
    """Answers on every surface. A key that starts with `wait` runs until the test opens it or it is cancelled."""

    name = "vectors"

    def __init__(self, **capabilities: Any) -> None:
        self.capabilities = Capabilities(**({"embed": True, "rerank": True} | capabilities))
        self.order: list[str] = []
        self.cancelled: list[str] = []
        self._events: dict[tuple[str, str], threading.Event] = {}
        self._lock = threading.Lock()

    def event(self, what: str, key: str) -> threading.Event:
        with self._lock:
            return self._events.setdefault((what, key), threading.Event())

    def wait_running(self, key: str) -> None:
        assert self.event("running", key).wait(PATIENCE), f"{key} never ran"

    def open(self, key: str) -> None:
        self.event("open", key).set()

    def generate(self, request: Request, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> Finish:
        key = request.messages[-1].content[-1].text or ""
        self._run(key, cancelled)
        emit(OutBlock("text", key))
        return Finish()

    def embed(
        self, texts: list[str], cancelled: threading.Event, *, dimensions: int | None = None, task: str | None = None
    ) -> Embeddings:
        self._run(texts[0], cancelled)
        width = dimensions or 4
        if width > 1_000_000:
            raise InvalidRequestError(f"dimensions {width} are more than the model's 4")
        value = math.nan if texts[0] == "nan" else 0.5
        return Embeddings([[value] * width for _ in texts], width, f"vectors for {task}", sum(map(len, texts)))

    def rerank(
        self, query: str, documents: list[str], cancelled: threading.Event, *, top_n: int | None = None
    ) -> Ranking:
        self._run(query, cancelled)
        if query == "nan":
            return Ranking(rank([math.nan]), "vectors")
        return Ranking(rank([float(len(set(query) & set(d))) for d in documents], top_n), "vectors", len(documents))

    def _run(self, key: str, cancelled: threading.Event) -> None:
        self.order.append(key)
        self.event("running", key).set()
        if key == "unable":
            raise EmbedUnsupportedError("not this model")
        if key == "bug":
            raise ValueError("a bug in the model")
        gate = self.event("open", key)
        while key.startswith("wait") and not gate.wait(0.005):
            if cancelled.is_set():
                self.cancelled.append(key)
                return
