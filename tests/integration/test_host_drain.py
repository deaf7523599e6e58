"""Shutting down: what is under way ends, what is new is told, what takes too long is cut."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable

import pytest

from tests.support import (
    PATIENCE,
    Gate,
    HostThread,
    Peer,
    Script,
    Start,
    descriptor,
    eventually,
    image_body,
    json_frame,
    text_body,
)
from warmwire.errors import DialError
from warmwire.models.echo import EchoModel
from warmwire.transport.dial import connect
from warmwire.wire.generation.messages import OutBlock, Request


def wait_draining(host: HostThread) -> None:
    eventually(lambda: host.host.draining, "the drain")


def test_what_runs_and_what_waits_gets_its_answer(start: Start, loop_name: str, path: str) -> None:
    gate = Gate()
    host = start(gate, loop=loop_name)
    with host.peer() as running, host.peer() as waiting:
        running.send(json_frame(text_body("running")))
        gate.wait_running("running")
        waiting.send(json_frame(text_body("waiting")))
        host.wait_outstanding(2)
        host.stop()
        wait_draining(host)
        assert not os.path.exists(path)
        with pytest.raises(DialError):
            connect(path, wait=0)
        gate.open("running")
        gate.open("waiting")
        assert running.answer()[0] == "<running></running>"
        assert waiting.answer()[0] == "<waiting></waiting>"
        assert running.at_end()
        assert waiting.at_end()
    host.join()


def test_a_new_request_on_a_live_connection_is_told(start: Start, loop_name: str) -> None:
    gate = Gate()
    host = start(gate, loop=loop_name)
    with host.peer() as running, host.peer() as idle:
        running.send(json_frame(text_body("k")))
        gate.wait_running("k")
        host.stop()
        wait_draining(host)
        _, error = idle.ask("too late", id="late")
        assert (error["code"], error["id"]) == ("backend_unavailable", "late")
        assert "shutting down" in error["message"]
        assert idle.at_end()
        gate.open("k")
        assert running.answer()[1]["type"] == "done"
    host.join()


def test_an_upload_under_way_is_told_when_it_is_whole(start: Start) -> None:
    gate = Gate()
    host = start(gate)
    with host.peer() as running, host.peer() as uploading:
        running.send(json_frame(text_body("k")))
        gate.wait_running("k")
        uploading.send(json_frame(image_body("a")), descriptor("a", 6), b"\x06\x02ab")
        eventually(lambda: len(host.host.connections) == 2)
        host.stop()
        wait_draining(host)
        uploading.send(b"cdef")
        assert uploading.answer()[1]["code"] == "backend_unavailable"
        gate.open("k")
    host.join()


def test_who_connected_in_time_is_answered_although_nobody_had_accepted_it(start: Start, loop_name: str) -> None:
    gate = Gate()
    host = start(gate, loop=loop_name)
    with host.peer() as running:
        running.send(json_frame(text_body("k")))
        gate.wait_running("k")

        def connect_and_stop() -> list[Peer]:
            """In the host's own thread, so that it cannot accept in between."""
            peers = [host.peer() for _ in range(5)]
            host.stopping.set()
            return peers

        lates = host.call(connect_and_stop)
        for late in lates:
            late.send(json_frame(text_body("late")))
        gate.open("late")
        gate.open("k")
        assert running.answer()[1]["type"] == "done"
        for late in lates:
            with late:  # admitted, if it was quick
                assert late.answer()[1].get("code") in (None, "backend_unavailable")


def test_after_the_deadline_the_rest_is_told_and_cut(start: Start, loop_name: str) -> None:
    gate = Gate()
    host = start(gate, loop=loop_name, drain_timeout=0.2)
    with host.peer() as running, host.peer() as waiting:
        running.send(json_frame(text_body("running")))
        gate.wait_running("running")
        waiting.send(json_frame(text_body("waiting", id="w")))
        host.wait_outstanding(2)
        host.stop()
        text, error = running.answer()
        assert text == "<running>"
        assert error["code"] == "backend_unavailable"
        assert waiting.answer()[1]["code"] == "backend_unavailable"
        assert running.at_end()
        assert waiting.at_end()
    host.join()
    gate.wait_ended("running")
    assert (gate.order, gate.cancelled) == (["running"], ["running"])


def test_a_host_with_nothing_to_do_ends_at_once(start: Start, loop_name: str) -> None:
    host = start(EchoModel(), loop=loop_name, drain_timeout=1000)
    with host.peer() as idle, host.peer() as half:
        idle.ask("x")
        half.send(b"\x05\x01{")
        eventually(lambda: len(host.host.connections) == 2)
        host.stop()
        host.join()
        assert idle.at_end()
        assert half.at_end()


def test_a_host_that_does_not_wait_tells_what_it_cuts(start: Start, loop_name: str) -> None:
    gate = Gate()
    host = start(gate, loop=loop_name)
    with host.peer() as running, host.peer() as waiting, host.peer() as idle:
        running.send(json_frame(text_body("running")))
        gate.wait_running("running")
        waiting.send(json_frame(text_body("waiting", id="w")))
        host.wait_outstanding(2)
        asyncio.run_coroutine_threadsafe(host.host.close(), host.loop).result(PATIENCE)
        text, error = running.answer()
        assert (text, error["code"], error["id"]) == ("<running>", "backend_unavailable", "r")
        error = waiting.answer()[1]
        assert (error["code"], error["id"]) == ("backend_unavailable", "w")
        assert all(peer.at_end() for peer in (running, waiting, idle))


def test_fifty_jobs_in_flight_do_not_keep_it(start: Start) -> None:
    gate = Gate()
    host = start(gate, workers=50, drain_timeout=0.1)
    peers = [host.peer() for _ in range(50)]
    for n, peer in enumerate(peers):
        peer.send(json_frame(text_body(f"k{n}")))
    for n in range(50):
        gate.wait_running(f"k{n}")
    host.stop()
    host.join()
    assert all(peer.answer()[1]["code"] == "backend_unavailable" for peer in peers)
    for peer in peers:
        peer.close()


def test_a_client_that_reads_nothing_does_not_keep_it(start: Start) -> None:
    def play(request: Request, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> None:
        while True:
            emit(OutBlock("text", "x" * 100_000))

    host = start(Script(play), drain_timeout=0.1)
    with host.peer() as peer:
        peer.send(json_frame(text_body()))
        host.wait_outstanding(1)
        host.stop()
        host.join()
