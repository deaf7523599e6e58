"""Turns: the queue and its bound, cancelling, half-closing, and what stays behind."""

from __future__ import annotations

import errno
import gc
import os
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support import (
    Gate,
    Script,
    Start,
    descriptor,
    eventually,
    frame,
    image_body,
    json_frame,
    open_descriptors,
    text_body,
    uvarint,
    without_privileges,
)
from warmwire.host import hangup
from warmwire.models.echo import EchoModel
from warmwire.models.interface import Finish
from warmwire.wire.generation.messages import OutBlock, Request, StopReason

# ---------------------------------------------------------------------- the queue


def test_over_the_bound_a_request_is_refused_and_its_connection_works_again(start: Start, loop_name: str) -> None:
    gate = Gate()
    host = start(gate, loop=loop_name, workers=2, queue_depth=3)
    peers = [host.peer() for _ in range(5)]
    for n, peer in enumerate(peers):
        peer.send(json_frame(text_body(f"k{n}")))
        host.wait_outstanding(n + 1)
    with host.peer() as late:
        for _ in range(3):
            _, error = late.ask("late", id="late")
            assert (error["type"], error["code"], error["id"]) == ("error", "queue_full", "late")
        for n, peer in enumerate(peers):
            gate.open(f"k{n}")
            assert peer.answer()[0] == f"<k{n}></k{n}>"
        gate.open("late")
        assert late.ask("late")[0] == "<late></late>"
    assert gate.order == ["k0", "k1", "k2", "k3", "k4", "late"]


@pytest.mark.parametrize("workers", [1, 3])
def test_first_in_first_out_and_so_many_at_once(start: Start, workers: int) -> None:
    gate = Gate()
    host = start(gate, workers=workers, queue_depth=20)
    peers = [host.peer() for _ in range(12)]
    for n, peer in enumerate(peers):
        peer.send(json_frame(text_body(f"k{n}")))
        host.wait_outstanding(n + 1)
    for n in range(workers):
        gate.wait_running(f"k{n}")
    for n, peer in enumerate(peers):
        assert set(gate.order[n:]) <= {f"k{m}" for m in range(n, n + workers)}
        gate.open(f"k{n}")
        assert peer.answer()[0] == f"<k{n}></k{n}>"
        if n + workers < len(peers):
            gate.wait_running(f"k{n + workers}")
    assert gate.order == [f"k{n}" for n in range(12)]


def test_an_invalid_request_takes_no_place(start: Start) -> None:
    gate = Gate()
    host = start(gate, queue_depth=0)
    with host.peer() as first, host.peer() as second:
        first.send(json_frame(text_body("k")))
        gate.wait_running("k")
        second.send(json_frame(text_body() | {"messages": []}))
        assert second.answer()[1]["code"] == "invalid_request"
        assert second.ask("x")[1]["code"] == "queue_full"
        gate.open("k")
        assert first.answer()[1]["type"] == "done"


