"""The activity log: who and how much and never what, in files of a bounded size, without secrets."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support import Gate, Script, StartWhole, eventually, json_frame, text_body
from warmwire.client import InputError
from warmwire.host import activity_log as activity
from warmwire.models.interface import Finish
from warmwire.wire.generation.messages import OutBlock


def read_log(directory: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (directory / "s.ndjson").read_text().splitlines()]


def test_the_log_tells_who_and_how_much_and_never_what(start_whole: StartWhole, tmp_path: Path, loop_name: str) -> None:
    def play(request: Any, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> Finish:
        if request.id == "bug":
            raise ValueError("it said XYZZY")
        emit(OutBlock("text", "PLUGH"))
        return Finish(report={"x": "PLUGH"})

    with activity.activity_log(tmp_path / "logs", "s"):
        host = start_whole(Script(play), loop=loop_name)
        with host.peer() as peer:
            peer.ask("XYZZY", id="one")
            peer.ask("XYZZY", id="bug")
            peer.send(json_frame(text_body("XYZZY", id="Bearer abcdefghijklmnop") | {"messages": []}))
            peer.answer()
            peer.send(b"\x05\x01XYZZY")
            assert (peer.receive() or {})["code"] == "invalid_request"
        host.stop()
        host.join()
    log = read_log(tmp_path / "logs")
    assert [line["msg"] for line in log if line["component"] == "activity"] == [
        "ready",
        "connection_accepted",
        "request_done",
        "request_failed",
        "request_failed",
        "request_unreadable",
    ]
    ready, accepted, done = (line for line in log if line["msg"] in ("ready", "connection_accepted", "request_done"))
    assert ready["surfaces"] == ["generation"]
    assert (accepted["surface"], accepted["peer_uid"], accepted["peer_pid"]) == ("generation", os.getuid(), os.getpid())
    assert (done["req_id"], done["level"], done["stop_reason"], done["n_tools"]) == ("one", "info", "end_turn", 0)
    assert done["seconds"] >= 0
    failures = [(line["req_id"], line["code"]) for line in log if line["msg"] == "request_failed"]
    assert failures == [("bug", "internal"), ("Bearer [REDACTED]", "invalid_request")]
    text = (tmp_path / "logs" / "s.ndjson").read_text()
    assert "XYZZY" not in text
    assert "PLUGH" not in text
    assert (tmp_path / "logs").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "logs" / "s.ndjson").stat().st_mode & 0o777 == 0o600


def test_a_cancelled_request_is_logged_as_such(start_whole: StartWhole, tmp_path: Path) -> None:
    gate = Gate()
    with activity.activity_log(tmp_path, "s"):
        host = start_whole(gate)
        with host.peer() as peer:
            peer.send(json_frame(text_body("k", id="left")))
            gate.wait_running("k")
        gate.wait_ended("k")
        eventually(lambda: "request_cancelled" in (tmp_path / "s.ndjson").read_text())
    (line,) = [line for line in read_log(tmp_path) if line["msg"] == "request_cancelled"]
    assert line["req_id"] == "left"


def test_nothing_is_logged_unless_asked_for(tmp_path: Path) -> None:
    with activity.activity_log(tmp_path, "s"):
        activity.record("inside")
    activity.record("outside")
    with activity.activity_log(None, "s"):
        activity.record("nowhere")
    assert [line["msg"] for line in read_log(tmp_path)] == ["inside"]


def test_files_change_before_one_is_too_large(tmp_path: Path) -> None:
    with activity.activity_log(tmp_path, "s", most=2000):
        for n in range(100):
            activity.record("event", n=n, text="x" * 50)
    assert sorted(os.listdir(tmp_path)) == ["s.ndjson", "s.ndjson.1", "s.ndjson.2", "s.ndjson.3"]
    assert all(file.stat().st_size <= 2000 for file in tmp_path.iterdir())
    assert read_log(tmp_path)[-1]["n"] == 99


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("Authorization: Bearer abc.def-123", "Authorization: Bearer [REDACTED]"),
        ("'authorization': 'Basic dXNlcjpwYXNz'", "'authorization': 'Basic [REDACTED]'"),
        ("api_key=hunter2&x=1", "api_key=[REDACTED]&x=1"),
        ('{"password": "hunter2"}', '{"password": "[REDACTED]"}'),
        ("OPENAI_API_KEY=abc", "OPENAI_API_KEY=[REDACTED]"),
        ("eyJhbGciOi.eyJzdWIi.c2lnbmF0dXJl", "[REDACTED]"),
        ("key sk-proj-0123456789abcdef ends", "key [REDACTED] ends"),
        ("xoxb-12-34 ghp_0123456789abcdef glpat-0123456789", "[REDACTED] [REDACTED] [REDACTED]"),
        ("AKIAIOSFODNN7EXAMPLE", "[REDACTED]"),
        ("http://me:hunter2@host/v1", "http://me:[REDACTED]@host/v1"),
        ("a task-oriented monkey at http://host:80/x", "a task-oriented monkey at http://host:80/x"),
    ],
)
def test_secrets_are_cut_out(text: str, safe: str) -> None:
    assert activity.redact(text) == safe


def test_redaction_takes_no_time_on_hostile_ids() -> None:
    for piece in ("token", "bearer ", "eyJ.", "a://", "authorization ", "sk-", "apikey=", "\"'"):
        activity.redact(piece * 500)


def test_a_directory_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="no log can be written there"), activity.activity_log(tmp_path / "file", "s"):
        pass
    (tmp_path / "s.ndjson").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="no log can be written there"), activity.activity_log(tmp_path, "s"):
        pass
    assert not (tmp_path / "elsewhere").exists()
