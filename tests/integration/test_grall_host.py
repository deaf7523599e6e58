"""The grall host on a real socket: the reference's vectors, the table of situations, turns, pacing, slow readers."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.markov_support import GRALL, VECTORS, GrallHostThread, chain
from tests.support import PATIENCE, eventually
from warmwire.host.grall.named import Waits
from warmwire.host.grall.pacing import Pacing
from warmwire.markov import Generation, Style, train
from warmwire.wire.grall import Close, Command, Delay, End, Err, EventReader, Gen, New, Ping, Pong, encode_command

Start = Callable[..., GrallHostThread]


@pytest.fixture
def host(path: str) -> Iterator[Start]:
    """`host(model, **options)` gives a running host at `path`; it is stopped after the test."""
    started: list[GrallHostThread] = []

    def begin(model: str = "rep_d8", **options: Any) -> GrallHostThread:
        started.append(GrallHostThread(chain(model), path, **options))
        return started[-1]

    yield begin
    for thread in started:
        thread.stop()


class Peer:
    """A raw client."""

    def __init__(self, path: str) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(PATIENCE)
        self.sock.connect(path)
        self.reader = EventReader()
        self.waiting: list[Any] = []
        assert self.next() == Pong()

    def send(self, *commands: Command) -> None:
        self.sock.sendall(b"".join(map(encode_command, commands)))

    def next(self) -> Any:
        """The next event; None at the end of the stream."""
        while not self.waiting:
            data = self.sock.recv(1 << 16)
            if not data:
                return None
            self.waiting += self.reader.feed(data)
        return self.waiting.pop(0)

    def until(self, last: Any) -> list[Any]:
        """Events up to `last`, which comes too."""
        events = []
        while not events or events[-1] != last:
            events.append(self.next())
            assert events[-1] is not None, events
        return events

    def drain(self) -> None:
        """Read and forget, until somebody closes."""
        with contextlib.suppress(OSError):
            while self.sock.recv(1 << 16):
                pass

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)
        self.sock.close()


@pytest.fixture
def peer(path: str) -> Iterator[Callable[[], Peer]]:
    """`peer()` connects."""
    peers: list[Peer] = []

    def connect() -> Peer:
        peers.append(Peer(path))
        return peers[-1]

    yield connect
    for one in peers:
        one.close()


def text_of(events: list[Any], name: bytes) -> bytes:
    return b"".join(event.data for event in events if isinstance(event, Gen) and event.name == name)


@pytest.mark.parametrize("bytewise", [False, True])
@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["name"][:40])
def test_the_reference_vectors(vector: dict[str, Any], bytewise: bool, host: Start, path: str) -> None:
    host()
    want = bytes.fromhex(vector["receive"])
    with closing(socket.socket(socket.AF_UNIX)) as sock:
        sock.connect(path)
        sock.settimeout(PATIENCE)
        for flush in map(bytes.fromhex, vector["send"]):
            for piece in [flush[i : i + 1] for i in range(len(flush))] if bytewise else [flush]:
                sock.sendall(piece)
        got = b""
        while len(got) < len(want):
            got += sock.recv(1 << 16)
        sock.sendall(b"\x05")
        while more := sock.recv(1 << 16):
            got += more
    assert got == want


class TestTheTable:
    def test_a_running_name_is_refused_and_goes_on(self, host: Start, peer: Callable[[], Peer]) -> None:
        host()
        one = peer()
        one.send(New(b"g", b"ab", 40, 20), New(b"g", b"ba", 4, 0))
        events = one.until(End(b"g"))
        assert Err(b"generation is still running - g") in events
        assert text_of(events, b"g") == b"ab" * 20

    def test_a_name_is_free_again_after_its_end(self, host: Start, peer: Callable[[], Peer]) -> None:
        host()
        one = peer()
        for _ in range(3):
            one.send(New(b"g", b"ab", 8, 0))
            assert text_of(one.until(End(b"g")), b"g") == b"abababab"
        one.send(New(b"g", b"ab", 0, 60_000), End(b"g"), New(b"g", b"ab", 8, 0))
        assert text_of(one.until(End(b"g")), b"g")[-8:] == b"abababab"

    def test_ended_by_the_client_means_no_end_frame(self, host: Start, peer: Callable[[], Peer]) -> None:
        host()
        one = peer()
        one.send(New(b"g"), End(b"g"), Ping())
        assert End(b"g") not in one.until(Pong())
        one.send(New(b"g"), Close())
        while (event := one.next()) is not None:
            assert isinstance(event, Gen)

    def test_what_came_before_a_close_is_answered(self, host: Start, peer: Callable[[], Peer]) -> None:
        host()
        one = peer()
        one.send(Ping(), Ping(), Close(), Ping())
        assert [one.next(), one.next(), one.next()] == [Pong(), Pong(), None]

    @pytest.mark.parametrize(
        ("data", "words"),
        [(b"\x02\xff\xff\xff\xff", b"name too long"), (b"\x02\0\0\0\1g\x00\x10\x00\x01", b"seed too long")],
    )
    def test_a_length_over_its_cap(self, data: bytes, words: bytes, host: Start, peer: Callable[[], Peer]) -> None:
        host()
        one = peer()
        one.sock.sendall(data)
        event = one.next()
        assert isinstance(event, Err)
        assert event.message.startswith(words)
        assert one.next() is None

    def test_half_a_command_stops_nothing(self, host: Start, peer: Callable[[], Peer]) -> None:
        host()
        one = peer()
        one.send(New(b"g"))
        one.sock.sendall(b"\x02\0\0\0\4na")
        seen = 0
        while seen < 1_000_000:
            seen += len(one.next().data)
        one.sock.sendall(b"me" + bytes(4) + b"\0\0\0\4" + bytes(4))
        assert text_of(one.until(End(b"name")), b"name") == b"abab"

    def test_a_half_closed_client_gets_its_text(self, host: Start, peer: Callable[[], Peer]) -> None:
        host()
        one = peer()
        one.send(New(b"g", b"ab", 100_000, 0), New(b"p", b"ab", 12, 10))
        one.sock.shutdown(socket.SHUT_WR)
        events = []
        while (event := one.next()) is not None:
            events.append(event)
        assert len(text_of(events, b"g")) == 100_000
        assert text_of(events, b"p") == b"ab" * 6

    def test_too_many_generations(self, host: Start, peer: Callable[[], Peer]) -> None:
        host(max_generations=3)
        one = peer()
        one.send(*(New(b"%d" % i, b"ab", 0, 60_000) for i in range(4)), Ping())
        assert Err(b"too many generations - 3") in one.until(Pong())

    def test_equal_seeds_give_equal_text(self, host: Start, peer: Callable[[], Peer], path: str) -> None:
        texts = []
        for rng_seed in (7, 7, 8):
            thread = host("words_d3", rng_seed=rng_seed)
            one = peer()
            one.send(New(b"g", b"sha", 5000, 0), New(b"h", b"sha", 5000, 0))
            events = one.until(End(b"g")) + one.until(End(b"h"))
            texts.append((text_of(events, b"g"), text_of(events, b"h")))
            thread.stop()
        assert texts[0] == texts[1] != texts[2]
        assert texts[0][0] != texts[0][1]

    def test_styles(self, host: Start, peer: Callable[[], Peer]) -> None:
        host("words_d3", style=Style.LINE)
        one = peer()
        one.send(New(b"g", b"sha", 0, 0))
        assert text_of(one.until(End(b"g")), b"g").endswith(b"\n")


class TestPacing:
    def test_one_token_per_delay(self, host: Start, peer: Callable[[], Peer]) -> None:
        host()
        one = peer()
        begun = time.monotonic()
        one.send(New(b"slow", b"ab", 20, 100), New(b"fast", b"ab", 20_000, 0))
        events = one.until(End(b"fast"))
        assert End(b"slow") not in events
        events += one.until(End(b"slow"))
        assert time.monotonic() - begun >= 0.4
        assert text_of(events, b"slow") == b"ab" * 10
        assert all(e.tokens == 1 for e in events if isinstance(e, Gen) and e.name == b"slow")

    def test_a_new_delay_counts_at_once(self, host: Start, peer: Callable[[], Peer]) -> None:
        host()
        one = peer()
        one.send(New(b"g", b"ab", 400, 3_600_000))
        assert one.next() == Gen(b"g", b"abab")
        one.send(Delay(b"g", 0))
        assert text_of(one.until(End(b"g")), b"g") == b"ab" * 198

    def test_the_documented_pacing_holds_up_everything(self, host: Start, peer: Callable[[], Peer]) -> None:
        host(pacing=Pacing.CONNECTION)
        one = peer()
        begun = time.monotonic()
        one.send(New(b"slow", b"ab", 16, 50), New(b"fast", b"ab", 16, 0))
        events = one.until(End(b"slow"))
        assert time.monotonic() - begun >= 0.15
        assert text_of(events, b"fast") == b"ab" * 6
        assert text_of(one.until(End(b"fast")), b"fast") == b"ab" * 2

    def test_the_end_of_one_does_not_wake_the_others(self, host: Start, peer: Callable[[], Peer]) -> None:
        host(pacing=Pacing.CONNECTION)
        one = peer()
        one.send(New(b"slow", b"ab", 8, 3_600_000), New(b"fast", b"ab", 8), New(b"other", b"ab", 0))
        assert one.next() == Gen(b"slow", b"abab")
        for _ in range(3):
            one.send(End(b"other"), Ping())
            assert one.next() == Pong()
        one.send(Delay(b"slow", 0))
        assert text_of(one.until(End(b"fast")), b"fast") == b"ab" * 4

    def test_waiting_costs_nothing(self, host: Start, peer: Callable[[], Peer]) -> None:
        """Who waits has a timer and no turns."""
        thread = host()
        one = peer()
        one.send(*(New(b"%d" % i, b"ab", 0, 3_600_000) for i in range(50)), Ping())
        one.until(Pong())
        seen = 0
        while seen < 50:
            seen += isinstance(one.next(), Gen)
        [connection] = thread.call(lambda: thread.host.connections)
        assert (
            thread.call(lambda: [named.waits for named in connection.schedule.running.values()]) == [Waits.TIMED] * 50
        )
        assert thread.call(lambda: len(thread.host.ring)) == 0


class TestTurns:
    def test_generations_share_equally(self, host: Start, peer: Callable[[], Peer]) -> None:
        host("words_d3")
        one = peer()
        one.send(*(New(b"%d" % i) for i in range(10)))
        counts: dict[bytes, int] = {}
        while sum(counts.values()) < 3_000_000:
            event = one.next()
            counts[event.name] = counts.get(event.name, 0) + len(event.data)
        assert len(counts) == 10
        assert max(counts.values()) < 1.1 * min(counts.values())

    def test_a_ping_is_answered_while_others_generate(self, host: Start, peer: Callable[[], Peer]) -> None:
        thread = host("words_d3")
        busy, one = peer(), peer()
        busy.send(*(New(b"%d" % i) for i in range(16)))
        reading = threading.Thread(target=busy.drain, daemon=True)
        reading.start()
        for _ in range(50):
            one.send(Ping())
            assert one.next() == Pong()
        assert thread.running() == 16

    def test_a_flood_of_pings_is_answered_and_disturbs_nobody(self, host: Start, peer: Callable[[], Peer]) -> None:
        host()
        flooding, one = peer(), peer()
        writing = threading.Thread(target=flooding.sock.sendall, args=(b"\x01" * 200_000,), daemon=True)
        writing.start()
        for _ in range(20):
            one.send(Ping())
            assert one.next() == Pong()
        for _ in range(200_000):
            assert flooding.next() == Pong()
        writing.join(PATIENCE)

    def test_who_does_not_read_stops_only_himself(self, host: Start, peer: Callable[[], Peer]) -> None:
        thread = host("words_d3")
        stalled, one = peer(), peer()
        stalled.send(*(New(b"%d" % i) for i in range(8)), New(b"paced", b"", 0, 1))
        eventually(lambda: thread.call(lambda: [c for c in thread.host.connections if c.schedule.paused]), "a stall")
        one.send(New(b"g", b"sha", 1_000_000, 0))
        assert len(text_of(one.until(End(b"g")), b"g")) == 1_000_000
        [held] = [c for c in thread.host.connections if c.schedule.paused]
        assert held.waiting() < 1 << 18
        stalled.send(End(b"0"), Ping())
        assert stalled.until(Pong())  # once it reads, all goes on

    def test_long_names_make_no_long_turns(self, host: Start, peer: Callable[[], Peer]) -> None:
        thread = host("words_d3")
        stalled, one = peer(), peer()
        stalled.send(*(New(b"%4096d" % i) for i in range(16)))
        one.send(New(b"g", b"sha", 100_000, 0))
        assert len(text_of(one.until(End(b"g")), b"g")) == 100_000
        [held] = [c for c in thread.host.connections if c.schedule.paused]
        assert held.waiting() < 1 << 16
        names: set[bytes] = set()
        while len(names) < 16:
            names.add(stalled.next().name)

    def test_a_client_that_leaves_is_written_to_once(
        self, host: Start, peer: Callable[[], Peer], caplog: pytest.LogCaptureFixture
    ) -> None:
        thread = host()
        one = peer()
        one.send(*(New(b"%d" % i, b"", 0, 1) for i in range(100)))
        one.close()
        eventually(lambda: not thread.call(lambda: thread.host.connections), "the end of the connection")
        assert not caplog.records

    def test_a_client_that_leaves_is_forgotten(self, host: Start, peer: Callable[[], Peer]) -> None:
        thread = host("words_d3")
        for delay in (0, 1):
            one = peer()
            one.send(*(New(b"%d" % i, b"", 0, delay) for i in range(8)))
            one.next()
            one.close()
        half = peer()
        half.send(New(b"slow", b"", 0, 3_600_000))
        half.sock.shutdown(socket.SHUT_WR)
        assert isinstance(half.next(), Gen)
        half.close()
        eventually(lambda: not thread.call(lambda: thread.host.connections), "the end of all connections")
        assert thread.call(lambda: len(thread.host.ring)) == 0


def test_stopping_unlinks_and_closes(host: Start, peer: Callable[[], Peer], path: str) -> None:
    thread = host()
    one = peer()
    one.send(New(b"g", b"ab", 0, 10))
    one.next()
    thread.stop()
    while one.next() is not None:
        pass
    assert not os.path.exists(path)


def test_the_text_is_the_chain_s_own(host: Start, peer: Callable[[], Peer], tmp_path: Path) -> None:
    model = train([GRALL / "words.txt"], 3)
    thread = host("words_d3", rng_seed=5)
    one = peer()
    one.send(New(b"name", b"sha", 10_001, 0))
    made = text_of(one.until(End(b"name")), b"name")
    assert made == bytes(Generation(model, b"sha", rng_seed=b"5 name").take(10_001))
    thread.stop()
