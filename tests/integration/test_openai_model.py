"""`openai:` models against a real HTTP server that behaves, misbehaves and dies."""

from __future__ import annotations

import base64
import io
import json
import os
import threading
import time
import wave
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.openai_server import Exchange, FakeServer, chunk, fake_server, usage
from tests.support import PATIENCE, eventually
from warmwire.models.base import Finish
from warmwire.models.docling import PageChatModel
from warmwire.models.images import image_attachment
from warmwire.models.load import check_model, load_model, load_page_handler
from warmwire.models.openai.model import ChatModel
from warmwire.wire.errors import (
    BackendUnavailableError,
    CancelledError,
    InputError,
    InvalidRequestError,
    QueueFullError,
    RequestError,
    ToolCallError,
    UsageError,
)
from warmwire.wire.messages import (
    Attachment,
    Block,
    Message,
    OutBlock,
    Request,
    StopReason,
    Tool,
    Usage,
    image_block,
    text_block,
)

pytest.importorskip("httpx")


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


def ask(text: str = "hi", **fields: Any) -> Request:
    return Request(messages=[Message("user", [text_block(text)])], **fields)


def run(model: Any, request: Request) -> tuple[list[OutBlock], Finish]:
    blocks: list[OutBlock] = []
    finish = model.generate(request, blocks.append, threading.Event())
    return blocks, finish


def text_of(blocks: list[OutBlock], kind: str = "text") -> str:
    return "".join(block.delta for block in blocks if block.type == kind)


HELLO = [
    chunk({"role": "assistant", "content": ""}),
    chunk({"content": "Hel"}),
    chunk({"content": "lo"}),
    chunk({}, "stop"),
]


# ---------------------------------------------------------------------- there and back


def test_streams_text_usage_and_reason(server: FakeServer, model: ChatModel) -> None:
    server.chat(lambda x: x.events([*HELLO, usage(7, 2)]))
    blocks, finish = run(model, ask(max_tokens=9, temperature=0.5, top_p=0.9, top_k=5))
    assert [block.delta for block in blocks] == ["Hel", "lo"]
    assert finish == Finish(StopReason.END_TURN, Usage(7, 2))
    assert server.last.body == {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 9,
        "temperature": 0.5,
        "top_p": 0.9,
        "top_k": 5,
    }


def test_a_whole_conversation_is_mapped(server: FakeServer, model: ChatModel) -> None:
    server.chat(lambda x: x.events(HELLO))
    image = image_attachment("i", np.arange(36, dtype=np.uint8).reshape(3, 4, 3))
    sound = Attachment("audio", "s", sample_rate=16000, data=np.array([0, 0.5, -2, np.nan], "<f4").tobytes())
    turns = [
        Message("system", [text_block("Be "), text_block("kind.")]),
        Message("user", [image_block("i"), text_block("What?"), Block("audio", attachment_id="s")]),
        Message("assistant", [text_block("Looking."), Block("tool_use", tool_call_id="c", name="f", input={"x": "é"})]),
        Message("user", [Block("tool_result", tool_call_id="c", content=[text_block("42")]), text_block("So?")]),
    ]
    tool = Tool("f", "does f", {"type": "object"})
    run(
        model, Request(messages=turns, attachments=[image, sound], tools=[tool], tool_choice="required", thinking=False)
    )
    body = server.last.body
    system, user, assistant, result, then = body["messages"]
    assert system == {"role": "system", "content": "Be kind."}
    picture, words, audio = user["content"]
    assert words == {"type": "text", "text": "What?"}
    from PIL import Image

    kind, _, data = picture["image_url"]["url"].partition(",")
    assert kind == "data:image/png;base64"
    seen = np.asarray(Image.open(io.BytesIO(base64.b64decode(data))))
    assert np.array_equal(seen.reshape(-1), np.frombuffer(image.data, np.uint8))
    assert audio["input_audio"]["format"] == "wav"
    with wave.open(io.BytesIO(base64.b64decode(audio["input_audio"]["data"]))) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (16000, 1, 2)
        assert np.frombuffer(file.readframes(9), "<i2").tolist() == [0, 16383, -32767, 0]
    (call,) = assistant["tool_calls"]
    assert assistant["content"] == "Looking."
    assert (call["id"], call["function"]["name"], json.loads(call["function"]["arguments"])) == ("c", "f", {"x": "é"})
    assert result == {"role": "tool", "tool_call_id": "c", "content": "42"}
    assert then == {"role": "user", "content": "So?"}
    assert body["tools"] == [
        {"type": "function", "function": {"name": "f", "description": "does f", "parameters": {"type": "object"}}}
    ]
    assert body["tool_choice"] == "required"
    assert body["chat_template_kwargs"] == {"enable_thinking": False}


