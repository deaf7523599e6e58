"""The bridge without HTTP: bodies to requests of the wire, media, answers, addresses, errors."""

from __future__ import annotations

import json
import socket
from typing import Any

import msgspec
import pytest

from tests.bridge_support import png, whole
from tests.support import random_image
from warmwire import errors as wire_errors
from warmwire.bridge import errors
from warmwire.bridge.answers import ChatShape, TextShape
from warmwire.bridge.bodies import ChatBody, TextBody, read
from warmwire.bridge.convert import chat_request, text_request
from warmwire.bridge.guard import is_address, is_local
from warmwire.bridge.serve import bind, key_from
from warmwire.client import ListenError, UsageError
from warmwire.errors import InvalidRequestError, WarmwireError
from warmwire.models.interface import Capabilities
from warmwire.models.openai.messages import chat_body
from warmwire.wire.generation.messages import OutBlock, Request, Usage
from warmwire.wire.generation.response import Answer
from warmwire.wire.generation.validate import validate

Image = pytest.importorskip("PIL.Image")

TOOLS = [
    {"type": "function", "function": {"name": "f", "description": "F.", "parameters": {"type": "object"}}},
    {"type": "function", "function": {"name": "g"}},
]


def convert(**body: Any) -> Request:
    """A body as a request that any host takes."""
    body.setdefault("messages", [{"role": "user", "content": "hi"}])
    request = chat_request(read(json.dumps(body).encode(), ChatBody))
    validate(request)
    return request


def refuse(**body: Any) -> str:
    with pytest.raises(InvalidRequestError) as caught:
        convert(**body)
    return str(caught.value)


# ---------------------------------------------------------------------- messages


def test_a_whole_conversation() -> None:
    request = convert(
        messages=[
            {"role": "system", "content": "Be brief."},
            {"role": "developer", "content": [{"type": "text", "text": "And kind."}]},
            {"role": "user", "content": "add", "name": "ignored"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x": "ö"}'}},
                    {"id": "b", "type": "function", "function": {"name": "g", "arguments": ""}},
                ],
            },
            {"role": "tool", "tool_call_id": "a", "content": "1"},
            {"role": "tool", "tool_call_id": "b", "content": [{"type": "text", "text": "2"}]},
            {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]},
            {"role": "tool", "tool_call_id": "a", "content": "3"},
            {"role": "user", "content": ""},
        ]
    )
    assert msgspec.to_builtins(request.messages) == [
        {"role": "system", "content": [{"type": "text", "text": "Be brief."}]},
        {"role": "system", "content": [{"type": "text", "text": "And kind."}]},
        {"role": "user", "content": [{"type": "text", "text": "add"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "tool_call_id": "a", "name": "f", "input": {"x": "ö"}},
                {"type": "tool_use", "tool_call_id": "b", "name": "g", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_call_id": "a", "content": [{"type": "text", "text": "1"}]},
                {"type": "tool_result", "tool_call_id": "b", "content": [{"type": "text", "text": "2"}]},
            ],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "no"}]},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_call_id": "a", "content": [{"type": "text", "text": "3"}]}],
        },
        {"role": "user", "content": [{"type": "text", "text": ""}]},
    ]


def test_there_and_back_again() -> None:
    """What the `openai:` model makes of a request, this makes the same request of."""
    first = convert(
        messages=[
            {"role": "system", "content": "s"},
            {"role": "user", "content": "u"},
            {
                "role": "assistant",
                "content": "a",
                "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": '{"x":[1,{"y":null}]}'}}],
            },
            {"role": "tool", "tool_call_id": "c", "content": "r"},
            {"role": "user", "content": [{"type": "image_url", "image_url": png(random_image(2, 3))}]},
        ],
        tools=TOOLS,
        tool_choice="required",
        temperature=0.5,
        top_p=0.9,
        top_k=40,
        max_tokens=7,
        chat_template_kwargs={"enable_thinking": False},
    )
    able = Capabilities(vision=True, tools=True, thinking=True)
    second = convert(**chat_body(first, able))
    assert second.attachments[0].data == first.attachments[0].data
    assert msgspec.to_builtins(strip(second)) == msgspec.to_builtins(strip(first))


def strip(request: Request) -> Request:
    return msgspec.structs.replace(request, attachments=[])


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ({"role": "function", "content": "x"}, "messages[0].role"),
        ({"role": "user", "content": []}, "messages[0].content"),
        ({"role": "user", "content": [{"type": "video_url"}]}, "messages[0].content[0]: 'video_url'"),
        ({"role": "user", "content": [{"type": "text"}]}, "lacks its content"),
        ({"role": "tool", "content": "x"}, "messages[0].tool_call_id"),
        (
            {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{"}}]},
            "messages[0].tool_calls[0].function.arguments",
        ),
        (
            {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "[" * 10_000}}]},
            "messages[0].tool_calls[0].function.arguments",
        ),
    ],
)
def test_messages_that_cannot_be_sent(message: dict[str, Any], said: str) -> None:
    assert said in refuse(messages=[message])


