"""`warmwire chat`: what a model is sent, what is kept of an answer, and what a terminal shows."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli_support import run
from tests.support import COMMAND, PATIENCE, Gate, Script, Start
from warmwire.cli.verbs.chat import Talk
from warmwire.client import Client, Request
from warmwire.wire.generation.messages import OutBlock


class Listener(Script):
    """Answers with its turn's number and keeps what it was sent."""

    def __init__(self) -> None:
        super().__init__(self._play)
        self.asked: list[Request] = []

    def _play(self, request: Request, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> None:
        self.asked.append(request)
        emit(OutBlock("text", f"answer {len(self.asked)}"))


def said(request: Request) -> list[tuple[str, str]]:
    return [(m.role, "".join(block.text or "" for block in m.content)) for m in request.messages]


def test_what_was_said_is_sent_again(start: Start, tmp_path: Path) -> None:
    model = Listener()
    words = f"one\ntwo\\\nlines\n/system Be brief.\nthree\n/save {tmp_path}/talk.md\n/clear\nfour\n"
    done = run("chat", "--socket", start(model).path, stdin=words)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "answer 1\nanswer 2\nanswer 3\nanswer 4\n"
    told = [("user", "one"), ("assistant", "answer 1"), ("user", "two\nlines"), ("assistant", "answer 2")]
    assert [said(request) for request in model.asked] == [
        told[:1],
        told[:3],
        [("system", "Be brief."), *told, ("user", "three")],
        [("system", "Be brief."), ("user", "four")],
    ]
    saved = (tmp_path / "talk.md").read_text()
    assert saved.startswith("**system:** Be brief.\n\n**user:** one\n\n**assistant:** answer 1\n")


def test_pictures_go_with_what_is_said_next_and_stay(start: Start, tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    image.new("RGB", (3, 2)).save(tmp_path / "x.png")
    model = Listener()
    words = f"/image {tmp_path}/x.png\nlook\nagain\n/image {tmp_path}/none.png\n/nonsense\n"
    done = run("chat", "--socket", start(model).path, stdin=words)
    assert [len(request.attachments) for request in model.asked] == [1, 1]
    assert [block.type for block in model.asked[1].messages[0].content] == ["image", "text"]
    assert "none.png" in done.stderr
    assert "no command /nonsense" in done.stderr
    assert done.returncode == 1


def test_what_failed_was_not_said(start: Start) -> None:
    class Failing(Listener):
        def _play(self, request: Request, emit: Any, cancelled: Any) -> None:
            super()._play(request, lambda block: None if len(self.asked) == 1 else emit(block), cancelled)
            if len(self.asked) == 1:
                raise ValueError("not this")

    model = Failing()
    done = run("chat", "--socket", start(model).path, stdin="one\ntwo\n")
    assert done.stderr == "warmwire: ValueError: not this\n"
    assert said(model.asked[1]) == [("user", "two")]


def test_an_answer_that_is_stopped_is_kept(start: Start) -> None:
    gate = Gate()
    gate.open("next")

    def enough(stream: Any) -> None:
        for _ in stream:
            raise KeyboardInterrupt

    with Client(start(gate).path) as client:
        shows = iter([enough, lambda stream: stream.text()])
        talk = Talk(client, lambda stream: next(shows)(stream))
        assert talk.hear("k")
        gate.wait_ended("k")
        assert gate.cancelled == ["k"]
        assert [message.content[-1].text for message in talk.messages] == ["k", "<k>"]
        talk.hear("next")
        assert talk.messages[-1].content[-1].text == "<next></next>"
    assert not talk.failed


def test_a_terminal_shows_markdown_and_takes_lines(start: Start) -> None:
    def play(request: Request, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> None:
        emit(OutBlock("text", "**bold** words"))

    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, "chat", "--socket", start(Script(play)).path],
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"COLUMNS": "90", "TERM": "xterm"},
    ) as process:
        os.close(theirs)
        printed, typed = b"", [b"hello\n", b"/quit\n"]
        while True:
            assert select.select([ours], [], [], PATIENCE)[0], printed
            try:
                printed += os.read(ours, 4096)
            except OSError:
                break
            if typed and printed.rstrip().endswith(b">"):
                os.write(ours, typed.pop(0))
                printed += b"\n"
        os.close(ours)
        assert process.wait(PATIENCE) == 0
    assert b"bold" in printed
    assert b"**bold" not in printed
