"""What a run says on stderr while it works: a bar on a terminal, lines elsewhere, JSON lines for a program.

What went wrong is said in every style. Names of files and words of hosts cannot reach a terminal as more than that.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import typer

from warmwire.cli.ocr.style import ProgressStyle
from warmwire.documents.reading.record import PageRecord, Status
from warmwire.system.text import printable

_LONGEST: Final = 1000
"""Most characters of one line of news."""
_RECENT: Final = 50
"""Pages whose pace is taken for that of the rest."""

_SOON: Final = 5.0
"""Seconds that are not worth a word."""


class News(contextlib.ExitStack):
    """The news of one run; leaving it takes the bar away. `wordy` says of each page why it was read as it was."""

    def __init__(self, style: ProgressStyle = ProgressStyle.AUTO, *, wordy: bool = False) -> None:
        super().__init__()
        self._style = style
        if style is ProgressStyle.AUTO:
            self._style = ProgressStyle.BAR if sys.stderr.isatty() else ProgressStyle.LINES
        self._wordy = wordy
        self._bar: _Bar | None = None
        self._loaded = False
        self._files = self._file = 0
        self._name = ""
        self._page = 0
        self._pages: int | None = None
        self._done = 0
        self._parts: dict[int, float] = {}
        """How much of its page each engine has read; of a page that is done and not told of yet, all."""
        self._began = time.monotonic()
        self._recent: deque[float] = deque([self._began], maxlen=_RECENT + 1)

    def say(self, message: str, **fields: Any) -> None:
        """One line that is said in every style, mostly of what went wrong."""
        if self._style is ProgressStyle.JSON:
            self._tell("message", text=message, **fields)
        else:
            typer.echo(f"warmwire: {printable(message, _LONGEST)}", err=True)

    def begin(self, files: int, pages: int | None) -> None:
        """What there is to read; `pages` is None where nobody can know."""
        self._files, self._pages = files, pages
        if self._style is ProgressStyle.JSON:
            self._tell("start", files=files, pages=pages)

    @contextmanager
    def loading(self, what: str) -> Iterator[None]:
        """While a model is loaded or a host called, which comes before the first page that needs it."""
        if self._style is ProgressStyle.JSON:
            self._tell("loading", what=what)
        elif self._style is ProgressStyle.BAR:
            self._show().describe(what)
        elif self._style is ProgressStyle.LINES and not self._loaded:
            self.say(what)
        self._loaded = True
        yield
        self._recent = deque([time.monotonic()], maxlen=_RECENT + 1)

    def file(self, name: str, pages: int) -> None:
        """A file's pages are next to be read."""
        if self._style is ProgressStyle.JSON:
            self._tell("file", file=name, pages=pages)

    def within(self) -> Callable[[int, int], None] | None:
        """What hears how far one engine is with its page; None where that is not told."""
        if self._style is not ProgressStyle.BAR:
            return None
        engine = len(self._parts)
        self._parts[engine] = 0.0

        def told(done: int, total: int) -> None:
            self._parts[engine] = done / total
            self._advance()

        return told

    def page(self, name: str, total: int, record: PageRecord) -> None:
        """One more page is done; those of a file come one after another."""
        if name != self._name or self._page >= total:
            self._file, self._name, self._page = self._file + 1, name, 0
        self._page += 1
        self._done += 1
        self._recent.append(time.monotonic())
        if self._style is ProgressStyle.JSON:
            facts = record.as_dict() if self._wordy else _facts(record)
            self._tell("page", file=name, done=self._done, pages=self._pages, **self._pace(), **facts)
        elif self._style is ProgressStyle.BAR:
            self._parts = {engine: part % 1 for engine, part in self._parts.items()}
            self._advance()
        elif self._style is ProgressStyle.LINES:
            line = _page_line(record) + (f": {record.why}" if self._wordy and record.why else "")
            self.say(f"{name}: {self._page}/{total}: {line}{self._left()}")

    def wrote(self, name: str, path: Path) -> None:
        """A result is there."""
        if self._style is ProgressStyle.JSON:
            self._tell("wrote", file=name, path=str(path))
        elif self._style is not ProgressStyle.NONE:
            self.say(f"wrote {path}")

    def remark(self, message: str, **fields: Any) -> None:
        """One line of what is no fault, for whoever wants to hear of more than faults."""
        if self._style is not ProgressStyle.NONE:
            self.say(message, **fields)

    def end(self, failed: int) -> None:
        """The run is over; `failed` files did not go well."""
        self.close()
        seconds = round(time.monotonic() - self._began, 3)
        if self._style is ProgressStyle.JSON:
            self._tell("end", files=self._files, failed=failed, pages=self._done, seconds=seconds)
        elif self._files > 1 and self._style is not ProgressStyle.NONE:
            went = f"{self._files - failed} of {self._files} files read" + (f", {failed} failed" if failed else "")
            self.say(f"{went}: {self._done} pages in {_duration(seconds)}")

    def _tell(self, event: str, **fields: Any) -> None:
        typer.echo(json.dumps({"event": event, **fields}), err=True)

    def _pace(self) -> dict[str, float | None]:
        """Pages a second of late, and the seconds that the rest takes at that."""
        taken = self._recent[-1] - self._recent[0]
        pace = (len(self._recent) - 1) / taken if taken > 0 else 0.0
        rest = None if self._pages is None else self._pages - self._done
        left = round(rest / pace, 1) if rest is not None and pace else None
        return {"pages_per_second": round(pace, 3), "seconds_left": left}

    def _left(self) -> str:
        pace = self._pace()
        left = pace["seconds_left"]
        if left is None or left < _SOON or self._done < 2:
            return ""
        return f" ({pace['pages_per_second']:.2g} pages/s, {_duration(left)} left)"

    def _title(self) -> str:
        if not self._name:
            return "reading"
        return printable(self._name, 40) + (f" ({self._file} of {self._files})" if self._files > 1 else "")

    def _advance(self) -> None:
        self._show().advance(self._title(), self._pages, self._done + sum(self._parts.values()))

    def _show(self) -> _Bar:
        if self._bar is None:
            self._bar = _Bar(self)
        return self._bar


class _Bar:
    """A bar over all pages of a run, on the terminal; it goes with the stack it is made on."""

    def __init__(self, stack: contextlib.ExitStack) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        pace = TextColumn("{task.fields[pace]}")
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), pace, TimeRemainingColumn())
        self._progress = stack.enter_context(Progress(*columns, console=Console(stderr=True), transient=True))
        self._task = self._progress.add_task("", total=None, pace="")

    def describe(self, text: str) -> None:
        self._progress.update(self._task, description=text)

    def advance(self, title: str, pages: int | None, done: float) -> None:
        speed = self._progress.tasks[0].speed
        pace = f"{speed:.2g} pages/s" if speed else ""
        title = title.replace("[", r"\[")
        self._progress.update(self._task, description=title, total=pages, completed=done, pace=pace)


def _facts(record: PageRecord) -> dict[str, Any]:
    names = ("page", "route", "status", "confidence", "seconds", "error")
    return {name: value for name, value in record.as_dict().items() if name in names}


def _page_line(record: PageRecord) -> str:
    sure = "" if record.confidence is None else f", confidence {record.confidence:.2f}"
    state = "" if record.status is Status.OK else f", {record.status}"
    return f"page {record.page} by {record.route} in {record.seconds:.1f} s{sure}{state}"


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"
