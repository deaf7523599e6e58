"""What was done, what was asked, and what did not hold.

Every fault that is made is a line of the log, so that the way to a violation can be read. A violation does not end the
run: there may be others, of other causes.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import Final

FAULTS: Final = {
    "disconnect at a byte": "the others are answered; nothing of it stays in the host",
    "half-close": "what was asked is answered with one terminal frame, then the connection ends",
    "trickle": "bytes that come one by one are read as bytes that come at once",
    "stalled reader": "the connection is dropped after the write timeout, or its answer is whole; memory stays flat",
    "mutated frames": "an error of the wire or an answer, then the end; never silence",
    "oversized frame": "frame_too_large before anything is allocated",
    "request cancelled": "its worker is free for others",
    "model fails": "an error frame with its code, after a prefix of the answer",
    "model hangs": "ended by --request-timeout, and its worker replaced",
    "worker killed": "its request gets an error frame; another worker takes its place",
    "worker stopped and continued": "its request is answered or ended in time",
    "host stopped and continued": "what was asked meanwhile is answered",
    "two requests at once": "two answers, in order, each with its own id and words",
    "embeddings and rerank": "the numbers of these texts, under this id, in order",
    "embeddings and rerank, cut or damaged": "answers and errors, then the end; the next request is answered",
    "pictures": "the sum of the pixels that were sent",
    "admin subscriber that stalls": "whole lines, each one JSON",
    "1,000 clients": "each is answered with its own words",
    "10,000 short connections": "all are taken in; no descriptor stays",
    "grall generations": "the text of that name and seed, then one end frame",
    "grall commands cut or damaged": "an err frame or silence; other generations go on",
    "grall reader that stalls": "its connection alone waits",
    "HTTP cut, trickled or damaged": "a status of 4xx or 5xx, or the end; the next request is answered",
    "HTTP stream left": "the host's worker is free for others",
    "models started when asked for": "the answer, or 503 with the reason; who is not asked for is unloaded",
    "bridge of models killed": "the next one finds its hosts, and ends them with itself",
    "ocr killed": "the output is absent or whole; no page in the journal is read again",
    "ocr ended by a signal": "as killed, with exit status 130 or 143, and no temporary file",
    "ocr on a full disk": "one sentence and exit status 1; the next run goes on from the journal",
    "watch-folder killed": "each document is read once, but for those under way",
    "SIGTERM at any moment": "who was being answered is answered to the end; socket and lock are gone",
    "two hosts for one socket": "one serves, the other says who does; what a killed one leaves behind is replaced",
    "out of descriptors": "who is connected is answered; others are, once there is room",
    "out of memory": "an error frame for the request; the host answers on",
    "clock steps": "answers, drains and ages go by the other clock",
    "at the end": "no descriptor, process, mapping or temporary file is left, and memory was flat",
}
"""Every fault, and what is asked after it."""

ALLOWED_MB, ALLOWED_SHARE = 8.0, 0.10
"""By how much a host's own memory in the last third of the run may be above the most that it had before."""


class Ledger:
    """Counts, the log, and violations. For many threads."""

    def __init__(self, log: Path) -> None:
        self.path = log
        self.done: Counter[str] = Counter()
        self.asked: Counter[str] = Counter()
        self.broken: Counter[str] = Counter()
        self.violations: list[str] = []
        self.skipped: dict[str, str] = {}
        self._log = log.open("w", buffering=1)
        self._begun = time.monotonic()
        self._turn = threading.Lock()

    def did(self, fault: str, what: str = "", *, count: int = 1) -> None:
        """Write down that a fault was made."""
        assert fault in FAULTS, fault
        with self._turn:
            self.done[fault] += count
            self._write(f"{fault}: {what}")

    def check(self, fault: str, holds: object, what: str) -> None:
        """Ask whether something holds after a fault; `what` says what was found where it does not."""
        assert fault in FAULTS, fault
        with self._turn:
            self.asked[fault] += 1
            if not holds:
                self._violate(fault, what)

    def unexpected(self, fault: str, error: BaseException) -> None:
        """An exception where there should be none is a violation as well."""
        with self._turn:
            self.asked[fault] += 1
            self._violate(fault, "".join(traceback.format_exception(error)).strip())

    def skip(self, fault: str, why: str) -> None:
        """Say once that a fault cannot be made here."""
        with self._turn:
            if fault not in self.skipped:
                self.skipped[fault] = why
                self._write(f"{fault}: skipped, {why}")

    def _violate(self, fault: str, what: str) -> None:
        self.broken[fault] += 1
        self.violations.append(f"{fault}: {what}")
        self._write(f"VIOLATION {fault}: {what}")

    def _write(self, text: str) -> None:
        if not self._log.closed:
            self._log.write(f"{time.monotonic() - self._begun:9.3f} {threading.current_thread().name}: {text}\n")

    def close(self) -> None:
        with self._turn:
            self._log.close()

    def table(self) -> list[str]:
        """The counts as Markdown."""
        lines = ["| fault | how often | what holds after it | times asked | violations |", "|---|---:|---|---:|---:|"]
        for fault, asked in FAULTS.items():
            often = f"skipped: {self.skipped[fault]}" if fault in self.skipped else f"{self.done[fault]:,}"
            lines.append(f"| {fault} | {often} | {asked} | {self.asked[fault]:,} | {self.broken[fault]:,} |")
        total = [f"{counter.total():,}" for counter in (self.done, self.asked, self.broken)]
        return [*lines, f"| all | {total[0]} | | {total[1]} | {total[2]} |"]
