"""Reading documents from a program: `read` for one, `Reader` for many, `AsyncReader` for asyncio.

    doc = warmwire.read("scan.pdf")
    print(doc.markdown())

    with warmwire.Reader(jobs=2) as reader:          # models are loaded when a page first needs them, and stay
        for doc in reader.read_all(paths):
            print(doc.name, doc.status)

This joins the rooms that the command line joins: `documents` reads, and what it needs a model for goes to a host,
behind a socket or of our own. A file that cannot be opened raises InputError; a page that fails never does, its
`status` and `error` say so.
"""

from __future__ import annotations

import asyncio
import functools
import math
import os
import threading
import weakref
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, Self

from warmwire.documents.input.given import Given, name_of, opener
from warmwire.documents.parts import require_parts
from warmwire.documents.reading.reader import DocumentReader, ReadOptions
from warmwire.documents.reading.record import PageRecord, Reading
from warmwire.documents.reading.selection import select_pages
from warmwire.documents.result import Document
from warmwire.engines import PageEngines
from warmwire.errors import InputError, UsageError, WarmwireError
from warmwire.system.closing import AsyncClosing, Closing

OnPage = Callable[[PageRecord], None]
"""Hears of each page, in order, when it is done: its `page` number, `status`, `route`, `confidence`, `seconds`, ..."""

_MODEL: Final = "pages"


def read(
    source: Given,
    *,
    pages: str = "",
    jobs: int | None = None,
    socket: str | os.PathLike[str] | None = None,
    model: str | None = None,
    timeout: float | None = None,
    password: str = "",
    on_page: OnPage | None = None,
) -> Document:
    """Read one document. For several, a `Reader` keeps the models loaded between them.

    Args:
        source: a path, bytes, a file opened with "rb", a Pillow image or an array of pixels.
        pages: which pages, such as "1,4-9,20-"; all by default.
        jobs: pages read at once, about half a gigabyte each; as many as cores by default, eight at most.
        socket: read through the host at this socket instead of in worker processes of our own.
        model: what reads scanned pages: "pages" (the default), "x.gguf" with vision, or "openai:URL#MODEL".
        timeout: most seconds for one page at the model, the host's own limit by default; a page that takes longer has
            failed.
        password: of an encrypted PDF.
        on_page: called with the record of each page, in order, when it is done.

    Raises:
        InputError: the file cannot be opened, or is no document.
        UsageError: an argument cannot be meant, or the extra `pages` is not installed.
        WarmwireError: the model cannot be loaded, or no host answers at `socket`.
    """
    with Reader(jobs=jobs, socket=socket, model=model, timeout=timeout) as reader:
        return reader.read(source, pages=pages, password=password, on_page=on_page)


class Reader(Closing):
    """Reads documents one after another; the models are loaded when a page first needs them and stay until `close`.

    Arguments are those of `read`; `dpi` is the resolution at which PDF pages are drawn (0: that of their scan), `force`
    sends every page to the model, also those with text, and `threshold` is the share of a page under text below which
    it goes to the model if there is more to read on it.
    It may be used from several threads, which then wait for each other.
    """

    def __init__(
        self,
        *,
        jobs: int | None = None,
        socket: str | os.PathLike[str] | None = None,
        model: str | None = None,
        timeout: float | None = None,
        dpi: float = 0.0,
        force: bool = False,
        threshold: float | None = None,
    ) -> None:
        require_parts()
        _check(jobs, socket, model, timeout)
        engines = PageEngines(socket, model or _MODEL, jobs, timeout)
        options = ReadOptions(dpi=dpi, force=force)
        if threshold is not None:
            options = ReadOptions(dpi=dpi, force=force, threshold=threshold)
        self._pages = DocumentReader(engines.connect, options, engines.jobs)
        self._turn = threading.Lock()
        self._release = weakref.finalize(self, _release, self._pages, engines)  # also where nobody calls `close`

    def read(self, source: Given, *, pages: str = "", password: str = "", on_page: OnPage | None = None) -> Document:
        """Read one document; arguments and exceptions are those of the function `read`."""
        select_pages(pages, 1)
        open_source = opener(source, password)
        with self._turn:
            if not self._release.alive:
                raise UsageError("the reader is closed")
            file = open_source()
            try:
                numbers = select_pages(pages, len(file))
                if not numbers:
                    raise InputError(f"{file.name}: has no page {pages}; it has {len(file)}")
                return Document(self._pages.read(file, numbers, on_page), open_source)
            finally:
                file.close()

    def read_all(
        self, sources: Iterable[Given], *, pages: str = "", password: str = "", on_page: OnPage | None = None
    ) -> Iterator[Document]:
        """Read one document after another and yield each when it is done.

        One that cannot be opened does not end it: its document has no pages, `status` is failed, `error` says why.
        Raises as `read` does for the rest: UsageError, and WarmwireError where no model can be had.
        """
        for source in sources:
            with _Survived(source, on_page) as attempt:
                attempt.document = self.read(source, pages=pages, password=password, on_page=attempt.on_page)
            yield attempt.document

    def stop(self) -> None:
        """Give up what another thread is reading: its `read` raises CancelledError. The reader can be used again."""
        self._pages.close()

    def close(self) -> None:
        """Stop reading and unload the models. May be called twice."""
        self._release()


