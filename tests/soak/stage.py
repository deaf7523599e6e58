"""Where a run takes place: its folder, its processes, its random numbers and its end.

Every process is started here and ended by the descriptor that was opened for it: its id may be a stranger's by then. A
process whose parent has died becomes a child of this one, so none gets lost.
"""

from __future__ import annotations

import ctypes
import os
import random
import re
import resource
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from tests.soak.ledger import Ledger
from tests.support import COMMAND, FAULTY_PATH, children, is_running

WAIT: Final = 60.0
"""Seconds after which a client gives up: many times what any answer takes, on a machine that others use as well."""

HANGS: Final = 180.0
"""Seconds after which a process that should have ended, or done its work, hangs."""

GRACE: Final = 10.0
"""Seconds that a program has to end once it was told to."""


class RunIsOverError(Exception):
    """There is no time left for what an actor was about to do; it has not failed."""


_BE_SUBREAPER: Final = 36
"""prctl's PR_SET_CHILD_SUBREAPER: orphans among our descendants become our children."""

_STUMBLES: Final = re.compile(r"never retrieved|Exception in callback|RuntimeError|AssertionError|Fatal Python error")
"""What a host says on standard error when it has lost its balance."""


class Stage:
    """One run."""

    def __init__(self, folder: Path, seed: int, seconds: float, ledger: Ledger) -> None:
        self.folder, self.seed, self.seconds, self.ledger = folder, seed, seconds, ledger
        ctypes.CDLL(None).prctl(_BE_SUBREAPER, 1, 0, 0, 0)
        self.over = threading.Event()
        self.temporary = folder / "tmp"
        for made in (self.temporary, folder / "run"):
            made.mkdir(mode=0o700)
        self.environment = os.environ | {
            "PYTHONPATH": FAULTY_PATH,
            "TMPDIR": str(self.temporary),
            "XDG_RUNTIME_DIR": str(folder / "run"),
        }
        self.may_mount = _may_mount()
        self.closed = False
        """Nothing may be begun any more, and nothing is asked of what was under way."""

        self._counter = 0
        self._processes: set[Process] = set()
        self._turn = threading.Lock()

    def rng(self, name: str) -> random.Random:
        """The random numbers of one actor."""
        return random.Random(f"{self.seed}/{name}")

    def start(self, *words: str, **options: Any) -> Process:
        """Run a verb of the command."""
        return self.launch([*COMMAND, *words], **options)

    def launch(self, words: Sequence[str], **options: Any) -> Process:
        with self._turn:
            if self.closed:
                raise RunIsOverError
            self._counter += 1
            log = self.folder / f"{self._counter}-{next((w for w in words if w.isalpha()), 'process')}.log"
            process = Process(self, words, log, **options)
            self._processes.add(process)
        return process

    def forget(self, process: Process) -> None:
        with self._turn:
            self._processes.discard(process)

    def cut_off(self, but: Collection[Process]) -> None:
        """End what still runs, gently and then not; nothing can be begun after it."""
        with self._turn:
            self.closed = True
            left = [process for process in self._processes if process not in but]
        for process in left:
            process.signal(signal.SIGTERM)
        last = time.monotonic() + GRACE
        for process in left:
            process.wait(max(0.0, last - time.monotonic()))
            process.end()

    def end_all(self) -> None:
        """Kill what still runs."""
        with self._turn:
            left = list(self._processes)
        for process in left:
            process.end()

    def left_behind(self) -> set[int]:
        """Processes that run without the parent that we started."""
        with self._turn:
            known = {process.pid for process in self._processes}
        orphans = children(os.getpid()) - known
        for orphan in orphans:
            with suppress(ChildProcessError):  # one that was just started, and not known yet
                os.waitpid(orphan, os.WNOHANG)
        return {orphan for orphan in orphans if is_running(orphan)}

    def soon(self, condition: Callable[[], Any], seconds: float = WAIT) -> Any:
        """Poll for what no event announces; its last value."""
        until = time.monotonic() + seconds
        while not (value := condition()) and time.monotonic() < until:
            time.sleep(0.02)
        return value


