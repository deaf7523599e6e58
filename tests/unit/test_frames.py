"""Frames: lengths, types, caps, and bytes that arrive however they like."""

from __future__ import annotations

import tracemalloc

import pytest

from tests.support import GOLDEN_REQUEST, GOLDEN_RESPONSE, frame, uvarint
from warmwire.errors import FrameTooLargeError, ProtocolError
from warmwire.wire.generation.frames import FrameReader, encode_frame, encode_header
from warmwire.wire.generation.messages import FRAME_BLOB, FRAME_JSON, MAX_FRAME
from warmwire.wire.scratch import SCRATCH

STREAMS = {
    "json": ([(1, b"{}")], b"\x02\x01{}"),
    "empty json": ([(1, b"")], b"\x00\x01"),
    "blob": ([(2, b"abc")], b"\x03\x02abc"),
    "empty blob": ([(2, b"")], b"\x00\x02"),
    "two bytes of length": ([(1, b" " * 128)], b"\x80\x01\x01" + b" " * 128),
    "length longer than it needs to be": ([(1, b"{}")], b"\x82\x80\x80\x80\x00\x01{}"),
    "mixed": ([(1, b"{}"), (2, b"\x00\x01"), (1, b"[1]")], b"\x02\x01{}\x02\x02\x00\x01\x03\x01[1]"),
    "large json": ([(1, b"x" * (SCRATCH + 1))], frame(1, b"x" * (SCRATCH + 1))),
    "json of half the scratch": ([(1, b"y" * (SCRATCH // 2))], frame(1, b"y" * (SCRATCH // 2))),
    "json just over that": ([(1, b"z" * (SCRATCH // 2 + 1))], frame(1, b"z" * (SCRATCH // 2 + 1))),
    "growing json": ([(1, b"g" * (3 << 20)), (1, b"{}")], frame(1, b"g" * (3 << 20)) + frame(1, b"{}")),
}


def read(data: bytes, step: int) -> list[tuple[int, bytes]]:
    reader, frames = FrameReader(), []
    for at in range(0, len(data), step):
        frames += reader.receive_data(data[at : at + step])
    reader.receive_eof()
    return [(kind, bytes(payload)) for kind, payload in frames]


@pytest.mark.parametrize("name", STREAMS)
def test_frames_arrive_whole_in_pieces_and_with_a_tail(name: str) -> None:
    frames, data = STREAMS[name]
    assert read(data, len(data)) == frames
    assert read(data, 1 if len(data) < 1000 else 4093) == frames
    reader = FrameReader()
    assert [(k, bytes(p)) for k, p in reader.receive_data(data + b"\x05\x01{")] == frames
    with pytest.raises(ProtocolError, match="ended inside"):
        reader.receive_eof()


@pytest.mark.parametrize("data", [GOLDEN_REQUEST, GOLDEN_RESPONSE], ids=["request", "response"])
def test_golden_frames_encode_to_the_same_bytes(data: bytes) -> None:
    for step in (1, 7, len(data)):
        assert b"".join(encode_frame(kind, payload) for kind, payload in read(data, step)) == data


@pytest.mark.parametrize("length", [0, 1, 127, 128, 16383, 16384, 1 << 21, MAX_FRAME])
def test_header_is_the_shortest_varint(length: int) -> None:
    assert encode_header(FRAME_BLOB, length) == uvarint(length) + b"\x02"


def test_a_payload_of_exactly_the_cap_is_accepted() -> None:
    buffer = bytearray(MAX_FRAME)
    reader = FrameReader(lambda length: buffer)
    assert reader.receive_data(uvarint(MAX_FRAME) + b"\x02") == []
    view = reader.get_buffer()
    assert len(view) == MAX_FRAME
    view[-1] = 7
    reader.buffer_updated(MAX_FRAME)
    assert reader.next_frame() == (FRAME_BLOB, buffer)
    assert buffer[-1] == 7


def test_writing_over_the_cap_is_refused() -> None:
    with pytest.raises(FrameTooLargeError, match=str(MAX_FRAME)):
        encode_header(FRAME_JSON, MAX_FRAME + 1)


@pytest.mark.parametrize("kind", [FRAME_JSON, FRAME_BLOB])
@pytest.mark.parametrize("length", [MAX_FRAME + 1, (1 << 35) - 1])
def test_a_length_over_the_cap_is_refused_before_anything_is_allocated(kind: int, length: int) -> None:
    reader = FrameReader(lambda length: pytest.fail("asked for a buffer"))
    with pytest.raises(FrameTooLargeError, match=f"frame exceeds {MAX_FRAME} byte cap"):
        reader.receive_data(uvarint(length) + bytes([kind]))


def test_the_cap_is_checked_before_the_type_arrives() -> None:
    with pytest.raises(FrameTooLargeError):
        FrameReader().receive_data(uvarint(MAX_FRAME + 1))


def test_a_declared_length_alone_costs_little() -> None:
    reader = FrameReader()
    tracemalloc.start()
    reader.receive_data(uvarint(MAX_FRAME) + b"\x01" + b"{" * 10)
    assert tracemalloc.get_traced_memory()[1] < 2 << 20
    tracemalloc.stop()


@pytest.mark.parametrize("kind", [0, 3, 0x7B, 0xFF])
def test_other_types_are_refused(kind: int) -> None:
    with pytest.raises(ProtocolError, match=f"unknown frame type 0x{kind:02x}"):
        FrameReader().receive_data(bytes([2, kind]) + b"{}")


def test_a_length_that_does_not_end_is_refused() -> None:
    reader = FrameReader()
    assert reader.receive_data(b"\x80\x80\x80\x80") == []
    with pytest.raises(ProtocolError, match="does not end within 5 bytes"):
        reader.receive_data(b"\x80")


def test_eof_between_frames_is_clean() -> None:
    reader = FrameReader()
    reader.receive_eof()
    assert reader.at_eof
    reader = FrameReader()
    reader.receive_data(b"\x02\x01{}")
    reader.receive_eof()


@pytest.mark.parametrize("data", [b"\x80", b"\x02", b"\x02\x01", b"\x02\x01{", b"\x05\x02abc"])
def test_eof_inside_a_frame_is_an_error(data: bytes) -> None:
    reader = FrameReader()
    assert reader.receive_data(data) == []
    with pytest.raises(ProtocolError, match="malformed frame: ended"):
        reader.receive_eof()


def test_a_blob_is_received_straight_into_the_buffer_it_was_given() -> None:
    buffers: list[bytearray] = []

    def open_blob(length: int) -> bytearray:
        buffers.append(bytearray(length))
        return buffers[-1]

    reader = FrameReader(open_blob)
    assert reader.receive_data(uvarint(1000) + b"\x02" + b"start") == []
    view = reader.get_buffer()
    assert len(view) == 995
    view[:] = b"r" * 995
    assert bytes(buffers[0]) == b"start" + b"r" * 995
    reader.buffer_updated(995)
    kind, payload = reader.next_frame() or (0, None)
    assert kind == FRAME_BLOB
    assert payload is buffers[0]


def test_a_refusal_of_the_buffer_reaches_the_caller() -> None:
    def refuse(length: int) -> bytearray:
        raise ProtocolError("no")

    with pytest.raises(ProtocolError, match="no"):
        FrameReader(refuse).receive_data(b"\x03\x02abc")


def test_the_buffer_is_never_empty() -> None:
    reader = FrameReader()
    data = b"".join(
        frame(1, b"q" * n) for n in (0, 1, SCRATCH // 2, SCRATCH // 2, 5, SCRATCH // 3, SCRATCH, 2 << 20, 9)
    )
    got, at = [], 0
    while at < len(data):
        room = reader.get_buffer()
        assert len(room)
        count = min(len(room), len(data) - at)
        room[:count] = data[at : at + count]
        reader.buffer_updated(count)
        at += count
        while (item := reader.next_frame()) is not None:
            got.append(len(item[1]))
    assert got == [0, 1, SCRATCH // 2, SCRATCH // 2, 5, SCRATCH // 3, SCRATCH, 2 << 20, 9]
