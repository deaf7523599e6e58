"""The bridge over HTTP in front of a host: what clients of the OpenAI format see, and what the host is told."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from tests.bridge_support import BridgeThread, ask, events, line_server, png, receive, say
from tests.support import PATIENCE, Gate, HostThread, Script, json_frame, random_image
from warmwire.bridge.app import make_app
from warmwire.bridge.output import Bounds
from warmwire.errors import (
    AttachmentError,
    BackendUnavailableError,
    InternalError,
    InvalidRequestError,
    ToolCallError,
)
from warmwire.models.echo import EchoModel
from warmwire.models.interface import Finish
from warmwire.transport.paths import Surface, surface_addr
from warmwire.wire.generation.messages import OutBlock, Request, StopReason, Usage

Behind = Callable[..., HostThread]

ODD = "héllo 世界 😀 a\u2028b\u2029c\x85d\x0be \x1cf \u0000 👩‍👩‍👧 العربية"
"""Characters of every length, and the ones that some call line ends."""


# ---------------------------------------------------------------------- one answer, two modes


def test_both_modes_give_the_same_answer(bridge: BridgeThread, behind: Behind) -> None:
    behind(EchoModel())
    client = bridge.openai()
    messages: Any = [{"role": "user", "content": ODD}]
    whole = client.chat.completions.create(model="m", messages=messages)
    chunks = list(
        client.chat.completions.create(
            model="m", messages=messages, stream=True, stream_options={"include_usage": True}
        )
    )
    assert whole.choices[0].message.content == ODD
    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == ODD
    assert len(chunks) > 5
    assert whole.usage is not None
    assert whole.usage.completion_tokens == whole.usage.prompt_tokens > 3
    assert chunks[-1].usage == whole.usage
    assert [c.choices[0].finish_reason for c in chunks[-2:-1]] == [whole.choices[0].finish_reason] == ["stop"]
    assert (whole.object, chunks[0].object, whole.model) == ("chat.completion", "chat.completion.chunk", "m")
    assert chunks[0].choices[0].delta.role == "assistant"
    assert len({c.id for c in chunks}) == 1


def test_events_survive_clients_that_split_text_at_any_line_end(bridge: BridgeThread, behind: Behind) -> None:
    behind(say(*ODD))
    response = bridge.post("/chat/completions", ask("x", stream=True))
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    lines = [line for line in response.text.splitlines() if line]
    assert lines.pop() == "data: [DONE]"
    deltas = [json.loads(line.removeprefix("data: "))["choices"][0]["delta"] for line in lines]
    assert "".join(delta.get("content", "") for delta in deltas) == ODD


def test_usage_is_streamed_only_when_asked_for(bridge: BridgeThread, behind: Behind) -> None:
    behind(say("a", usage=Usage(3, 4)))
    *chunks, done = events(bridge.post("/chat/completions", ask("x", stream=True)))
    assert done == "[DONE]"
    assert all("usage" not in chunk and len(chunk["choices"]) == 1 for chunk in chunks)


def test_plain_completions(bridge: BridgeThread, behind: Behind) -> None:
    behind(EchoModel())
    client = bridge.openai()
    whole = client.completions.create(model="m", prompt="a b c d", max_tokens=3)
    assert (whole.choices[0].text, whole.choices[0].finish_reason) == ("a b c", "length")
    assert whole.usage is not None
    assert (whole.usage.prompt_tokens, whole.usage.completion_tokens, whole.usage.total_tokens) == (4, 3, 7)
    chunks = client.completions.create(model="m", prompt=["a b c d"], stream=True)
    assert "".join(chunk.choices[0].text for chunk in chunks) == "a b c d"


@pytest.mark.parametrize(
    ("reason", "finish"),
    [("end_turn", "stop"), ("max_tokens", "length"), ("tool_use", "tool_calls"), ("stop_sequence", "stop")],
)
def test_reasons_to_end(bridge: BridgeThread, behind: Behind, reason: str, finish: str) -> None:
    behind(say("x", stop_reason=StopReason(reason)))
    assert bridge.post("/chat/completions", ask("x")).json()["choices"][0]["finish_reason"] == finish


@pytest.mark.parametrize("reason", ["cancelled", "error"])
def test_an_answer_that_ended_badly_is_no_success(bridge: BridgeThread, behind: Behind, reason: str) -> None:
    behind(say("half", stop_reason=StopReason(reason)))
    response = bridge.post("/chat/completions", ask("x"))
    assert response.status_code == 500
    assert response.json()["error"]["partial"] == "half"
    *_, last = events(bridge.post("/chat/completions", ask("x", stream=True)))
    assert last["error"]["code"] == "internal"


def test_thinking_is_told_apart(bridge: BridgeThread, behind: Behind) -> None:
    def play(request: Request, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> None:
        emit(OutBlock("thinking", "hm "))
        emit(OutBlock("thinking", "well"))
        emit(OutBlock("text", "yes"))

    behind(Script(play))
    message = bridge.post("/chat/completions", ask("x")).json()["choices"][0]["message"]
    assert (message["reasoning_content"], message["content"]) == ("hm well", "yes")
    assert bridge.openai().completions.create(model="m", prompt="x").choices[0].text == "yes"


def test_tool_calls_come_whole_and_in_order(bridge: BridgeThread, behind: Behind) -> None:
    def play(request: Request, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> Finish:
        emit(OutBlock("tool_use", tool_call_id="a", name="f", input={"x": "ö"}))
        emit(OutBlock("tool_use", tool_call_id="b", name="g", input={}))
        return Finish(StopReason.TOOL_USE)

    behind(Script(play))
    tools: Any = [{"type": "function", "function": {"name": name}} for name in "fg"]
    client = bridge.openai()
    whole = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "x"}], tools=tools)
    assert whole.choices[0].finish_reason == "tool_calls"
    assert whole.choices[0].message.content is None
    calls = whole.choices[0].message.tool_calls or []
    assert [(c.id, c.function.name, json.loads(c.function.arguments)) for c in calls if c.type == "function"] == [
        ("a", "f", {"x": "ö"}),
        ("b", "g", {}),
    ]
    with client.chat.completions.stream(model="m", messages=[{"role": "user", "content": "x"}], tools=tools) as stream:
        final = stream.get_final_completion()
    assert [call.model_dump()["function"]["name"] for call in final.choices[0].message.tool_calls or []] == ["f", "g"]


def test_a_required_call_that_did_not_come_is_said(bridge: BridgeThread, behind: Behind) -> None:
    behind(say("no"))
    body = ask("x", tools=[{"type": "function", "function": {"name": "f"}}], tool_choice="required")
    assert bridge.post("/chat/completions", body).json()["tool_choice_unsatisfied"] is True


@pytest.mark.parametrize("stream", [False, True])
def test_a_stop_string_ends_the_answer_and_the_work(bridge: BridgeThread, behind: Behind, stream: bool) -> None:
    ended = threading.Event()

    def play(request: Request, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> None:
        for text in ("one tw", "o th", "r", "ee four"):
            emit(OutBlock("text", text))
        assert cancelled.wait(PATIENCE)
        ended.set()

    behind(Script(play))
    response = bridge.post("/chat/completions", ask("x", stop=["\n", " three"], stream=stream))
    if stream:
        *chunks, done = events(response)
        assert done == "[DONE]"
        text = "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks)
        reason = chunks[-1]["choices"][0]["finish_reason"]
    else:
        whole = response.json()
        text, reason = whole["choices"][0]["message"]["content"], whole["choices"][0]["finish_reason"]
        assert "usage" not in whole
    assert (text, reason) == ("one two", "stop")
    assert ended.wait(PATIENCE)


def test_the_beginning_of_a_stop_string_is_not_lost(bridge: BridgeThread, behind: Behind) -> None:
    behind(say("go on", " th"))
    assert bridge.post("/chat/completions", ask("x", stop=" three")).json()["choices"][0]["message"]["content"] == (
        "go on th"
    )


def test_images_reach_the_host(bridge: BridgeThread, behind: Behind) -> None:
    behind(EchoModel())
    content: Any = [
        {"type": "image_url", "image_url": {"url": png(random_image(20, 30))}},
        {"type": "text", "text": "what is it"},
        {"type": "image_url", "image_url": {"url": png(random_image(5, 4))}},
    ]
    answer = bridge.openai().chat.completions.create(model="m", messages=[{"role": "user", "content": content}])
    assert answer.choices[0].message.content == "[image image-1 30x20][image image-2 4x5]what is it"


def test_fifty_clients_at_once(bridge: BridgeThread, behind: Behind) -> None:
    behind(EchoModel(), workers=2, queue_depth=100)

    async def main() -> list[str | None]:
        async with bridge.async_openai() as client:

            async def one(n: int) -> str | None:
                messages: Any = [{"role": "user", "content": f"{n} 😀"}]
                if n % 2:
                    whole = await client.chat.completions.create(model="m", messages=messages)
                    return whole.choices[0].message.content
                stream = await client.chat.completions.create(model="m", messages=messages, stream=True)
                return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

            return await asyncio.gather(*(one(n) for n in range(50)))

    assert asyncio.run(main()) == [f"{n} 😀" for n in range(50)]


# ---------------------------------------------------------------------- failures


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (InvalidRequestError("no"), 400, "invalid_request"),
        (AttachmentError("no"), 400, "attachment_unsupported"),
        (BackendUnavailableError("no"), 503, "backend_unavailable"),
        (ToolCallError("no"), 500, "tool_call_malformed"),
        (InternalError("no"), 500, "internal"),
    ],
    ids=lambda value: str(getattr(value, "code", "")),
)
def test_an_error_before_the_first_delta_has_its_status(
    bridge: BridgeThread, behind: Behind, error: Exception, status: int, code: str, stream: bool
) -> None:
    def play(request: Request, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> None:
        raise error

    behind(Script(play))
    response = bridge.post("/chat/completions", ask("x", stream=stream))
    assert (response.status_code, response.headers["content-type"]) == (status, "application/json")
    said = response.json()["error"]
    assert (said["code"], said["param"], "no" in said["message"]) == (code, None, True)
    assert said["type"] == ("invalid_request_error" if status == 400 else "server_error")
    assert ("retry-after" in response.headers) == (status == 503)


def test_an_error_after_the_first_delta_is_an_event_and_nothing_follows(bridge: BridgeThread, behind: Behind) -> None:
    def play(request: Request, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> None:
        emit(OutBlock("text", "half"))
        raise InternalError("it broke")

    behind(Script(play))
    first, last = events(bridge.post("/chat/completions", ask("x", stream=True)))
    assert first["choices"][0]["delta"]["content"] == "half"
    assert last["error"] == {"message": "it broke", "type": "server_error", "param": None, "code": "internal"}
    stream = bridge.openai().completions.create(model="m", prompt="x", stream=True)
    assert next(stream).choices[0].text == "half"
    with pytest.raises(openai.APIError, match="it broke"):
        next(stream)
    response = bridge.post("/chat/completions", ask("x"))
    assert (response.status_code, response.json()["error"]["partial"]) == (500, "half")


@pytest.mark.parametrize("stream", [False, True])
def test_a_host_that_dies_in_the_middle(bridge: BridgeThread, place: str, stream: bool) -> None:
    half = json_frame({"id": "", "type": "frame", "block": {"type": "text", "delta": "half"}})
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(place)
        listening.listen()

        def die() -> None:
            with listening.accept()[0] as sock:
                sock.recv(1 << 16)
                sock.sendall(half)

        thread = threading.Thread(target=die)
        thread.start()
        response = bridge.post("/chat/completions", ask("x", stream=stream))
        thread.join()
    Path(place).unlink()
    if stream:
        first, error = events(response)
        assert first["choices"][0]["delta"]["content"] == "half"
    else:
        error = response.json()
        assert (response.status_code, error["error"]["partial"]) == (503, "half")
    assert error["error"]["code"] == "backend_unavailable"


def test_a_host_that_talks_nonsense(bridge: BridgeThread, place: str) -> None:
    with line_server(place, b"\x02\x02ab"):  # a blob frame
        response = bridge.post("/chat/completions", ask("x"))
    Path(place).unlink()
    assert (response.status_code, response.json()["error"]["code"]) == (502, "bad_gateway")


@pytest.mark.parametrize("index", [-1, 2, 1 << 70])
def test_a_host_that_ranks_what_it_was_not_given(bridge: BridgeThread, place: str, index: int) -> None:
    addr = surface_addr(place, Surface.RERANK)
    answer = {"id": "r", "type": "rerank", "results": [{"index": index, "score": 1}], "model": "m",
              "usage": {"input_tokens": 1}, "backend": "b"}  # fmt: skip
    for body in ({}, {"return_documents": True}):
        with line_server(addr, answer):
            response = bridge.post("/rerank", {"query": "x", "documents": ["y", "z"]} | body)
        Path(addr).unlink()
        assert (response.status_code, response.json()["error"]["code"]) == (502, "bad_gateway")


def test_no_host(bridge: BridgeThread, place: str) -> None:
    for path, body in {
        "/chat/completions": ask("x"),
        "/completions": {"prompt": "x"},
        "/embeddings": {"input": "x"},
        "/rerank": {"query": "x", "documents": ["y"]},
    }.items():
        response = bridge.post(path, body)
        assert (response.status_code, response.headers["retry-after"]) == (503, "1")
        error = response.json()["error"]
        assert error["code"] == "backend_unavailable"
        assert "warmwire serve" in error["message"]
    with pytest.raises(openai.InternalServerError, match="no host listens"):
        bridge.openai().models.list()


def test_queue_full(bridge: BridgeThread, behind: Behind) -> None:
    gate = Gate()
    behind(gate, queue_depth=0)
    with bridge.begin("/chat/completions", ask("first")) as first:
        gate.wait_running("first")
        for stream in (False, True):
            response = bridge.post("/chat/completions", ask("second", stream=stream))
            assert (response.status_code, response.headers["retry-after"]) == (429, "1")
            assert response.json()["error"]["code"] == "queue_full"
        with pytest.raises(openai.RateLimitError):
            bridge.openai().completions.create(model="m", prompt="third")
        gate.open("first")
        assert b'"<first></first>"' in receive(first, b"}}")
    assert gate.order == ["first"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"{", "not what this endpoint takes"),
        (b'{"messages": "\xff"}', "not what this endpoint takes"),
        (b"[" * 10_000, "not what this endpoint takes"),
        (b"", "not what this endpoint takes"),
        ({"messages": []}, "messages must not be empty"),
        ({"messages": [{"role": "user", "content": 3}]}, r"$.messages[0].content"),
        (ask("x", n=2), "n: one answer"),
        (ask("x", max_tokens=0), "$.max_tokens"),
        (ask("x", max_tokens=1 << 40), "$.max_tokens"),
        (ask("x", tool_choice="required"), "tool_choice needs tools"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_bodies_that_are_wrong(bridge: BridgeThread, behind: Behind, body: Any, said: str) -> None:
    behind(EchoModel())
    response = bridge.post("/chat/completions", body)
    error = response.json()["error"]
    assert (response.status_code, error["code"], error["type"]) == (400, "invalid_request", "invalid_request_error")
    assert said in error["message"]
    assert bridge.post("/chat/completions", ask("still here")).status_code == 200


def test_a_body_over_the_bound(place: str) -> None:

    def pieces() -> Iterator[bytes]:
        for _ in range(20):
            yield b" " * 100

    with BridgeThread(place, bounds=Bounds(body=1000)) as bridge:
        declared = bridge.post("/chat/completions", ask("x" * 1000))
        undeclared = httpx.post(bridge.url + "/completions", content=pieces(), timeout=PATIENCE, trust_env=False)
    for response in (declared, undeclared):
        assert (response.status_code, response.json()["error"]["code"]) == (413, "frame_too_large")


def test_paths_and_methods_that_are_none(bridge: BridgeThread) -> None:
    missing = bridge.get("/v1/nothing")
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "not_found")
    wrong = bridge.get("/v1/chat/completions")
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "POST")
    assert wrong.json()["error"]["message"] == "GET /v1/chat/completions: method not allowed"


@pytest.mark.parametrize("key", [None, "secret"])
def test_any_server_may_tell_the_application_of_its_start_and_end(key: str | None) -> None:
    heard: list[Any] = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]
    sent: list[str] = []

    async def receive() -> Any:
        return heard.pop(0)

    async def send(message: Any) -> None:
        sent.append(message["type"])

    asyncio.run(make_app("/nowhere", key)({"type": "lifespan", "state": {}}, receive, send))
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]


def test_a_fault_of_ours_is_said_without_its_details(
    bridge: BridgeThread, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise LookupError("a secret")

    monkeypatch.setattr("warmwire.bridge.app.text_request", fail)
    response = bridge.post("/completions", {"prompt": "x"})
    assert (response.status_code, response.json()["error"]["message"]) == (500, "the bridge failed: LookupError")
    assert "LookupError" in caplog.text
