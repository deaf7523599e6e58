"""The bridge and its clients: those who leave, who may ask, and what they are told of the host."""

from __future__ import annotations

import base64
import io
import threading
import wave
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from tests.bridge_support import BridgeThread, ask, events, line_server, say
from tests.support import PATIENCE, Gate, HostThread, Script, eventually, open_descriptors
from warmwire.bridge import router
from warmwire.bridge.output import Bounds
from warmwire.models.echo import EchoModel
from warmwire.models.interface import Capabilities
from warmwire.wire.generation.messages import OutBlock, Request, Usage

Behind = Callable[..., HostThread]


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
def test_leaving_cancels(bridge: BridgeThread, behind: Behind, first: str, stream: bool) -> None:
    model = Waiting(first)
    behind(model)
    with bridge.begin("/chat/completions", ask("x", stream=stream)):
        assert model.running.wait(PATIENCE)
    assert model.cancelled.wait(PATIENCE)
    eventually(lambda: 'in_progress{endpoint="/v1/chat/completions"} 0.0' in bridge.get("/metrics").text)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_leaving_while_queued(bridge: BridgeThread, behind: Behind, stream: bool) -> None:
    gate = Gate()
    host = behind(gate)
    with bridge.begin("/chat/completions", ask("first")):
        gate.wait_running("first")
        with bridge.begin("/chat/completions", ask("leaving", stream=stream)):
            host.wait_outstanding(2)
        host.wait_outstanding(1)
        for key in ("first", "last"):
            gate.open(key)
        assert bridge.post("/chat/completions", ask("last")).status_code == 200
    assert gate.order == ["first", "last"]


def test_clients_that_come_and_go_leave_no_descriptor(bridge: BridgeThread, behind: Behind) -> None:
    behind(EchoModel(), queue_depth=300)
    assert bridge.post("/chat/completions", ask("x")).status_code == 200
    before = open_descriptors()
    for n in range(200):
        with bridge.begin("/chat/completions", ask("word " * 50, stream=bool(n % 2))) as sock:
            if n % 3:
                sock.recv(10)
    assert bridge.post("/chat/completions", ask("x")).status_code == 200
    eventually(lambda: open_descriptors() <= before, "the end of all descriptors")


def test_closing_the_stream_of_the_official_client_cancels(bridge: BridgeThread, behind: Behind) -> None:
    model = Waiting("word")
    behind(model)
    stream = bridge.openai().chat.completions.create(
        model="m", messages=[{"role": "user", "content": "x"}], stream=True
    )
    assert next(stream).choices[0].delta.content == "word"
    stream.close()
    assert model.cancelled.wait(PATIENCE)


def test_a_client_that_reads_nothing_is_dropped(place: str, behind: Behind) -> None:
    cancelled = threading.Event()

    def play(request: Request, emit: Callable[[OutBlock], None], stop: threading.Event) -> None:
        while not stop.is_set():
            emit(OutBlock("text", "w" * 10_000))
        cancelled.set()

    behind(Script(play))
    bounds = Bounds(write_timeout=0.3)
    with BridgeThread(place, bounds=bounds) as bridge, bridge.begin("/chat/completions", ask("x", stream=True)):
        assert cancelled.wait(PATIENCE)


def test_a_bridge_that_is_stopped_ends_its_streams_with_an_error(place: str, behind: Behind) -> None:
    model = Waiting("word")
    behind(model)
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


def test_a_key_is_asked_for(place: str, behind: Behind) -> None:
    behind(EchoModel())
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
    bridge: BridgeThread, behind: Behind, headers: dict[str, str], status: int
) -> None:
    behind(EchoModel())
    assert bridge.post("/chat/completions", ask("x"), **headers).status_code == status


# ---------------------------------------------------------------------- how the host is


def test_alive_is_not_ready(bridge: BridgeThread, place: str, behind: Behind) -> None:
    assert bridge.get("/health").json() == {"status": "ok"}
    response = bridge.get("/ready")
    assert (response.status_code, response.json()["ready"]) == (503, False)
    assert f"no host listens at {place}" in response.json()["reason"]
    assert "warmwire_bridge_host_ready 0.0" in bridge.get("/metrics").text
    behind(EchoModel())
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
    monkeypatch.setitem(router.look.__globals__, "_STATE_WAIT", 0.2)
    admin = place.replace("s.sock", "s.admin.sock")
    with line_server(admin):
        response = bridge.get("/ready")
        models = bridge.get("/v1/models")
    Path(admin).unlink()
    assert (response.status_code, response.json()["reason"]) == (503, "the host has not told its state within 0.2 s")
    assert (models.status_code, models.json()["error"]["code"]) == (503, "backend_unavailable")


def test_models_are_what_the_host_says(bridge: BridgeThread, place: str, behind: Behind) -> None:
    behind(EchoModel())
    assert [model.id for model in bridge.openai().models.list()] == ["warmwire"]
    admin = place.replace("s.sock", "s.admin.sock")
    with line_server(
        admin, ADMIN | {"status": "capabilities", "backend": "gemma", "vision": True}, ADMIN | {"status": "ready"}
    ):
        model = bridge.get("/v1/models").json()["data"][0]
        assert bridge.get("/ready").json()["reason"] == "the host is ready: gemma"
    Path(admin).unlink()
    assert (model["id"], model["object"], model["capabilities"]) == ("gemma", "model", {"vision": True})


def test_metrics_count(bridge: BridgeThread, behind: Behind) -> None:
    from prometheus_client.parser import text_string_to_metric_families

    def counts() -> dict[tuple[str, ...], float]:
        response = bridge.get("/metrics")
        assert response.headers["content-type"].startswith("text/plain; version=")
        return {
            (sample.name.removeprefix("warmwire_bridge_"), *sample.labels.values()): sample.value
            for family in text_string_to_metric_families(response.text)
            for sample in family.samples
        }

    behind(say("a", "b", usage=Usage(3, 4)))
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


def test_capabilities_of_sound(bridge: BridgeThread, place: str, behind: Behind) -> None:
    """The rate that the host names is the rate it gets."""
    rates: list[int | None] = []

    class Hearing(Script):
        capabilities = Capabilities(audio=True, audio_sample_rate=16000)

    def play(request: Request, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> None:
        (sound,) = request.attachments
        rates.append(sound.sample_rate)
        emit(OutBlock("text", f"{len(sound.data) // 4} samples"))

    behind(Hearing(play))
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
