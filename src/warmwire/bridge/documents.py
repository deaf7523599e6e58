"""Documents over HTTP: a file in, what it says out, pages read by the host behind the bridge.

Two contracts that other programs speak already: docling-serve's `/v1/convert/file`, at once or as a task to be asked
for, and `PUT /process`, by which Open WebUI has files read. Besides, a page at `/` to drop a file on. With
`Accept: text/event-stream` an answer at once tells of each page as it is done, and then the document.
"""

from __future__ import annotations

import asyncio
import io
import zipfile
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from importlib.resources import files
from typing import Any, Final
from urllib.parse import unquote

import msgspec
from starlette.requests import Request as HttpRequest
from starlette.routing import Route

from warmwire.bridge.endpoint import Endpoint, Work
from warmwire.bridge.errors import NoSuchTaskError, UnknownModelError
from warmwire.bridge.forms import Form, read_form
from warmwire.bridge.metrics import Metrics, Record
from warmwire.bridge.output import Bounds, Output
from warmwire.bridge.router import Router, silently
from warmwire.bridge.tasks import Task, Tasks, new_task
from warmwire.documents.output.formats import SUFFIX, Format
from warmwire.documents.reading.record import PageRecord, Status
from warmwire.documents.result import Document
from warmwire.errors import (
    BackendUnavailableError,
    InputError,
    InvalidRequestError,
    UsageError,
    WarmwireError,
)
from warmwire.reader import AsyncReader
from warmwire.transport.paths import default_addr

MAX_FILE: Final = 256 << 20
"""Most bytes of one request's files."""

AT_ONCE: Final = 4
"""Documents read at the same time; the host has its own queue for their pages."""

_CONTENTS: Final = {"md": "md", "json": "json", "html": "html", "text": "text", "doctags": "doctags"}
"""docling-serve's formats, and ours of the same name."""

_STATUS: Final = {Status.OK: "success", Status.PARTIAL: "partial_success", Status.FAILED: "failure"}

_MOST_WAIT: Final = 60.0
"""Seconds that a client may wait for a task to change its state."""