class Process:
    """A process of this run; what it says goes into a file."""

    def __init__(
        self,
        stage: Stage,
        words: Sequence[str],
        log: Path,
        *,
        cwd: Path | None = None,
        limits: Mapping[int, int] | None = None,
        **environment: str,
    ) -> None:
        self._stage = stage
        self.log = log
        with log.open("wb") as file:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                cwd=cwd,
                env=stage.environment | environment,
            )
        self.pid = self._process.pid
        self._descriptor: int | None = os.pidfd_open(self.pid)
        for which, value in (limits or {}).items():  # before it has come so far as to need them
            resource.prlimit(self.pid, which, (value, value))

    def signal(self, number: int) -> None:
        """Send a signal; one that has ended has ended."""
        if self._descriptor is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._descriptor, number)

    def wait(self, seconds: float = HANGS) -> int | None:
        """The exit status; None where it still runs after so many seconds."""
        try:
            status = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        self._close()
        return status

    @property
    def status(self) -> int | None:
        return self._process.poll()

    def said(self) -> str:
        return self.log.read_text("utf-8", "replace")

    def stumbles(self) -> list[str]:
        """Lines of its log that no fault excuses."""
        return [line for line in self.said().splitlines() if _STUMBLES.search(line)]

    def end(self) -> None:
        """Kill it, if it still runs."""
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGKILL)
        self._process.wait()
        self._close()

    def _close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
            self._stage.forget(self)


class Actor(threading.Thread):
    """Takes one turn after another until the run is over; `fault` is what an unexpected error is put down to."""

    fault: str
    pause = 0.02
    """Seconds between two turns, on average."""

    has_processes = False
    """Whether a turn may take long since it starts programs; such a one is cut off at the end of the run."""

    def __init__(self, stage: Stage, number: int = 0) -> None:
        super().__init__(name=f"{type(self).__name__}-{number}", daemon=True)
        self.stage, self.ledger = stage, stage.ledger
        self.rng = stage.rng(self.name)
        self._drawn: set[str] = set()

    def turn(self) -> None:
        raise NotImplementedError

    def run(self) -> None:
        while not self.stage.over.is_set():
            try:
                self.turn()
            except RunIsOverError:
                return
            except Exception as error:
                if not self.stage.closed:
                    self.ledger.unexpected(self.fault, error)
                self.stage.over.wait(0.5)
            self.stage.over.wait(self.rng.expovariate(1 / self.pause))

    def did(self, fault: str, what: str = "") -> None:
        """Begin a fault."""
        self.fault = fault
        self.ledger.did(fault, what)

    def check(self, holds: object, what: str) -> None:
        """Ask something after the fault that was begun last."""
        if self.stage.closed:
            raise RunIsOverError
        self.ledger.check(self.fault, holds, what)

    def one_of(self, weights: Mapping[str, float]) -> str:
        """One of these by its weight, once each of them has come, in any order."""
        fresh = [word for word in weights if word not in self._drawn]
        word = self.rng.choice(fresh) if fresh else self.rng.choices(list(weights), list(weights.values()))[0]
        self._drawn.add(word)
        return word


def _may_mount() -> bool:
    """Whether this user may have a disk of their own in a namespace of their own."""
    command = ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"]
    try:
        return subprocess.run(command, capture_output=True, timeout=WAIT).returncode == 0
    except OSError:
        return False


def send_to_child(pid: int, parent: int, number: int) -> None:
    """Send a signal to a child of `parent`, if it still is one: its id may be another's by now."""
    with suppress(OSError):
        descriptor = os.pidfd_open(pid)
        try:
            if pid in children(parent):
                signal.pidfd_send_signal(descriptor, number)
        finally:
            os.close(descriptor)
