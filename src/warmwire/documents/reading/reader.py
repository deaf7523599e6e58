"""A document, page by page, to elements: from the file's own text where it has some, from an engine where not.

The next page is prepared (opened, routed, drawn) in a thread of its own while engines read others; no more than two
pictures beyond those being read are in memory at once, whatever the length of the document. The pages of several
documents are one queue, so that engines are busy across their ends; what comes of them is given document by document.
A page that goes wrong is recorded under its own number, keeps what can be kept of it, and does not end the run.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from warmwire.documents.input.links import place_links
from warmwire.documents.input.pdf.frame import turn_box
from warmwire.documents.input.quality import TRUSTED, text_quality
from warmwire.documents.input.source import Page, PageText, Source
from warmwire.documents.reading.across import settle
from warmwire.documents.reading.answer import put_answer
from warmwire.documents.reading.drawing import drawing_dpi, drawn_smaller, is_even
from warmwire.documents.reading.hidden import Hidden
from warmwire.documents.reading.journal import Journal, KeptAnswer, Recorder, Replay
from warmwire.documents.reading.pool import BUSY_PAUSES, TRIES, EnginePool
from warmwire.documents.reading.record import PageRecord, Reading, ReadPage, Route, Status
from warmwire.documents.reading.route import THRESHOLD, Claim, claim_of, route
from warmwire.documents.reading.witness import AGREED, agreement, sample, strips
from warmwire.errors import WarmwireError
from warmwire.layout.doctags.writer import parse
from warmwire.layout.page import Element, Kind, Line
from warmwire.layout.structure import structure
from warmwire.layout.told.elements import fault_of
from warmwire.layout.told.retold import retold
from warmwire.media.images import Image

if TYPE_CHECKING:
    from warmwire.client import Engine, Recognition

Ask: TypeAlias = "Callable[[Image], Recognition]"
"""Who is asked what a picture says."""

_LOG: Final = logging.getLogger(__name__)
_AHEAD: Final = 32
"""Pages under way or read that wait for one before them; only those under way still have a picture."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read: resolution of drawn PDF pages in dots per inch (0: see `drawing_dpi`), the rules of `route`, and how
    often and after which pauses (seconds) an engine is asked again."""

    dpi: float = 0.0
    threshold: float = THRESHOLD
    force: bool = False
    hidden: Hidden = Hidden.AUTO
    tries: int = TRIES
    busy_pauses: Sequence[float] = BUSY_PAUSES


@dataclass(slots=True)
class _Prepared:
    """A page on its way: what the file says of it, and its picture if a model is to read it, with what the journal
    knows it by and has of it."""

    page: ReadPage
    image: Image | None = None
    text: PageText = field(default_factory=PageText)
    claim: Claim | None = None
    key: str = ""
    known: list[KeptAnswer] | None = None


@dataclass(frozen=True, slots=True)
class ReadTask:
    """A document to read: the pages `numbers` (from 1, at least one); `on_page` hears of each, in order, when it is
    done. `name` is what a journal calls it."""

    source: Source
    numbers: Sequence[int]
    on_page: Callable[[PageRecord], None] | None = None
    name: str = ""


class DocumentReader:
    """Reads documents with up to `jobs` engines at once, each made by `connect` when a page needs it.

    With a `journal`, a page that is in it is not read again, and any other is put there when it has been read.
    """

    def __init__(
        self,
        connect: Callable[[], Engine],
        options: ReadOptions | None = None,
        jobs: int = 1,
        journal: Journal | None = None,
    ) -> None:
        self._options = options or ReadOptions()
        self._jobs = jobs
        self._journal = journal
        self._pool = EnginePool(connect, jobs, self._options.tries, self._options.busy_pauses)
        self._rest: list[tuple[ReadTask, Reading]] = []

    def read(
        self, source: Source, numbers: Sequence[int], on_page: Callable[[PageRecord], None] | None = None
    ) -> Reading:
        """Read the pages `numbers` (from 1) of a document; `on_page` hears of each, in order, when it is done.

        Raises:
            WarmwireError: what `connect` raised. An engine that fails later costs pages, not the run.
        """
        readings = [*self.read_all([ReadTask(source, numbers, on_page)])]  # to its end: leaving it early closes engines
        return settled(readings[0] if readings else Reading(source.name, outline=source.outline()))

    def read_all(self, tasks: Iterable[ReadTask | None]) -> Generator[Reading, None, None]:
        """Read documents, in order, each given when its last page is done; `settled` makes it whole.

        A task is taken when there is room for its first page. None among them says that the next may keep us waiting:
        then those before it are given first. Raises as `read` does.
        """
        self._pool.begin()
        self._rest = []
        reading: Reading | None = None
        task: ReadTask | None = None
        try:
            with contextlib.closing(self._finished(tasks)) as pages:
                for task, page in pages:
                    reading = reading or Reading(task.source.name, outline=task.source.outline())
                    reading.pages.append(page)
                    if task.on_page is not None:
                        task.on_page(page.record)
                    if len(reading.pages) == len(task.numbers):
                        whole, reading = reading, None
                        yield whole
        except BaseException:
            if reading is not None and task is not None:
                self._leave(task, reading.pages, first=True)
            raise

    def rest(self) -> list[tuple[ReadTask, Reading]]:
        """What had been read of documents that were not given, when the last run broke off."""
        return [(task, settled(reading)) for task, reading in self._rest]

    def _leave(self, task: ReadTask, pages: Sequence[ReadPage], *, first: bool = False) -> None:
        """Keep pages for `rest`; the `first` ones stand before those kept already."""
        for known, reading in self._rest:
            if known is task:
                reading.pages[:] = [*pages, *reading.pages] if first else [*reading.pages, *pages]
                return
        self._rest.insert(0 if first else len(self._rest), (task, Reading(task.source.name, list(pages))))

    def _finished(self, tasks: Iterable[ReadTask | None]) -> Generator[tuple[ReadTask, ReadPage], None, None]:
        """The pages in order, as many at once as there are jobs. One that takes long holds up what is given, and not
        what is read meanwhile, up to `_AHEAD` pages or two a job."""
        with ThreadPoolExecutor(self._jobs, thread_name_prefix="warmwire-read") as threads:
            under_way: deque[tuple[ReadTask, Future[ReadPage]]] = deque()
            try:
                for coming in self._prepared(tasks):
                    while under_way and coming is None:
                        yield under_way[0][0], under_way.popleft()[1].result()
                    if coming is None:
                        continue
                    task, prepared = coming
                    asked = prepared.image is not None and prepared.known is None
                    engine = self._pool.take() if asked else None
                    under_way.append((task, threads.submit(self._finish, task, prepared, engine)))
                    while under_way and (under_way[0][1].done() or len(under_way) > max(_AHEAD, 2 * self._jobs)):
                        yield under_way[0][0], under_way.popleft()[1].result()
                while under_way:
                    yield under_way[0][0], under_way.popleft()[1].result()
            except BaseException:
                for task, future in under_way:
                    if future.done() and not future.exception():
                        self._leave(task, [future.result()])
                self.close()
                raise

    def _prepared(self, tasks: Iterable[ReadTask | None]) -> Iterator[tuple[ReadTask, _Prepared] | None]:
        """The pages in order; while the caller is busy with one, the next is prepared. None is passed on."""
        with ThreadPoolExecutor(1, thread_name_prefix="warmwire-prepare") as thread:
            coming: deque[tuple[ReadTask, Future[_Prepared]]] = deque()
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
        self._pool.close()

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
            wanted = self._options.dpi or drawing_dpi(prepared.text.resolution)
            prepared.image = page.render(wanted)
            record.why += drawn_smaller(prepared.image, page.size, wanted)
            if self._journal is not None:
                prepared.key = self._journal.key(prepared.image)
                prepared.known = self._journal.find(prepared.key)
        else:
            read.headings = prepared.text.headings
            read.elements = structure_text(claim.lines if claim else prepared.text.lines, prepared.text, read)

    def _finish(self, task: ReadTask, prepared: _Prepared, engine: Engine | None) -> ReadPage:
        """Let the engine read a page that needs it, and keep what there is where it fails."""
        page, record = prepared.page, prepared.page.record
        started = time.monotonic()
        recorder: Recorder | None = None
        if prepared.image is not None:
            if engine is None:
                ask: Ask = Replay(prepared.known or [])
                if self._journal is not None:
                    self._journal.take(task.name, prepared.key)
            else:
                ask = recorder = Recorder(functools.partial(self._pool.ask, engine))
            try:
                if prepared.claim is None or not self._is_witnessed(ask, prepared.image, prepared.claim, prepared):
                    self._read_image(ask, prepared.image, page)
            finally:
                prepared.image = None  # the page may have to wait for others
                if engine is not None:
                    self._pool.give_back(engine)
        if record.status is Status.FAILED:
            page.elements = max(page.elements, _own_text(prepared), key=_size)
            record.status = Status.PARTIAL if _size(page.elements) else Status.FAILED
        record.seconds = round(record.seconds + time.monotonic() - started, 3)
        if self._journal is not None and recorder is not None and recorder.lasting:
            self._journal.keep(task.name, prepared.key, recorder.answers, whole=record.status is Status.OK)
        return page

    def _is_witnessed(self, ask: Ask, image: Image, claim: Claim, prepared: _Prepared) -> bool:
        """Whether the picture shows what a page's text claims; the page is then made of that text."""
        page, record, turn = prepared.page, prepared.page.record, prepared.text.turn
        lines = sample(claim.lines)
        width = page.height if turn % 180 else page.width
        strip = strips(np.rot90(image, -turn // 90), lines, width) if lines else None
        if strip is None:
            return False
        try:
            answer = ask(strip)
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
        page.headings = prepared.text.headings
        record.route, record.engine, record.turn = Route.FILE, "file", turn
        return True

    def _read_image(self, ask: Ask, image: Image, page: ReadPage) -> None:
        record = page.record
        try:
            answer = ask(image)
        except Exception as error:  # see _prepare
            _fail(record, error)
            page.elements = parse(getattr(error, "partial", ""), page.width, page.height)
            return
        put_answer(page, answer, image)
        if record.mostly_lost or (not page.elements and not is_even(image)):
            record.status, record.error = Status.FAILED, record.loss or "the model found nothing on the page"


def settled(reading: Reading) -> Reading:
    """A document all of whose pages are there, with what only they together tell."""
    settle(reading)
    return reading


def _describe(record: PageRecord, text: PageText, options: ReadOptions) -> Claim | None:
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
    elements = _retold(lines, text, page.record, width, height)
    if elements is None:
        elements = structure(lines, width, height, figures=text.figures, rules=text.rules, skipped=page.record.skipped)
    place_links(elements, text.links)
    if text.turn:
        for element in elements:
            if element.box is not None:
                element.box = turn_box(element.box, -text.turn, width, height)
    return elements


def _retold(lines: list[Line], text: PageText, record: PageRecord, width: float, height: float) -> list[Element] | None:
    """The page as its own structure tree has it, if that can be believed; the record says so."""
    if text.told is None or not lines or (text.lines and lines is not text.lines):
        return None
    try:
        if fault := fault_of(text.told):
            record.structure = f"layout; the structure tree is not used: {fault}"
            return None
        elements = retold(text.told, width, height, figures=text.figures, rules=text.rules, skipped=record.skipped)
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
