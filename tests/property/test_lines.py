"""Lines under any split; requests of the line surfaces under any damage."""

from __future__ import annotations

import contextlib
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmwire.errors import FrameTooLargeError, InvalidRequestError, ProtocolError
from warmwire.wire.admin import decode_status
from warmwire.wire.generation.frames import pour
from warmwire.wire.lines import LineReader
from warmwire.wire.tasks import (
    EmbedRequest,
    RerankRequest,
    TaskReader,
    TaskRequest,
    decode_task_response,
    encode_line,
)

texts = st.text(max_size=20)
embeds = st.builds(
    EmbedRequest,
    input=st.lists(texts, max_size=4),
    id=texts,
    dimensions=st.none() | st.integers(0, 2**32 - 1),
    task=st.none() | texts,
)
reranks = st.builds(
    RerankRequest,
    query=texts,
    documents=st.lists(texts, max_size=4),
    id=texts,
    top_n=st.none() | st.integers(0, 2**32 - 1),
)


def cut(data: bytes, places: list[float]) -> list[bytes]:
    ends = sorted({0, len(data), *(int(p * len(data)) for p in places)})
    return [data[a:b] for a, b in pairwise(ends)]


def take(reader: TaskReader, data: bytes) -> list[TaskRequest]:
    return list(pour(data, reader.get_buffer, reader.buffer_updated, reader.next_request))


@given(st.lists(st.binary(max_size=50).map(lambda b: b.replace(b"\n", b"")), max_size=8), st.lists(st.floats(0, 1)))
def test_any_split_gives_the_same_lines(lines: list[bytes], places: list[float]) -> None:
    reader, got = LineReader(), []
    for piece in cut(b"\n".join(lines), places):
        got += reader.receive_data(piece)
    reader.receive_eof()
    while (line := reader.next_line()) is not None:
        got.append(line)
    assert got == (lines if lines and lines[-1] else lines[:-1])


@given(st.binary(max_size=100), st.integers(0, 20), st.lists(st.floats(0, 1), max_size=5))
def test_no_line_is_over_its_cap_and_nothing_else_is_refused(data: bytes, cap: int, places: list[float]) -> None:
    reader, got, refused = LineReader(cap), [], False
    try:
        for piece in cut(data, places):
            got += reader.receive_data(piece)
        reader.receive_eof()
        while (line := reader.next_line()) is not None:
            got.append(line)
    except FrameTooLargeError:
        refused = True
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    assert got == lines[: len(got)]
    assert refused == any(len(line) > cap for line in lines)


@given(st.lists(embeds | reranks, max_size=4), st.lists(st.floats(0, 1), max_size=5))
def test_requests_come_back_as_they_were_sent(sent: list[TaskRequest], places: list[float]) -> None:
    for kind in (EmbedRequest, RerankRequest):
        requests = [r for r in sent if isinstance(r, kind)]
        reader, got = TaskReader(kind), []
        for piece in cut(b"".join(map(encode_line, requests)), places):
            got += take(reader, piece)
        assert got == requests


@pytest.mark.parametrize("kind", [EmbedRequest, RerankRequest])
@given(request=embeds | reranks, data=st.data())
def test_any_damage_gives_a_request_or_a_documented_error(
    kind: type[EmbedRequest] | type[RerankRequest], request: TaskRequest, data: st.DataObject
) -> None:
    line = bytearray(encode_line(request))
    for _ in range(data.draw(st.integers(0, 4))):
        place = data.draw(st.integers(0, len(line) - 1))
        line[place : place + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=3))
        line = line or bytearray(b"\n")
    reader, found = TaskReader(kind), []
    with contextlib.suppress(ProtocolError):
        found += take(reader, bytes(line))
        reader.receive_eof()
        if (last := reader.next_request()) is not None:
            found.append(last)
    for request in found:
        assert isinstance(request, kind)
        with contextlib.suppress(InvalidRequestError):
            request.validate()


@given(st.binary(max_size=60) | st.recursive(st.none() | st.integers() | texts, st.lists).map(msgspec.json.encode))
def test_what_a_host_sends_is_read_or_refused(line: bytes) -> None:
    for decode in (decode_task_response, decode_status):
        with contextlib.suppress(ProtocolError):
            decode(line)
