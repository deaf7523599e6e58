"""`warmwire ask`: what it sends, what it prints, and how it ends."""

from __future__ import annotations

import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli_support import begin, failure, run, run_process, terminal
from tests.conftest import ServeProcess
from tests.support import COMMAND, DATA, PATIENCE, Gate, Script, Start
from warmwire.cli.console import reach
from warmwire.client import OutBlock, StopReason, Usage
from warmwire.models.interface import Finish


def test_ask_prints_the_answer(echo_host: ServeProcess) -> None:
    done = run("ask", "what  is this\u20ac", "--socket", echo_host.path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "what  is this\u20ac\n", "")


def test_ask_reads_standard_input(echo_host: ServeProcess) -> None:
    assert run_process("ask", "-", "--socket", echo_host.path, stdin="from a pipe\n").stdout == "from a pipe\n"
    assert run("ask", "Sum up.", "--socket", echo_host.path, stdin="a text\n").stdout == "a text\n\nSum up.\n"
    assert run("ask", "alone", "--socket", echo_host.path, stdin="").stdout == "alone\n"


def test_ask_shows_pictures(echo_host: ServeProcess, tmp_path: Path) -> None:
    pillow = pytest.importorskip("PIL.Image")
    pillow.new("RGBA", (30, 20)).save(tmp_path / "a.png")
    pillow.new("L", (7, 9)).save(tmp_path / "b.webp")
    pictures = ("--image", tmp_path / "a.png", "-i", tmp_path / "b.webp")
    done = run("ask", "look", *pictures, "--socket", echo_host.path)
    assert done.stdout == "[image image-1 30x20][image image-2 7x9]look\n"
    (tmp_path / "c.png").write_bytes(b"no picture")
    assert "c.png: not a" in failure(run("ask", "look", "-i", tmp_path / "c.png", "--socket", echo_host.path), 1)
    assert "no such file" in failure(run("ask", "look", "-i", tmp_path / "d.png", "--socket", echo_host.path), 1)
    both = ("-", "-i", "-", "--socket", echo_host.path)
    assert "can be read once only" in failure(run("ask", *both, stdin="x"), 2)
    with (tmp_path / "a.png").open("rb") as picture:
        command = [*COMMAND, "ask", "look", "-i", "-", "--socket", echo_host.path]
        shown = subprocess.run(command, stdin=picture, capture_output=True, timeout=60)
    assert shown.stdout == b"[image image-1 30x20]look\n"
    pdf = DATA / "documents" / "digital.pdf"
    assert "`warmwire ocr` reads documents" in failure(run("ask", "look", "-i", pdf, "--socket", echo_host.path), 2)


def test_ask_says_that_an_answer_was_cut(echo_host: ServeProcess, tmp_path: Path) -> None:
    options = ("--max-tokens", "2", "--socket", echo_host.path)
    done = run("ask", "one two three", *options)
    assert done.stdout == "one two\n"
    assert failure(done, 0) == "warmwire: the answer was cut after 2 tokens"
    (tmp_path / "schema.json").write_text('{"type": "object"}')
    assert run("ask", "one two three", *options, "--json-schema", tmp_path / "schema.json").returncode == 1


def test_ask_sends_everything_it_is_told(start: Start, tmp_path: Path) -> None:
    seen = []

    def play(request: object, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> Finish:
        seen.append(request)
        emit(OutBlock("thinking", "Hm.\x1b[31m"))
        emit(OutBlock("text", "A"))
        return Finish()

    (tmp_path / "s.json").write_text('{"type": "object"}')
    host = start(Script(play))
    options = ("--system", "Be brief.", "--json-schema", tmp_path / "s.json", "--temperature", "0.5", "--thinking")
    done = run("ask", "hello", *options, "--max-tokens", "9", "--socket", host.path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "A\n", "Hm.[31m\n")
    (request,) = seen
    assert [(m.role, m.content[0].text) for m in request.messages] == [("system", "Be brief."), ("user", "hello")]
    assert request.response_format == {"type": "json_schema", "schema": {"type": "object"}}
    assert (request.temperature, request.max_tokens, request.thinking) == (0.5, 9, True)


@pytest.mark.parametrize(
    ("text", "words"),
    [("{", "not JSON"), ("[1]", "not a JSON schema"), (None, "No such file"), ("[" * 9999, "not JSON")],
)
def test_a_schema_that_is_none(tmp_path: Path, path: str, text: str | None, words: str) -> None:
    if text is not None:
        (tmp_path / "s.json").write_text(text)
    assert words in failure(run("ask", "x", "--json-schema", tmp_path / "s.json", "--socket", path), 1)


@pytest.mark.parametrize("words", [("ask", "hello"), ("embed", "a"), ("rerank", "q", "d")], ids=lambda words: words[0])
def test_no_host_at_all(path: str, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    monkeypatch.setattr(reach, "DIAL_WAIT", 0.2)
    assert f"start one with: warmwire serve MODEL --socket {path}" in failure(run(*words, "--socket", path), 1)


def test_what_had_come_stays_when_the_answer_breaks_off(start: Start) -> None:
    def play(request: object, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> Finish:
        emit(OutBlock("text", "half an ans"))
        raise MemoryError

    done = run("ask", "x", "--socket", start(Script(play)).path)
    assert done.stdout == "half an ans\n"
    assert "MemoryError" in failure(done, 1)


@pytest.mark.parametrize("reason", [StopReason.ERROR, StopReason.CANCELLED])
def test_an_answer_that_its_host_has_given_up_is_no_success(start: Start, reason: StopReason) -> None:
    def play(request: object, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> Finish:
        emit(OutBlock("text", "half an ans"))
        return Finish(reason)

    done = run("ask", "x", "--socket", start(Script(play)).path)
    assert done.stdout == "half an ans\n"
    assert failure(done, 1) == f"warmwire: the host ended the answer early: {reason}"


def test_an_interrupt_cancels(start: Start) -> None:
    gate = Gate()
    process = begin("ask", "k", "--socket", start(gate).path)
    assert process.stdout is not None
    assert process.stdout.read(3) == "<k>"  # it streams: the answer is under way
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (130, "\n", "warmwire: interrupted\n")
    gate.wait_ended("k")
    assert gate.cancelled == ["k"]


def test_a_reader_that_has_enough_cancels(start: Start) -> None:
    cancelled_ = threading.Event()

    def play(request: object, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> Finish:
        try:
            while True:
                emit(OutBlock("text", "word " * 100))
        finally:
            cancelled_.set()

    process = begin("ask", "k", "--socket", start(Script(play)).path)
    assert process.stdout is not None
    process.stdout.read(10)
    process.stdout.close()
    assert process.wait(PATIENCE) == 1
    assert cancelled_.wait(PATIENCE)
    assert process.stderr is not None
    assert "Traceback" not in process.stderr.read()


def test_a_terminal_is_not_told_what_to_do(start: Start) -> None:
    def play(request: object, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> Finish:
        emit(OutBlock("text", "red\x1b[31m\x07\n\tbell\u202e"))
        return Finish(StopReason.END_TURN, Usage(1, 1))

    path = start(Script(play)).path
    assert terminal("ask", "x", "--socket", path) == b"red[31m\r\n\tbell\r\n"
    assert run("ask", "x", "--socket", path).stdout == "red\x1b[31m\x07\n\tbell\u202e\n"  # a pipe gets it all