def test_results_of_several_calls_with_a_picture(server: FakeServer, model: ChatModel) -> None:
    server.chat(lambda x: x.events(HELLO))
    image = image_attachment("i", np.zeros((2, 2, 3), np.uint8))
    uses = [Block("tool_use", tool_call_id=key, name="f") for key in "ab"]
    results = [
        Block("tool_result", tool_call_id="a", content=[text_block("seen: "), image_block("i"), text_block("this")]),
        Block("tool_result", tool_call_id="b"),
    ]
    turns = [Message("user", [text_block("q")]), Message("assistant", uses), Message("user", results)]
    run(model, Request(messages=turns, attachments=[image], tools=[Tool("f")]))
    _, assistant, first, second, rest = server.last.body["messages"]
    assert assistant["content"] is None
    assert [call["function"]["arguments"] for call in assistant["tool_calls"]] == ["{}", "{}"]
    assert first == {"role": "tool", "tool_call_id": "a", "content": "seen: this"}
    assert second == {"role": "tool", "tool_call_id": "b", "content": ""}
    assert [part["type"] for part in rest["content"]] == ["image_url"]


@pytest.mark.parametrize(
    ("message", "says"),
    [
        (Message("assistant", [image_block("i")]), "an assistant message takes no image block"),
        (Message("assistant", [Block("tool_use", name="f")]), "needs a tool_call_id"),
        (Message("user", [Block("tool_use", tool_call_id="a", name="f")]), "only an assistant"),
        (Message("user", [Block("tool_result", tool_call_id="zz")]), '"zz"'),
        (Message("user", [Block("hologram")]), "hologram"),
    ],
)
def test_messages_that_cannot_be(server: FakeServer, model: ChatModel, message: Message, says: str) -> None:
    image = image_attachment("i", np.zeros((2, 2, 3), np.uint8))
    with pytest.raises(InvalidRequestError, match=says):
        run(model, Request(messages=[message], attachments=[image]))


def test_response_format(server: FakeServer, model: ChatModel) -> None:
    server.chat(lambda x: x.events(HELLO))
    schema = {"type": "object", "properties": {}}
    run(model, ask(response_format={"type": "json_schema", "schema": schema}))
    sent = server.last.body["response_format"]
    assert (sent["type"], sent["json_schema"]["schema"]) == ("json_schema", schema)


def test_tool_calls_in_pieces(server: FakeServer, model: ChatModel) -> None:
    def piece(index: int, **fields: Any) -> dict[str, Any]:
        return chunk({"tool_calls": [{"index": index, **fields}]})

    server.chat(
        lambda x: x.events(
            [
                chunk({"content": "Calling."}),
                piece(0, id="a", function={"name": "f", "arguments": ""}),
                piece(0, function={"arguments": '{"x": '}),
                piece(0, function={"arguments": "1}"}),
                piece(1, id="b", function={"name": "g"}),
                chunk({}, "tool_calls"),
                usage(3, 4),
            ]
        )
    )
    blocks, finish = run(model, ask(tools=[Tool("f"), Tool("g")]))
    assert [(b.type, b.tool_call_id, b.name, b.input) for b in blocks[1:]] == [
        ("tool_use", "a", "f", {"x": 1}),
        ("tool_use", "b", "g", {}),
    ]
    assert (finish.stop_reason, finish.usage) == (StopReason.TOOL_USE, Usage(3, 4))


def test_tool_calls_whole_without_index_and_with_a_wrong_reason(server: FakeServer, model: ChatModel) -> None:
    calls = [{"function": {"name": "f", "arguments": {"x": 1}}, "id": "a"}, {"function": {"name": "f"}, "id": "b"}]
    server.chat(lambda x: x.events([chunk({"tool_calls": calls}), chunk({}, "stop")]))
    blocks, finish = run(model, ask(tools=[Tool("f")]))
    assert [(b.tool_call_id, b.input) for b in blocks] == [("a", {"x": 1}), ("b", {})]
    assert finish.stop_reason == StopReason.TOOL_USE


