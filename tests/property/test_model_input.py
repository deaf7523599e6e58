"""What comes from files and servers of others: an answer or a documented error, never anything else."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import gguf
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import tiny_gguf
from warmwire.errors import InputError, RequestError
from warmwire.models.llama.header import GgufHeader, read_header
from warmwire.models.openai.errors import status_error
from warmwire.models.openai.stream import AnswerStream
from warmwire.models.openai.vectors import read_scores, read_vectors
from warmwire.wire.generation.response import ResponseWriter
from warmwire.wire.generation.text import StopStrings, WholeCharacters

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
ARGUMENTS = st.sampled_from(["{}", "{", "}", "[]"]) | JSON.map(json.dumps)
CALL = st.fixed_dictionaries(
    {},
    optional={
        "index": st.integers(0, 2) | JSON,
        "id": st.text(max_size=2) | JSON,
        "function": st.fixed_dictionaries(
            {},
            optional={"name": st.text(max_size=2) | JSON, "arguments": ARGUMENTS | JSON},
        ),
    },
)
DELTA = st.fixed_dictionaries(
    {},
    optional={
        "content": st.text() | JSON,
        "reasoning_content": st.text() | JSON,
        "tool_calls": st.lists(CALL, max_size=3) | JSON,
    },
)
CHOICE = st.fixed_dictionaries(
    {},
    optional={"delta": DELTA | JSON, "finish_reason": st.sampled_from(["stop", "length", "tool_calls", None]) | JSON},
)
USAGE = st.fixed_dictionaries({"prompt_tokens": st.integers(), "completion_tokens": st.integers()})
CHUNK = st.fixed_dictionaries(
    {}, optional={"choices": st.lists(CHOICE, max_size=2) | JSON, "usage": USAGE | JSON, "error": JSON}
)


@given(st.lists(CHUNK.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=40), max_size=6))
def test_any_stream_is_an_answer_or_an_error(chunks: list[bytes]) -> None:
    writer = ResponseWriter("x")
    answer = AnswerStream(lambda block: writer.block(block) and None)  # what is emitted can be encoded
    try:
        for chunk in chunks:
            answer.take(chunk)
        finish = answer.finish()
    except RequestError:
        return
    assert finish.usage.output_tokens >= 0
    writer.done(finish.stop_reason, finish.usage, "m")


@given(st.text(max_size=40), st.lists(st.integers(0, 200)))
def test_text_comes_through_unchanged(text: str, cuts: list[int]) -> None:
    seen: list[str] = []
    answer = AnswerStream(lambda block: seen.append(block.delta))
    escaped = [json.dumps(text)[1:-1]]  # every character beyond ASCII as an escape, those beyond the BMP as two
    units = [unit for piece in escaped for unit in _escapes(piece)]
    places = [0, *sorted(cut for cut in cuts if cut < len(units)), len(units)]
    for start, end in itertools.pairwise(places):
        content = "".join(units[start:end])
        answer.take(f'{{"choices": [{{"delta": {{"content": "{content}"}}}}]}}'.encode())
    answer.take(b'{"choices": [{"finish_reason": "stop"}]}')
    answer.finish()
    assert "".join(seen) == text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _escapes(text: str) -> list[str]:
    """The units of a JSON string: characters and whole escapes."""
    out, i = [], 0
    while i < len(text):
        size = 1 if text[i] != "\\" else 6 if text[i + 1] == "u" else 2
        out.append(text[i : i + size])
        i += size
    return out


@given(st.integers(200, 599), st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_refusal_is_a_sentence(status: int, body: bytes) -> None:
    text = str(status_error(status, body))
    assert text
    assert text.isprintable()


@given(st.binary(max_size=40) | JSON.map(lambda value: json.dumps(value).encode()), st.integers(1, 3))
def test_any_vectors_and_scores_are_right_or_an_error(data: bytes, count: int) -> None:
    for read in (read_vectors, read_scores):
        try:
            read(data, count)
        except RequestError:
            pass


@given(
    st.lists(st.text("ab<>/", max_size=6), max_size=8), st.lists(st.text("ab<>/", min_size=1, max_size=4), max_size=3)
)
def test_stop_strings_cut_as_if_the_text_were_whole(pieces: list[str], stops: list[str]) -> None:
    text = "".join(pieces)
    places = [at for stop in stops if (at := text.find(stop)) >= 0]
    stream = StopStrings(stops)
    out = "".join(stream.feed(piece) for piece in pieces) + stream.end()
    if places:
        # Where two stop strings overlap, the one that is whole first ends the text.
        assert text.startswith(out)
        assert stream.found
        assert not any(stop in out for stop in stops)
    else:
        assert out == text


@given(st.text())
def test_whole_characters_can_always_be_encoded(text: str) -> None:
    stream = WholeCharacters()
    (stream.feed(text) + stream.end()).encode()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("fuzz") / "x.gguf"
    return tiny_gguf.encoder(path).read_bytes()[:4096]


@settings(max_examples=200)
@given(data=st.data())
def test_any_file_is_a_header_or_an_error(whole: bytes, tmp_path_factory: pytest.TempPathFactory, data: Any) -> None:
    broken = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, 400) | st.integers(0, len(broken) - 1))
        broken[at] = data.draw(st.integers(0, 255))
    path: Path = tmp_path_factory.getbasetemp() / "fuzzed.gguf"
    path.write_bytes(broken[: data.draw(st.integers(0, len(broken)))])
    try:
        header = read_header(path)
    except InputError:
        return
    assert isinstance(header, GgufHeader)
    assert header.name.isprintable()
    assert (header.embeds, header.reranks) != (True, True)
    assert header.context >= 0


def test_the_reader_agrees_with_the_package(tmp_path: Path) -> None:
    path = tiny_gguf.text_model(tmp_path / "x.gguf")
    ours = read_header(path).values
    theirs = gguf.GGUFReader(str(path)).fields
    for key, value in ours.items():
        assert theirs[key].contents() == value
    arrays = {key for key, field in theirs.items() if field.types[:1] == [gguf.GGUFValueType.ARRAY]}
    assert set(theirs) - set(ours) - arrays == {"GGUF.version", "GGUF.tensor_count", "GGUF.kv_count"}
