"""Requests with their blobs: what is read, what is refused, and what is written."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from tests.support import GOLDEN_REQUEST, blob_pair, descriptor, frame, image_body, json_frame, text_body, uvarint
from warmwire.errors import (
    ErrorCode,
    FrameTooLargeError,
    InvalidRequestError,
    ProtocolError,
    WarmwireError,
    WireVersionError,
)
from warmwire.media.images import decode_image
from warmwire.wire.generation.messages import (
    MAX_ATTACHMENT_BYTES,
    MAX_FRAME,
    PROMPT_PAGE,
    Attachment,
    Block,
    Message,
    Request,
    text_block,
)
from warmwire.wire.generation.request import RequestReader, decode_body, encode_request

PIXELS = bytes(range(6))


def read(data: bytes, step: int = 1 << 30) -> list[Request]:
    reader, requests = RequestReader(), []
    for at in range(0, len(data), step):
        requests += reader.receive_data(data[at : at + step])
    reader.receive_eof()
    return requests


def refusal(data: bytes, *, eof: bool = False) -> tuple[WarmwireError, str]:
    """The error that bytes give, and the id to echo."""
    reader = RequestReader()

    def run() -> None:
        reader.receive_data(data)
        if eof:
            reader.receive_eof()

    with pytest.raises(WarmwireError) as caught:
        run()
    return caught.value, reader.request_id


# ---------------------------------------------------------------------- golden bytes


@pytest.mark.parametrize("step", [1, 2, 3, 50, 1000])
def test_golden_request(step: int) -> None:
    [request] = read(GOLDEN_REQUEST, step)
    assert request.id == "page-1"
    assert request.max_tokens == 8192
    assert request.temperature == 0
    assert request.messages == [
        Message("user", [Block("image", attachment_id="page-1"), Block("text", text=PROMPT_PAGE)])
    ]
    image = decode_image(request.attachments[0])
    assert image.shape == (2, 3, 3)
    assert image[1, 2].tolist() == [20, 20, 3]


def test_golden_request_is_written_byte_for_byte() -> None:
    [request] = read(GOLDEN_REQUEST)
    assert b"".join(encode_request(request)) == GOLDEN_REQUEST


def test_golden_request_with_a_tail() -> None:
    reader = RequestReader()
    assert len(reader.receive_data(GOLDEN_REQUEST + GOLDEN_REQUEST[:-1])) == 1
    assert reader.request_id == "page-1"
    assert len(reader.receive_data(GOLDEN_REQUEST[-1:])) == 1
    assert reader.request_id == ""
    reader.receive_eof()


def test_requests_one_after_another() -> None:
    data = GOLDEN_REQUEST + json_frame(text_body(id="second")) + GOLDEN_REQUEST
    assert [r.id for r in read(data)] == ["page-1", "second", "page-1"]
    assert [r.id for r in read(data, 5)] == ["page-1", "second", "page-1"]


# ---------------------------------------------------------------------- what is tolerated


def test_unknown_keys_and_block_types_are_kept_out_of_the_way() -> None:
    body = text_body(novelty={"a": [1]})
    body["messages"][0]["content"].append({"type": "hologram", "angle": 3})
    [request] = read(json_frame(body))
    assert request.messages[0].content[1].type == "hologram"


def test_every_field_survives_a_round_trip() -> None:
    body = text_body(
        max_tokens=7,
        temperature=0.5,
        top_p=0.9,
        top_k=40,
        stream=False,
        tools=[{"name": "f", "description": "d", "input_schema": {"type": "object"}}],
        tool_choice="auto",
        thinking=True,
    )
    body["messages"] += [
        {"role": "assistant", "content": [{"type": "tool_use", "tool_call_id": "t", "name": "f", "input": {"x": [1]}}]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_call_id": "t", "content": [{"type": "text", "text": ""}]},
            ],
        },
    ]
    [request] = read(json_frame(body))
    [piece] = encode_request(request)
    assert json.loads(bytes(piece)[3:]) == body


def test_an_id_may_be_missing() -> None:
    body = text_body()
    del body["id"]
    assert read(json_frame(body))[0].id == ""


def test_blobs_are_matched_by_id_whatever_their_order() -> None:
    data = json_frame(image_body("a", "b")) + blob_pair("b", b"bbbbbb") + blob_pair("a", b"aaaaaa")
    assert [bytes(a.data) for a in read(data)[0].attachments] == [b"aaaaaa", b"bbbbbb"]


def test_a_video_waits_for_no_bytes() -> None:
    body = text_body(attachments=[{"kind": "video", "id": "v"}])
    assert read(json_frame(body))[0].attachments[0].kind == "video"


def test_an_image_without_pixels_waits_for_no_bytes() -> None:
    """The seed's client sends no blob for it, so waiting would never end."""
    assert len(read(json_frame(image_body("a", width=0)))) == 1


