"""Frames under any split and any damage."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support import frame, uvarint
from warmwire.errors import ProtocolError
from warmwire.wire.generation.frames import FrameReader, encode_frame, pour
from warmwire.wire.generation.messages import MAX_FRAME

payloads = st.one_of(st.binary(max_size=300), st.sampled_from([b"x" * n for n in (127, 128, 16383, 16384, 140_000)]))
frames = st.lists(st.tuples(st.sampled_from([1, 2]), payloads), max_size=6)
Frames = list[tuple[int, bytes]]


def cut(data: bytes, places: list[float]) -> list[bytes]:
    ends = sorted({0, len(data), *(int(p * len(data)) for p in places)})
    return [data[a:b] for a, b in pairwise(ends)]


def read(pieces: list[bytes]) -> tuple[Frames, ProtocolError | None]:
    """The frames, and the error that ended them. Anything but a ProtocolError fails the test."""
    reader, got = FrameReader(), []
    try:
        for piece in pieces:
            for kind, payload in pour(piece, reader.get_buffer, reader.buffer_updated, reader.next_frame):
                got.append((kind, bytes(payload)))
        reader.receive_eof()
    except ProtocolError as error:
        return got, error
    return got, None


@given(frames, st.lists(st.floats(0, 1), max_size=8))
def test_any_split_gives_the_same_frames(sent: Frames, places: list[float]) -> None:
    data = b"".join(encode_frame(kind, payload) for kind, payload in sent)
    assert data == b"".join(frame(kind, payload) for kind, payload in sent)
    assert read(cut(data, places)) == (sent, None)


@given(frames, st.lists(st.floats(0, 1), max_size=5), st.data())
def test_any_damage_gives_frames_or_a_protocol_error_whatever_the_split(
    sent: Frames, places: list[float], data: st.DataObject
) -> None:
    stream = bytearray(b"".join(frame(kind, payload) for kind, payload in sent) + b"\x02\x01{}")
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(stream)))
        match data.draw(st.sampled_from(["change", "drop", "add"])):
            case "change" if at < len(stream):
                stream[at] = data.draw(st.integers(0, 255))
            case "drop":
                del stream[at : at + data.draw(st.integers(1, 4))]
            case _:
                stream[at:at] = data.draw(st.binary(min_size=1, max_size=4))
    whole, error = read([bytes(stream)])
    pieces, other = read(cut(bytes(stream), places))
    assert pieces == whole
    assert str(other) == str(error)


@given(st.binary(max_size=400))
@example(b"\xff\xff\xff\xff\x0f\x01")
def test_noise(data: bytes) -> None:
    got, error = read([data])
    bytewise, other = read([data[i : i + 1] for i in range(len(data))])
    assert (got, type(error), str(error)) == (bytewise, type(other), str(other))


@given(st.integers(0, 1 << 36), st.sampled_from([1, 2]))
def test_no_length_allocates_more_than_the_cap(length: int, kind: int) -> None:
    asked: list[int] = []

    def open_blob(size: int) -> bytearray:
        asked.append(size)
        return bytearray(min(size, 10))  # the test is about the question, not about the memory

    reader = FrameReader(open_blob)
    header = uvarint(length) + bytes([kind])
    if length > MAX_FRAME:
        with pytest.raises(ProtocolError):
            reader.receive_data(header)
        assert asked == []
    elif kind == 2 and 0 < length < 10:
        reader.receive_data(header)
        assert asked == [length]
