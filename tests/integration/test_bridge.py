"""The bridge over HTTP in front of a host: what clients of the OpenAI format see, and what the host is told."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import shutil
import socket
import tempfile
import threading
import wave
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from tests.bridge_support import BridgeThread, ask, events, line_server, receive
from tests.support import PATIENCE, Gate, HostThread, Script, eventually, json_frame, open_descriptors
from warmwire.bridge import output
from warmwire.models.base import Capabilities, Finish
from warmwire.models.echo import EchoModel
from warmwire.wire.errors import (
    AttachmentError,
    BackendUnavailableError,
    InternalError,
    InvalidRequestError,
    ToolCallError,
)
from warmwire.wire.messages import OutBlock, Request, StopReason, Usage

Serve = Callable[..., HostThread]

ODD = "héllo 世界 😀 a\u2028b\u2029c\x85d\x0be \x1cf \u0000 👩‍👩‍👧 العربية"
"""Characters of every length, and the ones that some call line ends."""


@pytest.fixture(scope="module")
def place() -> Iterator[str]:
    directory = tempfile.mkdtemp(prefix="ww-", dir="/tmp")
    yield f"{directory}/s.sock"
    shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture(scope="module")
def bridge(place: str) -> Iterator[BridgeThread]:
    """One bridge for all tests; hosts come and go behind it."""
    with BridgeThread(place) as bridge:
        yield bridge


@pytest.fixture
def serve(place: str) -> Iterator[Serve]:
    """`serve(model)` runs a host behind the bridge until the test ends."""
    with ExitStack() as stack:
        yield lambda model, **options: stack.enter_context(HostThread(model, place, **options))


def say(*texts: str, **finish: Any) -> Script:
    """A model that says this to everyone."""

    def play(request: Request, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> Finish:
        for text in texts:
            emit(OutBlock("text", text))
        return Finish(**finish)

    return Script(play)


# ---------------------------------------------------------------------- one answer, two modes


def test_both_modes_give_the_same_answer(bridge: BridgeThread, serve: Serve) -> None:
    serve(EchoModel())
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


def test_events_survive_clients_that_split_text_at_any_line_end(bridge: BridgeThread, serve: Serve) -> None:
    serve(say(*ODD))
    response = bridge.post("/chat/completions", ask("x", stream=True))
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    lines = [line for line in response.text.splitlines() if line]
    assert lines.pop() == "data: [DONE]"
    deltas = [json.loads(line.removeprefix("data: "))["choices"][0]["delta"] for line in lines]
    assert "".join(delta.get("content", "") for delta in deltas) == ODD


def test_usage_is_streamed_only_when_asked_for(bridge: BridgeThread, serve: Serve) -> None:
    serve(say("a", usage=Usage(3, 4)))
    *chunks, done = events(bridge.post("/chat/completions", ask("x", stream=True)))
    assert done == "[DONE]"
    assert all("usage" not in chunk and len(chunk["choices"]) == 1 for chunk in chunks)


def test_plain_completions(bridge: BridgeThread, serve: Serve) -> None:
    serve(EchoModel())
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
def test_reasons_to_end(bridge: BridgeThread, serve: Serve, reason: str, finish: str) -> None:
    serve(say("x", stop_reason=StopReason(reason)))
    assert bridge.post("/chat/completions", ask("x")).json()["choices"][0]["finish_reason"] == finish


@pytest.mark.parametrize("reason", ["cancelled", "error"])
def test_an_answer_that_ended_badly_is_no_success(bridge: BridgeThread, serve: Serve, reason: str) -> None:
    serve(say("half", stop_reason=StopReason(reason)))
    response = bridge.post("/chat/completions", ask("x"))
    assert response.status_code == 500
    assert response.json()["error"]["partial"] == "half"
    *_, last = events(bridge.post("/chat/completions", ask("x", stream=True)))
    assert last["error"]["code"] == "internal"


def test_thinking_is_told_apart(bridge: BridgeThread, serve: Serve) -> None:
    def play(request: Request, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> None:
        emit(OutBlock("thinking", "hm "))
        emit(OutBlock("thinking", "well"))
        emit(OutBlock("text", "yes"))

    serve(Script(play))
    message = bridge.post("/chat/completions", ask("x")).json()["choices"][0]["message"]
    assert (message["reasoning_content"], message["content"]) == ("hm well", "yes")
    assert bridge.openai().completions.create(model="m", prompt="x").choices[0].text == "yes"


def test_tool_calls_come_whole_and_in_order(bridge: BridgeThread, serve: Serve) -> None:
    def play(request: Request, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> Finish:
        emit(OutBlock("tool_use", tool_call_id="a", name="f", input={"x": "ö"}))
        emit(OutBlock("tool_use", tool_call_id="b", name="g", input={}))
        return Finish(StopReason.TOOL_USE)

    serve(Script(play))
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


def test_a_required_call_that_did_not_come_is_said(bridge: BridgeThread, serve: Serve) -> None:
    serve(say("no"))
    body = ask("x", tools=[{"type": "function", "function": {"name": "f"}}], tool_choice="required")
    assert bridge.post("/chat/completions", body).json()["tool_choice_unsatisfied"] is True


@pytest.mark.parametrize("stream", [False, True])
def test_a_stop_string_ends_the_answer_and_the_work(bridge: BridgeThread, serve: Serve, stream: bool) -> None:
    ended = threading.Event()

    def play(request: Request, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> None:
        for text in ("one tw", "o th", "r", "ee four"):
            emit(OutBlock("text", text))
        assert cancelled.wait(PATIENCE)
        ended.set()

    serve(Script(play))
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


def test_the_beginning_of_a_stop_string_is_not_lost(bridge: BridgeThread, serve: Serve) -> None:
    serve(say("go on", " th"))
    assert bridge.post("/chat/completions", ask("x", stop=" three")).json()["choices"][0]["message"]["content"] == (
        "go on th"
    )


def png(width: int, height: int) -> str:
    from PIL import Image

    buffer = io.BytesIO()
    Image.new("RGB", (width, height), "red").save(buffer, "png")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def test_images_reach_the_host(bridge: BridgeThread, serve: Serve) -> None:
    serve(EchoModel())
    content: Any = [
        {"type": "image_url", "image_url": {"url": png(30, 20)}},
        {"type": "text", "text": "what is it"},
        {"type": "image_url", "image_url": {"url": png(4, 5)}},
    ]
    answer = bridge.openai().chat.completions.create(model="m", messages=[{"role": "user", "content": content}])
    assert answer.choices[0].message.content == "[image image-1 30x20][image image-2 4x5]what is it"


def test_fifty_clients_at_once(bridge: BridgeThread, serve: Serve) -> None:
    serve(EchoModel(), workers=2, queue_depth=100)

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
    bridge: BridgeThread, serve: Serve, error: Exception, status: int, code: str, stream: bool
) -> None:
    def play(request: Request, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> None:
        raise error

    serve(Script(play))
    response = bridge.post("/chat/completions", ask("x", stream=stream))
    assert (response.status_code, response.headers["content-type"]) == (status, "application/json")
    said = response.json()["error"]
    assert (said["code"], said["param"], "no" in said["message"]) == (code, None, True)
    assert said["type"] == ("invalid_request_error" if status == 400 else "server_error")
    assert ("retry-after" in response.headers) == (status == 503)


def test_an_error_after_the_first_delta_is_an_event_and_nothing_follows(bridge: BridgeThread, serve: Serve) -> None:
    def play(request: Request, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> None:
        emit(OutBlock("text", "half"))
        raise InternalError("it broke")

    serve(Script(play))
    first, last = events(bridge.post("/chat/completions", ask("x", stream=True)))
    assert first["choices"][0]["delta"]["content"] == "half"
    assert last == {"error": {"message": "it broke", "type": "server_error", "param": None, "code": "internal"}}
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


def test_queue_full(bridge: BridgeThread, serve: Serve) -> None:
    gate = Gate()
    serve(gate, queue_depth=0)
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
def test_bodies_that_are_wrong(bridge: BridgeThread, serve: Serve, body: Any, said: str) -> None:
    serve(EchoModel())
    response = bridge.post("/chat/completions", body)
    error = response.json()["error"]
    assert (response.status_code, error["code"], error["type"]) == (400, "invalid_request", "invalid_request_error")
    assert said in error["message"]
    assert bridge.post("/chat/completions", ask("still here")).status_code == 200


def test_a_body_over_the_bound(bridge: BridgeThread, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "MAX_BODY", 1000)
    declared = bridge.post("/chat/completions", ask("x" * 1000))

    def pieces() -> Iterator[bytes]:
        for _ in range(20):
            yield b" " * 100

    undeclared = httpx.post(bridge.url + "/completions", content=pieces(), timeout=PATIENCE, trust_env=False)
    for response in (declared, undeclared):
        assert (response.status_code, response.json()["error"]["code"]) == (413, "frame_too_large")


def test_paths_and_methods_that_are_none(bridge: BridgeThread) -> None:
    missing = bridge.get("/v1/nothing")
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "not_found")
    wrong = bridge.get("/v1/chat/completions")
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "POST")
    assert wrong.json()["error"]["message"] == "GET /v1/chat/completions: method not allowed"


def test_a_fault_of_ours_is_said_without_its_details(
    bridge: BridgeThread, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise LookupError("a secret")

    monkeypatch.setattr("warmwire.bridge.app.text_request", fail)
    response = bridge.post("/completions", {"prompt": "x"})
    assert (response.status_code, response.json()["error"]["message"]) == (500, "the bridge failed: LookupError")
    assert "LookupError" in caplog.text


# ---------------------------------------------------------------------- clients that leave


class Waiting(Script):
    """A model that says `first`, if anything, and then waits until it is cancelled."""

    def __init__(self, first: str = "") -> None:
        super().__init__(self._wait)
        self._first = first
        self.running, self.cancelled = threading.Event(), threading.Event()

    def _wait(self, request: Request, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> None:
        if self._first:
            emit(OutBlock("text", self._first))
        self.running.set()
        assert cancelled.wait(PATIENCE)
        self.cancelled.set()


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("first", ["", "word"], ids=["prefill", "decode"])
def test_leaving_cancels(bridge: BridgeThread, serve: Serve, first: str, stream: bool) -> None:
    model = Waiting(first)
    serve(model)
    with bridge.begin("/chat/completions", ask("x", stream=stream)):
        assert model.running.wait(PATIENCE)
    assert model.cancelled.wait(PATIENCE)
    eventually(lambda: 'in_progress{endpoint="/v1/chat/completions"} 0.0' in bridge.get("/metrics").text)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_leaving_while_queued(bridge: BridgeThread, serve: Serve, stream: bool) -> None:
    gate = Gate()
    host = serve(gate)
    with bridge.begin("/chat/completions", ask("first")):
        gate.wait_running("first")
        with bridge.begin("/chat/completions", ask("leaving", stream=stream)):
            eventually(lambda: host.host.activity.outstanding == 2, "a queued request")
        eventually(lambda: host.host.activity.outstanding == 1, "the end of the queued request")
        for key in ("first", "last"):
            gate.open(key)
        assert bridge.post("/chat/completions", ask("last")).status_code == 200
    assert gate.order == ["first", "last"]


def test_clients_that_come_and_go_leave_no_descriptor(bridge: BridgeThread, serve: Serve) -> None:
    serve(EchoModel(), queue_depth=300)
    assert bridge.post("/chat/completions", ask("x")).status_code == 200
    before = open_descriptors()
    for n in range(200):
        with bridge.begin("/chat/completions", ask("word " * 50, stream=bool(n % 2))) as sock:
            if n % 3:
                sock.recv(10)
    assert bridge.post("/chat/completions", ask("x")).status_code == 200
    eventually(lambda: open_descriptors() <= before, "the end of all descriptors")


def test_closing_the_stream_of_the_official_client_cancels(bridge: BridgeThread, serve: Serve) -> None:
    model = Waiting("word")
    serve(model)
    stream = bridge.openai().chat.completions.create(
        model="m", messages=[{"role": "user", "content": "x"}], stream=True
    )
    assert next(stream).choices[0].delta.content == "word"
    stream.close()
    assert model.cancelled.wait(PATIENCE)


def test_a_client_that_reads_nothing_is_dropped(
    bridge: BridgeThread, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "WRITE_TIMEOUT", 0.3)
    cancelled = threading.Event()

    def play(request: Request, emit: Callable[[OutBlock], None], stop: threading.Event) -> None:
        while not stop.is_set():
            emit(OutBlock("text", "w" * 10_000))
        cancelled.set()

    serve(Script(play))
    with bridge.begin("/chat/completions", ask("x", stream=True)):
        assert cancelled.wait(PATIENCE)


def test_a_bridge_that_is_stopped_ends_its_streams_with_an_error(place: str, serve: Serve) -> None:
    model = Waiting("word")
    serve(model)
    with BridgeThread(place, drain_timeout=1) as bridge:
        responses: list[httpx.Response] = []
        threads = [
            threading.Thread(
                target=lambda s=stream: responses.append(bridge.post("/chat/completions", ask("x", stream=s)))
            )
            for stream in (True,)
        ]
        for thread in threads:
            thread.start()
        assert model.running.wait(PATIENCE)
        bridge.stop()
        for thread in threads:
            thread.join(PATIENCE)
    first, error = events(responses[0])
    assert first["choices"][0]["delta"]["content"] == "word"
    assert error["error"]["message"] == "the bridge is shutting down"
    assert model.cancelled.wait(PATIENCE)


# ---------------------------------------------------------------------- who may ask


def test_a_key_is_asked_for(place: str, serve: Serve) -> None:
    serve(EchoModel())
    with BridgeThread(place, key="s3cret-é") as bridge:
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "s3cret-é".encode()}):
            response = httpx.get(bridge.url + "/models", headers=headers, timeout=PATIENCE, trust_env=False)
            assert (response.status_code, response.headers["www-authenticate"]) == (401, "Bearer")
            assert response.json()["error"]["code"] == "invalid_api_key"
        right = {"Authorization": "Bearer s3cret-é".encode(), "Origin": "https://a.example", "Host": "b.example"}
        assert httpx.get(bridge.url + "/models", headers=right, timeout=PATIENCE, trust_env=False).status_code == 200
        assert bridge.get("/health").status_code == 200
        for path in ("/metrics", "/ready"):
            assert bridge.get(path).status_code == 401
        with pytest.raises(openai.AuthenticationError):
            bridge.openai("wrong").models.list()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://localhost:3000"}, 200),
        ({"Origin": "http://127.0.0.1"}, 200),
        ({"Host": "localhost:8080"}, 200),
        ({"Host": "[::1]:8080"}, 200),
        ({"Origin": "https://a.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://["}, 403),
        ({"Host": "a.example"}, 403),
        ({"Host": "a.example:8080", "Origin": "http://a.example:8080"}, 403),
    ],
    ids=str,
)
def test_web_pages_are_kept_out_where_there_is_no_key(
    bridge: BridgeThread, serve: Serve, headers: dict[str, str], status: int
) -> None:
    serve(EchoModel())
    assert bridge.post("/chat/completions", ask("x"), **headers).status_code == status


# ---------------------------------------------------------------------- how the host is


def test_alive_is_not_ready(bridge: BridgeThread, place: str, serve: Serve) -> None:
    assert bridge.get("/health").json() == {"status": "ok"}
    response = bridge.get("/ready")
    assert (response.status_code, response.json()["ready"]) == (503, False)
    assert f"no host listens at {place}" in response.json()["reason"]
    assert "warmwire_bridge_host_ready 0.0" in bridge.get("/metrics").text
    serve(EchoModel())
    response = bridge.get("/ready")
    assert (response.status_code, response.json()) == (200, {"ready": True, "reason": "the host is ready"})
    assert "warmwire_bridge_host_ready 1.0" in bridge.get("/metrics").text


ADMIN = {"id": "admin", "type": "status"}


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ([ADMIN | {"status": "starting"}], "the host is not ready: starting"),
        ([ADMIN | {"status": "loading_model", "phase": "mmap"}], "the host is not ready: loading model (mmap)"),
        ([ADMIN | {"status": "capabilities", "backend": "x"}, ADMIN | {"status": "draining"}], "not ready: draining"),
        ([ADMIN | {"status": "ready"}], "no host listens"),
        ([b"nonsense"], "no host listens"),
    ],
)
def test_the_reason_why_it_is_not_ready(bridge: BridgeThread, place: str, lines: list[Any], reason: str) -> None:
    admin = place.replace("s.sock", "s.admin.sock")
    with line_server(admin, *lines):
        response = bridge.get("/ready")
        asked = bridge.post("/chat/completions", ask("x"))
    Path(admin).unlink()
    assert response.status_code == asked.status_code == 503
    assert reason in response.json()["reason"]
    assert reason in asked.json()["error"]["message"]


def test_a_host_that_loads_is_not_said_to_be_missing(bridge: BridgeThread, place: str) -> None:
    admin = place.replace("s.sock", "s.admin.sock")
    with line_server(admin, ADMIN | {"status": "loading_model", "phase": "mmap"}):
        responses = [bridge.get("/v1/models"), bridge.post("/completions", {"prompt": "x"})]
        responses += [bridge.post("/embeddings", {"input": "x"})]
        responses += [bridge.post("/rerank", {"query": "x", "documents": ["y"]})]
    Path(admin).unlink()
    for response in responses:
        assert (response.status_code, response.headers["retry-after"]) == (503, "1")
        assert response.json()["error"]["message"] == "the host is not ready: loading model (mmap)"


def test_a_host_that_tells_nothing(bridge: BridgeThread, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warmwire.bridge.app._STATE_WAIT", 0.2)
    admin = place.replace("s.sock", "s.admin.sock")
    with line_server(admin):
        response = bridge.get("/ready")
        models = bridge.get("/v1/models")
    Path(admin).unlink()
    assert (response.status_code, response.json()["reason"]) == (503, "the host has not told its state within 0.2 s")
    assert (models.status_code, models.json()["error"]["code"]) == (503, "backend_unavailable")


def test_models_are_what_the_host_says(bridge: BridgeThread, place: str, serve: Serve) -> None:
    serve(EchoModel())
    assert [model.id for model in bridge.openai().models.list()] == ["warmwire"]
    admin = place.replace("s.sock", "s.admin.sock")
    with line_server(
        admin, ADMIN | {"status": "capabilities", "backend": "gemma", "vision": True}, ADMIN | {"status": "ready"}
    ):
        model = bridge.get("/v1/models").json()["data"][0]
        assert bridge.get("/ready").json()["reason"] == "the host is ready: gemma"
    Path(admin).unlink()
    assert (model["id"], model["object"], model["capabilities"]) == ("gemma", "model", {"vision": True})


def test_metrics_count(bridge: BridgeThread, serve: Serve) -> None:
    from prometheus_client.parser import text_string_to_metric_families

    def counts() -> dict[tuple[str, ...], float]:
        response = bridge.get("/metrics")
        assert response.headers["content-type"].startswith("text/plain; version=")
        return {
            (sample.name.removeprefix("warmwire_bridge_"), *sample.labels.values()): sample.value
            for family in text_string_to_metric_families(response.text)
            for sample in family.samples
        }

    serve(say("a", "b", usage=Usage(3, 4)))
    before = counts()
    for stream in (False, True):
        bridge.post("/chat/completions", ask("x", stream=stream))
    bridge.post("/chat/completions", b"{")
    after = counts()
    for key, more in {
        ("requests_total", "/v1/chat/completions", "ok"): 2,
        ("requests_total", "/v1/chat/completions", "invalid_request"): 1,
        ("tokens_total", "input"): 6,
        ("tokens_total", "output"): 8,
        ("first_delta_seconds_count",): 2,
        ("request_seconds_count", "/v1/chat/completions"): 3,
    }.items():
        assert after[key] - before.get(key, 0) == more, key


def test_capabilities_of_sound(bridge: BridgeThread, place: str, serve: Serve) -> None:
    """The rate that the host names is the rate it gets."""
    rates: list[int | None] = []

    class Hearing(Script):
        capabilities = Capabilities(audio=True, audio_sample_rate=16000)

    def play(request: Request, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> None:
        (sound,) = request.attachments
        rates.append(sound.sample_rate)
        emit(OutBlock("text", f"{len(sound.data) // 4} samples"))

    serve(Hearing(play))
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(bytes(4 * 800))
    sound = {"data": base64.b64encode(buffer.getvalue()).decode(), "format": "wav"}
    body = {"messages": [{"role": "user", "content": [{"type": "input_audio", "input_audio": sound}]}]}
    assert bridge.post("/chat/completions", body).json()["choices"][0]["message"]["content"] == "800 samples"
    admin = place.replace("s.sock", "s.admin.sock")
    with line_server(
        admin, ADMIN | {"status": "capabilities", "audio_sample_rate": 16000}, ADMIN | {"status": "ready"}
    ):
        assert bridge.post("/chat/completions", body).json()["choices"][0]["message"]["content"] == "1600 samples"
    Path(admin).unlink()
    assert rates == [8000, 16000]
