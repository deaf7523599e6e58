"""The clients of embeddings and rerank, blocking and not."""

from __future__ import annotations

import asyncio
import json
import math
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests import tiny_gguf
from tests.support import PATIENCE, StartWhole
from tests.surface_support import E, R, Vectors, task
from warmwire.client import (
    AsyncClient,
    Client,
    DialError,
    EmbedUnsupportedError,
    InternalError,
    InvalidRequestError,
    ProtocolError,
    QueueFullError,
    RequestError,
    RerankUnsupportedError,
    StreamLostError,
)
from warmwire.errors import BackendUnavailableError, FrameTooLargeError
from warmwire.host.workers.pool import WorkerPool
from warmwire.models.echo import EchoModel
from warmwire.transport.listen import SocketPath
from warmwire.transport.paths import surface_addr
from warmwire.wire.generation.messages import MAX_FRAME
from warmwire.wire.tasks import EMBED_TASKS


class Blocking:
    """`AsyncClient` in the clothes of `Client`: each call runs in an event loop of its own."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self._client = lambda: AsyncClient(*args, **options)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        async def call(*args: Any, **options: Any) -> Any:
            async with self._client() as client:
                return await getattr(client, name)(*args, **options)

        return lambda *args, **options: asyncio.run(call(*args, **options))


@pytest.fixture(params=[Client, Blocking], ids=["sync", "async"])
def client_class(request: pytest.FixtureRequest) -> Any:
    return request.param


class TestClients:
    def test_embed_and_rerank(self, start_whole: StartWhole, client_class: Any) -> None:
        client = client_class(start_whole(Vectors()).path)
        found = client.embed(["ab", "c"], dimensions=3, task="clustering")
        assert found.embeddings == [[0.5] * 3] * 2
        assert (found.dimensions, found.model, found.usage.input_tokens) == (3, "vectors for clustering", 3)
        ranking = client.rerank("ab", ["x", "b", "ab"], top_n=2)
        assert [(r.index, r.score) for r in ranking.results] == [(2, 2.0), (1, 1.0)]

    def test_a_large_answer(self, start_whole: StartWhole, client_class: Any) -> None:
        found = client_class(start_whole(Vectors()).path).embed(["a"] * 10, dimensions=200_000)
        assert [len(vector) for vector in found.embeddings] == [200_000] * 10

    def test_errors_are_those_of_the_host(self, start_whole: StartWhole, client_class: Any) -> None:
        client = client_class(start_whole(Vectors()).path)
        with pytest.raises(InvalidRequestError, match=r"input\[1\] must not be empty"):
            client.embed(["a", ""])
        with pytest.raises(InvalidRequestError, match="257 documents"):
            client.rerank("q", ["d"] * 257)
        with pytest.raises(InternalError, match="a bug in the model"):
            client.embed(["bug"])
        with pytest.raises(EmbedUnsupportedError, match="not this model"):
            client.embed(["unable"])
        with pytest.raises(InvalidRequestError, match="surrogates"):
            client.embed(["\ud800"])

    def test_queue_full(self, start_whole: StartWhole, client_class: Any) -> None:
        model = Vectors()
        host = start_whole(model, queue_depth=0)
        with host.lines(E) as running:
            running.send(task(E, "wait"))
            model.wait_running("wait")
            with pytest.raises(QueueFullError):
                client_class(host.path).rerank("q", ["d"])

    def test_a_model_that_cannot_is_told_at_once(self, start_whole: StartWhole, client_class: Any) -> None:
        client = client_class(start_whole(EchoModel()).path, wait=60)
        began = time.monotonic()
        with pytest.raises(EmbedUnsupportedError, match=r"model \(echo\) does not embed"):
            client.embed(["a"])
        with pytest.raises(RerankUnsupportedError, match="does not rerank"):
            client.rerank("q", ["d"])
        assert time.monotonic() - began < 30

    def test_no_host(self, path: str, client_class: Any) -> None:
        with pytest.raises(DialError, match=r"no host listens at .*s\.embed\.sock"):
            client_class(path, wait=0).embed(["a"])

    def test_a_request_too_large_for_the_wire(self, start_whole: StartWhole, client_class: Any) -> None:
        with pytest.raises(FrameTooLargeError):
            client_class(start_whole(Vectors()).path).embed(["x" * MAX_FRAME])

    @pytest.mark.parametrize(
        ("answer", "error", "words"),
        [
            (b"", StreamLostError, "closed the connection before the answer ended"),
            (b"\n", ProtocolError, "cannot be read"),
            (b'{"type":"embeddings"', StreamLostError, "before the answer ended"),
            (b'{"type":"embeddings","id":"","embeddings":[[null]],"dimensions":1}\n', ProtocolError, "cannot be read"),
            (b'{"type":"news"}\n', ProtocolError, "cannot be read"),
            (b'{"type":"error","id":"","code":"teapot","message":"short"}\n', RequestError, r"short \(teapot\)"),
            (b'{"type":"error","id":"","code":"queue_full","message":"later"}\n', QueueFullError, "later"),
            (b'{"type":"error","id":"","code":"backend_unavailable","message":"m"}\n', BackendUnavailableError, "m"),
        ],
    )
    def test_hosts_of_all_kinds(
        self, path: str, client_class: Any, answer: bytes, error: type[Exception], words: str
    ) -> None:
        with SocketPath(surface_addr(path, E)) as claimed, claimed.bind() as listening:
            listening.setblocking(True)

            def serve() -> None:
                sock, _ = listening.accept()
                with sock:
                    sock.settimeout(PATIENCE)
                    assert json.loads(sock.makefile("rb").readline()) == {"input": ["a"]}
                    sock.sendall(answer)

            thread = threading.Thread(target=serve)
            thread.start()
            with pytest.raises(error, match=words):
                client_class(path).embed(["a"])
            thread.join(PATIENCE)

    def test_a_refusal_before_everything_is_sent(self, path: str, client_class: Any) -> None:
        with SocketPath(surface_addr(path, R)) as claimed, claimed.bind() as listening:
            listening.setblocking(True)

            def serve() -> None:
                sock, _ = listening.accept()
                with sock:
                    sock.recv(1000)
                    sock.sendall(b'{"type":"error","id":"","code":"frame_too_large","message":"enough"}\n')
                    sock.shutdown(socket.SHUT_RD)  # what is still sent fails
                    sock.recv(1)

            thread = threading.Thread(target=serve)
            thread.start()
            with pytest.raises((FrameTooLargeError, StreamLostError)):
                client_class(path).rerank("q", ["x" * (30 << 20)])
            thread.join(PATIENCE)

    def test_a_real_embedding_model(self, tmp_path: Path, start_whole: StartWhole, client_class: Any) -> None:
        pytest.importorskip("xllamacpp")
        model = str(tiny_gguf.encoder(tmp_path / "encoder.gguf"))
        host = start_whole(lambda: WorkerPool(model, threads=1))
        client = client_class(host.path)
        found = client.embed(["hello", "world", "hello"])
        assert (found.dimensions, found.model) == (32, "encoder")
        assert found.usage.input_tokens > 6
        assert found.embeddings[0] == pytest.approx(found.embeddings[2], abs=1e-4)
        assert found.embeddings[0] != pytest.approx(found.embeddings[1], abs=1e-2)
        for vector in found.embeddings:
            assert math.hypot(*vector) == pytest.approx(1, abs=1e-4)
        short = client.embed(["hello"], dimensions=8)
        scale = math.hypot(*found.embeddings[0][:8])
        assert short.embeddings[0] == pytest.approx([x / scale for x in found.embeddings[0][:8]], abs=1e-3)
        for name in EMBED_TASKS:
            assert len(client.embed(["hello"], task=name).embeddings[0]) == 32
        with pytest.raises(InvalidRequestError, match="33"):
            client.embed(["hello"], dimensions=33)
        with pytest.raises(InvalidRequestError):
            client.embed(["hello " * 500])
        with pytest.raises(RerankUnsupportedError, match="does not rerank"):
            client.rerank("q", ["d"])
        assert client.status().capabilities[0]["embed"] is True
        assert client.embed(["hello"]).embeddings[0] == pytest.approx(found.embeddings[0], abs=1e-4)

    def test_a_real_reranker(self, tmp_path: Path, start_whole: StartWhole, client_class: Any) -> None:
        pytest.importorskip("xllamacpp")
        model = str(tiny_gguf.encoder(tmp_path / "ranker.gguf", rank=True, name="ranker"))
        host = start_whole(lambda: WorkerPool(model, threads=1))
        client = client_class(host.path)
        documents = ["one", "two two", "three", "one"]
        ranking = client.rerank("which one", documents)
        scores = [r.score for r in ranking.results]
        assert scores == sorted(scores, reverse=True)
        assert sorted(r.index for r in ranking.results) == [0, 1, 2, 3]
        assert ranking.usage.input_tokens > 8
        best = client.rerank("which one", documents, top_n=2)
        assert [r.index for r in best.results] == [r.index for r in ranking.results[:2]]
        with pytest.raises(InvalidRequestError):
            client.rerank("q" * 2000, ["d"])
        with pytest.raises(EmbedUnsupportedError, match="does not embed"):
            client.embed(["a"])
