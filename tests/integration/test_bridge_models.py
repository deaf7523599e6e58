"""The official client through the bridge to real llama.cpp, and a host that goes on through a bridge to another."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from tests import tiny_gguf
from tests.bridge_support import BridgeThread, ask, png
from tests.support import HostThread, eventually, random_image
from warmwire.bridge.media import Attachments
from warmwire.client import Client
from warmwire.host.daemon import PrivateHost
from warmwire.models.registry import load_model
from warmwire.wire.generation.messages import Message, Request, Tool, text_block

pytest.importorskip("xllamacpp")

Begin = Callable[[Path], tuple[PrivateHost, BridgeThread]]

SAID: Any = [{"role": "user", "content": "hi"}]
ADD: Any = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Adds two numbers.",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a", "b"],
        },
    },
}


@pytest.fixture(scope="module")
def begin() -> Iterator[Begin]:
    """`begin(path)` gives a host of that model and a bridge in front of it, until the module's tests have ended."""
    with ExitStack() as stack:

        def start(path: Path) -> tuple[PrivateHost, BridgeThread]:
            host = stack.enter_context(PrivateHost(str(path), threads=1))
            return host, stack.enter_context(BridgeThread(host.wait()))

        yield start


@pytest.fixture(scope="module")
def calling(begin: Begin, tmp_path_factory: pytest.TempPathFactory) -> tuple[PrivateHost, BridgeThread]:
    """A model that calls a tool."""
    pieces = ["<tool_call>\n", '{"name": "add", "arguments": {"a": 1, "b": ', "2}}\n", "</tool_call>"]
    path = tmp_path_factory.mktemp("gguf") / "calling.gguf"
    return begin(tiny_gguf.text_model(path, pieces, template=tiny_gguf.TOOLS, name="calling"))


@pytest.fixture(scope="module")
def endless(begin: Begin, tmp_path_factory: pytest.TempPathFactory) -> tuple[PrivateHost, BridgeThread]:
    """A slow model that never ends by itself."""
    path = tmp_path_factory.mktemp("gguf") / "endless.gguf"
    return begin(tiny_gguf.text_model(path, ["round ", "and "], loop=True, layers=4, hidden=512, context=8192))


@pytest.fixture(scope="module")
def embedding(begin: Begin, tmp_path_factory: pytest.TempPathFactory) -> tuple[PrivateHost, BridgeThread]:
    return begin(tiny_gguf.encoder(tmp_path_factory.mktemp("gguf") / "embedder.gguf"))


def test_text_whose_characters_are_cut_by_tokens(begin: Begin, tmp_path: Path) -> None:
    pieces = [bytes([byte]) for byte in "😀世é".encode()]
    host, bridge = begin(tiny_gguf.text_model(tmp_path / "bytes.gguf", pieces))
    client = bridge.openai()
    whole = client.chat.completions.create(model="m", messages=SAID, temperature=0)
    *chunks, last = client.chat.completions.create(
        model="m", messages=SAID, temperature=0, stream=True, stream_options={"include_usage": True}
    )
    with Client(host.addr) as direct, direct.generate(request()) as stream:
        assert stream.text() == "😀世é"
    assert whole.choices[0].message.content == "😀世é"
    assert [c.choices[0].delta.content for c in chunks if c.choices[0].delta.content] == ["😀", "世", "é"]
    details = {"prompt_tokens_details"}  # they tell that the second prompt came from the cache
    assert whole.usage is not None
    assert last.usage is not None
    assert whole.usage.model_dump(exclude=details) == last.usage.model_dump(exclude=details)
    counted = stream.answer.usage
    assert (whole.usage.prompt_tokens, whole.usage.completion_tokens) == (counted.input_tokens, counted.output_tokens)
    assert counted.output_tokens == len(pieces) + 1


def request(**more: Any) -> Request:
    return Request(messages=[Message("user", [text_block("hi")])], temperature=0, **more)


def test_tools(calling: tuple[PrivateHost, BridgeThread]) -> None:
    client = calling[1].openai()
    answer = client.chat.completions.create(model="m", messages=SAID, tools=[ADD], temperature=0).choices[0]
    assert answer.finish_reason == "tool_calls"
    (call,) = answer.message.tool_calls or []
    assert call.type == "function"
    assert (call.function.name, json.loads(call.function.arguments)) == ("add", {"a": 1, "b": 2})
    turns: Any = [*SAID, answer.message, {"role": "tool", "tool_call_id": call.id, "content": "3"}]
    again = client.chat.completions.create(model="m", messages=turns, tools=[ADD], temperature=0)
    assert again.usage is not None
    assert again.usage.prompt_tokens > 60
    with client.chat.completions.stream(
        model="m", messages=SAID, tools=[ADD], tool_choice={"type": "function", "function": {"name": "add"}}
    ) as stream:
        (streamed,) = stream.get_final_completion().choices[0].message.tool_calls or []
    assert (streamed.function.name, json.loads(streamed.function.arguments)) == ("add", {"a": 1, "b": 2})


