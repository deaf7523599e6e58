"""The work behind `warmwire ocr`: one file after another, their results to files or stdout, news to stderr."""

from __future__ import annotations

import itertools
import json
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import typer

from warmwire.cli.ocr_targets import Targets, print_out
from warmwire.client import InputError, WarmwireError
from warmwire.documents.formats import Format
from warmwire.documents.pages import select_pages
from warmwire.documents.read import Reader
from warmwire.documents.record import PageRecord, Reading, Status
from warmwire.documents.source import Source, open_source
from warmwire.models.textstream import printable

_LOG: Final = logging.getLogger(__name__)
_LONGEST: Final = 1000
"""Most characters of one line of news."""


def say(message: str) -> None:
    """One line of news; names of files and words of hosts in it cannot reach the terminal as more than that."""
    typer.echo(f"warmwire: {printable(message, _LONGEST)}", err=True)


class Job:
    """One call of the verb. Its methods return whether a file went well, and have said so if not."""

    def __init__(
        self, reader: Reader, targets: Targets, *, pages: str = "", password: str = "", force: bool = False
    ) -> None:
        self._reader = reader
        self._targets = targets
        self._pages = pages
        self._password = password
        self._force = force

    def read(self, file: str) -> bool:
        """Read a file and write its results."""

        def run(source: Source, numbers: list[int]) -> bool:
            with _progress(source.name, len(numbers)) as on_page:
                reading = self._reader.read(source, numbers, on_page)
            self._targets.write(file, reading, source, force=self._force)
            return _report(reading)

        return self._with_source(file, run)

    def plan(self, file: str) -> bool:
        """Print where each page of a file would go."""

        def run(source: Source, numbers: list[int]) -> bool:
            records = list(self._reader.plan(source, numbers))
            if Format.JSON in self._targets.forms:
                found = {"source": source.name, "pages": [record.as_dict() for record in records]}
                text = json.dumps(found, ensure_ascii=False, indent=2)
            else:
                text = "\n".join(printable(_plan_line(source.name, record), _LONGEST) for record in records)
            print_out(f"{text}\n".encode(errors="replace"))
            return all(record.status is Status.OK for record in records)

        return self._with_source(file, run)

    def _with_source(self, file: str, run: Callable[[Source, list[int]], bool]) -> bool:
        try:
            source = open_source(file, self._password)
        except InputError as error:
            say(str(error))
            return False
        try:
            numbers = select_pages(self._pages, len(source))
            if not numbers:
                say(f"{source.name}: has no page {self._pages}; it has {len(source)}")
                return False
            return run(source, numbers)
        except InputError as error:
            say(str(error))
            return False
        except (WarmwireError, BrokenPipeError):  # no model, no stdout: the next file would fare no better
            raise
        except Exception as error:  # one file must not end the run, whatever it breaks
            _LOG.debug("%s failed", source.name, exc_info=error)
            say(f"{source.name}: unexpected {type(error).__name__}: {error} (--debug shows where)")
            return False
        finally:
            source.close()


def _plan_line(name: str, record: PageRecord) -> str:
    if record.error:
        return f"{name}: page {record.page}: {record.error}"
    measures = f"coverage {record.coverage:.3f}, largest image {record.largest_image:.2f}"
    if record.coverage:
        measures += f", text quality {record.text_quality:.2f}"
    return f"{name}: page {record.page}: {record.route} - {record.why} ({measures})"


def _report(reading: Reading) -> bool:
    """Name what went wrong and what is missing; returns whether nothing went wrong."""
    for page in reading.pages:
        record = page.record
        if record.status is not Status.OK:
            kept = "part of it was kept" if record.status is Status.PARTIAL else "nothing of it could be kept"
            say(f"{reading.name}: page {record.page} failed, {kept}: {record.error}")
        elif record.loss:
            say(f"{reading.name}: page {record.page}: {record.loss}")
    any_text = any(page.elements for page in reading.pages)
    if not any_text:
        say(f"{reading.name}: no text was found")
    return any_text and not reading.troubled


@contextmanager
def _progress(name: str, total: int) -> Iterator[Callable[[PageRecord], None]]:
    """Gives what is to be called for each page that is done: a bar on a terminal, a line elsewhere."""
    if not sys.stderr.isatty():
        done = itertools.count(1)
        yield lambda record: say(f"{name}: {next(done)}/{total}: {_page_line(record)}")
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(printable(name, 60).replace("[", r"\["), total=total)
        yield lambda record: progress.advance(task)


def _page_line(record: PageRecord) -> str:
    sure = "" if record.confidence is None else f", confidence {record.confidence:.2f}"
    state = "" if record.status is Status.OK else f", {record.status}"
    return f"page {record.page} by {record.route} in {record.seconds:.1f} s{sure}{state}"
