"""Starting the host of a declared model: a process of its own, in a session of its own, so that a Ctrl-C at the
terminal of whoever started it does not reach it.

What it says goes to a file beside its socket. Where it ends before it is ready, the last sentence there is the reason.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from warmwire.bridge.fleet.config import Declared
from warmwire.errors import BackendUnavailableError
from warmwire.system.text import printable

_SAID: Final = "warmwire: "
_TAIL: Final = 64 << 10
_LONGEST: Final = 1000


class LoadError(BackendUnavailableError):
    """A model cannot be loaded. `pause` is how many seconds nobody should try again."""

    pause = 0.0


def log_path(declared: Declared) -> Path:
    """Where a host's words go."""
    return Path(declared.socket).with_suffix(".log")


def start_host(declared: Declared) -> subprocess.Popen[bytes]:
    """Start a declared model's host; it claims its socket's path and says on its admin socket how far it is.

    Raises LoadError where no process can be started.
    """
    command = [sys.executable, "-P", "-m", "warmwire", "serve", "--socket", declared.socket]
    command += ["--workers", str(declared.workers)]
    if declared.parallel > 1:
        command += ["--parallel", str(declared.parallel)]
    command += ["--", declared.model]
    log = log_path(declared)
    try:
        log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fd = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with open(fd, "wb") as said:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                cwd=declared.folder,
                start_new_session=True,
            )
    except OSError as error:
        raise LoadError(f"the host of {declared.name} cannot be started: {error}") from None


def last_words(declared: Declared) -> str:
    """The last sentence of a host that has ended."""
    try:
        with open(log_path(declared), "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _TAIL))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        lines = []
    said = [line for line in lines if line.startswith(_SAID)] or [line for line in lines if line.strip()]
    return printable(said[-1].removeprefix(_SAID), _LONGEST) if said else "it ended without a word"