def test_a_tool_choice_of_none(calling: tuple[PrivateHost, BridgeThread]) -> None:
    answer = (
        calling[1]
        .openai()
        .chat.completions.create(model="m", messages=SAID, tools=[ADD], tool_choice="none", temperature=0)
    )
    assert answer.choices[0].message.tool_calls is None
    assert answer.choices[0].finish_reason == "stop"


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_held_to_a_schema(calling: tuple[PrivateHost, BridgeThread], stream: bool) -> None:
    schema = {
        "type": "object",
        "properties": {"ok": {"type": "boolean"}, "kind": {"enum": ["x", "ö"]}},
        "required": ["ok", "kind"],
        "additionalProperties": False,
    }
    wanted: Any = {"type": "json_schema", "json_schema": {"name": "n", "schema": schema, "strict": True}}
    client = calling[1].openai()
    create = client.chat.completions.create
    if stream:
        chunks = create(model="m", messages=SAID, response_format=wanted, max_tokens=400, stream=True)
        text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    else:
        text = create(model="m", messages=SAID, response_format=wanted, max_tokens=400).choices[0].message.content or ""
    jsonschema.validate(json.loads(text), schema)


def test_embeddings(embedding: tuple[PrivateHost, BridgeThread]) -> None:
    host, bridge = embedding
    client = bridge.openai()
    texts = ["abc", "hello there", "abc"]
    packed = client.embeddings.create(model="m", input=texts)  # the client asks for base64 by itself
    plain = client.embeddings.create(model="m", input=texts, encoding_format="float")
    with Client(host.addr) as direct:
        expected = direct.embed(texts)
    vectors = np.array([item.embedding for item in packed.data])
    assert vectors.shape == (3, 32)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert np.allclose(vectors, np.array(expected.embeddings, np.float32), atol=1e-5)
    assert np.allclose(vectors, [item.embedding for item in plain.data], atol=1e-5)
    assert [item.index for item in packed.data] == [0, 1, 2]
    assert packed.usage.prompt_tokens == packed.usage.total_tokens == expected.usage.input_tokens
    short = client.embeddings.create(model="m", input="abc", dimensions=8).data[0].embedding
    assert np.allclose(short, vectors[0, :8] / np.linalg.norm(vectors[0, :8]), atol=1e-4)
    raw = bridge.post("/embeddings", {"input": "abc", "encoding_format": "base64"}).json()["data"][0]["embedding"]
    assert np.allclose(np.frombuffer(base64.b64decode(raw), "<f4"), vectors[0], atol=1e-5)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"input": []}, "input must not be empty"),
        ({"input": ["a", ""]}, "input[1] must not be empty"),
        ({"input": [1, 2]}, "token ids"),
        ({"input": [[1, 2]]}, "token ids"),
        ({"input": "a", "dimensions": 33}, "1 to 32"),
        ({"input": "a", "encoding_format": "hex"}, "float or base64"),
        ({"input": "a", "task": "nonsense"}, "unknown variant"),
        ({}, "input"),
    ],
    ids=str,
)
def test_embeddings_that_cannot_be_had(
    embedding: tuple[PrivateHost, BridgeThread], body: dict[str, Any], said: str
) -> None:
    response = embedding[1].post("/embeddings", body)
    assert (response.status_code, response.json()["error"]["code"]) == (400, "invalid_request")
    assert said in response.json()["error"]["message"]


def test_what_a_model_is_not_for(
    embedding: tuple[PrivateHost, BridgeThread], calling: tuple[PrivateHost, BridgeThread]
) -> None:
    response = calling[1].post("/embeddings", {"input": "a"})
    assert (response.status_code, response.json()["error"]["code"]) == (400, "embed_unsupported")
    response = embedding[1].post("/rerank", {"query": "a", "documents": ["b"]})
    assert (response.status_code, response.json()["error"]["code"]) == (400, "rerank_unsupported")
    response = embedding[1].post("/chat/completions", {"messages": SAID})
    assert (response.status_code, response.json()["error"]["code"]) == (400, "invalid_request")
    assert response.json()["error"]["message"].startswith("the model encoder does not generate text")
    assert embedding[1].get("/ready").json() == {"ready": True, "reason": "the host is ready: encoder"}
    (model,) = calling[1].get("/v1/models").json()["data"]
    assert (model["id"], model["capabilities"]["tools"], model["capabilities"]["embed"]) == ("calling", True, False)


