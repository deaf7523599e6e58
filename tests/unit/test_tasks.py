"""Requests for embeddings and rankings: what is checked, in which order, with which words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from warmwire.errors import FrameTooLargeError, InvalidRequestError, ProtocolError
from warmwire.wire.generation.frames import pour
from warmwire.wire.generation.messages import MAX_FRAME
from warmwire.wire.tasks import (
    EMBED_TASKS,
    MAX_DOCUMENTS,
    MAX_RERANK_BYTES,
    EmbedRequest,
    EmbedResponse,
    Ranked,
    RerankRequest,
    RerankResponse,
    TaskError,
    TaskReader,
    TaskUsage,
    decode_task_response,
    encode_line,
)

Kind = type[EmbedRequest] | type[RerankRequest]


def decode(kind: Kind, line: bytes, *, end: bool = False) -> Any:
    reader = TaskReader(kind)
    requests = list(pour(line, reader.get_buffer, reader.buffer_updated, reader.next_request))
    if end:
        reader.receive_eof()
    return requests[0] if requests else reader.next_request()


# ---------------------------------------------------------------------- embeddings


def test_an_embed_request_with_everything() -> None:
    line = b'{"id":"e","input":["a","b"],"dimensions":128,"task":"similarity","newer":1}\r\n'
    assert decode(EmbedRequest, line) == EmbedRequest(["a", "b"], "e", 128, "similarity")


def test_defaults_are_left_out() -> None:
    assert encode_line(EmbedRequest(["a"])) == b'{"input":["a"]}\n'
    assert encode_line(RerankRequest("q", ["d"])) == b'{"query":"q","documents":["d"]}\n'


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        (EmbedRequest, b""),
        (EmbedRequest, b"nonsense"),
        (EmbedRequest, b"\xff\xfe"),
        (EmbedRequest, b"[]"),
        (EmbedRequest, b"{}"),
        (EmbedRequest, b'{"id":"x"}'),
        (EmbedRequest, b'{"input":"a"}'),
        (EmbedRequest, b'{"input":[1]}'),
        (EmbedRequest, b'{"input":null}'),
        (EmbedRequest, b'{"input":["a"],"dimensions":-1}'),
        (EmbedRequest, b'{"input":["a"],"dimensions":4294967296}'),
        (EmbedRequest, b'{"input":["a"],"dimensions":"8"}'),
        (EmbedRequest, b'{"input":["a"],"task":3}'),
        (EmbedRequest, b'{"input":["\\ud800"]}'),
        (EmbedRequest, b'{"input":["a"]} {}'),
        (EmbedRequest, b'{"input":["a"],"id":"' + b"i" * 65537 + b'"}'),
        (EmbedRequest, b"[" * 60000),
        (RerankRequest, b'{"query":"q"}'),
        (RerankRequest, b'{"documents":["d"]}'),
        (RerankRequest, b'{"query":"q","documents":[null]}'),
        (RerankRequest, b'{"query":["q"],"documents":["d"]}'),
        (RerankRequest, b'{"query":"q","documents":["d"],"top_n":1.5}'),
        (RerankRequest, b'{"query":"q","documents":["d"],"top_n":-1}'),
    ],
)
def test_what_does_not_decode(kind: Kind, line: bytes) -> None:
    with pytest.raises(ProtocolError, match=r"^decode: "):
        decode(kind, line + b"\n")


def test_the_last_line_needs_no_newline() -> None:
    assert decode(EmbedRequest, b'{"input":["a"]}') is None
    assert decode(EmbedRequest, b'{"input":["a"]}', end=True) == EmbedRequest(["a"])


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        # each with every fault that is looked for later, so that the order shows
        (EmbedRequest([], dimensions=0, task="x"), "^input must not be empty$"),
        (EmbedRequest(["a", "", ""], dimensions=0, task="x"), r"^input\[1\] must not be empty$"),
        (EmbedRequest(["a"], dimensions=0, task="x"), "^task uses an unknown variant: 'x'$"),
        (EmbedRequest(["a"], dimensions=0, task="similarity"), "^dimensions must be greater than zero when set$"),
        (RerankRequest("", [], top_n=0), "^query must not be empty$"),
        (RerankRequest("q", [], top_n=0), "^documents must not be empty$"),
        (RerankRequest("q", [""] * 257, top_n=0), "^request carries 257 documents; at most 256 allowed$"),
        (RerankRequest("q", ["d", "", "x" * MAX_RERANK_BYTES], top_n=0), r"^documents\[1\] must not be empty$"),
        (RerankRequest("q", ["d" * MAX_RERANK_BYTES], top_n=0), "8388609 bytes; at most 8388608 allowed"),
        (RerankRequest("q", ["d"], top_n=0), "^top_n must be greater than zero when set$"),
    ],
)
def test_the_order_of_checks(request_: EmbedRequest | RerankRequest, words: str) -> None:
    with pytest.raises(InvalidRequestError, match=words):
        request_.validate()


@pytest.mark.parametrize("task", [None, *EMBED_TASKS])
def test_every_task_of_the_wire_is_known(task: str | None) -> None:
    EmbedRequest([" "], task=task).validate()


def test_the_limits_themselves_are_allowed() -> None:
    RerankRequest("q", ["d"] * MAX_DOCUMENTS, top_n=1000).validate()
    RerankRequest("q", ["d" * (MAX_RERANK_BYTES - 1)], top_n=1).validate()


def test_bytes_are_counted_not_characters() -> None:
    euros = "\u20ac" * (MAX_RERANK_BYTES // 3)  # two bytes are left
    RerankRequest("q", [euros, "a"]).validate()
    with pytest.raises(InvalidRequestError, match=f"{MAX_RERANK_BYTES + 1} bytes"):
        RerankRequest("q", [euros, "ab"]).validate()


# ---------------------------------------------------------------------- responses

RESPONSES = [
    (
        EmbedResponse("e", [[0.5, -1.0]], 2, "m", TaskUsage(7), "llamacpp"),
        {
            "type": "embeddings",
            "id": "e",
            "embeddings": [[0.5, -1.0]],
            "dimensions": 2,
            "model": "m",
            "usage": {"input_tokens": 7},
            "backend": "llamacpp",
        },
    ),
    (
        RerankResponse("", [Ranked(1, -3.25), Ranked(0, -4.0)], "m", TaskUsage(), "b"),
        {
            "type": "rerank",
            "id": "",
            "results": [{"index": 1, "score": -3.25}, {"index": 0, "score": -4.0}],
            "model": "m",
            "usage": {"input_tokens": 0},
            "backend": "b",
        },
    ),
    (TaskError("", "queue_full", "later"), {"type": "error", "id": "", "code": "queue_full", "message": "later"}),
]


@pytest.mark.parametrize(("response", "value"), RESPONSES)
def test_responses_are_what_the_wire_says(response: Any, value: dict[str, Any]) -> None:
    line = encode_line(response)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert json.loads(line) == value
    assert decode_task_response(line) == response
    assert decode_task_response(json.dumps({**value, "newer": [1]}).encode()) == response


@pytest.mark.parametrize("line", [b"", b"{}", b"[]", b'{"type":"done"}', b'{"type":"error"}', b"\xff", b"[" * 99999])
def test_what_is_no_response(line: bytes) -> None:
    with pytest.raises(ProtocolError, match="the host sent a line that cannot be read"):
        decode_task_response(line)


# ---------------------------------------------------------------------- what cannot be sent


def test_text_without_utf8_is_refused_by_name() -> None:
    with pytest.raises(InvalidRequestError, match="surrogates"):
        encode_line(EmbedRequest(["\ud800"]))


def test_a_line_over_the_cap_is_refused() -> None:
    frame = len(encode_line(EmbedRequest([""]))) - 1
    text = "x" * (MAX_FRAME - frame - 1)
    assert len(encode_line(EmbedRequest([text]))) == MAX_FRAME
    with pytest.raises(FrameTooLargeError, match=f"line of {MAX_FRAME} bytes"):
        encode_line(EmbedRequest([text + "x"]))