def call(arguments: str, name: str | None = "f", **fields: Any) -> dict[str, Any]:
    return fields | {"function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize(
    "calls",
    [
        [call('{"x": 1}'), call('{"x": 2}')],
        [call('{"x": 1}', index=0), call('{"x": 2}', index=1)],
        [call('{"x":', index=0, id="a"), call("1}", None, id="a"), call('{"x": 2}', index=0, id="b")],
        [call('{"x":'), call(" 1}"), call('{"x": 2}')],
        [call('{"x":', index=0, id="a"), call("1}", None), call('{"x": 2}', index=1, id="b")],
    ],
)
def test_two_calls_however_they_are_told_apart(server: FakeServer, model: ChatModel, calls: list[Any]) -> None:
    server.chat(lambda x: x.events([*(chunk({"tool_calls": [call]}) for call in calls), chunk({}, "tool_calls")]))
    blocks, _ = run(model, ask(tools=[Tool("f")]))
    assert [(b.name, b.input) for b in blocks] == [("f", {"x": 1}), ("f", {"x": 2})]
    assert len({b.tool_call_id for b in blocks}) == 2


def test_a_reason_that_is_a_failure(server: FakeServer, model: ChatModel) -> None:
    server.chat(lambda x: x.events([chunk({"content": "a"}), chunk({}, "abort")]))
    with pytest.raises(BackendUnavailableError, match="abort"):
        run(model, ask())


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
def test_thinking(server: FakeServer, model: ChatModel, key: str) -> None:
    server.chat(lambda x: x.events([chunk({key: "Hm"}), chunk({"content": "Yes"}), chunk({}, "stop")]))
    blocks, _ = run(model, ask())
    assert (text_of(blocks, "thinking"), text_of(blocks)) == ("Hm", "Yes")


