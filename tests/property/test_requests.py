"""Requests and answers under any split and any damage."""

from __future__ import annotations

import json
import tracemalloc
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import GOLDEN_REQUEST, GOLDEN_RESPONSE, blob_pair, frame, image_body, json_frame, text_body
from warmwire.errors import ProtocolError, RequestError, WarmwireError
from warmwire.wire.generation.frames import FrameReader, pour
from warmwire.wire.generation.messages import (
    MAX_ATTACHMENT_BYTES,
    MAX_FRAME,
    Attachment,
    Block,
    Message,
    OutBlock,
    Request,
    Usage,
)
from warmwire.wire.generation.messages import StopReason as Stop
from warmwire.wire.generation.request import RequestReader, encode_request
from warmwire.wire.generation.response import Answer, ResponseWriter, decode_response
from warmwire.wire.generation.validate import validate

text = st.text(st.characters(codec="utf-8"), max_size=40)
names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=10)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | text,
    lambda children: st.lists(children, max_size=3) | st.dictionaries(text, children, max_size=3),
    max_leaves=8,
)


@st.composite
def requests(draw: st.DrawFn) -> Request:
    """Any request that passes validation."""
    ids = draw(st.lists(names, max_size=4, unique=True))
    attachments = []
    for id in ids:
        if draw(st.booleans()):
            width, height = draw(st.integers(1, 9)), draw(st.integers(1, 9))
            size = width * height * 3
            data = draw(st.binary(min_size=size, max_size=size))
            attachments.append(Attachment("image", id, width=width, height=height, data=data))
        else:
            data = draw(st.binary(min_size=1, max_size=8)) * 4
            attachments.append(Attachment("audio", id, sample_rate=draw(st.integers(0, 2**32 - 1)), data=data))
    blocks = st.builds(Block, st.just("text"), text=text)
    if attachments:
        blocks |= st.sampled_from(attachments).map(lambda a: Block(a.kind, attachment_id=a.id))
    blocks |= st.builds(Block, st.just("tool_use"), tool_call_id=names, name=names, input=json_values)
    blocks |= st.builds(Block, st.just("tool_result"), tool_call_id=names, content=st.lists(blocks, max_size=2))
    messages = st.builds(
        Message, st.sampled_from(["system", "user", "assistant"]), st.lists(blocks, min_size=1, max_size=3)
    )
    return Request(
        wire_version=1,
        id=draw(text),
        messages=draw(st.lists(messages, min_size=1, max_size=3)),
        attachments=attachments,
        max_tokens=draw(st.none() | st.integers(0, 2**32 - 1)),
        temperature=draw(st.none() | st.floats(0, 2)),
        stream=draw(st.none() | st.booleans()),
        thinking=draw(st.none() | st.booleans()),
    )


def cut(data: bytes, places: list[float]) -> list[bytes]:
    ends = sorted({0, len(data), *(int(p * len(data)) for p in places)})
    return [data[a:b] for a, b in pairwise(ends)]


def plain(request: Request) -> Request:
    for attachment in request.attachments:
        attachment.data = bytes(attachment.data)
    return request


Outcome = tuple[list[Request], str | None, str]


def read(pieces: list[bytes]) -> Outcome:
    """Requests, the code of the error that ended them, and the id to echo. Any other exception fails the test."""
    allocated = 0

    def allocate(size: int) -> bytearray:
        nonlocal allocated
        allocated += size
        assert size <= MAX_FRAME
        assert allocated <= MAX_ATTACHMENT_BYTES * (1 + len(got))
        return bytearray(size)

    got: list[Request] = []
    reader = RequestReader(allocate)
    try:
        for piece in pieces:
            for request in pour(piece, reader.get_buffer, reader.buffer_updated, reader.next_request):
                got.append(plain(request))  # noqa: PERF401 - what came before an error counts
        reader.receive_eof()
    except (ProtocolError, RequestError) as error:
        return got, error.code, reader.request_id
    return got, None, ""


@settings(max_examples=50)  # large examples
@given(st.lists(requests(), max_size=3), st.lists(st.floats(0, 1), max_size=10))
def test_any_split_gives_the_same_requests(sent: list[Request], places: list[float]) -> None:
    data = b"".join(b"".join(encode_request(request)) for request in sent)
    assert read(cut(data, places)) == (list(map(plain, sent)), None, "")
    for request in sent:
        validate(request)


SEEDS = [
    GOLDEN_REQUEST,
    GOLDEN_REQUEST * 2,
    json_frame(image_body("a", "b")) + blob_pair("b", b"bbbbbb") + blob_pair("a", b"aaaaaa"),
    json_frame(text_body(tools=[{"name": "f", "description": "", "input_schema": {"a": [1]}}], tool_choice="auto")),
]