def test_many_clients_all_finish(start: Start, loop_name: str) -> None:
    host = start(EchoModel(), loop=loop_name, workers=4, queue_depth=100)
    results: list[str] = []

    def client(n: int) -> None:
        with host.peer() as peer:
            results.extend(peer.ask(f"client {n} request {m}", id=str(n))[0] for m in range(3))

    threads = [threading.Thread(target=client, args=(n,)) for n in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == sorted(f"client {n} request {m}" for n in range(50) for m in range(3))


# ---------------------------------------------------------------------- cancelling


def test_closing_cancels_what_runs(start: Start, loop_name: str) -> None:
    gate = Gate()
    host = start(gate, loop=loop_name)
    with host.peer() as peer:
        peer.send(json_frame(text_body("k")))
        gate.wait_running("k")
    gate.wait_ended("k")
    assert gate.cancelled == ["k"]
    host.wait_outstanding(0)


def test_closing_cancels_what_waits(start: Start, loop_name: str) -> None:
    gate = Gate()
    host = start(gate, loop=loop_name)
    with host.peer() as running, host.peer() as last:
        running.send(json_frame(text_body("running")))
        gate.wait_running("running")
        with host.peer() as waiting:
            waiting.send(json_frame(text_body("waiting")))
            host.wait_outstanding(2)
            last.send(json_frame(text_body("last")))
            host.wait_outstanding(3)
        host.wait_outstanding(2)
        gate.open("running")
        gate.open("last")
        assert running.answer()[1]["type"] == "done"
        assert last.answer()[1]["type"] == "done"
    assert gate.order == ["running", "last"]
    assert gate.cancelled == []


def test_a_handler_that_only_emits_is_stopped_too(start: Start) -> None:
    reached = threading.Event()
    failures: list[BaseException] = []

    def play(request: Any, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> None:
        try:
            while True:
                emit(OutBlock("text", "more "))
                reached.set()
        except Exception as error:
            failures.append(error)
            raise

    script = Script(play)
    host = start(script)
    with host.peer() as peer:
        peer.send(json_frame(text_body()))
        assert reached.wait(20)
    eventually(lambda: script.ended, "the end of the handler")
    assert [type(f).__name__ for f in failures] == ["CancelledError"]
    host.wait_outstanding(0)


def test_a_slot_is_free_only_when_the_model_has_really_stopped(start: Start) -> None:
    release = threading.Event()
    script = Script(lambda request, emit, cancelled: release.wait(20) and None)
    host = start(script)
    with host.peer() as stubborn, host.peer() as next_one:
        stubborn.send(json_frame(text_body(id="stubborn")))
        eventually(lambda: script.started)
        stubborn.close()
        next_one.send(json_frame(text_body(id="next")))
        host.wait_outstanding(1)
        assert script.started == ["stubborn"]
        release.set()
        assert next_one.answer()[1]["id"] == "next"
    assert script.ended == ["stubborn", "next"]


def test_a_half_closed_client_gets_its_whole_answer(start: Start, loop_name: str) -> None:
    gate = Gate()
    host = start(gate, loop=loop_name)
    with host.peer() as peer:
        peer.send(json_frame(text_body("k")))
        peer.shutdown()
        gate.wait_running("k")
        assert (peer.receive() or {})["block"]["delta"] == "<k>"
        gate.open("k")
        assert peer.answer()[0] == "</k>"
        assert peer.at_end()
    assert gate.cancelled == []


def test_a_half_closed_client_that_leaves_cancels(start: Start, loop_name: str) -> None:
    gate = Gate()
    host = start(gate, loop=loop_name)
    with host.peer() as peer:
        peer.send(json_frame(text_body("k")))
        peer.shutdown()
        gate.wait_running("k")
    gate.wait_ended("k")
    assert gate.cancelled == ["k"]


def test_a_client_that_wrote_ahead_and_leaves_cancels(start: Start, loop_name: str) -> None:
    """Its next request lies unread in the socket, which must not hide the hang-up."""
    gate = Gate()
    host = start(gate, loop=loop_name)
    with host.peer() as peer:
        peer.send(json_frame(text_body("k")), json_frame(text_body("never")))
        gate.wait_running("k")
    gate.wait_ended("k")
    host.wait_outstanding(0)
    assert (gate.order, gate.cancelled) == (["k"], ["k"])


def test_twenty_disconnects_in_mid_stream_and_then_a_good_request(start: Start, loop_name: str) -> None:
    gate = Gate()
    host = start(gate, loop=loop_name, workers=3, queue_depth=30)
    for n in range(20):
        with host.peer() as peer:
            peer.send(json_frame(text_body(f"k{n}")))
            assert (peer.receive() or {})["block"]["delta"] == f"<k{n}>"
    gate.open("good")
    with host.peer() as peer:
        assert peer.ask("good")[0] == "<good></good>"
    for n in range(20):
        gate.wait_ended(f"k{n}")
    assert len(gate.cancelled) == 20


def test_descriptors_are_watched_by_connection_not_by_number(start: Start, loop_name: str) -> None:
    """A new connection gets the number of a closed one at once; neither may end the other."""
    gate = Gate()
    host = start(gate, loop=loop_name, workers=2, queue_depth=100)
    for n in range(30):
        leaver = host.peer()
        leaver.send(json_frame(text_body(f"leave{n}")))
        gate.wait_running(f"leave{n}")
        leaver.close()
        with host.peer() as stayer:
            stayer.send(json_frame(text_body(f"stay{n}")))
            gate.wait_running(f"stay{n}")
            gate.wait_ended(f"leave{n}")
            gate.open(f"stay{n}")
            assert stayer.answer()[0] == f"<stay{n}></stay{n}>"
    assert gate.cancelled == [f"leave{n}" for n in range(30)]


# ---------------------------------------------------------------------- what stays behind


def test_churn_leaves_no_descriptor_behind(start: Start, loop_name: str) -> None:
    host = start(EchoModel(), loop=loop_name)
    with host.peer() as peer:
        peer.ask("warm up")
    eventually(lambda: not host.call(lambda: host.host.connections))
    gc.collect()
    before = open_descriptors()
    for n in range(200):
        peer = host.peer()
        if n % 4 == 1:
            peer.send(json_frame(text_body()))
        elif n % 4 == 2:
            peer.send(b"\x02\x09")
        elif n % 4 == 3:
            peer.send(json_frame(image_body("a")), descriptor("a", 6), b"\x06\x02ab")
        peer.close()
    eventually(lambda: not host.call(lambda: host.host.connections), "the end of all sessions")
    eventually(lambda: open_descriptors() <= before, "the end of all descriptors")
    assert host.call(lambda: len(host.host.hangups)) == 0
    with host.peer() as peer:
        assert peer.ask("still here")[0] == "still here"


def test_an_upload_cut_short_gives_its_buffers_back(start: Start) -> None:
    host = start(EchoModel())
    freed: list[list[int]] = []
    host.call(lambda: setattr(host.host.runner, "free", lambda r: freed.append([len(a.data) for a in r.attachments])))
    with host.peer() as peer:
        peer.send(json_frame(image_body("a", "b")), descriptor("a", 6), frame(2, bytes(6)))
        peer.send(descriptor("b", 1 << 20), uvarint(1 << 20), b"\x02", bytes(1000))
    assert eventually(lambda: freed) == [[6, 1 << 20]]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can connect as somebody else")
def test_other_users_are_turned_away(start: Start, loop_name: str) -> None:
    host = start(EchoModel(), loop=loop_name)
    os.chmod(os.path.dirname(host.path), 0o755)
    os.chmod(host.path, 0o666)
    with without_privileges():
        stranger = host.peer()
    with stranger:
        assert stranger.at_end()
    with host.peer() as peer:
        assert peer.ask("x")[0] == "x"


def test_without_epoll_a_failing_write_tells(start: Start, loop_name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hangup, "select", SimpleNamespace())
    gate, flooding = Gate(), threading.Event()

    def play(request: Any, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> None:
        if request.id != "flood":
            return
        flooding.set()
        gate.event("open", "flood").wait(20)
        while True:
            emit(OutBlock("text", "x" * 1000))

    script = Script(play)
    host = start(script, loop=loop_name)
    with host.peer() as peer:
        peer.send(json_frame(text_body(id="flood")))
        assert flooding.wait(20)
    gate.open("flood")
    with host.peer() as peer:
        assert peer.ask("x")[1]["type"] == "done"
    assert script.ended[0] == "flood"


def test_a_host_without_memory_for_a_blob_says_so(start: Start, loop_name: str) -> None:
    host = start(EchoModel(), loop=loop_name)

    def allocate(size: int) -> Any:
        raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))

    host.call(lambda: monkey(host.host.runner, allocate))
    with host.peer() as peer:
        peer.send(json_frame(image_body("a")), descriptor("a", 6), frame(2, bytes(6)))
        _, error = peer.answer()
        assert (error["code"], error["id"]) == ("internal", "r")
        assert "no buffer" in error["message"]
        assert os.strerror(errno.ENOMEM) in error["message"]
        assert peer.at_end()
    with host.peer() as peer:
        assert peer.ask("x")[0] == "x"


def monkey(runner: Any, allocate: Callable[[int], Any]) -> None:
    runner.allocate = allocate


def test_a_client_that_leaves_as_its_request_begins_gives_its_buffers_back(start: Start, loop_name: str) -> None:
    """Then the answer is cancelled before it has run at all, so nothing inside it can give anything back."""
    host = start(EchoModel(), loop=loop_name)
    freed: list[Request] = []
    request = json_frame(text_body("y", id="left"))

    def begin_and_drop() -> None:
        host.host.runner.free = freed.append  # type: ignore[method-assign]
        [session] = host.host.connections
        session.get_buffer(len(request))[: len(request)] = request
        session.buffer_updated(len(request))
        session.drop()

    with host.peer() as peer:
        assert peer.ask("x")[1]["type"] == "done"
        host.call(begin_and_drop)
        assert peer.at_end()
    assert [request.id for request in eventually(lambda: freed)] == ["left"]
    host.wait_outstanding(0)


# ---------------------------------------------------------------------- how a model fails


def test_a_handlers_failure_is_told_and_keeps_the_connection(start: Start, loop_name: str) -> None:
    def play(request: Any, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> Any:
        emit(OutBlock("text", "half "))
        if request.id == "bad":
            raise ValueError("no such thing: \udcff")
        if request.id == "report":
            return Finish(report={"x": object()})
        return None

    host = start(Script(play), loop=loop_name)
    with host.peer() as peer:
        for id, message in (("bad", "ValueError: no such thing: ?"), ("report", "TypeError")):
            text, error = peer.ask("x", id=id)
            assert text == "half "
            assert (error["type"], error["code"], error["id"]) == ("error", "internal", id)
            assert message in error["message"]
        assert peer.ask("x", id="good")[1]["type"] == "done"


def test_how_an_answer_ended_is_passed_on(start: Start) -> None:
    def play(request: Any, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> Finish:
        emit(OutBlock("thinking", "hm"))
        emit(OutBlock("tool_use", tool_call_id="tc-1", name="f", input={"x": 1}))
        return Finish(StopReason.TOOL_USE, report={"confidence": 0.5})

    host = start(Script(play))
    tools = [{"name": "f", "description": "", "input_schema": {}}]
    with host.peer() as peer:
        for stream in (True, False):
            peer.send(json_frame(text_body(tools=tools, tool_choice="required", stream=stream)))
            if stream:
                assert (peer.receive() or {})["block"] == {"type": "thinking", "delta": "hm"}
            block = (peer.receive() or {})["block"]
            assert block == {"type": "tool_use", "tool_call_id": "tc-1", "name": "f", "input": {"x": 1}}
            done = peer.receive() or {}
            assert done["stop_reason"] == "tool_use"
            assert done["report"] == {"confidence": 0.5}
            assert "tool_choice_unsatisfied" not in done
        _, done = peer.ask("x", tools=tools, tool_choice="auto")
        assert "tool_choice_unsatisfied" not in done