# ---------------------------------------------------------------------- everything else of a body


def test_parameters() -> None:
    request = convert(max_tokens=5, max_completion_tokens=6, temperature=1, top_p=0.5, top_k=3, seed=1, user="x", n=1)
    assert (request.max_tokens, request.temperature, request.top_p, request.top_k) == (6, 1, 0.5, 3)
    assert convert(max_tokens=5).max_tokens == 5
    nothing = convert(max_tokens=None, temperature=None, stop=None, tools=None, stream=None, response_format=None)
    assert msgspec.to_builtins(nothing) == msgspec.to_builtins(convert())


def test_tools() -> None:
    request = convert(tools=TOOLS, tool_choice="none", parallel_tool_calls=True)
    assert msgspec.to_builtins(request.tools) == [
        {"name": "f", "description": "F.", "input_schema": {"type": "object"}},
        {"name": "g", "description": "", "input_schema": {"type": "object", "properties": {}}},
    ]
    assert request.tool_choice == "none"


def test_the_choice_of_one_function_offers_no_other() -> None:
    request = convert(tools=TOOLS, tool_choice={"type": "function", "function": {"name": "g"}})
    assert ([tool.name for tool in request.tools], request.tool_choice) == (["g"], "required")
    assert "no tool is named 'h'" in refuse(tools=TOOLS, tool_choice={"type": "function", "function": {"name": "h"}})


def test_auto_does_not_exclude_a_schema() -> None:
    request = convert(tools=TOOLS, tool_choice="auto", response_format={"type": "json_object"})
    assert request.tool_choice is None
    assert request.response_format == {"type": "json_schema", "schema": {"type": "object"}}
    assert "cannot be combined" in refuse(tools=TOOLS, tool_choice="required", response_format={"type": "json_object"})


def test_response_formats() -> None:
    schema = {"type": "object", "properties": {"ö": {"$ref": "#/x"}}}
    wanted = {"type": "json_schema", "json_schema": {"name": "n", "strict": True, "schema": schema}}
    assert convert(response_format=wanted).response_format == {"type": "json_schema", "schema": schema}
    assert convert(response_format={"type": "text"}).response_format is None


@pytest.mark.parametrize(
    ("more", "thinking"),
    [
        ({}, None),
        ({"reasoning_effort": "none"}, False),
        ({"reasoning_effort": "low"}, True),
        ({"chat_template_kwargs": {"enable_thinking": True, "other": 1}}, True),
        ({"chat_template_kwargs": {"enable_thinking": False}, "reasoning_effort": "high"}, False),
    ],
)
def test_thinking(more: dict[str, Any], thinking: bool | None) -> None:
    assert convert(**more).thinking is thinking


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"n": 2}, "n:"),
        ({"n": 0}, "n:"),
        ({"logprobs": True}, "logprobs:"),
        ({"functions": [{"name": "f"}]}, "functions:"),
        ({"modalities": ["text", "audio"]}, "modalities:"),
        ({"tools": [{"type": "web_search"}]}, "tools[0]: a tool is of type function, not 'web_search'"),
        ({"tools": TOOLS + TOOLS[:1]}, "repeat the name 'f'"),
        ({"tool_choice": "sometimes", "tools": TOOLS}, "'sometimes'"),
        ({"response_format": {"type": "xml"}}, "response_format:"),
        ({"response_format": {"type": "json_schema"}}, "response_format:"),
        ({"temperature": "hot"}, "$.temperature"),
        ({"top_k": -1}, "$.top_k"),
        ({"stop": [1]}, "$.stop[0]"),
        ({"messages": None}, "$.messages"),
    ],
)
def test_what_cannot_be_had_is_refused(more: dict[str, Any], said: str) -> None:
    assert said in refuse(**more)


def test_plain_prompts() -> None:
    def prompt(**body: Any) -> Request:
        return text_request(read(json.dumps(body).encode(), TextBody))

    assert prompt(prompt="x", max_tokens=3) == prompt(prompt=["x"], max_tokens=3, echo=False, best_of=1)
    for more in ({"suffix": "s"}, {"echo": True}, {"best_of": 2}, {"logprobs": 0}, {"prompt": ["a", "b"]}):
        with pytest.raises(InvalidRequestError, match=f"^{next(iter(more))}:"):
            prompt(**{"prompt": "x", **more})
    for tokens in ([1, 2], [[1, 2]], []):
        with pytest.raises(InvalidRequestError, match=r"^prompt:"):
            prompt(prompt=tokens)