def test_an_empty_audio_blob_is_a_blob() -> None:
    body = text_body(attachments=[{"kind": "audio", "id": "a", "sample_rate": 16000}])
    assert bytes(read(json_frame(body) + blob_pair("a", b""))[0].attachments[0].data) == b""


def test_json_cannot_set_the_bytes_of_an_attachment() -> None:
    body = text_body(attachments=[{"kind": "video", "id": "v", "data": "smuggled"}])
    assert read(json_frame(body))[0].attachments[0].data == b""


def test_32_attachments_are_accepted() -> None:
    ids = [f"i{n}" for n in range(32)]
    data = json_frame(image_body(*ids)) + b"".join(blob_pair(i, PIXELS) for i in ids)
    assert len(read(data)[0].attachments) == 32


# ---------------------------------------------------------------------- what is refused

NOT_READABLE: dict[str, bytes] = {
    "not json": b"{",
    "empty": b"",
    "not utf-8": b'{"id":"\xff"}',
    "not utf-8 under an unknown key": json.dumps(text_body(x="?")).encode().replace(b"?", b"\xff"),
    "array": b"[]",
    "trailing": b'{"messages":[]} x',
    "deep": b'{"x":' + b"[" * 100_000,
    "lone surrogate": b'{"messages":[],"id":"\\ud800"}',
    "no messages": b'{"wire_version":1,"id":"r"}',
    "messages null": b'{"wire_version":1,"messages":null}',
    "role tool": b'{"wire_version":1,"messages":[{"role":"tool","content":[]}]}',
    "no role": b'{"wire_version":1,"messages":[{"content":[]}]}',
    "id a number": b'{"wire_version":1,"id":3,"messages":[]}',
    "negative max_tokens": b'{"wire_version":1,"messages":[],"max_tokens":-1}',
    "max_tokens over u32": b'{"wire_version":1,"messages":[],"max_tokens":4294967296}',
    "negative version": b'{"wire_version":-1,"messages":[]}',
    "tool_choice an object": b'{"wire_version":1,"messages":[],"tool_choice":{"name":"f"}}',
    "unknown response_format": b'{"wire_version":1,"messages":[],"response_format":{"type":"xml","schema":{}}}',
    "response_format without schema": b'{"wire_version":1,"messages":[],"response_format":{"type":"json_schema"}}',
    "response_format a string": b'{"wire_version":1,"messages":[],"response_format":"json"}',
    "key twice": b'{"wire_version":1,"id":"a","id":"b","messages":[]}',
    "key twice inside": b'{"wire_version":1,"messages":[{"role":"user","role":"user","content":[]}]}',
    "attachment without kind": b'{"wire_version":1,"messages":[],"attachments":[{"id":"a"}]}',
    "attachment without id": b'{"wire_version":1,"messages":[],"attachments":[{"kind":"image"}]}',
    "id without bound": b'{"wire_version":1,"messages":[],"id":"' + b"i" * 70_000 + b'"}',
    "number without bound": b'{"wire_version":1,"messages":[],"max_tokens":' + b"9" * 10_000 + b"}",
}


@pytest.mark.parametrize("name", NOT_READABLE)
def test_what_cannot_be_decoded_echoes_no_id(name: str) -> None:
    error, id = refusal(frame(1, NOT_READABLE[name]))
    assert isinstance(error, ProtocolError)
    assert error.code == ErrorCode.INVALID_REQUEST
    assert str(error).startswith("decode: ")
    assert id == ""


TOOL_USE = {"type": "tool_use", "tool_call_id": "c", "name": "f"}
LACKING: list[tuple[dict[str, Any], str]] = [
    ({"type": "text"}, "text"),
    ({"type": "text", "text": None}, "text"),
    ({"type": "image"}, "attachment_id"),
    ({"type": "audio"}, "attachment_id"),
    ({"type": "video"}, "attachment_id"),
    ({"type": "tool_use", "tool_call_id": "c"}, "name"),
    ({"type": "tool_use", "name": "f"}, "tool_call_id"),
    ({"type": "tool_result", "content": []}, "tool_call_id"),
]


