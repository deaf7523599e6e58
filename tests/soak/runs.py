"""Runs of `ocr` and `watch-folder` that are cut off in every way: what they wrote, and what was read twice.

The page model calls a page by its pixels and notes in a file what it was shown, whatever process it lives in. The
journal holds the same words, so it can be said of every page in it that no later run may show it again.
"""

from __future__ import annotations

import itertools
import json
import os
import resource
import shutil
import signal
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Final

from tests.e2e.test_ocr_resume import stack, words
from tests.soak.stage import HANGS, Actor, Process, Stage, send_to_child
from tests.support import COMMAND, children

JOBS: Final = 2

SMALL_DISK: Final = (
    'mount -t tmpfs -o size=40k none disk && cp -a out/. disk/ && head -c "$0" /dev/zero >disk/filler; "$@"; status=$?;'
    " rm disk/filler; rm -rf out && cp -a disk out; exit $status"
)
"""Runs a command with a disk of 40 KiB at `disk`, nearly full, which begins and ends as `out`."""


class Reading(Actor):
    """What both actors know: a folder of their own, and what the model was shown."""

    pause = 0.2
    has_processes = True

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self._made = itertools.count()
        self._shown = stage.folder

    def folder(self) -> Path:
        made = self.stage.folder / f"{self.name}-{next(self._made)}"
        for name in ("in", "out", "disk", "tmp"):
            (made / name).mkdir(parents=True)
        self._shown = made / "shown"
        self._shown.touch()
        return made

    def shown(self) -> Counter[str]:
        """How often each page of the folder was shown to a model."""
        return Counter(self._shown.read_text().split())

    def begin(
        self, folder: Path, *said: str, prefix: tuple[str, ...] = (), limits: dict[int, int] | None = None
    ) -> Process:
        return self.stage.launch(
            [*prefix, *COMMAND, *said, "--model", "faulty-pages", "--jobs", str(JOBS)],
            cwd=folder,
            limits=limits,
            FAULTY_SHOWN=str(self._shown),
            TMPDIR=str(folder / "tmp"),
        )

    def ended(self, process: Process, statuses: set[int]) -> None:
        """It has ended by itself, as it should, in time and without a traceback."""
        status = process.wait()
        if status is None:
            process.end()
        said = process.said()
        self.check(status in statuses and "Traceback" not in said, f"exit status {status}: {said[-600:]}")

    def tidy(self, folder: Path, killed: bool) -> None:
        """Nothing temporary is left; what a killed run could not remove is removed here."""
        if killed:
            shutil.rmtree(folder / "tmp")
            (folder / "tmp").mkdir()
            for torn in (folder / "out").glob(".*.tmp"):
                torn.unlink()
        left = [*os.listdir(folder / "tmp"), *(path.name for path in (folder / "out").glob(".*.tmp"))]
        self.check(not left, f"left behind: {left}")


