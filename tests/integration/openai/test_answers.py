"""`openai:` models: what is asked and what is answered, there and back over HTTP."""

from __future__ import annotations

import base64
import io
import json
import wave
from typing import Any

import msgspec
import numpy as np
import pytest

from tests.model_support import ask, run, text_of
from tests.openai_server import HELLO, Exchange, FakeServer, chunk, usage
from warmwire.bridge.answers import usage as bridge_usage
from warmwire.errors import BackendUnavailableError, InvalidRequestError
from warmwire.media.images import image_attachment
from warmwire.models.interface import Finish
from warmwire.models.openai.model import ChatModel
from warmwire.wire.generation.messages import (
    Attachment,
    Block,
    Message,
    Request,
    StopReason,
    Tool,
    Usage,
    image_block,
    text_block,
)

pytest.importorskip("httpx")


def test_tokens_that_a_server_still_knew_are_told(server: FakeServer, model: ChatModel) -> None:
    counted = {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 5}}
    server.chat(lambda x: x.events([*HELLO, {"choices": [], "usage": counted}]))
    told = run(model, ask())[1].usage
    assert told == Usage(9, 2, 5)
    assert msgspec.json.encode(told) == b'{"input_tokens":9,"output_tokens":2,"cached_tokens":5}'
    assert msgspec.json.encode(Usage(9, 2)) == b'{"input_tokens":9,"output_tokens":2}'
    assert bridge_usage(told)["prompt_tokens_details"] == {"cached_tokens": 5}
    assert "prompt_tokens_details" not in bridge_usage(Usage(9, 2))


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
