"""The grall wire's bytes: every message both ways, whole, byte by byte and with a tail; caps; unknown opcodes."""

from __future__ import annotations

import pytest

from warmwire.errors import FrameTooLargeError, ProtocolError
from warmwire.wire.grall import (
    Close,
    Command,
    CommandReader,
    Delay,
    End,
    Err,
    Event,
    EventReader,
    Gen,
    New,
    Ping,
    Pong,
    Unknown,
    encode_command,
    encode_end,
    encode_err,
    encode_tokens,
    unknown_opcode,
)

COMMANDS: list[tuple[Command, str]] = [
    (Ping(), "01"),
    (New(b"g", b"abab", 8, 9), "02 00000001 67 00000004 61626162 00000008 00000009"),
    (New(b"", b"", 0, 0), "02 00000000 00000000 00000000 00000000"),
    (New(b"g", b"", 2**32 - 1, 2**32 - 1), "02 00000001 67 00000000 ffffffff ffffffff"),
    (End(b"nope"), "03 00000004 6e6f7065"),
    (Delay(b"nope", 5), "04 00000004 6e6f7065 00000005"),
    (Close(), "05"),
    (Unknown(9), "09"),
    (Unknown(0), "00"),
    (Unknown(255), "ff"),
]

EVENTS: list[tuple[Event, str]] = [
    (Pong(), "01"),
    (Gen(b"g", b"abab"), "02 00000001 67 00000004 61626162"),
    (Gen(b"gg", b"ab"), "02 00000002 6767 00000002 6162"),
    (Gen(b"", b""), "02 00000000 00000000"),
    (End(b"g"), "03 00000001 67"),
    (Err(b"unknown opcode - 9"), "04 00000012 756e6b6e6f776e206f70636f6465202d2039"),
]


def pieces(data: bytes, size: int) -> list[bytes]:
    return [data[i : i + size] for i in range(0, len(data), size)]


@pytest.mark.parametrize(("command", "text"), COMMANDS)
class TestCommands:
    def test_encoded(self, command: Command, text: str) -> None:
        assert encode_command(command) == bytes.fromhex(text)

    def test_whole(self, command: Command, text: str) -> None:
        assert CommandReader().feed(bytes.fromhex(text)) == [command]

    def test_byte_by_byte(self, command: Command, text: str) -> None:
        reader = CommandReader()
        read = [reader.feed(piece) for piece in pieces(bytes.fromhex(text), 1)]
        assert [*read[:-1]] == [[]] * (len(read) - 1)
        assert read[-1] == [command]
        assert reader.pending == 0

    def test_with_a_tail(self, command: Command, text: str) -> None:
        reader = CommandReader()
        assert reader.feed(bytes.fromhex(text) + b"\x02\x00\x00") == [command]
        assert reader.pending == 3


@pytest.mark.parametrize(("event", "text"), EVENTS)
class TestEvents:
    def test_whole(self, event: Event, text: str) -> None:
        assert EventReader().feed(bytes.fromhex(text)) == [event]

    def test_byte_by_byte(self, event: Event, text: str) -> None:
        reader = EventReader()
        assert [e for piece in pieces(bytes.fromhex(text), 1) for e in reader.feed(piece)] == [event]

    def test_with_a_tail(self, event: Event, text: str) -> None:
        reader = EventReader()
        assert reader.feed(bytes.fromhex(text) + b"\x03\x00") == [event]
        assert reader.pending == 2


def test_what_a_server_sends() -> None:
    assert encode_end(b"g") == bytes.fromhex(EVENTS[4][1])
    assert encode_err(b"unknown opcode - 9") == unknown_opcode(9) == bytes.fromhex(EVENTS[5][1])
    assert encode_tokens(b"g", b"") == b""
    assert encode_tokens(b"g", b"abab") == bytes.fromhex(EVENTS[1][1])
    assert encode_tokens(b"gg", b"wxyzab") == bytes.fromhex("02 00000002 6767 00000004 7778797a" + EVENTS[2][1])


def test_many_tokens_of_one_name_come_as_one() -> None:
    text = bytes(range(256)) * 500 + b"end"
    data = b"\x01" + encode_tokens(b"one", text) + encode_tokens(b"two", text[:999]) + encode_end(b"one")
    assert EventReader().feed(data) == [Pong(), Gen(b"one", text, 32001), Gen(b"two", text[:999], 250), End(b"one")]


def test_long_tokens_are_read_whatever_their_length() -> None:
    frames = b"".join(b"\x02\0\0\0\1g" + n.to_bytes(4, "big") + bytes([n % 256]) * n for n in (3, 4, 5, 9, 4000) * 30)
    [event] = EventReader().feed(frames)
    assert isinstance(event, Gen)
    assert event.tokens == 150
    assert len(event.data) == 30 * 4021


class TestCaps:
    @pytest.mark.parametrize(
        ("data", "words"),
        [
            ("03 00000011", "name too long - 17 bytes, at most 16"),
            ("04 ffffffff", "name too long - 4294967295 bytes, at most 16"),
            ("02 00000001 67 00000021", "seed too long - 33 bytes, at most 32"),
        ],
    )
    def test_a_length_over_its_cap_ends_the_stream(self, data: str, words: str) -> None:
        reader = CommandReader(max_name=16, max_seed=32)
        assert reader.feed(b"\x01" + bytes.fromhex(data)) == [Ping()]
        assert isinstance(reader.fault, FrameTooLargeError)
        assert str(reader.fault) == words
        assert reader.pending == 0
        assert reader.feed(b"\x01") == []

    def test_lengths_at_their_caps_pass(self) -> None:
        reader = CommandReader(max_name=16, max_seed=32)
        command = New(b"n" * 16, b"s" * 32, 1, 2)
        assert reader.feed(encode_command(command)) == [command]

    def test_a_client_is_as_careful(self) -> None:
        for data in ("02 00001001", "02 00000000 00100001", "04 ffffffff"):
            reader = EventReader()
            assert reader.feed(bytes.fromhex(data)) == []
            assert isinstance(reader.fault, FrameTooLargeError)

    def test_a_server_that_speaks_something_else(self) -> None:
        reader = EventReader()
        assert reader.feed(b"\x01HTTP/1.1 400") == [Pong()]
        assert isinstance(reader.fault, ProtocolError)
        assert "no grall server" in str(reader.fault)