class Reader(Reading):
    """One file of some pages, read by runs that are cut off, and then by one that is not."""

    fault = "ocr killed"

    def turn(self) -> None:
        folder, pages = self.folder(), self.rng.randint(3, 14)
        stack(folder / "x.tif", pages, self.rng.getrandbits(32))
        for _ in range(self.rng.randint(1, 3)):
            if self.stage.over.is_set():
                break
            kept, before = self._kept(folder), self.shown()
            status = self._cut_off(folder, pages)
            self._is_sound(folder, pages, whole=status != 1)
            self._not_again(kept, before)
        kept, before = self._kept(folder), self.shown()
        self.ended(self.begin(folder, "ocr", "x.tif", "-o", "out/x.md", "--retry-failed"), {0})
        self.tidy(folder, killed=False)
        self._not_again(kept, before)
        self._is_sound(folder, pages)
        self.check(os.listdir(folder / "out") == ["x.md"], f"{os.listdir(folder / 'out')}")
        shutil.rmtree(folder)

    def _cut_off(self, folder: Path, pages: int) -> int | None:
        """Cut one run off; its exit status, 1 where a page failed and was named."""
        how = self.one_of({"ocr killed": 4, "ocr ended by a signal": 4, "ocr on a full disk": 3, "worker killed": 2})
        until = self.rng.randint(0, pages)
        if how == "ocr on a full disk":
            return self._on_a_full_disk(folder)
        self.did(how, f"{pages} pages, after {until}")
        before = self.shown().total()
        process = self.begin(folder, "ocr", "x.tif", "-o", "out/x.md")
        self.stage.soon(lambda: process.status is not None or self.shown().total() - before >= until)
        self.stage.over.wait(self.rng.uniform(0, 0.05) if until else self.rng.uniform(0, 1))
        match how:
            case "ocr killed":
                process.end()
            case "ocr ended by a signal":
                number = self.rng.choice([signal.SIGTERM, signal.SIGINT])
                process.signal(number)
                self.ended(process, {0, 128 + number, -number})
            case "worker killed":
                for worker in children(process.pid) if process.status is None else ():
                    send_to_child(worker, process.pid, signal.SIGKILL)
                self.ended(process, {0, 1})
        self.tidy(folder, killed=how == "ocr killed")
        return process.status

    def _on_a_full_disk(self, folder: Path) -> int | None:
        """A limit of the size of files, or a disk of a few blocks where this user may have one."""
        if self.rng.random() < 0.5 and self.stage.may_mount:
            filler = 4096 * self.rng.randint(7, 10)
            self.did("ocr on a full disk", f"{40960 - filler} bytes are free")
            prefix = ("unshare", "-rm", "sh", "-c", SMALL_DISK, str(filler))
            process = self.begin(folder, "ocr", "x.tif", "-o", "disk/x.md", prefix=prefix)
        else:
            size = self.rng.choice([100, 500, 3000, 5000])
            self.did("ocr on a full disk", f"files of {size} bytes at most")
            process = self.begin(folder, "ocr", "x.tif", "-o", "out/x.md", limits={resource.RLIMIT_FSIZE: size})
        self.ended(process, {0, 1})
        self.tidy(folder, killed=False)
        return process.status

    def _is_sound(self, folder: Path, pages: int, whole: bool = True) -> None:
        """The output is absent, or has each page once; but those that failed where it need not be `whole`."""
        output = folder / "out" / "x.md"
        if output.exists():
            found = words(output.read_text())
            each = len(set(found)) == len(found) <= pages
            self.check(each and (len(found) == pages or not whole), f"{len(found)} of {pages} pages in {output}")
        else:
            self.check(True, "absent")

    def _kept(self, folder: Path) -> set[str]:
        """The pages that the journal has."""
        kept = set()
        for path in (folder / "out").glob(".*journal"):
            for line in path.read_bytes().splitlines():
                with suppress(ValueError):  # torn
                    entry = json.loads(line.partition(b" ")[2])
                    if entry.get("whole", True):
                        kept |= {answer["text"] for answer in entry.get("answers", ())}
        return kept

    def _not_again(self, kept: set[str], before: Counter[str]) -> None:
        again = kept & set(self.shown() - before)
        self.check(not again, f"in the journal and shown again: {again}")


class Dropper(Reading):
    """Drops documents into a watched folder while the watcher is killed and started again."""

    fault = "watch-folder killed"

    def turn(self) -> None:
        folder, count = self.folder(), self.rng.randint(2, 8)
        before, cuts = self.shown(), 0
        process = self.begin(folder, "watch-folder", "in", "out")
        for number in range(count):
            stack(folder / f"{number}.tif", 1, self.rng.getrandbits(32))
            (folder / f"{number}.tif").rename(folder / "in" / f"{number}.tif")
            if self.rng.random() < 0.3:
                self.stage.over.wait(self.rng.uniform(0, 3))
                self._cut_off(folder, process)
                cuts += 1
                process = self.begin(folder, "watch-folder", "in", "out")
        wanted = {f"{number}.md" for number in range(count)}
        self.did("watch-folder killed", f"{count} documents, {cuts} cuts")
        found = self.stage.soon(
            lambda: self.stage.over.is_set() or wanted <= set(os.listdir(folder / "out")), seconds=HANGS
        )
        if self.stage.over.is_set():
            process.end()
            return
        self.check(found, f"{os.listdir(folder / 'out')} of {sorted(wanted)}: {process.said()[-400:]}")
        process.signal(signal.SIGTERM)
        self.ended(process, {0})
        new = self.shown() - before
        self.check(len(new) == count, f"{len(new)} of {count} documents were shown")
        self.check(new.total() <= count + cuts * JOBS, f"{new.total()} readings of {count} documents, {cuts} cuts")
        texts = {text for name in wanted for text in words((folder / "out" / name).read_text())}
        self.check(texts == set(new), f"{len(texts)} different results of {count}")
        self.tidy(folder, killed=False)
        shutil.rmtree(folder)

    def _cut_off(self, folder: Path, process: Process) -> None:
        killed = self.rng.random() < 0.6
        self.did("watch-folder killed", "SIGKILL" if killed else "SIGTERM")
        if killed:
            process.end()
        else:
            process.signal(signal.SIGTERM)
            self.ended(process, {0, -signal.SIGTERM})
        self.tidy(folder, killed=killed)
