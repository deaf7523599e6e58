"""Servers that refuse, break off, say nonsense or nothing at all."""

from __future__ import annotations

import json
import os
import threading
import time
from typing import Any

import pytest

from tests.model_support import ask, run
from tests.openai_server import HELLO, Exchange, FakeServer, chunk, fake_server, raw_stream, serve_vectors
from tests.support import PATIENCE, eventually
from warmwire.errors import (
    BackendUnavailableError,
    CancelledError,
    InvalidRequestError,
    QueueFullError,
    RequestError,
    ToolCallError,
)
from warmwire.models.openai.model import ChatModel
from warmwire.models.registry import load_model
from warmwire.wire.generation.messages import OutBlock, Tool

pytest.importorskip("httpx")


@pytest.mark.parametrize(
    ("status", "error", "says"),
    [
        (400, InvalidRequestError, "too long"),
        (413, InvalidRequestError, "413"),
        (422, InvalidRequestError, "422"),
        (401, BackendUnavailableError, "WARMWIRE_API_KEY"),
        (403, BackendUnavailableError, "403"),
        (404, BackendUnavailableError, "404"),
        (429, QueueFullError, "busy"),
        (500, BackendUnavailableError, "500"),
        (503, BackendUnavailableError, "503"),
        (307, BackendUnavailableError, "307"),
    ],
)
def test_statuses(server: FakeServer, model: ChatModel, status: int, error: type[RequestError], says: str) -> None:
    server.chat(lambda x: x.json({"error": {"message": "the prompt is too long"}}, status))
    with pytest.raises(error, match=says) as caught:
        run(model, ask())
    assert "too long" in str(caught.value)


def test_an_error_page_is_quoted_in_short(server: FakeServer, model: ChatModel) -> None:
    server.chat(lambda x: x.raw(b"<html>\n" + b"Bad gateway " * 1000, 502, "text/html"))
    with pytest.raises(BackendUnavailableError, match="Bad gateway") as caught:
        run(model, ask())
    assert len(str(caught.value)) < 700


def _die_after(events: list[Any]) -> Any:
    return lambda x: x.events(events, done=False)


@pytest.mark.parametrize(
    ("answer", "error", "says"),
    [
        (_die_after([chunk({"content": "Hel"})]), BackendUnavailableError, "before the answer was complete"),
        (_die_after([]), BackendUnavailableError, "before the answer was complete"),
        (lambda x: x.events([chunk({"content": "Hel"})]), BackendUnavailableError, "before the answer was complete"),
        (
            _die_after([chunk({"content": "Hel"}), {"error": {"message": "out of memory", "code": 500}}]),
            BackendUnavailableError,
            "out of memory",
        ),
        (raw_stream(b"data: {not json}\n\n"), BackendUnavailableError, "no chat completion"),
        (raw_stream(b"data: [1, 2]\n\n"), BackendUnavailableError, "no chat completion"),
        (raw_stream(b'data: {"choices": "x"}\n\n'), BackendUnavailableError, "no chat completion"),
        (raw_stream(b'data: {"choices": [{"delta": {"content": 5}}]}\n\n'), BackendUnavailableError, "no chat"),
        (raw_stream(b"data: " + b"[" * 100_000 + b"\n\n"), BackendUnavailableError, "no chat"),
        (raw_stream(b"\xff\xfe\x00"), BackendUnavailableError, "before the answer was complete"),
        (lambda x: x.raw(b"<html>Welcome</html>", 200, "text/html"), BackendUnavailableError, "text/html"),
        (lambda x: x.json(["not", "it"]), BackendUnavailableError, "no chat completion"),
        (lambda x: x.handler.connection.close(), BackendUnavailableError, "broke"),
    ],
)
def test_streams_that_break(
    server: FakeServer, model: ChatModel, answer: Any, error: type[RequestError], says: str
) -> None:
    server.chat(answer)
    with pytest.raises(error, match=says):
        run(model, ask())


@pytest.mark.parametrize(
    ("function", "says"),
    [({"name": "f", "arguments": "{broken"}, "no JSON object"), ({"name": "f", "arguments": "[1]"}, "no JSON object"),
     ({"name": "f", "arguments": '{"x": NaN}'}, "no JSON object"), ({"arguments": "{}"}, "without a name")],
)  # fmt: skip
def test_malformed_calls(server: FakeServer, model: ChatModel, function: dict[str, str], says: str) -> None:
    server.chat(
        lambda x: x.events([chunk({"tool_calls": [{"index": 0, "function": function}]}), chunk({}, "tool_calls")])
    )
    with pytest.raises(ToolCallError, match=says):
        run(model, ask(tools=[Tool("f")]))


def test_a_dead_server_is_named(server: FakeServer, model: ChatModel) -> None:
    with fake_server() as other:
        gone = load_model(f"openai:{other.url}#m")
    with pytest.raises(BackendUnavailableError, match="nothing answers at http://127"):
        run(gone, ask())


# ---------------------------------------------------------------------- cancel


def _silent(exchange: Exchange) -> None:
    exchange.wait_for_close()


def _silent_after_head(exchange: Exchange) -> None:
    exchange.begin()
    exchange.write(b"data: " + json.dumps(chunk({"content": "Hel"})).encode() + b"\n\n")
    exchange.wait_for_close()


def _endless(exchange: Exchange) -> None:
    exchange.begin()
    while True:
        exchange.write(b"data: " + json.dumps(chunk({"content": "x"})).encode() + b"\n\n")
        time.sleep(0.001)


@pytest.mark.parametrize("answer", [_silent, _silent_after_head, _endless])
def test_cancel_closes_the_request_at_once(server: FakeServer, model: ChatModel, answer: Any) -> None:
    server.chat(answer)
    cancelled = threading.Event()
    timer = threading.Timer(0.2, cancelled.set)
    timer.start()
    start = time.monotonic()
    with pytest.raises(CancelledError):
        model.generate(ask(), lambda block: None, cancelled)
    assert time.monotonic() - start < 10
    assert server.last.closed.wait(PATIENCE)


def test_an_error_in_emit_closes_the_request(server: FakeServer, model: ChatModel) -> None:
    server.chat(_endless)

    def emit(block: OutBlock) -> None:
        raise CancelledError("nobody listens")

    with pytest.raises(CancelledError, match="nobody"):
        model.generate(ask(), emit, threading.Event())
    assert server.last.closed.wait(PATIENCE)


def test_cancel_of_embeddings(server: FakeServer) -> None:
    serve_vectors(server)
    model = load_model(f"openai:{server.url}#m")
    server.answers["/v1/embeddings"] = _silent
    cancelled = threading.Event()
    threading.Timer(0.1, cancelled.set).start()
    with pytest.raises(CancelledError):
        model.embed(["a"], cancelled)  # type: ignore[attr-defined]
    assert server.last.closed.wait(PATIENCE)


def test_many_requests_leave_no_descriptors(server: FakeServer, model: ChatModel) -> None:
    server.chat(lambda x: x.events(HELLO))
    run(model, ask())
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(30):
        run(model, ask())
    eventually(lambda: len(os.listdir("/proc/self/fd")) <= before + 2, "the end of the connections")
