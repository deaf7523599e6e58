"""A document, page by page, to elements: from the file's own text where it has some, from an engine where not.

The next page is prepared (opened, routed, drawn) in a thread of its own while engines read others; no more than two
pictures beyond those being read are in memory at once, whatever the length of the document. The pages of several
documents are one queue, so that engines are busy across their ends; what comes of them is given document by document.
A page that goes wrong is recorded under its own number, keeps what can be kept of it, and does not end the run.
"""

from __future__ import annotations

import contextlib
import logging
import math
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from warmwire.documents.input.links import place_links
from warmwire.documents.input.pdf.frame import turn_box
from warmwire.documents.input.quality import TRUSTED, text_quality
from warmwire.documents.input.source import Page, PageText, Source
from warmwire.documents.reading.across import settle
from warmwire.documents.reading.hidden import Hidden
from warmwire.documents.reading.record import PageRecord, Reading, ReadPage, Route, Status
from warmwire.documents.reading.route import THRESHOLD, Claim, claim_of, route
from warmwire.documents.reading.witness import AGREED, agreement, sample, strips
from warmwire.errors import CancelledError, DialError, QueueFullError, WarmwireError
from warmwire.layout.doctags.writer import parse
from warmwire.layout.looks import put_looks
from warmwire.layout.page import Element, Kind, Line, Region, RegionKind
from warmwire.layout.runs import reported_runs
from warmwire.layout.structure import structure
from warmwire.layout.told.elements import fault_of
from warmwire.layout.told.retold import retold
from warmwire.media.images import Image

if TYPE_CHECKING:
    from warmwire.client import Engine, Recognition

_LOG: Final = logging.getLogger(__name__)
_BUSY_WAITS: Final = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
"""Pauses before a page is offered again to a host whose queue is full, seconds."""
_MOST_READERS: Final = 8
"""Names of models that a host may report for one page."""
_AHEAD: Final = 32
"""Pages under way or read that wait for one before them; only those under way still have a picture."""


_USUAL_DPI: Final = 200.0
_COARSEST_DPI, _LEAST_DPI, _FINEST_DPI = 100.0, 200.0, 300.0
_MOST_ENLARGED: Final = 2.0


@dataclass(frozen=True, slots=True)
class Options:
    """How to read: resolution of drawn PDF pages in dots per inch (0: see `drawing_dpi`), and the rules of `route`."""

    dpi: float = 0.0
    threshold: float = THRESHOLD
    force: bool = False
    hidden: Hidden = Hidden.AUTO


@dataclass(slots=True)
class _Prepared:
    """A page on its way: what the file says of it, and its picture if a model is to read it."""

    page: ReadPage
    image: Image | None = None
    text: PageText = field(default_factory=PageText)
    claim: Claim | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """A document to read: the pages `numbers` (from 1, at least one); `on_page` hears of each, in order, when it is
    done."""

    source: Source
    numbers: Sequence[int]
    on_page: Callable[[PageRecord], None] | None = None