class Documents:
    """The endpoints for documents of one bridge."""

    def __init__(self, router: Router, metrics: Metrics, bounds: Bounds) -> None:
        self._router, self._metrics = router, metrics
        self._bounds = replace(bounds, body=MAX_FILE)
        self._tasks = Tasks()
        self._turn = asyncio.Semaphore(AT_ONCE)

    def routes(self) -> list[Route]:
        works: list[tuple[str, str, Work]] = [
            ("GET", "/", self._page),
            ("POST", "/v1/convert/file", self._convert),
            ("POST", "/v1/convert/file/async", self._begin),
            ("GET", "/v1/status/poll/{task}", self._poll),
            ("GET", "/v1/result/{task}", self._result),
            ("PUT", "/process", self._process),
        ]
        return [Route(path, self._endpoint(path, work), methods=[method]) for method, path, work in works]

    def _endpoint(self, path: str, work: Work) -> Endpoint:
        async def asked(request: HttpRequest, body: bytes, output: Output, record: Record) -> None:
            try:
                await work(request, body, output, record)
            except InputError as error:  # what is wrong with a document that was sent is wrong with the request
                raise InvalidRequestError(str(error)) from None

        return Endpoint(path, asked, self._metrics, self._bounds)

    # ------------------------------------------------------------------ reading

    async def _read(self, name: str, data: bytes, form: Form, heard: Callable[[PageRecord], None]) -> Document:
        """Read a document. Raises InvalidRequestError for fields that cannot be meant, InputError for the file."""
        async with self._turn, self._host() as addr:
            try:
                reader = AsyncReader(socket=addr, timeout=_seconds(form), force=form.last("force_ocr") == "true")
            except UsageError as error:  # what reading documents needs is not installed where the bridge runs
                raise BackendUnavailableError(str(error)) from None
            try:
                source = io.BytesIO(data)
                source.name = name
                return await reader.read(source, pages=_pages(form), on_page=heard)
            finally:
                await asyncio.to_thread(reader.close)

    @asynccontextmanager
    async def _host(self) -> AsyncIterator[str]:
        """The socket path of a host that reads pages, kept for as long; without any, pages with text are read still."""
        try:
            models = await self._router.models()
        except WarmwireError:
            models = []
        able = next((model.name for model in models if model.able.get("pages")), None)
        named = next((model.name for model in models if model.name.partition("?")[0] == "pages"), None)
        async with AsyncExitStack() as stack:
            try:
                addr = await stack.enter_async_context(self._router.host(able or named, silently))
            except UnknownModelError:
                addr = default_addr()
            yield addr

    async def _convert(self, request: HttpRequest, body: bytes, output: Output, record: Record) -> None:
        form = await read_form(request.headers, body)
        formats, target = _formats(form), _target(form)
        if not form.files:
            raise InvalidRequestError("the form holds no file; name it files, as curl -F files=@scan.pdf does")
        stream = "text/event-stream" in request.headers.get("accept", "")
        answers, texts = [], []
        for name, data in form.files:
            started = asyncio.get_running_loop().time()
            if stream:
                document = await self._told_by_page(name, data, form, output)
            else:
                document = await self._read(name, data, form, lambda page: None)
            seconds = asyncio.get_running_loop().time() - started
            contents = await asyncio.to_thread(_contents, document, formats)
            texts.append((document.name, contents))
            answers.append(_answer(document, contents, seconds))
            if stream:
                await output.event(answers[-1])
        if stream:
            await output.done()
        elif len(answers) == 1 and target == "inbody":
            await output.json(answers[0])
        else:
            named = {"Content-Disposition": "attachment; filename=converted_docs.zip"}
            await output.body(_zipped(texts), "application/zip", headers=named)

    async def _told_by_page(self, name: str, data: bytes, form: Form, output: Output) -> Document:
        """Read a document and send an event for each page that is done."""
        pages: asyncio.Queue[PageRecord | None] = asyncio.Queue()
        reading = asyncio.create_task(self._read(name, data, form, pages.put_nowait))
        reading.add_done_callback(lambda _: pages.put_nowait(None))
        try:
            while (page := await pages.get()) is not None:
                await output.event(_told(page))
            return await reading
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    async def _begin(self, request: HttpRequest, body: bytes, output: Output, record: Record) -> None:
        form = await read_form(request.headers, body)
        formats = _formats(form)
        _target(form), _pages(form), _seconds(form)  # what they refuse is refused now, not when the task is read
        if len(form.files) != 1:
            raise InvalidRequestError(f"the form holds {len(form.files)} files; a task reads one, named files")
        (name, data), task = form.files[0], new_task(formats)
        self._tasks.begin(self._read(name, data, form, lambda page: task.pages.append(_told(page))), task)
        await output.json(_state(task))

    async def _poll(self, request: HttpRequest, body: bytes, output: Output, record: Record) -> None:
        task = self._task(request)
        wait = request.query_params.get("wait", "0")
        if wait.replace(".", "", 1).isdecimal() and float(wait) > 0 and task.work is not None:
            await asyncio.wait([task.work], timeout=min(float(wait), _MOST_WAIT))
        await output.json(_state(task))

    async def _result(self, request: HttpRequest, body: bytes, output: Output, record: Record) -> None:
        """What docling-serve answers; with `?format=pdf` that file alone, in any format there is."""
        task = self._task(request)
        if task.error is not None:
            raise task.error
        if task.document is None:
            raise NoSuchTaskError(f"the task {task.id} has not ended; ask /v1/status/poll/{task.id}")
        wanted = request.query_params.get("format")
        if wanted is None:
            asked = request.query_params.getlist("to_formats")
            formats = _formats(Form(fields={"to_formats": asked})) if asked else task.formats
            contents = await asyncio.to_thread(_contents, task.document, formats)
            await output.json(_answer(task.document, contents, task.seconds))
            return
        parts = await asyncio.to_thread(task.document.files, wanted)
        suffix, data = next(iter(parts.items()), (SUFFIX[Format(wanted)], b""))
        kind = _KINDS.get(suffix, "text/plain; charset=utf-8")
        if len(parts) > 1:
            suffix, data, kind = ".zip", _zip(parts), "application/zip"
        await output.body(data, kind, headers={"Content-Disposition": f"attachment; filename=document{suffix}"})

    async def _process(self, request: HttpRequest, body: bytes, output: Output, record: Record) -> None:
        if not body:
            raise InvalidRequestError("the body is empty; it must be the file itself")
        name = unquote(request.headers.get("x-filename", "document"))
        document = await self._read(name, body, Form(), lambda page: None)
        metadata = {"source": name, "pages": len(document.pages), "status": document.status.value}
        await output.json({"page_content": document.markdown(), "metadata": metadata})

    async def _page(self, request: HttpRequest, body: bytes, output: Output, record: Record) -> None:
        page = (files("warmwire.bridge") / "drop.html").read_bytes()
        await output.body(page, "text/html; charset=utf-8", headers=_PAGE_HEADERS)

    def _task(self, request: HttpRequest) -> Task:
        name = request.path_params["task"]
        task = self._tasks.get(name)
        if task is None:
            raise NoSuchTaskError(f"there is no task {name[:40]!r}, or none any more")
        return task


