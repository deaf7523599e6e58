"""The grall wire: cutting a stream anywhere changes nothing; nothing but events and documented faults comes out."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from warmwire.errors import ProtocolError
from warmwire.wire.grall import (
    Close,
    Command,
    CommandReader,
    Delay,
    End,
    Event,
    EventReader,
    Gen,
    New,
    Ping,
    Unknown,
    encode_command,
    encode_end,
    encode_err,
    encode_tokens,
)

names = st.binary(max_size=12)
u32 = st.integers(0, 2**32 - 1)
commands: st.SearchStrategy[Command] = st.one_of(
    st.just(Ping()),
    st.builds(New, names, st.binary(max_size=40), u32, u32),
    st.builds(End, names),
    st.builds(Delay, names, u32),
    st.just(Close()),
    st.builds(Unknown, st.integers(6, 255)),
)
frames = st.one_of(
    st.just(b"\x01"),
    st.builds(encode_tokens, names, st.binary(max_size=400)),
    st.builds(encode_end, names),
    st.builds(encode_err, st.binary(max_size=40)),
)


def cut(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({c % (len(data) + 1) for c in cuts} | {0, len(data)})
    return [data[a:b] for a, b in pairwise(places)]


def joined(events: list[Event]) -> list[Event]:
    """With neighbouring text of one name together: what cutting may pull apart."""
    out: list[Event] = []
    for event in events:
        if isinstance(event, Gen) and out and isinstance(out[-1], Gen) and out[-1].name == event.name:
            out[-1] = Gen(event.name, out[-1].data + event.data, out[-1].tokens + event.tokens)
        else:
            out.append(event)
    return out


cuts = st.lists(st.integers(0, 1 << 20), max_size=12)


@given(st.lists(commands, max_size=8), cuts)
def test_commands_survive_any_cutting(sent: list[Command], places: list[int]) -> None:
    reader = CommandReader()
    data = b"".join(map(encode_command, sent))
    assert [c for piece in cut(data, places) for c in reader.feed(piece)] == sent
    assert reader.pending == 0


@given(st.lists(frames, max_size=8), cuts)
def test_events_survive_any_cutting(sent: list[bytes], places: list[int]) -> None:
    data = b"".join(sent)
    reader = EventReader()
    whole = joined(EventReader().feed(data))
    assert joined([e for piece in cut(data, places) for e in reader.feed(piece)]) == whole
    assert reader.pending == 0


@given(st.binary(max_size=300), cuts)
def test_any_bytes_give_commands_or_a_fault(data: bytes, places: list[int]) -> None:
    reader, other = CommandReader(max_name=64, max_seed=64), CommandReader(max_name=64, max_seed=64)
    assert [c for piece in cut(data, places) for c in reader.feed(piece)] == other.feed(data)
    assert reader.pending <= 1 + 4 + 64 + 4 + 64 + 8
    assert reader.fault is None or isinstance(reader.fault, ProtocolError)
    assert str(reader.fault) == str(other.fault)


@given(st.binary(max_size=300), cuts)
def test_any_bytes_give_events_or_a_fault(data: bytes, places: list[int]) -> None:
    reader, other = EventReader(max_name=64, max_token=64), EventReader(max_name=64, max_token=64)
    events = joined([e for piece in cut(data, places) for e in reader.feed(piece)])
    assert events == joined(other.feed(data))
    assert reader.pending <= 1 + 4 + 64 + 4 + 64
    assert str(reader.fault) == str(other.fault)
