"""What a host does not wait for, hold or trust for ever: models, half-sent requests, strangers; and what it tells of a
model that failed."""

from __future__ import annotations

import errno
import json
import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.test_workers import pid_of
from tests.markov_support import GrallHostThread, chain
from tests.support import (
    FAULTY_PATH,
    PATIENCE,
    Gate,
    HostThread,
    Script,
    Start,
    descriptor,
    eventually,
    image_body,
    is_running,
    json_frame,
    text_body,
    uvarint,
)
from warmwire.client import DialError, GrallClient, StreamLostError
from warmwire.host.activity_log import activity_log
from warmwire.host.defaults import PAGE_TIMEOUT
from warmwire.host.workers.pool import WorkerPool
from warmwire.models.interface import PageModel
from warmwire.transport.peer import Peer as Credentials
from warmwire.transport.peer import own_uids


@pytest.fixture
def start_pool(start: Start, monkeypatch: pytest.MonkeyPatch) -> Callable[..., HostThread]:
    """A host whose worker does what a prompt tells it."""
    monkeypatch.setenv("PYTHONPATH", FAULTY_PATH)
    return lambda **options: start(lambda: WorkerPool("faulty", 1, threads=1), **options)


# ---------------------------------------------------------------------- a model that hangs


def test_a_model_that_hangs_is_replaced_and_its_request_named(
    start_pool: Callable[..., HostThread], loop_name: str
) -> None:
    host = start_pool(loop=loop_name, request_timeout=2)
    with host.peer() as peer:
        text, error = peer.ask("deaf", id="page-3")
        hung = pid_of(text)
        assert (error["type"], error["code"], error["id"]) == ("error", "internal", "page-3")
        assert "request 'page-3' was not answered within 2 s" in error["message"]
        text, done = peer.ask("hello")
        assert done["type"] == "done"
        assert pid_of(text) != hung
    eventually(lambda: not is_running(hung), "the end of the worker that hung")


def test_a_model_that_is_only_slow_keeps_its_worker(start_pool: Callable[..., HostThread], tmp_path: Path) -> None:
    host = start_pool(request_timeout=2)
    with host.peer() as peer:
        text, error = peer.ask(f"watch {tmp_path}/mark")
        assert error["code"] == "internal"
        assert peer.ask("hello")[0] == f"pid {pid_of(text)} "
    assert (tmp_path / "mark").read_text() == "cancelled"


def test_a_model_on_a_thread_is_told_to_stop(start: Start, loop_name: str) -> None:
    gate = Gate()
    host = start(gate, loop=loop_name, request_timeout=0.3)
    with host.peer() as peer:
        text, error = peer.ask("k", id="page-1")
        assert text == "<k>"
        assert "request 'page-1' was not answered within 0.3 s" in error["message"]
        gate.wait_ended("k")
        assert gate.cancelled == ["k"]
        gate.open("next")
        assert peer.ask("next")[1]["type"] == "done"


def test_what_a_model_raises_itself_is_no_deadline(start: Start) -> None:
    def play(*_: object) -> None:
        raise TimeoutError("the camera is slow")

    with start(Script(play), request_timeout=PATIENCE).peer() as peer:
        assert peer.ask("x")[1]["message"] == "TimeoutError: the camera is slow"


def test_a_page_has_a_deadline_and_a_chat_has_none(path: str) -> None:
    for model, given, expected in (
        (Script(), None, None),
        (PageModel(Script()), None, PAGE_TIMEOUT),
        (PageModel(Script()), 0, None),
        (Script(), 7, 7),
    ):
        with HostThread(model, path, request_timeout=given) as host:
            assert host.call(lambda host=host: host.host.request_timeout) == expected


# ---------------------------------------------------------------------- requests that are not whole


def test_half_a_request_is_not_waited_for_for_ever(start: Start, loop_name: str) -> None:
    host = start(Script(), loop=loop_name, read_timeout=0.3)
    with host.peer() as idle, host.peer() as cut, host.peer() as trickling, host.peer() as second:
        cut.send(json_frame(image_body("a", id="half")))
        assert second.ask("x")[1]["type"] == "done"
        second.send(json_frame(text_body("y")), b"\x7f")  # an answer, and then nothing but one byte
        assert second.answer()[1]["type"] == "done"
        stop = threading.Event()

        def trickle() -> None:
            while not stop.wait(0.02):
                try:
                    trickling.send(b" ")
                except OSError:
                    return

        trickling.send(b"\xff\xff\x01\x01{")
        thread = threading.Thread(target=trickle)
        thread.start()
        try:
            for peer, id in ((cut, "half"), (trickling, ""), (second, "")):
                error = peer.receive() or {}
                assert (error["code"], error["id"]) == ("invalid_request", id)
                assert "the request was not whole within 0.3 s" in error["message"]
                assert peer.at_end()
        finally:
            stop.set()
            thread.join()
        assert idle.ask("x")[1]["type"] == "done"
    eventually(lambda: host.call(lambda: host.host.partial) == 0)


