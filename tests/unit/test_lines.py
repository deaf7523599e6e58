"""Lines: whole, in pieces, at the cap, and the last one without its newline."""

from __future__ import annotations

import tracemalloc

import pytest

from warmwire.errors import FrameTooLargeError
from warmwire.wire.generation.messages import MAX_FRAME
from warmwire.wire.lines import LineReader

STREAMS = {
    "one": ([b"{}"], b"{}\n"),
    "several": ([b"{}", b"[1]", b"x"], b"{}\n[1]\nx\n"),
    "empty ones": ([b"", b"", b"a", b""], b"\n\na\n\n"),
    "carriage returns stay": ([b"{}\r", b"\r"], b"{}\r\n\r\n"),
    "any bytes": ([b"\x00\xff\x80", b"\xf0\x9f"], b"\x00\xff\x80\n\xf0\x9f\n"),
    "one that fills the first buffer": ([b"f" * (1 << 16)], b"f" * (1 << 16) + b"\n"),
    "growing": (
        [b"g" * (300 << 10), b"h" * 3, b"i" * (70 << 10)],
        b"g" * (300 << 10) + b"\nhhh\n" + b"i" * (70 << 10) + b"\n",
    ),
}


def read(data: bytes, step: int, reader: LineReader | None = None) -> list[bytes]:
    reader = reader or LineReader()
    return [line for at in range(0, len(data), step) for line in reader.receive_data(data[at : at + step])]


@pytest.mark.parametrize("name", STREAMS)
def test_lines_arrive_whole_in_pieces_and_with_a_tail(name: str) -> None:
    lines, data = STREAMS[name]
    assert read(data, len(data)) == lines
    assert read(data, 1 if len(data) < 1000 else 4093) == lines
    reader = LineReader()
    assert read(data + b"tail", len(data), reader) == lines
    assert reader.next_line() is None
    reader.receive_eof()
    assert reader.next_line() == b"tail"
    assert reader.next_line() is None


@pytest.mark.parametrize("data", [b"", b"a\n", b"\n"])
def test_an_end_after_a_newline_is_no_line(data: bytes) -> None:
    reader = LineReader()
    read(data, 1, reader)
    reader.receive_eof()
    assert reader.next_line() is None


@pytest.mark.parametrize("step", [1, 3, 100])
def test_the_cap_counts_the_line_without_its_newline(step: int) -> None:
    assert read(b"12345678\n12345678\n", step, LineReader(8)) == [b"12345678", b"12345678"]
    with pytest.raises(FrameTooLargeError, match="line exceeds 8 byte cap"):
        read(b"12345678\n123456789\n", step, LineReader(8))


def test_a_line_over_the_cap_is_refused_before_its_end() -> None:
    reader = LineReader(8)
    with pytest.raises(FrameTooLargeError):
        reader.receive_data(b"123456789")


def test_the_last_line_has_the_same_cap() -> None:
    reader = LineReader(8)
    assert reader.receive_data(b"12345678") == []
    reader.receive_eof()
    assert reader.next_line() == b"12345678"


def test_a_line_of_exactly_64_mib() -> None:
    reader = LineReader()
    piece = b"x" * (1 << 20)
    for _ in range(MAX_FRAME >> 20):
        assert reader.receive_data(piece) == []
    [line] = reader.receive_data(b"\n")
    assert len(line) == MAX_FRAME
    for _ in range(MAX_FRAME >> 20):
        assert reader.receive_data(piece) == []
    with pytest.raises(FrameTooLargeError, match=str(MAX_FRAME)):
        reader.receive_data(b"x")


def test_memory_of_a_long_line_is_given_back() -> None:
    reader = LineReader()
    tracemalloc.start()
    try:
        for _ in range(3):
            assert len(read(b"y" * (8 << 20) + b"\n", 1 << 20, reader)) == 1
        assert reader.receive_data(b"{}\n") == [b"{}"]
        assert tracemalloc.get_traced_memory()[0] < 1 << 20
    finally:
        tracemalloc.stop()


def test_many_short_lines_need_no_more_room() -> None:
    reader = LineReader()
    line = b"z" * 1000 + b"\n"
    tracemalloc.start()
    try:
        for _ in range(2000):
            assert reader.receive_data(line) == [line[:-1]]
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
