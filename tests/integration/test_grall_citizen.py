"""The grall host as a host like any other: it says how it is, drains, checks its peers, and logs without contents."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from tests.markov_support import GrallHostThread, chain
from tests.support import PATIENCE, LinePeer, eventually
from warmwire.client import Client, DialError
from warmwire.host.activity_log import activity_log
from warmwire.transport.dial import connect
from warmwire.transport.paths import Surface, surface_addr
from warmwire.wire.grall import Command, Delay, End, Err, EventReader, Gen, New, Ping, Pong, encode_command

Start = Callable[..., GrallHostThread]


@pytest.fixture
def host(path: str) -> Iterator[Start]:
    """`host(**options)` gives a running host at `path`; it is stopped after the test."""
    started: list[GrallHostThread] = []

    def begin(**options: Any) -> GrallHostThread:
        started.append(GrallHostThread(chain("rep_d8"), path, **options))
        return started[-1]

    yield begin
    for thread in started:
        thread.stop()


class RawGrall:
    """A raw client."""

    def __init__(self, path: str) -> None:
        self.sock = connect(path)
        self.sock.settimeout(PATIENCE)
        self._reader = EventReader()
        self._waiting: list[Any] = []

    def __enter__(self) -> RawGrall:
        return self

    def __exit__(self, *_: object) -> None:
        self.sock.close()

    def send(self, *commands: Command) -> None:
        self.sock.sendall(b"".join(map(encode_command, commands)))

    def until(self, last: Any) -> list[Any]:
        """Events up to `last`, which comes too; None stands for the end of the stream."""
        events: list[Any] = []
        while not events or events[-1] != last:
            while not self._waiting:
                data = self.sock.recv(1 << 16)
                self._waiting += self._reader.feed(data) if data else [None]
            events.append(self._waiting.pop(0))
            assert events[-1] is not None or last is None, events
        return events


def text_of(events: list[Any]) -> bytes:
    return b"".join(event.data for event in events if isinstance(event, Gen))


def test_it_tells_how_it_is(host: Start, path: str) -> None:
    thread = host(max_generations=3)
    with RawGrall(path) as one:
        one.send(New(b"slow", b"ab", 0, 3_600_000), New(b"g", b"ab", 8, 0))
        one.until(End(b"g"))
        one.send(*(New(b"%d" % i, b"ab", 0, 3_600_000) for i in range(3)), Ping())
        one.until(Pong())
        told = Client(path).status()
        assert told.state == "ready"
        assert [(c["backend"], c["v2"], c["embed"]) for c in told.capabilities] == [("markov", False, False)]
        activity = told.activity or {}
        sent = activity.pop("sent")
        del activity["idle"]
        assert activity == {"workers": 3, "capacity": 3, "outstanding": 3, "answered": 1, "refused": 1}
        assert sent >= 2 + 1
    eventually(lambda: thread.running() == 0, "the end of all generations")


def test_activity_is_told_as_it_changes(host: Start, path: str) -> None:
    host()
    with LinePeer(path, Surface.ADMIN) as admin, RawGrall(path) as one:
        assert [(admin.receive() or {})["status"] for _ in range(3)] == ["capabilities", "ready", "activity"]
        one.send(New(b"g", b"ab", 8, 0))
        while (event := admin.receive() or {})["answered"] == 0:
            pass
        assert (event["status"], event["outstanding"], event["answered"]) == ("activity", 0, 1)


class TestDrain:
    def test_what_ends_by_itself_ends(self, host: Start, path: str) -> None:
        thread = host(drain_timeout=PATIENCE)
        with RawGrall(path) as one, RawGrall(path) as idle, LinePeer(path, Surface.ADMIN) as admin:
            one.send(New(b"long", b"ab", 400, 3_600_000), New(b"for ever", b"ab", 0, 3_600_000), Ping())
            one.until(Pong())
            thread.begin_to_stop()
            while (admin.receive() or {})["status"] != "draining":
                pass
            eventually(lambda: thread.call(lambda: thread.host.draining), "the drain")
            assert not os.path.exists(path)
            with pytest.raises(DialError):
                connect(path, wait=0)
            idle.send(New(b"late", b"ab", 4, 0))
            idle.until(Err(b"the host is shutting down - late"))
            one.send(Delay(b"long", 0))
            assert len(text_of(one.until(None))) >= 392
            assert idle.until(None) == [None]
        thread.stop()

    def test_the_deadline_cuts(self, host: Start, path: str) -> None:
        thread = host(drain_timeout=0.1)
        with RawGrall(path) as one:
            one.send(New(b"g", b"ab", 400, 3_600_000), Ping())
            one.until(Pong())
            thread.begin_to_stop()
            assert End(b"g") not in one.until(None)
        thread.stop()

    def test_nothing_is_waited_for_that_never_ends(self, host: Start, path: str) -> None:
        thread = host(drain_timeout=3600)
        with RawGrall(path) as one:
            one.send(New(b"g", b"ab", 0, 3_600_000), Ping())
            one.until(Pong())
            thread.stop()
            one.until(None)


def test_another_user_is_turned_away(host: Start, path: str) -> None:
    thread = host()
    thread.host.uids = set()
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(PATIENCE)
        sock.connect(path)
        assert sock.recv(1) == b""
    assert not thread.call(lambda: thread.host.connections)


def test_the_log_tells_who_and_how_much_and_never_what(host: Start, path: str, tmp_path: Path) -> None:
    with activity_log(tmp_path, "s"):
        thread = host(max_generations=1)
        with RawGrall(path) as one:
            one.send(New(b"one", b"abab", 8, 0))
            one.until(End(b"one"))
            one.send(New(b"two", b"abab", 0, 3_600_000), New(b"three", b"abab"), End(b"two"), Ping())
            one.until(Pong())
            one.sock.sendall(b"\x02\xff\xff\xff\xff")
            one.until(None)
        eventually(lambda: not thread.call(lambda: thread.host.connections), "the end of the connection")
        thread.stop()
    text = (tmp_path / "s.ndjson").read_text()
    log = [line for line in map(json.loads, text.splitlines()) if line["component"] == "activity"]
    assert [(line["msg"], line.get("req_id")) for line in log] == [
        ("ready", None),
        ("connection_accepted", None),
        ("request_done", "one"),
        ("request_failed", "three"),
        ("request_cancelled", "two"),
        ("request_unreadable", None),
    ]
    assert all(line["surface"] == "grall" for line in log[1:])
    assert (log[0]["surfaces"], log[0]["path"]) == (["grall"], path)
    assert (log[2]["output_bytes"], log[2]["stop_reason"], log[3]["code"]) == (8, "max_tokens", "queue_full")
    assert "abab" not in text


@pytest.mark.parametrize("delay", [0, 1])
def test_a_generation_that_fails_costs_its_connection_alone(host: Start, path: str, delay: int) -> None:
    class Broken:
        ended, remaining = False, None

        def take(self, most: int) -> bytes:
            raise ValueError("what it was asked for")

    thread = host()
    with RawGrall(path) as one, RawGrall(path) as other:
        one.send(New(b"g", b"ab", 0, 3_600_000), New(b"h", b"ab", 0, 3_600_000), Ping())
        one.until(Pong())
        other.send(New(b"g", b"ab", 0, delay), Ping())
        other.until(Pong())

        def break_it() -> None:
            for connection in thread.host.connections:
                if len(connection.schedule.running) == 2:
                    connection.schedule.running[b"g"].generation = cast(Any, Broken())

        thread.call(break_it)
        one.send(Delay(b"g", delay))
        events = one.until(None)
        assert Err(b"the host failed: ValueError") in events
        eventually(lambda: thread.running() == 1, "the end of the other two")
        other.send(Ping())
        other.until(Pong())
        other.send(New(b"more", b"ab", 8, 0))
        other.until(End(b"more"))


def test_its_admin_socket_goes_with_it(host: Start, path: str) -> None:
    thread = host()
    assert os.path.exists(surface_addr(path, Surface.ADMIN))
    thread.stop()
    assert not os.path.exists(surface_addr(path, Surface.ADMIN))
