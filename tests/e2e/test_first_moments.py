"""What the command says and how it ends while nothing has happened yet."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli_support import begin, status
from tests.reader_support import Reader, listening
from tests.support import COMMAND, PATIENCE, Peer, Script, Start


def loading(code: str, folder: Path) -> dict[str, str]:
    """Variables with which the command runs some code where it would load a library."""
    (folder / "typer.py").write_text(code)
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])}


@pytest.mark.parametrize(
    ("verb", "number", "expected"),
    [
        ("serve", signal.SIGTERM, 0),
        ("serve", signal.SIGINT, 0),
        ("bridge", signal.SIGTERM, 0),
        ("ipc", signal.SIGINT, 0),
        ("ask", signal.SIGTERM, 143),
        ("ask", signal.SIGINT, 130),
    ],
)
def test_a_signal_while_the_command_itself_is_loaded(tmp_path: Path, verb: str, number: int, expected: int) -> None:
    """The statuses are those of later on. A module that is read from a pipe makes the first moment last."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [*COMMAND, verb, "echo", str(tmp_path / "s")],
        env=loading(f"open({str(pipe)!r}).read()", tmp_path),
        stderr=subprocess.PIPE,
        text=True,
    )
    with pipe.open("w"):  # opens when the command does
        process.send_signal(number)
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == expected, err
    assert "Traceback" not in err


DROPS = """
import signal, sys, threading, weakref
ref = weakref.ref(set(), lambda _: signal.raise_signal(int(sys.argv[-1])))
threading.Event().wait()
"""


@pytest.mark.parametrize(
    ("verb", "number", "expected"),
    [
        ("serve", signal.SIGTERM, 0),
        ("serve", signal.SIGINT, 0),
        ("ocr", signal.SIGTERM, 143),
        ("ocr", signal.SIGINT, 130),
    ],
)
def test_a_signal_where_python_drops_exceptions(tmp_path: Path, verb: str, number: int, expected: int) -> None:
    command = [*COMMAND, verb, str(int(number))]
    done = subprocess.run(command, env=loading(DROPS, tmp_path), timeout=PATIENCE, capture_output=True)
    assert (done.returncode, done.stderr) == (expected, b"")


def test_an_open_silent_standard_input_is_named(start: Start) -> None:
    command = [*COMMAND, "ask", "x", "--socket", start(Script()).path]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        assert "waiting for the end of standard input" in process.stderr.readline()
        assert process.communicate("", timeout=PATIENCE) == ("", "")
    assert process.returncode == 0


def test_a_host_that_is_waited_for_is_named(path: str) -> None:
    process = begin("ask", "x", "--socket", path)
    try:
        assert process.stderr is not None
        assert process.stderr.readline() == f"warmwire: waiting up to 10 s for a host at {path}\n"
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE)


def test_the_host_of_a_handler_has_a_status(path: str) -> None:
    with listening(Reader(), path), Peer(path) as peer:
        peer.ask("no page")
        told = status(path)
    assert (told["alive"], told["ready"], told["reason"]) == (True, True, "it takes requests")
    assert [model["vision"] for model in told["capabilities"]] == [True]  # type: ignore[index,union-attr]
    assert told["activity"]["workers"] == 1  # type: ignore[index]
