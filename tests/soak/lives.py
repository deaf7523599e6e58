"""Hosts that live a moment: ended while they load or answer, in pairs at one socket, with too little of everything."""

from __future__ import annotations

import os
import resource
import signal
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from tests.soak.stage import HANGS, WAIT, Actor, Process, Stage
from tests.soak.wire import words
from tests.support import Peer, json_frame, text_body
from warmwire.client import BackendUnavailableError, Client, DialError, StreamLostError

FAKETIME: Final = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
"""Debian's package `libfaketime`, where it is installed."""

DESCRIPTORS: Final = 40
MEMORY: Final = 1 << 30


class Asker(threading.Thread):
    """Asks as soon as there is somebody to ask. Who has begun to answer ends it, with all of it or with an error."""

    def __init__(self, path: str, name: str, count: int) -> None:
        super().__init__(name=name, daemon=True)
        self._path, self._count = path, count
        self.wrong = ""

    def run(self) -> None:
        said, ended = "", False
        try:
            with Client(self._path, wait=3.0, timeout=WAIT) as client, client.ask(self._order) as stream:
                for text in stream:
                    said += text
                ended = True
        except StreamLostError as error:
            if said:
                self.wrong = f"lost after {said[-80:]!r}: {error}"
        except (BackendUnavailableError, DialError):
            pass  # it was not there any more, or said that it is about to go
        except Exception as error:
            self.wrong = repr(error)
        if ended and not said.endswith(words(self.name, self._count)):
            self.wrong = f"an answer that is not whole: {said[-80:]!r}"

    @property
    def _order(self) -> str:
        return f"mark {self.name} {self._count}"


class Lives(Actor):
    """One life after another."""

    fault = "SIGTERM at any moment"
    pause = 0.3
    has_processes = True

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self._path = str(stage.folder / "life.sock")

    def turn(self) -> None:
        match self.one_of({"term": 5, "race": 2, "descriptors": 1, "memory": 1, "clock": 1}):
            case "term":
                self._terminated()
            case "race":
                self._race()
            case "descriptors":
                self._out_of_descriptors()
            case "memory":
                self._out_of_memory()
            case "clock":
                self._clock_steps()

    # ------------------------------------------------------------------ ends

    def _terminated(self) -> None:
        """SIGTERM while it loads, idles or answers: an answer that has begun is whole."""
        process = self._serve("faulty", "--workers", "2")
        moment, answers = self.rng.uniform(0, 1.5), [0, 2, 50, 200]
        self.did("SIGTERM at any moment", f"after {moment:.3f} s")
        clients = [Asker(self._path, f"asker{n}", self.rng.choice(answers)) for n in range(self.rng.randint(0, 4))]
        for client in clients:
            client.start()
        self.stage.over.wait(moment)
        process.signal(signal.SIGTERM)
        if self.rng.random() < 0.2:
            process.signal(signal.SIGTERM)
        self._gone(process, {0, -signal.SIGTERM})
        for client in clients:
            client.join(WAIT)
            self.check(not client.is_alive() and not client.wrong, client.wrong or "no end of an answer")

    def _race(self) -> None:
        """Two at one socket, which a killed one may have left behind."""
        both = [self._serve("echo"), self._serve("echo")]
        self.did("two hosts for one socket")
        self._answers("first")
        loser = self.stage.soon(lambda: next((one for one in both if one.status is not None), None), HANGS)
        self.check(loser is not None, "both run")
        if loser is not None:
            self.check(loser.wait() == 1 and "already served" in loser.said(), loser.said())
        winner = both[0] if loser is both[1] else both[1]
        self._answers("second")
        if self.rng.random() < 0.5:
            winner.end()
            self._while(self._serve("echo"), lambda: self._answers("third"))
        else:
            winner.signal(signal.SIGTERM)
            self._gone(winner, {0})

    # ------------------------------------------------------------------ too little

    def _out_of_descriptors(self) -> None:
        process = self._serve("echo", limits={resource.RLIMIT_NOFILE: DESCRIPTORS})
        self.did("out of descriptors", f"{DESCRIPTORS} of them, and twice as many clients")

        def crowd() -> None:
            with ExitStack() as stack:
                peers = [stack.enter_context(Peer(self._path, timeout=HANGS)) for _ in range(2 * DESCRIPTORS)]
                said, last = peers[0].ask("still here", id="0")
                self.check(said == "still here" and last["type"] == "done", f"{said} {last}")
            self._answers("there is room again")

        self._while(process, crowd)

    def _out_of_memory(self) -> None:
        process = self._serve("faulty", limits={resource.RLIMIT_AS: MEMORY})
        self.did("out of memory", f"{MEMORY >> 20} MB of addresses")

        def grow() -> None:
            with Peer(self._path, timeout=HANGS) as peer:
                peer.send(json_frame(text_body(f"grow {2 * MEMORY >> 20}", id="g")))
                _, last = peer.answer()
                self.check(last.get("code") in ("internal", "backend_unavailable"), f"{last}")
            self._marked("after", 5)

        self._while(process, grow)

    def _clock_steps(self) -> None:
        if not FAKETIME:
            self.ledger.skip("clock steps", "libfaketime is not installed")
            return
        clock = self.stage.folder / "clock"
        clock.write_text("+0")
        process = self._serve(
            "faulty",
            "--request-timeout",
            "5",
            LD_PRELOAD=str(FAKETIME[0]),
            FAKETIME_TIMESTAMP_FILE=str(clock),
            FAKETIME_NO_CACHE="1",
            FAKETIME_DONT_FAKE_MONOTONIC="1",
        )

        def step() -> None:
            for number in range(6):
                days = self.rng.randint(-4000, 4000)
                self.did("clock steps", f"{days:+d} days")
                clock.write_text(f"{days:+d}d")
                self._marked(f"day{number}", 20)
                with Client(self._path, wait=HANGS) as client:
                    activity = client.status().activity or {}
                    self.check(0 <= activity["idle"] < 60, f"{activity}")

        self._while(process, step)

    # ------------------------------------------------------------------ parts

    def _serve(self, model: str, *more: str, limits: dict[int, int] | None = None, **environment: str) -> Process:
        return self.stage.start("serve", model, "--socket", self._path, *more, limits=limits, **environment)

    def _while(self, process: Process, act: Callable[[], None]) -> None:
        """Do something with a host, then end it."""
        try:
            act()
        finally:
            process.signal(signal.SIGTERM)
            self._gone(process, {0, -signal.SIGTERM})

    def _gone(self, process: Process, statuses: set[int]) -> None:
        """It has ended; if it had begun to serve, it has taken its socket and its lock with it."""
        status = process.wait()
        if status is None:
            process.end()
        self.check(status in statuses, f"exit status {status}: {process.said()[-600:]}")
        self.check(not process.stumbles(), f"{process.stumbles()}")
        left = [name for name in (self._path, f"{self._path}.lock") if os.path.exists(name)]
        self.check(status != 0 or not left, f"{left} are left")

    def _answers(self, text: str) -> None:
        with Peer(self._path, timeout=HANGS) as peer:
            said, last = peer.ask(text)
            self.check(said == text and last["type"] == "done", f"{said!r} {last}")

    def _marked(self, name: str, count: int) -> None:
        with Client(self._path, wait=HANGS, timeout=HANGS) as client:
            text = client.ask(f"mark {name} {count}").text()
            self.check(text.endswith(words(name, count)), text)