@pytest.mark.parametrize("depth", [0, 1, 200])
@pytest.mark.parametrize(("block", "key"), LACKING)
def test_a_block_without_what_it_is_made_of_cannot_be_decoded(block: dict[str, Any], key: str, depth: int) -> None:
    body = text_body()
    inner = block
    for _ in range(depth):
        inner = {"type": "tool_result", "tool_call_id": "t", "content": [inner]}
    body["messages"][0]["content"].append(inner)
    error, id = refusal(json_frame(body))
    assert isinstance(error, ProtocolError)
    assert (str(error), id) == (f"decode: a block of type {block['type']} lacks its `{key}`", "")


def test_blocks_may_lack_the_rest() -> None:
    body = text_body("")
    result = {"type": "tool_result", "tool_call_id": "c"}
    body["messages"][0]["content"] += [TOOL_USE, result, {"type": "hologram", "content": [{"type": "text"}]}]
    [request] = read(json_frame(body))
    assert [block.type for block in request.messages[0].content] == ["text", "tool_use", "tool_result", "hologram"]


def test_a_bad_body_wins_over_a_bad_version() -> None:
    error, id = refusal(json_frame({"wire_version": 9, "id": "r"}))
    assert (error.code, id) == (ErrorCode.INVALID_REQUEST, "")


@pytest.mark.parametrize("version", [None, 0, 2, 4294967295])
def test_other_versions_are_refused_by_number(version: int | None) -> None:
    body = text_body(wire_version=version)
    if version is None:
        del body["wire_version"]
    error, id = refusal(json_frame(body))
    assert isinstance(error, WireVersionError)
    assert str(error) == f"unsupported wire_version {version or 0}: this host speaks wire_version 1"
    assert id == "r"


def test_a_blob_where_a_request_belongs() -> None:
    error, id = refusal(frame(2, b"x"))
    assert (error.code, id) == (ErrorCode.INVALID_REQUEST, "")


def test_33_attachments_are_refused_before_any_blob() -> None:
    error, id = refusal(json_frame(image_body(*(f"i{n}" for n in range(33)))))
    assert isinstance(error, InvalidRequestError)
    assert str(error) == "request declares 33 attachments; at most 32 allowed"
    assert id == "r"


BAD_BLOBS: dict[str, tuple[bytes, ErrorCode]] = {
    "descriptor over the frame cap": (descriptor("a", MAX_FRAME + 1), ErrorCode.FRAME_TOO_LARGE),
    "descriptor negative": (descriptor("a", -1), ErrorCode.INVALID_REQUEST),
    "descriptor not json": (frame(1, b"?"), ErrorCode.INVALID_REQUEST),
    "descriptor of another type": (
        json_frame({"type": "blob", "attachment_id": "a", "len": 6}),
        ErrorCode.INVALID_REQUEST,
    ),
    "descriptor without length": (
        json_frame({"type": "attachment_blob", "attachment_id": "a"}),
        ErrorCode.INVALID_REQUEST,
    ),
    "blob first": (frame(2, PIXELS), ErrorCode.INVALID_REQUEST),
    "json after the descriptor": (descriptor("a", 6) + json_frame({}), ErrorCode.INVALID_REQUEST),
    "longer than its descriptor": (descriptor("a", 5) + frame(2, PIXELS), ErrorCode.INVALID_REQUEST),
    "shorter than its descriptor": (descriptor("a", 7) + frame(2, PIXELS), ErrorCode.INVALID_REQUEST),
    "unknown id": (blob_pair("z", PIXELS), ErrorCode.INVALID_REQUEST),
    "the same id again": (blob_pair("a", PIXELS) * 2, ErrorCode.INVALID_REQUEST),
}


@pytest.mark.parametrize("name", BAD_BLOBS)
def test_bad_blobs_echo_the_id(name: str) -> None:
    data, code = BAD_BLOBS[name]
    error, id = refusal(json_frame(image_body("a", "b")) + data)
    assert (error.code, id) == (code, "r")


def test_blobs_are_charged_together_when_they_are_announced() -> None:
    shared = memoryview(bytearray(MAX_FRAME))
    reader = RequestReader(allocate=lambda length: shared[:length])
    body = image_body("a", "b", "c", width=100, height=100)
    reader.receive_data(json_frame(body))
    for id in "ab":
        reader.receive_data(descriptor(id, MAX_FRAME) + uvarint(MAX_FRAME) + b"\x02")
        reader.buffer_updated(len(reader.get_buffer()))
        assert reader.next_request() is None
    with pytest.raises(FrameTooLargeError, match=f"exceed {MAX_ATTACHMENT_BYTES} bytes together"):
        reader.receive_data(descriptor("c", 1))