def test_length_is_max_tokens_and_half_a_call_is_dropped(server: FakeServer, model: ChatModel) -> None:
    half = {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": '{"x'}}]}
    server.chat(lambda x: x.events([chunk({"content": "a"}), chunk(half), chunk({}, "length")]))
    blocks, finish = run(model, ask(tools=[Tool("f")]))
    assert (text_of(blocks), len(blocks), finish.stop_reason) == ("a", 1, StopReason.MAX_TOKENS)


def test_deltas_are_counted_where_the_server_counts_nothing(server: FakeServer, model: ChatModel) -> None:
    server.chat(lambda x: x.events(HELLO))
    assert run(model, ask())[1].usage == Usage(0, 2)


def test_an_answer_that_is_not_streamed_is_one_delta(server: FakeServer, model: ChatModel) -> None:
    whole = {
        "choices": [{"message": {"content": "all at once"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1},
    }
    server.chat(lambda x: x.json(whole))
    blocks, finish = run(model, ask())
    assert ([block.delta for block in blocks], finish.stop_reason) == (["all at once"], StopReason.END_TURN)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 1000])
def test_the_stream_may_be_cut_at_every_byte(server: FakeServer, model: ChatModel, size: int) -> None:
    text = "é世😀!"
    events = [chunk({"content": char}) for char in text] + [chunk({}, "stop")]
    data = b": ping\r\n\r\n" + b"".join(
        b"data:" + json.dumps(event, ensure_ascii=False).encode() + b"\r\n\r\n" for event in events
    )

    def answer(exchange: Exchange) -> None:
        exchange.begin()
        for i in range(0, len(data), size):
            exchange.write(data[i : i + size])

    server.chat(answer)
    assert text_of(run(model, ask())[0]) == text


def test_surrogates_cut_between_chunks_are_joined(server: FakeServer, model: ChatModel) -> None:
    server.chat(lambda x: x.events([chunk({"content": "a\ud83d"}), chunk({"content": "\ude00b"}), chunk({}, "stop")]))
    assert text_of(run(model, ask())[0]) == "a😀b"


# ---------------------------------------------------------------------- what goes wrong


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


def _raw_stream(data: bytes) -> Any:
    def answer(exchange: Exchange) -> None:
        exchange.begin()
        exchange.write(data)

    return answer


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
        (_raw_stream(b"data: {not json}\n\n"), BackendUnavailableError, "no chat completion"),
        (_raw_stream(b"data: [1, 2]\n\n"), BackendUnavailableError, "no chat completion"),
        (_raw_stream(b'data: {"choices": "x"}\n\n'), BackendUnavailableError, "no chat completion"),
        (_raw_stream(b'data: {"choices": [{"delta": {"content": 5}}]}\n\n'), BackendUnavailableError, "no chat"),
        (_raw_stream(b"data: " + b"[" * 100_000 + b"\n\n"), BackendUnavailableError, "no chat"),
        (_raw_stream(b"\xff\xfe\x00"), BackendUnavailableError, "before the answer was complete"),
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
    _serve_vectors(server)
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


# ---------------------------------------------------------------------- embeddings and rerank


def _serve_vectors(server: FakeServer, width: int = 3) -> None:
    def answer(exchange: Exchange) -> None:
        texts = exchange.body["input"]
        rows = [{"index": i, "embedding": [float(len(text)), 2.0, 0.0][:width]} for i, text in enumerate(texts)]
        exchange.json({"data": rows[::-1], "usage": {"prompt_tokens": len(texts), "total_tokens": len(texts)}})

    server.answers["/v1/embeddings"] = answer


def test_embeddings(server: FakeServer) -> None:
    _serve_vectors(server)
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
    _serve_vectors(server)
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


# ---------------------------------------------------------------------- names, keys, loading


@pytest.mark.parametrize("variable", ["WARMWIRE_API_KEY", "OPENAI_API_KEY"])
def test_the_key_comes_from_the_environment(server: FakeServer, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, "sk-secret-1")
    model = load_model(f"openai:{server.url}#m")
    server.chat(lambda x: x.events(HELLO))
    run(model, ask())
    assert server.last.headers["Authorization"] == "Bearer sk-secret-1"
    server.chat(lambda x: x.json({"error": {"message": "no such key: sk-secret-1"}}, 401))
    with pytest.raises(BackendUnavailableError) as caught:
        run(model, ask())
    assert "secret" not in str(caught.value)


KEY = "sk-sec/ret-12"
WRITTEN = [KEY, KEY.replace("/", "\\/")]


@pytest.fixture
def keyed(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> ChatModel:
    monkeypatch.setenv("WARMWIRE_API_KEY", KEY)
    _serve_vectors(server)
    return load_model(f"openai:{server.url}#m")  # type: ignore[return-value]


@pytest.mark.parametrize("key", WRITTEN)
@pytest.mark.parametrize(
    "answer",
    [
        lambda x, key: x.raw(b'{"error": {"message": "no key %b"}}' % key, 401, "application/json"),
        lambda x, key: _raw_stream(b'data: {"error": {"message": "no key %b"}}\n\n' % key)(x),
        lambda x, key: _raw_stream(b"data: no key %b\n\n" % key)(x),
        lambda x, key: x.raw(b"no key %b" % key, 200, "application/json"),
        lambda x, key: _raw_stream(b"data: " + b"." * 112 + b"<%b\n\n" % key)(x),  # cut by what is quoted
    ],
    ids=["status", "event", "garbage", "body", "edge"],
)
def test_the_key_is_cut_out_of_every_complaint(server: FakeServer, keyed: ChatModel, answer: Any, key: str) -> None:
    server.chat(lambda x: answer(x, key.encode()))
    with pytest.raises(BackendUnavailableError) as caught:
        run(keyed, ask())
    assert "[key]" in str(caught.value)
    assert "sk-" not in str(caught.value)


@pytest.mark.parametrize("key", WRITTEN)
def test_the_key_is_cut_out_of_vectors_and_names(server: FakeServer, keyed: ChatModel, key: str) -> None:
    server.answers["/v1/embeddings"] = lambda x: x.raw(b"no key " + key.encode(), 200, "application/json")
    with pytest.raises(BackendUnavailableError, match=r"\[key\]") as caught:
        keyed.embed(["a"], threading.Event())
    assert "sk-" not in str(caught.value)
    server.answers["/v1/models"] = lambda x: x.raw(b'{"data": [{"id": "x %b"}]}' % key.encode())
    with pytest.raises(InputError, match=r"it has: x \[key\]"):
        load_model(f"openai:{server.url}#m")


def test_a_placeholder_for_a_key_leaves_answers_alone(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARMWIRE_API_KEY", "lo")
    model = load_model(f"openai:{server.url}#m")
    server.chat(lambda x: x.events(HELLO))
    assert text_of(run(model, ask())[0]) == "Hello"
    server.chat(lambda x: x.json({"error": {"message": "no key 'lo'"}}, 401))
    with pytest.raises(BackendUnavailableError, match=r"no key '\[key\]'"):
        run(model, ask())


def test_without_a_key_none_is_sent(server: FakeServer, model: ChatModel) -> None:
    server.chat(lambda x: x.events(HELLO))
    run(model, ask())
    assert "Authorization" not in server.last.headers


@pytest.mark.parametrize(
    "name",
    ["openai:", "openai:localhost:8000#m", "openai:ftp://x#m", "openai:http://#m", "openai:http://key@host#m",
     "openai:http://host?api_key=1#m", "openai:http://host:port#m"],
)  # fmt: skip
def test_names_that_are_no_server(name: str) -> None:
    with pytest.raises(UsageError):
        check_model(name)


def test_a_path_in_the_url_is_kept(server: FakeServer) -> None:
    server.answers["/deep/api/models"] = server.answers["/v1/models"]
    server.answers["/deep/api/chat/completions"] = lambda x: x.events(HELLO)
    model = load_model(f"openai:{server.url}/deep/api/#m")
    assert text_of(run(model, ask())[0]) == "Hello"


def test_the_only_model_needs_no_name(server: FakeServer) -> None:
    assert load_model(f"openai:{server.url}").name == "m"
    server.answers["/v1/models"] = lambda x: x.json({"data": [{"id": "m"}, {"id": "n"}]})
    with pytest.raises(InputError, match="m, n"):
        load_model(f"openai:{server.url}")
    with pytest.raises(InputError, match="no model 'o'"):
        load_model(f"openai:{server.url}#o")


def test_a_server_that_lists_nothing_is_believed(server: FakeServer) -> None:
    del server.answers["/v1/models"]
    assert load_model(f"openai:{server.url}#x").name == "x"


def test_loading_from_nowhere_says_so() -> None:
    with pytest.raises(InputError, match="nothing answers"):
        load_model("openai:http://127.0.0.1:9#m")


# ---------------------------------------------------------------------- pages


def _docling(server: FakeServer, pieces: list[str]) -> str:
    server.answers["/v1/models"] = lambda x: x.json({"data": [{"id": "ibm-granite/granite-docling-258M"}]})
    server.chat(lambda x: x.events([*(chunk({"content": piece}) for piece in pieces), chunk({}, "stop"), usage(9, 5)]))
    return f"openai:{server.url}#ibm-granite/granite-docling-258M"


def read_page(handler: Any) -> str:
    parts: list[str] = []
    handler.generate(np.zeros((8, 8, 3), np.uint8), "", None, parts.append, threading.Event())
    return "".join(parts)


def test_docling_over_http(server: FakeServer) -> None:
    name = _docling(server, ["<doc", "tag><text>", "Words</text></doct", "ag><|end_of_", "text|>"])
    assert read_page(load_page_handler(name)) == "<doctag><text>Words</text></doctag>"
    body = server.last.body
    assert [part["type"] for part in body["messages"][0]["content"]] == ["image_url", "text"]
    assert body["messages"][0]["content"][1]["text"] == "Convert this page to docling."
    assert (body["temperature"], body["max_tokens"], body["skip_special_tokens"]) == (0, 8192, False)
    model = load_model(name)
    assert isinstance(model, PageChatModel)
    content = [image_block("p"), text_block("Convert table to OTSL.")]
    request = Request(
        messages=[Message("user", content)], attachments=[image_attachment("p", np.zeros((8, 8, 3), np.uint8))]
    )
    finish = run(model, request)[1]
    assert finish.usage == Usage(9, 5)
    assert server.last.body["messages"][0]["content"][1]["text"] == "Convert table to OTSL."


def test_docling_is_recognised_as_the_only_model(server: FakeServer) -> None:
    name = _docling(server, ["<doctag><text>Words</text></doctag>"])
    assert isinstance(load_model(name.partition("#")[0]), PageChatModel)
    assert server.last.body["skip_special_tokens"] is False


@pytest.mark.parametrize("pieces", [["Words run ", "together"], ["<loc_1><loc_2>", "Words"], []])
def test_docling_without_its_tags_is_refused_at_the_start(server: FakeServer, pieces: list[str]) -> None:
    with pytest.raises(InputError, match="special tokens"):
        load_page_handler(_docling(server, pieces))


def test_docling_that_goes_on_after_its_end_is_stopped(server: FakeServer) -> None:
    name = _docling(server, ["<doctag><text>Words</text></doctag>"])
    handler = load_page_handler(name)

    def answer(exchange: Exchange) -> None:
        exchange.begin()
        exchange.write(b"data: " + json.dumps(chunk({"content": "<doctag></doctag>"})).encode() + b"\n\n")
        _endless_after(exchange)

    def _endless_after(exchange: Exchange) -> None:
        while True:
            exchange.write(b"data: " + json.dumps(chunk({"content": "more "})).encode() + b"\n\n")

    server.chat(answer)
    assert read_page(handler) == "<doctag></doctag>"
    assert server.last.closed.wait(PATIENCE)
