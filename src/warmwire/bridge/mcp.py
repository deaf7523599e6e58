"""The Model Context Protocol over standard input and output: documents and models as tools of an assistant's program.

An assistant names files, and what it names may come from a page it has read. So only files under the folders given are
opened, whatever the path says. Standard output belongs to the protocol; nothing else is written there.
"""

from __future__ import annotations

import asyncio
import functools
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from warmwire.client import AsyncClient
from warmwire.documents.reading.record import PageRecord
from warmwire.documents.result import Document
from warmwire.errors import InputError, UsageError, WarmwireError
from warmwire.reader import AsyncReader

KEPT: Final = 8
"""Documents whose text is kept: a search usually follows a reading."""

MOST_CHARACTERS: Final = 400_000
"""Characters of one answer; a longer document is read a few pages at a time."""

_FORMATS: Final = ("md", "text", "html", "json", "doctags", "chunks")

_INSTRUCTIONS: Final = """Reads documents (PDF files and pictures, also scans) on this machine, offline, and asks the
model of a local host. Paths are those of files on this machine."""


class Tools:
    """The tools, and what is kept between their calls. `roots` are the folders whose files may be read."""

    def __init__(self, roots: Sequence[Path], socket: str | None, jobs: int | None) -> None:
        self._roots = [root.resolve() for root in roots]
        self._socket, self._jobs = socket, jobs
        self._reader: AsyncReader | None = None
        self._kept: dict[tuple[str, int, int, str], Document] = {}
        self._turn = asyncio.Lock()

    async def read_document(self, path: str, ctx: Context[Any], pages: str = "", format: str = "md") -> str:
        """Read a PDF file or a picture, scanned or not, as structured text.

        `pages` selects some, such as "1,4-9,20-". `format` is md (Markdown, the default), text, html, json, doctags or
        chunks (JSON lines of passages with their pages).
        """
        if format not in _FORMATS:
            raise UsageError(f"format is {format!r}; it is one of {', '.join(_FORMATS)}")
        document = await self._document(path, pages, ctx)
        text = next(iter((await asyncio.to_thread(document.files, format)).values()), b"").decode(errors="replace")
        failed = f"\n\n[not read whole: {document.error}]" if document.error and format in ("md", "text") else ""
        if len(text) > MOST_CHARACTERS:
            end = f"\n\n[cut after {MOST_CHARACTERS} of {len(text)} characters; ask for fewer pages]"
            return text[:MOST_CHARACTERS] + end + failed
        return text + failed

    async def search_document(self, path: str, query: str, ctx: Context[Any], limit: int = 5) -> list[dict[str, Any]]:
        """Find the passages of a document that have the words of a query, best first, with their pages and headings."""
        document = await self._document(path, "", ctx)
        lines = next(iter((await asyncio.to_thread(document.files, "chunks")).values()), b"").decode(errors="replace")
        passages = [json.loads(line) for line in lines.splitlines()]
        ranked = rank(query, [" ".join([*one["headings"], one["text"]]) for one in passages])
        return [
            {key: passages[place][key] for key in ("text", "headings", "pages")}
            for place in ranked[: max(1, min(limit, 50))]
        ]

    async def ask_model(self, prompt: str, system: str = "", max_tokens: int | None = None) -> str:
        """Ask the language model of the local host and return its whole answer."""
        async with AsyncClient(self._socket, wait=2.0) as client:
            stream = await client.ask(prompt, system=system or None, max_tokens=max_tokens)
            async with stream:
                return await stream.text()

    async def _document(self, path: str, pages: str, ctx: Context[Any]) -> Document:
        file = self._allowed(path)
        status = file.stat()
        key = (str(file), status.st_mtime_ns, status.st_size, pages)
        async with self._turn:
            if key not in self._kept:
                self._reader = self._reader or AsyncReader(socket=self._socket, jobs=self._jobs)
                told: set[asyncio.Task[None]] = set()

                def heard(record: PageRecord) -> None:
                    task = asyncio.ensure_future(ctx.report_progress(record.page, None, f"page {record.page}"))
                    told.add(task)
                    task.add_done_callback(told.discard)

                document = await self._reader.read(file, pages=pages, on_page=heard)
                await asyncio.gather(*told, return_exceptions=True)
                while len(self._kept) >= KEPT:
                    self._kept.pop(next(iter(self._kept)))
                self._kept[key] = document
            return self._kept[key]

    def _allowed(self, path: str) -> Path:
        """The file, links resolved. Raises InputError for one that is not there or lies outside of the roots."""
        file = Path(path).expanduser()
        file = (file if file.is_absolute() else self._roots[0] / file).resolve()
        if not any(file.is_relative_to(root) for root in self._roots):
            where = ", ".join(map(str, self._roots))
            raise InputError(f"{path}: only files under {where} may be read; start warmwire mcp with --root for others")
        if not file.is_file():
            raise InputError(f"{path}: no such file")
        return file

    def close(self) -> None:
        """Unload the models."""
        if self._reader is not None:
            self._reader.close()


def rank(query: str, passages: Sequence[str]) -> list[int]:
    """Places of the passages that have words of the query, best first: rare words count more, repeated ones less and
    less, long passages less (Okapi BM25 with its usual 1.2 and 0.75)."""
    counts = [Counter(_words(passage)) for passage in passages]
    usual = sum(map(Counter.total, counts)) / max(1, len(counts)) or 1.0
    scores = [0.0] * len(passages)
    for word in set(_words(query)):
        having = sum(word in count for count in counts)
        weight = math.log(1 + (len(counts) - having + 0.5) / (having + 0.5))
        for place, count in enumerate(counts):
            if often := count[word]:
                scores[place] += weight * often * 2.2 / (often + 1.2 * (0.25 + 0.75 * count.total() / usual))
    found = [place for place, score in enumerate(scores) if score > 0]
    return sorted(found, key=lambda place: -scores[place])


def _words(text: str) -> Iterable[str]:
    return re.findall(r"\w+", text.casefold())


def _in_words(tool: Callable[..., Coroutine[Any, Any, Any]]) -> Callable[..., Coroutine[Any, Any, Any]]:
    """A tool whose errors reach the assistant in the sentence that people get; others are told as a crash."""

    @functools.wraps(tool)
    async def told(*args: Any, **given: Any) -> Any:
        try:
            return await tool(*args, **given)
        except WarmwireError as error:
            raise ToolError(str(error)) from None

    return told


async def serve_tools(roots: Sequence[Path], socket: str | None, jobs: int | None) -> None:
    """Serve until standard input ends."""
    from warmwire import __version__

    tools = Tools(roots, socket, jobs)
    server = MCPServer("warmwire", version=__version__, instructions=_INSTRUCTIONS, log_level="WARNING")
    for tool in (tools.read_document, tools.search_document, tools.ask_model):
        server.add_tool(_in_words(tool))
    try:
        await server.run_stdio_async()
    finally:
        tools.close()
