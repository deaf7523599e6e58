"""The work behind `warmwire ocr`: one file after another, their results to files or stdout, news to stderr."""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from warmwire.cli.ocr.news import News
from warmwire.cli.ocr.targets import Targets, print_out
from warmwire.documents.input.gather import Input, is_pipe
from warmwire.documents.input.open import open_source
from warmwire.documents.input.source import Source
from warmwire.documents.output.formats import Format
from warmwire.documents.output.report import Report
from warmwire.documents.reading.journal import Journal
from warmwire.documents.reading.reader import DocumentReader, ReadTask, settled
from warmwire.documents.reading.record import PageRecord, Reading, Status
from warmwire.documents.reading.selection import select_pages
from warmwire.errors import InputError, WarmwireError
from warmwire.system.text import printable

_LOG: Final = logging.getLogger(__name__)
_LONGEST: Final = 1000
"""Most characters of one line of news."""


class Job:
    """One call of the verb. Its methods return whether a file went well, and have said so if not."""

    def __init__(
        self,
        reader: DocumentReader,
        targets: Targets,
        *,
        pages: str = "",
        password: str = "",
        force: bool = False,
        journal: Journal | None = None,
        news: News | None = None,
        report: Report | None = None,
    ) -> None:
        self._reader = reader
        self._targets = targets
        self._pages = pages
        self._password = password
        self._force = force
        self._journal = journal
        self._news = news or News()
        self._report = report
        self._names: set[str] = set()
        self._unwritten = False
        """Whether a result could not be written; what was read for it is in the journal."""

    def refuse(self, name: str, said: str) -> None:
        """Say of a file, or of what should have been one, that it cannot be read, and why."""
        self._news.say(said, file=name)
        if self._report is not None:
            self._report.refuse(name, said)

    def missing(self, inputs: Sequence[Input]) -> list[Input]:
        """The files whose results are not there, or have pages that failed."""
        journal = self._journal
        missing = [
            one
            for one in inputs
            if not self._targets.exist(one) or (journal is not None and journal.waits_for(str(one.place)))
        ]
        if len(missing) < len(inputs):
            self._news.say(f"{len(inputs) - len(missing)} of {len(inputs)} files have their results already")
        return missing

    def close(self, *, complete: bool) -> None:
        """Write the report; end the journal, and say what another run would find in it."""
        if self._report is not None:
            self._news.wrote("", self._report.write())
        journal = self._journal
        if journal is None:
            return
        waiting = any(journal.waits_for(name) for name in self._names)
        if waiting and complete and not self._unwritten:
            self._news.say(f"{journal.path} keeps what was read; --retry-failed reads again the pages that failed")
        elif journal.path.exists() and (self._unwritten or not complete):
            self._news.say(f"{journal.path} keeps what was read; the same call goes on from there")
        journal.close(complete=complete)

    def read(self, one: Input) -> bool:
        """Read a file and write its result."""
        return self.read_all([one])[0]

    def read_all(self, inputs: Sequence[Input]) -> list[bool]:
        """Read files and write their results, one after another; the pages of all of them are one queue.

        Where there are several, all are opened once before: what is wrong with one is better known now than in hours.
        """
        well = dict.fromkeys(inputs, False)
        coming = itertools.chain.from_iterable(
            [None, one] if is_pipe(one.path) else [one] for one in self._checked(inputs)
        )
        self.read_stream(coming, well.__setitem__, alone=len(inputs) == 1)
        results = [well[one] for one in inputs]
        self._news.end(results.count(False))
        return results

    def read_stream(
        self, inputs: Iterable[Input | None], done: Callable[[Input, bool], object], *, alone: bool = False
    ) -> None:
        """Read files as they come and write their results; `done` hears of each whether it went well.

        None among the inputs says that the next may take its time: those before it are written first.
        """
        opened: deque[tuple[Input, ReadTask]] = deque()
        with self._news:

            def tasks() -> Iterator[ReadTask | None]:
                for one in inputs:
                    if one is None:
                        yield None
                        continue
                    source, numbers = self._open(one)
                    if source is None:
                        done(one, False)
                        continue
                    if alone:
                        self._news.begin(1, len(numbers))
                    self._news.file(source.name, len(numbers))
                    on_page = functools.partial(self._news.page, source.name, len(numbers))
                    task = ReadTask(source, numbers, on_page, str(one.place))
                    self._names.add(task.name)
                    opened.append((one, task))
                    yield task

            try:
                with contextlib.closing(self._reader.read_all(tasks())) as readings:
                    for reading in readings:
                        one, task = opened.popleft()
                        with contextlib.closing(task.source):
                            done(one, self._write(one, reading, task))
            except (KeyboardInterrupt, SystemExit):
                self._news.close()
                self._print_rest(opened)
                raise
            finally:
                for _, task in opened:
                    task.source.close()

    def _write(self, one: Input, reading: Reading, task: ReadTask) -> bool:
        with self._survived(task.source.name):
            return self._put(one, reading, task)
        return False

    def _put(self, one: Input, reading: Reading, task: ReadTask) -> bool:
        try:
            paths = self._targets.write(one, settled(reading), task.source, force=self._force)
        except InputError:
            self._account(reading, task, [])
            self._unwritten = True
            raise
        self._account(reading, task, paths)
        for path in paths:
            self._news.wrote(reading.name, path)
        for missed in self._targets.missed(reading):
            self._news.remark(f"{reading.name}: {missed}", file=reading.name)
        if self._journal is not None and not reading.troubled:
            self._journal.finish(task.name)
        return self._tell(reading)

    def _account(self, reading: Reading, task: ReadTask, paths: Sequence[Path]) -> None:
        if self._report is not None:
            self._report.add(reading, task.source, paths)

    def _print_rest(self, opened: Iterable[tuple[Input, ReadTask]]) -> None:
        """Print what was read when the run was interrupted; files are for whole results, and a journal has the rest."""
        if not self._targets.to_stdout:
            return
        inputs = {id(task): one for one, task in opened}
        for task, reading in self._reader.rest():
            self._targets.write(inputs[id(task)], reading, task.source, force=self._force)
            count = f"{len(reading.pages)} of {len(task.numbers)}"
            self._news.say(f"{reading.name}: {count} pages had been read and are printed")

    def plan(self, one: Input) -> bool:
        """Print where each page of a file would go."""
        source, numbers = self._open(one)
        well = False
        if source is not None:
            with contextlib.closing(source), self._survived(source.name):
                well = self._plan(source, numbers)
        return well

    def _plan(self, source: Source, numbers: Sequence[int]) -> bool:
        records = list(self._reader.plan(source, numbers))
        if Format.JSON in self._targets.forms:
            found = {"source": source.name, "pages": [record.as_dict() for record in records]}
            text = json.dumps(found, ensure_ascii=False, indent=2)
        else:
            text = "\n".join(printable(_plan_line(source.name, record), _LONGEST) for record in records)
        print_out(f"{text}\n".encode(errors="replace"))
        return all(record.status is Status.OK for record in records)

    def _checked(self, inputs: Sequence[Input]) -> Sequence[Input]:
        """The files that can be opened and have pages that are asked for; of others it is said why not.

        A single file is not opened twice for that, and what is read once only, not before its turn.
        """
        if len(inputs) < 2:
            return inputs
        files, pages, known = [], 0, True
        for one in inputs:
            if is_pipe(one.path):
                known = False
                files.append(one)
                continue
            source, numbers = self._open(one)
            if source is not None:
                source.close()
                pages += len(numbers)
                files.append(one)
        self._news.begin(len(inputs), pages if known else None)
        return files

    def _open(self, one: Input) -> tuple[Source | None, Sequence[int]]:
        """A file and which of its pages are asked for; None, once that is said, where there are none."""
        with self._survived(one.path):
            source = open_source(one.path, self._password)
            if numbers := select_pages(self._pages, len(source)):
                return source, numbers
            self.refuse(source.name, f"{source.name}: has no page {self._pages}; it has {len(source)}")
            source.close()
        return None, ()

    @contextmanager
    def _survived(self, name: str) -> Iterator[None]:
        """What goes wrong with one file inside is said, and does not end the run."""
        try:
            yield
        except InputError as error:
            self.refuse(name, str(error))
        except (WarmwireError, BrokenPipeError):  # no model, no stdout: the next file would fare no better
            raise
        except Exception as error:  # one file must not end the run, whatever it breaks
            _LOG.debug("%s failed", name, exc_info=error)
            self.refuse(name, f"{name}: unexpected {type(error).__name__}: {error} (--debug shows where)")

    def _tell(self, reading: Reading) -> bool:
        """Name what went wrong and what is missing; returns whether nothing went wrong."""
        for page in reading.pages:
            record = page.record
            if record.status is not Status.OK:
                kept = "part of it was kept" if record.status is Status.PARTIAL else "nothing of it could be kept"
                self._news.say(f"{reading.name}: page {record.page} failed, {kept}: {record.error}", file=reading.name)
            elif record.loss:
                self._news.say(f"{reading.name}: page {record.page}: {record.loss}", file=reading.name)
        any_text = any(page.elements for page in reading.pages)
        if not any_text:
            self._news.say(f"{reading.name}: no text was found", file=reading.name)
        return any_text and not reading.troubled


def _plan_line(name: str, record: PageRecord) -> str:
    if record.error:
        return f"{name}: page {record.page}: {record.error}"
    measures = f"coverage {record.coverage:.3f}, largest image {record.largest_image:.2f}"
    if record.coverage:
        measures += f", text quality {record.text_quality:.2f}"
    return f"{name}: page {record.page}: {record.route} - {record.why} ({measures})"