class Reader:
    """Reads documents with up to `jobs` engines at once, each made by `connect` when a page needs it."""

    def __init__(self, connect: Callable[[], Engine], options: Options | None = None, jobs: int = 1) -> None:
        self._connect = connect
        self._options = options or Options()
        self._jobs = jobs
        self._engines: list[Engine] = []
        self._idle: queue.SimpleQueue[Engine | None] = queue.SimpleQueue()
        self._lost: DialError | None = None
        self._over = threading.Event()

    def read(
        self, source: Source, numbers: Sequence[int], on_page: Callable[[PageRecord], None] | None = None
    ) -> Reading:
        """Read the pages `numbers` (from 1) of a document; `on_page` hears of each, in order, when it is done.

        Raises:
            WarmwireError: what `connect` raised. An engine that fails later costs pages, not the run.
        """
        readings = [*self.read_all([Task(source, numbers, on_page)])]  # to its end: leaving it early closes engines
        return settled(readings[0] if readings else Reading(source.name, outline=source.outline()))

    def read_all(self, tasks: Iterable[Task | None]) -> Generator[Reading, None, None]:
        """Read documents, in order, each given when its last page is done; `settled` makes it whole.

        A task is taken when there is room for its first page. None among them says that the next may keep us waiting:
        then those before it are given first. Raises as `read` does.
        """
        self._over.clear()
        reading: Reading | None = None
        with contextlib.closing(self._finished(tasks)) as pages:
            for task, page in pages:
                reading = reading or Reading(task.source.name, outline=task.source.outline())
                reading.pages.append(page)
                if task.on_page is not None:
                    task.on_page(page.record)
                if len(reading.pages) == len(task.numbers):
                    yield reading
                    reading = None

    def _finished(self, tasks: Iterable[Task | None]) -> Generator[tuple[Task, ReadPage], None, None]:
        """The pages in order, as many at once as there are jobs. One that takes long holds up what is given, and not
        what is read meanwhile, up to `_AHEAD` pages."""
        with ThreadPoolExecutor(self._jobs, thread_name_prefix="warmwire-read") as threads:
            under_way: deque[tuple[Task, Future[ReadPage]]] = deque()
            try:
                for coming in self._prepared(tasks):
                    while under_way and coming is None:
                        yield under_way[0][0], under_way.popleft()[1].result()
                    if coming is None:
                        continue
                    task, prepared = coming
                    engine = None if prepared.image is None else self._engine()
                    under_way.append((task, threads.submit(self._finish, prepared, engine)))
                    while under_way and (under_way[0][1].done() or len(under_way) > _AHEAD):
                        yield under_way[0][0], under_way.popleft()[1].result()
                while under_way:
                    yield under_way[0][0], under_way.popleft()[1].result()
            except BaseException:
                self.close()
                raise

    def _prepared(self, tasks: Iterable[Task | None]) -> Iterator[tuple[Task, _Prepared] | None]:
        """The pages in order; while the caller is busy with one, the next is prepared. None is passed on."""
        with ThreadPoolExecutor(1, thread_name_prefix="warmwire-prepare") as thread:
            coming: deque[tuple[Task, Future[_Prepared]]] = deque()
            for task in tasks:
                if task is None:
                    while coming:
                        yield coming[0][0], coming.popleft()[1].result()
                    yield None
                    continue
                for number in task.numbers:
                    coming.append((task, thread.submit(self._prepare, task.source, number)))
                    if len(coming) > 1:
                        yield coming[0][0], coming.popleft()[1].result()
            while coming:
                yield coming[0][0], coming.popleft()[1].result()

    def plan(self, source: Source, numbers: Sequence[int]) -> Iterator[PageRecord]:
        """Where each page would go, without an engine."""
        for number in numbers:
            record = PageRecord(number)
            try:
                page = source.page(number - 1)
                try:
                    _describe(record, page.text(), self._options)
                finally:
                    page.close()
            except WarmwireError as error:
                record.status, record.error = Status.FAILED, str(error)
            yield record

    def close(self) -> None:
        """Give the engines back. Whoever is still reading or waiting stops."""
        self._over.set()
        while self._engines:
            self._engines.pop().close()
        self._idle.put(None)  # for who waits for an engine
        self._idle = queue.SimpleQueue()

    def _prepare(self, source: Source, number: int) -> _Prepared:
        """Open a page, decide who reads it, and do all that needs no engine."""
        started = time.monotonic()
        prepared = _Prepared(ReadPage(PageRecord(number)))
        record = prepared.page.record
        try:
            page = source.page(number - 1)
            try:
                self._look(page, prepared)
            finally:
                page.close()
        except Exception as error:  # one broken page must not end the run, whatever broke in it
            _fail(record, error)
        record.seconds = time.monotonic() - started
        return prepared

    def _look(self, page: Page, prepared: _Prepared) -> None:
        read, record = prepared.page, prepared.page.record
        read.width, read.height = page.size
        prepared.text = page.text()
        claim = _describe(record, prepared.text, self._options)
        if record.route is Route.MODEL:
            prepared.claim = claim
            prepared.image = page.render(self._options.dpi or drawing_dpi(prepared.text.resolution))
        else:
            read.headings = prepared.text.headings
            read.elements = structure_text(claim.lines if claim else prepared.text.lines, prepared.text, read)

    def _finish(self, prepared: _Prepared, engine: Engine | None) -> ReadPage:
        """Let the engine read a page that needs it, and keep what there is where it fails."""
        page, record = prepared.page, prepared.page.record
        started = time.monotonic()
        if prepared.image is not None and engine is not None:
            try:
                if prepared.claim is None or not self._is_witnessed(engine, prepared.image, prepared.claim, prepared):
                    self._read_image(engine, prepared.image, page)
            finally:
                prepared.image = None  # the page may have to wait for others
                if not self._over.is_set():  # else it is closed
                    self._idle.put(engine)
        if record.status is Status.FAILED:
            page.elements = max(page.elements, _own_text(prepared), key=_size)
            record.status = Status.PARTIAL if _size(page.elements) else Status.FAILED
        record.seconds = round(record.seconds + time.monotonic() - started, 3)
        return page

    def _is_witnessed(self, engine: Engine, image: Image, claim: Claim, prepared: _Prepared) -> bool:
        """Whether the picture shows what a page's text claims; the page is then made of that text."""
        page, record, turn = prepared.page, prepared.page.record, prepared.text.turn
        lines = sample(claim.lines)
        width = page.height if turn % 180 else page.width
        strip = strips(np.rot90(image, -turn // 90), lines, width) if lines else None
        if strip is None:
            return False
        try:
            answer = self._ask(engine, strip)
        except Exception as error:  # what the page's own reading meets as well, and reports
            _LOG.debug("page %d: no witness", record.page, exc_info=error)
            return False
        share = agreement(lines, plain_text(parse(answer.text, 1.0, 1.0)))
        record.why += f"; {claim.name} agrees to {share:.0%} with {len(lines)} lines of the picture"
        if share < AGREED:
            return False
        try:
            page.elements = structure_text(claim.lines, prepared.text, page)
        except Exception as error:
            _LOG.debug("page %d: no structure", record.page, exc_info=error)
            return False
        record.route, record.engine, record.turn = Route.FILE, "file", turn
        return True

    def _read_image(self, engine: Engine, image: Image, page: ReadPage) -> None:
        record = page.record
        try:
            answer = self._ask(engine, image)
        except Exception as error:  # see _prepare
            _fail(record, error)
            page.elements = parse(getattr(error, "partial", ""), page.width, page.height)
            return
        page.elements = parse(answer.text, page.width, page.height)
        record.engine = answer.backend
        report = answer.report if isinstance(answer.report, Mapping) else {}  # a host may send anything or nothing
        put_looks(page.elements, report.get("elements"), page.height / max(image.shape[0], 1), page.height)
        record.confidence = _number(report.get("confidence")) if page.elements else None
        record.turn = int(_number(report.get("turn")) or 0)
        across, down = page.width / image.shape[1], page.height / image.shape[0]
        page.runs = [run.moved(lambda x, y: (x * across, y * down)) for run in reported_runs(report.get("words"))]
        record.lines, record.unread = (max(0, int(_number(report.get(key)) or 0)) for key in ("lines", "unread"))
        record.readers = _counts(report.get("readers"))
        record.skipped = _names(report.get("skipped"))
        if record.mostly_lost or (not page.elements and not is_even(image)):
            record.status, record.error = Status.FAILED, record.loss or "the model found nothing on the page"

    def _engine(self) -> Engine:
        """An engine for one page. Failing to get one at all ends the run: no page can be read.

        Called where an interrupt arrives, the first one may take as long as a model takes to load.
        """
        with contextlib.suppress(queue.Empty):
            engine = self._idle.get(block=len(self._engines) >= self._jobs)
            if engine is None:
                raise CancelledError("the run has ended")
            return engine
        self._engines.append(self._connect())
        return self._engines[-1]

    def _ask(self, engine: Engine, image: Image) -> Recognition:
        """Read one picture, waiting while the host is busy; a host that is gone is not called again."""
        if self._lost is not None:
            raise self._lost
        for pause in (*_BUSY_WAITS, None):
            if self._over.is_set():
                break
            try:
                return engine.read(image)
            except QueueFullError:
                if pause is None:
                    raise
                self._over.wait(pause)
            except DialError as error:
                self._lost = error
                raise
        raise CancelledError("the run has ended")


def drawing_dpi(resolution: float) -> float:
    """At how many dots per inch a page is drawn for a model, when its scan has `resolution`, 0 for no scan.

    Its own pixels are best. Coarse ones gain from being enlarged somewhat, fine ones nothing over what print needs.
    """
    if not resolution:
        return _USUAL_DPI
    coarse = min(_MOST_ENLARGED * resolution, _LEAST_DPI)
    return float(round(min(max(resolution, coarse, _COARSEST_DPI), _FINEST_DPI)))


def settled(reading: Reading) -> Reading:
    """A document all of whose pages are there, with what only they together tell."""
    settle(reading)
    return reading


def _describe(record: PageRecord, text: PageText, options: Options) -> Claim | None:
    """Put what the file says, and the decision, into the record; returns the text to be asked about or used then."""
    record.route, record.why = route(text, threshold=options.threshold, force=options.force)
    record.coverage = round(text.coverage, 4)
    record.largest_image = round(text.largest_image, 4)
    record.text_quality = text.quality
    record.hidden_text = sum(len(line.text) for line in text.hidden)
    claim = None if options.force or record.route is Route.FILE else claim_of(text, options.hidden)
    if claim is not None and claim.hidden and options.hidden is Hidden.KEEP:
        record.route, record.why = Route.FILE, f"{record.why}, and is kept as asked"
    if record.route is Route.FILE:
        record.turn, record.engine = text.turn, "file"
    return claim


def structure_text(lines: list[Line], text: PageText, page: ReadPage) -> list[Element]:
    """The file's own lines as elements. Text that lies on its side is read upright and its boxes turned back."""
    width, height = (page.height, page.width) if text.turn % 180 else (page.width, page.height)
    regions = [Region(RegionKind.FIGURE, box) for box in text.figures]
    elements = _retold(lines, text, page.record, regions, width, height)
    if elements is None:
        elements = structure(lines, width, height, regions=regions, rules=text.rules, skipped=page.record.skipped)
    place_links(elements, text.links)
    if text.turn:
        for element in elements:
            if element.box is not None:
                element.box = turn_box(element.box, -text.turn, width, height)
    return elements


def _retold(
    lines: list[Line], text: PageText, record: PageRecord, regions: list[Region], width: float, height: float
) -> list[Element] | None:
    """The page as its own structure tree has it, if that can be believed; the record says so."""
    if text.told is None or lines is not text.lines:
        return None
    try:
        if fault := fault_of(text.told):
            record.structure = f"layout; the structure tree is not used: {fault}"
            return None
        elements = retold(text.told, width, height, regions=regions, rules=text.rules, skipped=record.skipped)
    except Exception as error:  # the tree is the file's, and may be anything
        record.structure = "layout; the structure tree is not used: it cannot be followed"
        _LOG.debug("page %d: its structure tree", record.page, exc_info=error)
        return None
    record.structure = "structure tree"
    return elements


def _own_text(prepared: _Prepared) -> list[Element]:
    """What the file itself says of a page that could not be read, in whatever order can be had."""
    text = prepared.text
    trusted = text_quality("\n".join(line.text for line in text.hidden)) >= TRUSTED
    lines = text.lines or (text.hidden if trusted else [])
    if prepared.claim is not None:  # in a script the reader does not know, nobody can witness for it
        lines = prepared.claim.lines
    try:
        return structure_text(lines, text, prepared.page)
    except Exception:  # it may be what went wrong before
        return [Element(Kind.TEXT, line.text) for line in lines]


def _fail(record: PageRecord, error: Exception) -> None:
    record.status = Status.FAILED
    record.error = str(error) if isinstance(error, WarmwireError) else f"{type(error).__name__}: {error}"
    _LOG.debug("page %d failed", record.page, exc_info=error)


def plain_text(elements: Sequence[Element]) -> str:
    """All words of a page, one element or cell a line."""
    cells = (cell.text for element in elements if element.table for cell in element.table.cells)
    return "\n".join([*(element.text for element in elements), *cells])


def _size(elements: list[Element]) -> int:
    """How much text there is, in characters."""
    cells = (cell.text for element in elements if element.table for cell in element.table.cells)
    return sum(len(element.text) for element in elements) + sum(map(len, cells))


def _counts(value: object) -> dict[str, int]:
    """Counts by name that a model reports, empty if they are none."""
    items = list(value.items())[:_MOST_READERS] if isinstance(value, Mapping) else []
    return {str(name): max(0, int(_number(count) or 0)) for name, count in items}


def _number(value: object) -> float | None:
    """A number a model reports, None if it is none."""
    return float(value) if isinstance(value, (int, float)) and math.isfinite(value) else None


def _names(value: object) -> list[str]:
    """Short names a model reports; anything else is none."""
    return [name[:40] for name in value[:20] if isinstance(name, str)] if isinstance(value, list) else []


def is_even(image: Image) -> bool:
    """Whether a picture is empty paper: nearly no place of it differs from the rest, specks and edges aside."""
    height, width = image.shape[:2]
    inner = image[height // 25 : height - height // 25, width // 25 : width - width // 25]
    height, width = (side - side % 4 for side in inner.shape[:2])
    if not height or not width:
        return True
    grey = inner[:height, :width].mean(axis=2, dtype=np.float32)
    places = grey.reshape(height // 4, 4, width // 4, 4).mean(axis=(1, 3))
    return float((abs(places - np.median(places)) > 32).mean()) < 2e-4