def test_rerank(begin: Begin, tmp_path: Path) -> None:
    host, bridge = begin(tiny_gguf.encoder(tmp_path / "ranker.gguf", rank=True))
    documents = ["hello", "abc", "zzz", "hello"]
    with Client(host.addr) as direct:
        expected = direct.rerank("abc", documents)
    whole = bridge.post("/rerank", {"model": "m", "query": "abc", "documents": documents}).json()
    assert [(r["index"], pytest.approx(r["relevance_score"])) for r in whole["results"]] == [
        (r.index, r.score) for r in expected.results
    ]
    assert whole["usage"]["prompt_tokens"] == expected.usage.input_tokens > 0
    best = bridge.post(
        "/rerank",
        {"query": "abc", "documents": [{"text": text} for text in documents], "top_n": 2, "return_documents": True},
    ).json()["results"]
    assert [r["index"] for r in best] == [r["index"] for r in whole["results"][:2]]
    assert best[0]["document"] == {"text": documents[best[0]["index"]]}
    for body in ({"query": "", "documents": ["a"]}, {"query": "a", "documents": []}, {"query": "a", "documents": [1]}):
        assert bridge.post("/rerank", body).status_code == 400


def test_an_image_is_seen(begin: Begin, tmp_path: Path) -> None:
    path = tiny_gguf.text_model(tmp_path / "eyes.gguf", ["I ", "see"])
    tiny_gguf.projector(tmp_path / "mmproj-eyes.gguf", path)
    _, bridge = begin(path)
    content: Any = [{"type": "image_url", "image_url": {"url": png(random_image(20, 30))}}]
    answer = bridge.openai().chat.completions.create(
        model="m", messages=[{"role": "user", "content": content}], temperature=0
    )
    assert answer.choices[0].message.content == "I see"
    assert answer.usage is not None
    assert answer.usage.prompt_tokens > 50


def test_an_image_for_a_model_without_eyes(calling: tuple[PrivateHost, BridgeThread]) -> None:
    content = [{"type": "image_url", "image_url": {"url": png(random_image(2, 2))}}]
    response = calling[1].post("/chat/completions", {"messages": [{"role": "user", "content": content}]})
    assert (response.status_code, response.json()["error"]["code"]) == (400, "attachment_unsupported")


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("words", ["hi", "y" * 6000], ids=["decode", "prefill"])
def test_leaving_frees_the_model(endless: tuple[PrivateHost, BridgeThread], words: str, stream: bool) -> None:
    host, bridge = endless
    with Client(host.addr) as client:

        def activity(key: str) -> int:
            return int((client.status().activity or {})[key])

        answered = activity("answered")
        with bridge.begin("/chat/completions", ask(words, stream=stream, temperature=0)):
            eventually(lambda: activity("outstanding") == 1, "a running request")
        eventually(lambda: activity("outstanding") == 0, "its end")
        assert activity("answered") == answered
        assert client.ask("next", max_tokens=2, temperature=0).text() == "round and "
        assert activity("answered") == answered + 1


# ---------------------------------------------------------------------- socket, openai: model, bridge, socket


def test_a_host_behind_a_host_gives_the_same_answers(calling: tuple[PrivateHost, BridgeThread], path: str) -> None:
    host, bridge = calling
    add = Tool("add", "Adds two numbers.", ADD["function"]["parameters"])
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
    requests = [
        request(),
        request(tools=[add]),
        request(tools=[add], tool_choice="required", max_tokens=3),
        request(response_format={"type": "json_schema", "schema": schema}, max_tokens=100),
        request(max_tokens=2),
        Request(),
        request(tools=[add, add]),
    ]
    with HostThread(load_model(f"openai:{bridge.base}"), path), Client(host.addr) as near, Client(path) as far:
        for asked in requests:
            assert outcome(far, asked) == outcome(near, asked)


def outcome(client: Client, asked: Request) -> Any:
    from warmwire.client import WarmwireError

    try:
        with client.generate(asked) as stream:
            stream.text()
    except WarmwireError as error:
        return type(error)
    answer = stream.answer
    calls = [(call.name, call.input) for call in answer.tool_calls]
    counted = answer.usage.input_tokens, answer.usage.output_tokens  # how many were cached, the prompt before decides
    return answer.text, calls, answer.stop_reason, counted, answer.tool_choice_unsatisfied


def test_embeddings_through_two_hosts(embedding: tuple[PrivateHost, BridgeThread]) -> None:
    from threading import Event

    host, bridge = embedding
    model: Any = load_model(f"openai:{bridge.base}")
    assert (model.capabilities.embed, model.capabilities.rerank, model.capabilities.dimensions) == (True, False, 32)
    with Client(host.addr) as direct:
        expected = direct.embed(["abc", "def"])
    found = model.embed(["abc", "def"], Event())
    assert np.allclose(found.vectors, expected.embeddings, atol=1e-6)
    assert found.input_tokens == expected.usage.input_tokens


def test_an_image_through_two_hosts_is_the_same_bytes() -> None:
    from warmwire.media.images import decode_image, image_attachment
    from warmwire.models.openai.messages import image_uri

    image = random_image(40, 30)
    attachments = Attachments()
    attachments.add_image(image_uri(image_attachment("x", image)), "here")
    assert (decode_image(attachments.found[0]) == image).all()
