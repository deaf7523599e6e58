"""What the tests of the command line share: running a verb in this process, in its own and on a terminal."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import select
import signal
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from tests.support import COMMAND, PATIENCE
from warmwire.cli import main

Done = subprocess.CompletedProcess[str]


def run(*arguments: str | Path, stdin: str | None = None) -> Done:
    """Run a command in this process, which spares starting one: its standard streams are real files."""
    done = run_bytes(*arguments, stdin=None if stdin is None else stdin.encode())
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def run_bytes(
    *arguments: str | Path, stdin: bytes | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[bytes]:
    """The same for what is no text, and in a folder."""
    words = [*map(str, arguments)]
    with contextlib.ExitStack() as stack:
        source, out, err = (stack.enter_context(tempfile.TemporaryFile("w+", newline="")) for _ in range(3))
        if stdin is None:
            source = stack.enter_context(open(os.devnull))
        else:
            source.buffer.write(stdin)
            source.seek(0)
        for name, value in {"argv": ["warmwire", *words], "stdin": source, "stdout": out, "stderr": err}.items():
            stack.enter_context(mock.patch.object(sys, name, value))
        stack.enter_context(descriptor_1(out.fileno()))
        stack.enter_context(contextlib.chdir(cwd or os.getcwd()))
        with pytest.raises(SystemExit) as ended:
            main()
        written = []
        for stream in (out, err):
            stream.flush()
            stream.seek(0)
            written.append(stream.buffer.read())
    return subprocess.CompletedProcess(words, int(ended.value.code or 0), *written)


@contextlib.contextmanager
def descriptor_1(fd: int) -> Iterator[None]:
    """Let descriptor 1 be another, for whoever writes to it without asking `sys`."""
    before = os.dup(1)
    os.dup2(fd, 1)
    try:
        yield
    finally:
        os.dup2(before, 1)
        os.close(before)


def run_process(*arguments: str | Path, stdin: str | None = None, **environment: str) -> Done:
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | environment,
        input=stdin or "",
    )


def begin(*arguments: str | Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def failure(done: Done, status: int) -> str:
    """The one line that says what went wrong, after what was waited for, if anything."""
    assert done.returncode == status, done.stderr
    (line,) = [line for line in done.stderr.splitlines() if not line.startswith("warmwire: waiting")]
    return line


def terminal(*arguments: str, until: bytes | None = None) -> bytes:
    """What a command prints on a terminal, to its end, or until some words appear and it is interrupted."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"COLUMNS": "90"},
    )
    os.close(theirs)
    printed = b""
    while True:
        if not select.select([ours], [], [], PATIENCE)[0]:
            process.kill()
            raise AssertionError(f"it hangs after {printed!r}")
        try:
            data = os.read(ours, 4096)
        except OSError:  # how a pty says that its other side has closed
            break
        printed += data
        if until is not None and until in printed:
            process.send_signal(signal.SIGINT)
            until = None
    os.close(ours)
    process.wait(PATIENCE)
    return printed


def status(path: str, expected: int = 0) -> dict[str, object]:
    done = run("status", "--json", "--socket", path)
    assert done.returncode == expected, done.stdout + done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


def venv_with(folder: Path, *wheels: Path, source: bool = False) -> Path:
    """A new venv with these wheels, which sees the packages of this one as well, and this tree if it is to.

    Nothing is fetched. A package that is in both is the one of the new venv.
    """
    venv.create(folder, with_pip=False)
    [site] = (folder / "lib").glob("python*/site-packages")
    seen = ("site-packages", "src") if source else ("site-packages",)
    (site / "outer.pth").write_text("\n".join(path for path in sys.path if path.endswith(seen)))
    pip = [sys.executable, "-m", "pip", "--python", str(folder), "install", "-q", "--no-index", "--no-deps"]
    subprocess.run([*pip, "--force-reinstall", *map(str, wheels)], check=True)
    return folder