_PAGE_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "connect-src 'self'; frame-src 'self' blob:; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'",
    "X-Content-Type-Options": "nosniff",
}

_KINDS: Final = {
    ".pdf": "application/pdf",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".html": "text/html; charset=utf-8",
    ".viewer.html": "text/html; charset=utf-8",
    ".md": "text/markdown; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


def _formats(form: Form) -> list[str]:
    """The formats a client wants. Raises InvalidRequestError for others."""
    wanted = [one for value in form.fields.get("to_formats", ["md"]) for one in value.split(",")]
    for one in wanted:
        if one not in _CONTENTS:
            raise InvalidRequestError(f"to_formats: {one[:40]!r} is none of {', '.join(_CONTENTS)}")
    return wanted


def _target(form: Form) -> str:
    """Where a client wants the documents. docling-serve's own asks for addresses to fetch them from first, and goes on
    without them where an InvalidRequestError says so in these words."""
    target = form.last("target_type", "inbody")
    if target not in ("inbody", "zip"):
        raise InvalidRequestError(f"target_type: input should be 'inbody' or 'zip', not {target[:40]!r}")
    return target


def _pages(form: Form) -> str:
    """A page selection from docling-serve's pair of numbers, or from ours ("1,4-9")."""
    given = [part for value in form.fields.get("page_range", []) for part in value.strip("[]() ").split(",")]
    if len(given) == 2 and all(part.strip().isdecimal() for part in given):
        first, last = (int(part) for part in given)
        return f"{max(first, 1)}-" if last > 1 << 20 else f"{max(first, 1)}-{last}"
    return ",".join(given)


def _seconds(form: Form) -> float | None:
    """The most seconds for one page."""
    given = form.last("document_timeout")
    try:
        value = float(given) if given else None
    except ValueError:
        raise InvalidRequestError(f"document_timeout: {given[:40]!r} is no number of seconds") from None
    if value is not None and not 0 < value < 1e9:
        raise InvalidRequestError(f"document_timeout: {given[:40]!r} is no number of seconds above 0")
    return value


def _told(record: PageRecord) -> dict[str, Any]:
    return {"page": record.page, "status": record.status.value, "route": record.route.value, "error": record.error}


def _contents(document: Document, formats: list[str]) -> dict[str, bytes]:
    """A document in each of docling-serve's formats that is wanted."""
    return {name: next(iter(document.files(_CONTENTS[name]).values()), b"") for name in _CONTENTS if name in formats}


def _answer(document: Document, contents: dict[str, bytes], seconds: float) -> dict[str, Any]:
    """A document as docling-serve answers it: each format wanted, null for the others."""
    told: dict[str, Any] = {f"{name}_content": None for name in _CONTENTS}
    for name, data in contents.items():
        told[f"{name}_content"] = data.decode(errors="replace")
    if contents.get("json"):  # goes into the answer as it is, on one line
        told["json_content"] = msgspec.Raw(msgspec.json.format(contents["json"], indent=-1))
    errors = [
        {"component_type": "model", "module_name": "warmwire", "error_message": f"page {page.number}: {page.error}"}
        for page in document.pages
        if page.error
    ]
    return {
        "document": {"filename": document.name, **told},
        "status": _STATUS[document.status],
        "errors": errors,
        "processing_time": round(seconds, 3),
        "timings": {},
    }


def _state(task: Task) -> dict[str, Any]:
    """A task as docling-serve tells of it, which counts documents, here one; and the pages that are done."""
    counts = {
        "num_docs": 1,
        "num_processed": int(task.ended),
        "num_succeeded": int(task.document is not None),
        "num_failed": int(task.error is not None),
    }
    return {
        "task_id": task.id,
        "task_type": "convert",
        "task_status": task.status,
        "task_position": None,
        "task_meta": {**counts, "pages": task.pages},
        "error_message": str(task.error) if task.error is not None else None,
    }


def _zipped(texts: list[tuple[str, dict[str, bytes]]]) -> bytes:
    """Documents, by their names, in one archive: each format of each, names told apart."""
    parts: dict[str, bytes] = {}
    for number, (file, contents) in enumerate(texts, 1):
        stem = file.replace("\\", "/").rpartition("/")[2].rpartition(".")[0] or f"document-{number}"
        for name, data in contents.items():
            path = f"{stem}{SUFFIX[Format(_CONTENTS[name])]}"
            parts[path if path not in parts else f"{number}-{path}"] = data
    return _zip(parts)


def _zip(parts: dict[str, bytes]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name if not name.startswith(".") else f"document{name}", data)
    return held.getvalue()
