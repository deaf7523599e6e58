"""The work behind `warmwire ocr`: one file after another, their results to files or stdout, news to stderr."""

from __future__ import annotations

import itertools
import json
import logging
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import typer

from warmwire.client import InputError, UsageError, WarmwireError
from warmwire.documents.export import export
from warmwire.documents.formats import SUFFIX, Format
from warmwire.documents.output.save import write_file
from warmwire.documents.pages import select_pages
from warmwire.documents.read import Reader
from warmwire.documents.record import PageRecord, Reading, Status
from warmwire.documents.source import Source, open_source
from warmwire.models.textstream import printable

_LOG: Final = logging.getLogger(__name__)
_STDOUT: Final = "-"
_LONGEST: Final = 1000
"""Most characters of one line of news."""


def say(message: str) -> None:
    """One line of news; names of files and words of hosts in it cannot reach the terminal as more than that."""
    typer.echo(f"warmwire: {printable(message, _LONGEST)}", err=True)


class Targets:
    """Where each file's result goes.

    Raises UsageError for an output that cannot hold what is asked for: an existing file for several results, an
    input of the same call, several results of a kind that cannot follow each other on stdout.
    """

    def __init__(self, files: Sequence[str], output: str, form: Format) -> None:
        self.form = form
        self._between = b""
        self._paths: dict[str, Path | None] = dict.fromkeys(files)
        if output == _STDOUT:
            if len(files) > 1 and form not in (Format.MD, Format.TEXT):
                raise UsageError(f"several files as {form} cannot share stdout; give a directory with -o")
            return
        try:
            self._place(files, output)
        except OSError as error:
            raise InputError(f"{output}: cannot be written ({error.strerror or error})") from None

    def _place(self, files: Sequence[str], output: str) -> None:
        out = Path(output)
        if len(files) == 1 and not out.is_dir() and not output.endswith(os.sep):
            self._paths = {files[0]: out}
        else:
            if out.exists() and not out.is_dir():
                raise UsageError(f"{output} is a file; the results of {len(files)} files need a directory")
            self._paths = {file: out / name for file, name in _names(files, SUFFIX[self.form]).items()}
        for path in filter(None, self._paths.values()):
            if any(file != _STDOUT and _same(path, file) for file in files):
                raise UsageError(f"{path} is an input; writing the result there would destroy it")

    def write(self, file: str, text: str) -> None:
        """Write a file's result: to stdout, or to a new file that takes its name when it is whole."""
        path = self._paths[file]
        data = text.encode(errors="replace")  # a file's name may hold what no text can
        if path is None:
            _print(self._between + data)
            self._between = b"\n"
            return
        write_file(path, data)


def _print(data: bytes) -> None:
    """Write to stdout. Raises WarmwireError where that takes nothing: what goes there is for all files of the call."""
    try:
        typer.echo(data, nl=False)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise WarmwireError(f"standard output cannot be written ({error.strerror or error})") from None


def _names(files: Sequence[str], suffix: str) -> dict[str, str]:
    """A file name for each input's result: its stem, or its whole name where two inputs share one."""
    stems = {file: "stdin" if file == _STDOUT else Path(file).stem for file in files}
    often = Counter(stems.values())
    names = {file: stem if often[stem] == 1 else Path(file).name for file, stem in stems.items()}
    if len(set(names.values())) < len(names):
        raise UsageError("two inputs have the same name, so their results would too; read them in two calls")
    return {file: name + suffix for file, name in names.items()}


def _same(path: Path, file: str) -> bool:
    try:
        return path.samefile(file)
    except OSError:
        return False


class Job:
    """One call of the verb. Its methods return whether a file went well, and have said so if not."""

    def __init__(self, reader: Reader, targets: Targets, *, pages: str = "", password: str = "") -> None:
        self._reader = reader
        self._targets = targets
        self._pages = pages
        self._password = password

    def read(self, file: str) -> bool:
        """Read a file and write its result."""

        def run(source: Source, numbers: list[int]) -> bool:
            with _progress(source.name, len(numbers)) as on_page:
                reading = self._reader.read(source, numbers, on_page)
            text = export(reading, self._targets.form)
            if text:
                self._targets.write(file, text)
            return _report(reading, bool(text))

        return self._with_source(file, run)

    def plan(self, file: str) -> bool:
        """Print where each page of a file would go."""

        def run(source: Source, numbers: list[int]) -> bool:
            records = list(self._reader.plan(source, numbers))
            if self._targets.form is Format.JSON:
                found = {"source": source.name, "pages": [record.as_dict() for record in records]}
                text = json.dumps(found, ensure_ascii=False, indent=2)
            else:
                text = "\n".join(printable(_plan_line(source.name, record), _LONGEST) for record in records)
            _print(f"{text}\n".encode(errors="replace"))
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


def _report(reading: Reading, any_text: bool) -> bool:
    """Name what went wrong and what is missing; returns whether nothing went wrong."""
    for page in reading.pages:
        record = page.record
        if record.status is not Status.OK:
            kept = "part of it was kept" if record.status is Status.PARTIAL else "nothing of it could be kept"
            say(f"{reading.name}: page {record.page} failed, {kept}: {record.error}")
        elif record.loss:
            say(f"{reading.name}: page {record.page}: {record.loss}")
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
