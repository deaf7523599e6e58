"""Large answers: clients that read them slowly or not at all, and a loop that no size blocks."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.support import Script, Start, descriptor, eventually, frame, image_body, json_frame, text_body
from warmwire.wire.generation.messages import OutBlock

SIZE = 8 << 20


def flood(request: Any, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> None:
    if request.id == "flood":
        for _ in range(512):
            emit(OutBlock("text", "x" * (64 << 10)))
    else:
        emit(OutBlock("text", "short"))


def test_a_client_that_reads_nothing_is_dropped_and_frees_its_slot(start: Start, loop_name: str) -> None:
    script = Script(flood)
    host = start(script, loop=loop_name, queue_depth=0, write_timeout=0.3)
    with host.peer() as hostile, host.peer() as patient:
        hostile.send(json_frame(text_body(id="flood")))
        eventually(lambda: script.started)
        text, _ = eventually(lambda: (answer := patient.ask("x"))[1]["type"] == "done" and answer, "a free slot")
        assert text == "short"
        assert len(eventually(lambda: read_all(hostile))) < 32 << 20


def test_a_finished_answer_left_unread_is_dropped_too(start: Start) -> None:
    """The model is done long before; the place in the queue is held until the client has read."""
    script = Script(lambda request, emit, cancelled: emit(OutBlock("text", "x" * (8 << 20))))
    host = start(script, queue_depth=0, write_timeout=2)
    with host.peer() as hostile, host.peer() as patient:
        hostile.send(json_frame(text_body(id="left")))
        eventually(lambda: script.ended)
        assert patient.ask("x")[1]["code"] == "queue_full"
        host.wait_outstanding(0)
        hostile.close()


def read_all(peer: Any) -> bytes:
    parts = []
    while data := peer.sock.recv(1 << 20):
        parts.append(data)
    return b"".join(parts) or b"nothing"


def test_a_slow_reader_gets_everything_and_hurts_only_itself(start: Start, loop_name: str) -> None:
    script = Script(flood)
    host = start(script, loop=loop_name, workers=2)
    with host.peer() as slow, host.peer() as quick:
        slow.send(json_frame(text_body(id="flood")))
        eventually(lambda: script.started)
        for _ in range(5):
            assert quick.ask("x")[0] == "short"
        assert script.ended.count("flood") == 0, "the model ran far ahead of its reader"
        text, done = slow.answer()
        assert len(text) == 32 << 20
        assert done["type"] == "done"


def test_a_paused_reader_holds_back_its_model(start: Start, loop_name: str) -> None:
    emitted = 0

    def play(request: Any, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> None:
        nonlocal emitted
        while not cancelled.is_set():
            emit(OutBlock("text", "x" * 1000))
            emitted += 1000

    host = start(Script(play), loop=loop_name)
    with host.peer() as peer:
        peer.send(json_frame(text_body()))
        before = -1
        while before != emitted:  # until it stands still
            before = emitted
            threading.Event().wait(0.2)
        assert 0 < emitted < 8 << 20


def test_who_reads_slowly_is_not_taken_for_one_who_does_not_read(start: Start, loop_name: str) -> None:
    """All that waits for the client would take it longer than the bound; it takes some of it all the time."""
    host = start(
        Script(lambda request, emit, cancelled: emit(OutBlock("text", "x" * SIZE))), loop=loop_name, write_timeout=2
    )
    with host.peer() as slow:
        slow.send(json_frame(text_body()))
        data = bytearray()
        for _ in range(20):
            data += slow.sock.recv(128 << 10)
            threading.Event().wait(0.25)
        while b'"type":"done"' not in data[-1000:]:
            more = slow.sock.recv(1 << 20)
            assert more, f"it was dropped after {len(data)} bytes"
            data += more
        assert len(data) > SIZE


def test_a_trickle_does_not_hold_a_slot(start: Start, loop_name: str) -> None:
    host = start(Script(flood), loop=loop_name, write_timeout=1)
    with host.peer() as hostile:
        hostile.send(json_frame(text_body(id="flood")))
        host.wait_outstanding(1)
        while host.host.activity.outstanding:  # until it is dropped
            hostile.sock.recv(1)
            threading.Event().wait(0.05)


def test_the_loop_is_never_blocked(start: Start, caplog: pytest.LogCaptureFixture) -> None:
    """asyncio's debug mode reports every callback that takes longer than `slow_callback_duration`."""
    caplog.set_level(logging.WARNING, "asyncio")
    script = Script(flood)
    host = start(script, workers=2, debug=True)
    host.call(lambda: setattr(host.loop, "slow_callback_duration", 1.0))
    page = bytes(1700 * 2200 * 3)
    with host.peer() as peer:
        peer.send(json_frame(image_body("a", width=1700, height=2200)), descriptor("a", len(page)), frame(2, page))
        assert peer.answer()[0] == "short"
        text, _ = peer.ask("x", id="flood")
        assert len(text) == 32 << 20
        peer.ask("x" * (1 << 20))
    assert [record.getMessage() for record in caplog.records if "took" in record.getMessage()] == []