def test_eof_between_blobs() -> None:
    for data in (b"", descriptor("a", 6), descriptor("a", 6) + b"\x06\x02abc", blob_pair("a", PIXELS)):
        error, id = refusal(json_frame(image_body("a", "b")) + data, eof=True)
        assert (error.code, id) == (ErrorCode.INVALID_REQUEST, "r")


def test_nothing_is_allocated_before_the_blob_itself_begins() -> None:
    sizes: list[int] = []

    def allocate(size: int) -> bytearray:
        sizes.append(size)
        return bytearray(size)

    reader = RequestReader(allocate)
    reader.receive_data(json_frame(image_body("a")) + descriptor("a", 6))
    assert sizes == []
    reader.receive_data(b"\x06\x02a")
    assert sizes == [6]


def test_an_abandoned_request_gives_its_buffers_back() -> None:
    reader = RequestReader()
    reader.receive_data(
        json_frame(image_body("a", "b", "c")) + blob_pair("b", PIXELS) + descriptor("a", 6) + b"\x06\x02a"
    )
    request = reader.abandon()
    assert request is not None
    assert [len(a.data) for a in request.attachments] == [6, 6, 0]
    assert reader.abandon() is None


# ---------------------------------------------------------------------- writing


def page(data: Any = PIXELS) -> Request:
    return Request(
        id="r",
        messages=[Message("user", [text_block("hé <&>")])],
        attachments=[Attachment("image", "a", width=2, height=1, data=data)],
    )


def test_blobs_are_sent_from_where_they_lie() -> None:
    data = bytearray(PIXELS)
    view = encode_request(page(data))[-1]
    assert isinstance(view, memoryview)
    assert view.obj is data


def test_the_version_is_filled_in_and_the_request_left_alone() -> None:
    request = page()
    body = bytes(encode_request(request)[0])
    assert b'"wire_version":1' in body
    assert request.wire_version == 0
    assert request.attachments[0].data == PIXELS


def test_messages_are_written_also_where_there_are_none() -> None:
    data = b"".join(encode_request(Request(id="r")))
    assert data == frame(1, b'{"wire_version":1,"id":"r","messages":[]}')
    assert read(data)[0].messages == []


def test_an_attachment_that_has_no_bytes_has_no_blob() -> None:
    attachments = [Attachment("image", "i", width=0, height=0), Attachment("video", "v")]
    assert len(encode_request(Request(messages=[], attachments=attachments))) == 1


def test_an_attachment_that_lacks_its_bytes_is_not_sent() -> None:
    """Its host would wait for them, and we for the answer."""
    with pytest.raises(InvalidRequestError, match="'a' has no bytes"):
        encode_request(page(b""))
    with pytest.raises(InvalidRequestError, match="'a' has no bytes"):
        encode_request(Request(messages=[], attachments=[Attachment("audio", "a", sample_rate=16000)]))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"messages": [Message("user", [text_block("\ud800")])]}, "a text cannot be sent: "),
        ({"temperature": float("nan")}, "temperature must be a finite number, not nan"),
        ({"top_p": float("inf")}, "top_p must be a finite number, not inf"),
    ],
)
def test_what_json_cannot_say_is_not_sent(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidRequestError, match=said):
        encode_request(Request(**fields))


def test_what_the_wire_cannot_carry_is_not_sent() -> None:
    with pytest.raises(InvalidRequestError, match="33 attachments"):
        encode_request(Request(attachments=[Attachment("image", str(n)) for n in range(33)]))
    with pytest.raises(FrameTooLargeError):
        encode_request(page(memoryview(bytearray(MAX_FRAME + 1))))
    half = memoryview(bytearray(MAX_FRAME // 2 + 1))
    attachments = [Attachment("image", str(n), data=half) for n in range(4)]
    with pytest.raises(FrameTooLargeError, match="together"):
        encode_request(Request(messages=[], attachments=attachments))


def test_large_bodies_are_read_without_the_search_for_repeated_keys() -> None:
    body = json.dumps(text_body("x" * (1 << 20))).encode()
    assert len(decode_body(body).messages[0].content[0].text or "") == 1 << 20


def test_a_body_says_where_it_is_wrong() -> None:
    with pytest.raises(ProtocolError, match=r"\$\.messages\[0\]\.role"):
        decode_body(msgspec.json.encode({"messages": [{"role": "tool", "content": []}]}))