def test_unfinished_requests_together_are_bounded(start: Start, loop_name: str) -> None:
    host = start(Script(), loop=loop_name, max_partial=8 << 20)
    size = 4 << 20
    start_of_page = [json_frame(image_body("a")), descriptor("a", size), uvarint(size), b"\x02", bytes(3 << 20)]
    with host.peer() as first, host.peer() as second, host.peer() as third:
        for peer in (first, second):
            peer.send(*start_of_page)
        eventually(lambda: host.call(lambda: host.host.partial) > 6 << 20)
        third.send(*start_of_page)
        error = third.receive() or {}
        assert error["code"] == "queue_full"
        assert "unfinished requests of all clients exceed 8 MiB" in error["message"]
        assert third.at_end()
        first.close()
        with host.peer() as fourth:
            eventually(lambda: host.call(lambda: host.host.partial) < 4 << 20)
            body = image_body("a", width=1000, height=1000)
            fourth.send(json_frame(body), descriptor("a", 3_000_000), uvarint(3_000_000), b"\x02", bytes(3_000_000))
            assert fourth.answer()[1]["type"] == "done"
    eventually(lambda: host.call(lambda: host.host.partial) == 0)


@pytest.mark.parametrize(
    ("number", "words"), [(errno.EMFILE, "Too many open files"), (errno.ENOMEM, "allocate memory")]
)
def test_why_there_is_no_buffer_is_told(start: Start, monkeypatch: pytest.MonkeyPatch, number: int, words: str) -> None:
    def none_left(size: int) -> object:
        raise OSError(number, os.strerror(number))

    host = start(Script())
    monkeypatch.setattr(host.host.runner, "allocate", none_left)
    with host.peer() as peer:
        peer.send(json_frame(image_body("a")), descriptor("a", 6), b"\x06\x02abcdef")
        error = peer.receive() or {}
        assert error["code"] == "internal"
        assert words in error["message"]


# ---------------------------------------------------------------------- strangers


def test_whom_the_system_does_not_name_is_refused(start: Start, caplog: pytest.LogCaptureFixture) -> None:
    assert None not in own_uids()
    host = start(Script())
    host.host.credentials = lambda sock: Credentials()
    with host.peer() as peer:
        assert peer.at_end()
    assert "refused a connection of somebody whom the system does not name" in caplog.text


@pytest.mark.parametrize("credentials", [Credentials(), Credentials(4_000_000_000, 0, 1)])
def test_the_grall_host_refuses_strangers(path: str, credentials: Credentials) -> None:
    host = GrallHostThread(chain("rep_d8"), path)
    try:
        with GrallClient(path) as client:
            client.ping()
        host.host.credentials = lambda sock: credentials
        with GrallClient(path) as client, pytest.raises((StreamLostError, DialError)):
            client.ping()
    finally:
        host.stop()


# ---------------------------------------------------------------------- a model that fails


def test_where_a_model_failed_is_in_the_log_and_in_debug(
    start_pool: Callable[..., HostThread], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "warmwire")
    with activity_log(tmp_path, "s"):
        host = start_pool()
        with host.peer() as peer:
            assert peer.ask("raise", id="page-9")[1]["message"].startswith("ValueError: caf")
        host.stop()
        host.join()
    log = (tmp_path / "s.ndjson").read_text()
    [failed] = [line for line in map(json.loads, log.splitlines()) if line["msg"] == "request_failed"]
    assert (failed["req_id"], failed["error"]) == ("page-9", "ValueError")
    assert any("faulty_model.py" in place and place.endswith(" generate") for place in failed["traceback"])
    assert "caf" not in log  # what was said may be a client's
    [told] = [record for record in caplog.records if "the model failed" in record.getMessage()]
    assert "'page-9'" in told.getMessage()
    assert "Traceback (most recent call last)" in told.getMessage()
    assert "raise ValueError" in told.getMessage()