@st.composite
def damaged(draw: st.DrawFn, seeds: list[bytes]) -> bytes:
    """A sound stream with a few bytes changed, dropped, doubled or added."""
    stream = bytearray(draw(st.sampled_from(seeds)))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(stream)))
        count = draw(st.integers(1, 6))
        match draw(st.sampled_from(["change", "drop", "double", "add", "cut"])):
            case "change":
                stream[at : at + count] = draw(st.binary(min_size=count, max_size=count))
            case "drop":
                del stream[at : at + count]
            case "double":
                stream[at:at] = stream[at : at + count * 8]
            case "add":
                stream[at:at] = draw(st.binary(max_size=count))
            case "cut":
                del stream[at:]
    return bytes(stream)


@settings(max_examples=300)
@given(damaged(SEEDS), st.lists(st.floats(0, 1), max_size=6))
def test_damage_gives_requests_or_a_documented_error_whatever_the_split(stream: bytes, places: list[float]) -> None:
    whole = read([stream])
    assert read(cut(stream, places)) == whole
    for request in whole[0]:
        check_validation(request)


def check_validation(request: Request) -> None:
    try:
        validate(request)
    except RequestError:
        pass


def mutate(value: Any, data: st.DataObject) -> Any:
    """A JSON value with one place in it replaced by something else."""
    if isinstance(value, dict) and value and data.draw(st.booleans()):
        key = data.draw(st.sampled_from(sorted(value)))
        if data.draw(st.integers(0, 4)) == 0:
            return {k: v for k, v in value.items() if k != key}
        return value | {key: mutate(value[key], data)}
    if isinstance(value, list) and value and data.draw(st.booleans()):
        at = data.draw(st.integers(0, len(value) - 1))
        return [*value[:at], mutate(value[at], data), *value[at + 1 :]]
    return data.draw(
        json_values | st.sampled_from(["video", "audio", "image", "tool_result", 0, -1, 1 << 40, [], {}, ""])
    )


@settings(max_examples=300)
@given(st.sampled_from([image_body("a", "b"), text_body("x")]), st.data())
def test_a_body_of_any_shape_is_read_or_refused(body: dict[str, Any], data: st.DataObject) -> None:
    for _ in range(data.draw(st.integers(1, 3))):
        body = mutate(body, data)
    got, code, _ = read([json_frame(body) + blob_pair("a", bytes(6)) + blob_pair("b", bytes(6))])
    assert got or code
    for request in got:
        check_validation(request)


@settings(max_examples=30)
@given(damaged([GOLDEN_REQUEST]))
def test_damage_costs_no_memory(stream: bytes) -> None:
    """Blobs are bounded by their descriptors and those by the budget; here all else is."""
    reader = RequestReader(lambda size: memoryview(SINK)[: min(size, len(SINK))])
    tracemalloc.start()
    try:
        reader.receive_data(stream)
    except WarmwireError:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 2 << 20


SINK = bytearray(1 << 16)

blocks = st.one_of(
    st.builds(OutBlock, st.just("text"), st.text(max_size=50)),
    st.builds(OutBlock, st.just("thinking"), text),
    st.builds(OutBlock, st.just("tool_use"), tool_call_id=names, name=names, input=json_values),
)


@given(text, st.lists(blocks, max_size=6), st.lists(st.floats(0, 1), max_size=8))
def test_any_split_gives_the_same_answer(id: str, sent: list[OutBlock], places: list[float]) -> None:
    writer = ResponseWriter(id)
    data = b"".join(map(writer.block, sent)) + writer.done(Stop.END_TURN, Usage(1, 2), "m", {"x": 1})
    for item in FrameReader().receive_data(data):
        assert json.loads(bytes(item[1]))["id"] == id
    reader, answer = FrameReader(), Answer()
    got = [answer.take(decode_response(item)) for piece in cut(data, places) for item in reader.receive_data(piece)]
    expected = [OutBlock("text", b.delta.encode("utf-8", "replace").decode()) if b.type == "text" else b for b in sent]
    assert got == [*expected, None]
    assert answer.finished
    assert (answer.usage, answer.report) == (Usage(1, 2), {"x": 1})


@settings(max_examples=300)
@given(damaged([GOLDEN_RESPONSE]))
def test_a_damaged_answer_gives_blocks_or_a_documented_error(stream: bytes) -> None:
    reader, answer = FrameReader(), Answer()
    try:
        for item in reader.receive_data(stream):
            answer.take(decode_response(item))
        reader.receive_eof()
    except WarmwireError:
        pass
    assert isinstance(answer.text, str)


@given(json_values)
def test_any_json_is_a_response_or_a_protocol_error(value: Any) -> None:
    [item] = FrameReader().receive_data(frame(1, json.dumps(value).encode()))
    try:
        Answer().take(decode_response(item))
    except (ProtocolError, RequestError):
        pass
