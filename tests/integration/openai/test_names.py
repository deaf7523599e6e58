"""Names of servers and models, and keys, which nobody gets to see."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tests.model_support import ask, run, text_of
from tests.openai_server import HELLO, FakeServer, raw_stream, serve_vectors
from warmwire.errors import BackendUnavailableError, InputError, UsageError
from warmwire.models.openai.model import ChatModel
from warmwire.models.registry import check_model, load_model

pytest.importorskip("httpx")


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
    serve_vectors(server)
    return load_model(f"openai:{server.url}#m")  # type: ignore[return-value]


@pytest.mark.parametrize("key", WRITTEN)
@pytest.mark.parametrize(
    "answer",
    [
        lambda x, key: x.raw(b'{"error": {"message": "no key %b"}}' % key, 401, "application/json"),
        lambda x, key: raw_stream(b'data: {"error": {"message": "no key %b"}}\n\n' % key)(x),
        lambda x, key: raw_stream(b"data: no key %b\n\n" % key)(x),
        lambda x, key: x.raw(b"no key %b" % key, 200, "application/json"),
        lambda x, key: raw_stream(b"data: " + b"." * 112 + b"<%b\n\n" % key)(x),  # cut by what is quoted
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