class AsyncReader(AsyncClosing):
    """`Reader` for asyncio: the same arguments, and methods that are awaited.

    Documents are read one after another, in a thread; several tasks wait for each other. A task that is cancelled
    gives the page under way up.
    """

    def __init__(self, **options: Any) -> None:
        self._reader = Reader(**options)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="warmwire-reader")
        self._turn = asyncio.Lock()

    async def read(
        self, source: Given, *, pages: str = "", password: str = "", on_page: OnPage | None = None
    ) -> Document:
        """See `Reader.read`. `on_page` is called in the event loop's thread."""
        loop = asyncio.get_running_loop()

        def heard(record: PageRecord) -> None:
            if on_page is not None:
                loop.call_soon_threadsafe(on_page, record)

        work = functools.partial(self._reader.read, source, pages=pages, password=password, on_page=heard)
        async with self._turn:
            reading = loop.run_in_executor(self._thread, work)
            try:
                return await asyncio.shield(reading)
            except asyncio.CancelledError:
                self._reader.stop()
                await asyncio.wait([reading])
                raise

    async def read_all(
        self, sources: Iterable[Given], *, pages: str = "", password: str = "", on_page: OnPage | None = None
    ) -> AsyncIterator[Document]:
        """See `Reader.read_all`."""
        for source in sources:
            with _Survived(source, on_page) as attempt:
                attempt.document = await self.read(source, pages=pages, password=password, on_page=attempt.on_page)
            yield attempt.document

    def close(self) -> None:
        """Stop reading and unload the models. May be called twice."""
        self._reader.close()
        self._thread.shutdown(wait=False)


class _Survived:
    """One document of several: what breaks in it becomes a document without pages that says so.

    Not so what concerns all of them, such as a model that cannot be loaded, and what the caller's own `on_page` raises.
    """

    def __init__(self, source: Given, on_page: OnPage | None) -> None:
        self.document = Document(Reading(name_of(source)), opener(b""))
        self._on_page = on_page
        self._callers: BaseException | None = None

    def on_page(self, record: PageRecord) -> None:
        try:
            if self._on_page is not None:
                self._on_page(record)
        except BaseException as error:
            self._callers = error
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, Exception) or error is self._callers:
            return False
        if isinstance(error, WarmwireError) and not isinstance(error, InputError):
            return False
        self.document.error = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        return True


def _check(jobs: int | None, socket: str | os.PathLike[str] | None, model: str | None, timeout: float | None) -> None:
    if jobs is not None and jobs < 1:
        raise UsageError(f"jobs is {jobs}; it must be at least 1")
    if timeout is not None and not (timeout > 0 and math.isfinite(timeout)):
        raise UsageError(f"timeout is {timeout}; it must be a number of seconds above 0")
    if socket is not None and model not in (None, _MODEL):
        raise UsageError("socket reads with the host's model and model with another; give one of them")


def _release(pages: DocumentReader, engines: PageEngines) -> None:
    pages.close()
    engines.close()