# ---------------------------------------------------------------------- answers


def test_a_call_without_arguments_or_id() -> None:
    shape = ChatShape(read(b'{"messages":[]}', ChatBody))
    answer = Answer()
    answer.usage = Usage(1, 2)
    chunks = [*shape.take(OutBlock("tool_use", name="f")), *shape.take(OutBlock("video", "?")), *shape.end(answer)]
    folded = whole(shape, chunks)
    (call,) = folded["choices"][0]["message"]["tool_calls"]
    assert call == {"id": "call-1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    assert folded["usage"] == {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}


def test_an_answer_of_nothing() -> None:
    shape = ChatShape(read(b'{"messages":[]}', ChatBody))
    folded = whole(shape, shape.end(Answer()))
    assert folded["choices"][0]["message"] == {"role": "assistant", "content": "", "refusal": None}
    assert folded["model"] == "warmwire"


def test_an_answer_in_one_piece_has_a_bound() -> None:
    shape = TextShape(read(b'{"prompt":""}', TextBody), 100)
    whole(shape, shape.take(OutBlock("text", "x" * 100)))
    with pytest.raises(InvalidRequestError, match="longer than the 100 characters of one piece"):
        whole(shape, shape.take(OutBlock("text", "x")))


# ---------------------------------------------------------------------- errors


def test_every_error_has_a_status_and_a_body() -> None:
    kinds = [k for k in vars(wire_errors).values() if isinstance(k, type) and issubclass(k, WarmwireError)]
    assert len(kinds) > 15
    for kind in kinds:
        status = errors.status_of(kind("x"))
        body = errors.error_body(kind("x"))["error"]
        assert 400 <= status <= 503
        assert (body["type"] == "server_error") == (status >= 500)
        assert set(body) == {"message", "type", "param", "code"}


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("invalid_request", 400),
        ("attachment_unsupported", 400),
        ("embed_unsupported", 400),
        ("rerank_unsupported", 400),
        ("frame_too_large", 413),
        ("queue_full", 429),
        ("internal", 500),
        ("tool_call_malformed", 500),
        ("of_the_future", 500),
        ("wire_version_unsupported", 502),
        ("backend_unavailable", 503),
    ],
)
def test_the_status_of_each_code(code: str, status: int) -> None:
    assert errors.status_of(wire_errors.error_for(code, "x")) == status


# ---------------------------------------------------------------------- addresses and keys


@pytest.mark.parametrize("listen", ["", "8080", ":8080", "localhost", "127.0.0.1:", "127.0.0.1:99999", "::1:80", "a:b"])
def test_addresses_that_are_none(listen: str) -> None:
    with pytest.raises(UsageError, match="not HOST:PORT"):
        bind(listen)


@pytest.mark.parametrize("listen", ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"])
def test_without_a_key_only_loopback(listen: str) -> None:
    with pytest.raises(UsageError, match="--api-key-env"):
        bind(listen)


def test_with_a_key_any_address() -> None:
    with bind("0.0.0.0:0", open_to_all=True) as sock:
        assert sock.getsockname()[0] == "0.0.0.0"
    with pytest.raises(ListenError, match="192"):
        bind("192.0.2.1:0", open_to_all=True)


def test_a_port_that_is_taken() -> None:
    with bind("localhost:0") as sock:
        host, port = sock.getsockname()[:2]
        with pytest.raises(ListenError, match="choose another port"):
            bind(f"[{host}]:{port}" if sock.family == socket.AF_INET6 else f"{host}:{port}")
    with pytest.raises(ListenError, match="no address of this machine"):
        bind("no such name:80")


def test_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    assert key_from(None) is None
    monkeypatch.setenv("A_KEY", " s3cret\n")
    assert key_from("A_KEY") == "s3cret"
    for value in ("", "  "):
        monkeypatch.setenv("A_KEY", value)
        with pytest.raises(UsageError, match="A_KEY holds no API key"):
            key_from("A_KEY")


def test_names_of_this_machine() -> None:
    assert all(map(is_local, ["localhost", "a.localhost", "127.0.0.1", "127.9.9.9", "::1"]))
    assert not any(map(is_local, [None, "", "10.0.0.1", "localhost.example", "example"]))
    assert all(map(is_address, ["", "10.0.0.1", "10.0.0.1:80", "[::1]:80", "localhost:1", "[fe80::1]"]))
    assert not any(map(is_address, ["example", "example:80", "[", "10.0.0.1.example", "user@example"]))
