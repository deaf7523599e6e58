"""What a run did, for whoever has to check it: every page with who read it, why, how long and how surely, and what to
look at first.

As JSON for a program, as HTML for a person: one page that fetches nothing, with a small picture of each sheet. What may
be wrong with a page is said in words and has a weight; pages are to be looked at in the order of their weights.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, Final

from warmwire.documents.input.source import Source
from warmwire.documents.output.cut import small_jpeg
from warmwire.documents.reading.record import PageRecord, Reading, Status
from warmwire.errors import UsageError
from warmwire.system.files import write_file

UNSURE: Final = 0.9
"""A page of a lower confidence is to be looked at; cleanly printed ones have 0.97 and more."""

_FIRST: Final = 50
"""Pages that are named at the top."""
_SIDE: Final = 160
"""Pixels along the longer side of a small picture."""
_DPI: Final = 20.0
_QUALITY: Final = 60  # of its JPEG

_HEADS: Final = ("", "page", "status", "read by, and why", "time", "confidence", "what may be wrong")


@dataclass(slots=True)
class _ReportFile:
    name: str
    results: list[str] = field(default_factory=list)
    error: str = ""
    pages: list[PageRecord] = field(default_factory=list)
    empty: set[int] = field(default_factory=set)
    pictures: dict[int, str] = field(default_factory=dict)

    @property
    def status(self) -> Status:
        if self.error or not self.pages:
            return Status.FAILED
        return Status.OK if all(page.status is Status.OK for page in self.pages) else Status.PARTIAL


class Report:
    """The report of one run, to be written to `path`. Raises UsageError where its suffix is neither .html nor .json."""

    def __init__(self, path: Path) -> None:
        if path.suffix.lower() not in (".html", ".json"):
            raise UsageError(f"--report {path}: a report is .html or .json")
        self._path = path
        self._began = time.time()
        self._files: list[_ReportFile] = []

    def add(self, reading: Reading, source: Source, results: Sequence[Path]) -> None:
        """A file was read."""
        file = _ReportFile(reading.name, [str(path) for path in results])
        for page in reading.pages:
            file.pages.append(page.record)
            if not page.elements:
                file.empty.add(page.record.page)
            if self._is_html:
                file.pictures[page.record.page] = small_jpeg(source, page, _DPI, _SIDE, _QUALITY)
        self._files.append(file)

    def refuse(self, name: str, error: str) -> None:
        """Something went wrong with a file as a whole."""
        known = next((file for file in self._files if file.name == name), None)
        if known is None:
            self._files.append(_ReportFile(name, error=error))
        else:
            known.error = error

    def write(self) -> Path:
        """Write it, whole or not at all; returns where to. Raises InputError."""
        text = self._html() if self._is_html else json.dumps(self._facts(), ensure_ascii=False, indent=2) + "\n"
        write_file(self._path, text.encode(errors="replace"))
        return self._path

    @property
    def _is_html(self) -> bool:
        return self._path.suffix.lower() == ".html"

    def _facts(self) -> dict[str, Any]:
        return {
            "began": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self._began)),
            "seconds": round(time.time() - self._began, 3),
            "look_at_first": [
                {"file": file.name, "page": page, "warnings": said} for file, page, said in self._first()
            ],
            "files": [
                {
                    "file": file.name,
                    "status": file.status,
                    "error": file.error,
                    "results": file.results,
                    "pages": [
                        page.as_dict() | {"warnings": [said for _, said in _warnings(page, file)]}
                        for page in file.pages
                    ],
                }
                for file in self._files
            ],
        }

    def _first(self) -> list[tuple[_ReportFile, int, list[str]]]:
        """The pages with warnings, the gravest first; a file that could not be read has page 0."""
        found: list[tuple[float, _ReportFile, int, list[str]]] = []
        for file in self._files:
            if file.error:
                found.append((100.0, file, 0, [file.error]))
            for page in file.pages:
                if warnings := _warnings(page, file):
                    said = [text for _, text in warnings]
                    found.append((max(weight for weight, _ in warnings), file, page.page, said))
        found.sort(key=lambda one: -one[0])
        return [(file, page, said) for _, file, page, said in found[:_FIRST]]

    def _html(self) -> str:
        pages = sum(len(file.pages) for file in self._files)
        failed = sum(file.status is not Status.OK for file in self._files)
        summary = f"{len(self._files)} files, {pages} pages in {time.time() - self._began:.0f} s; "
        summary += f"{failed} files are not whole." if failed else "all files are whole."
        template = Template((files("warmwire.documents.output") / "report.html").read_text(encoding="utf-8"))
        return template.substitute(
            title="What was read",
            summary=escape(summary),
            first=self._first_html(),
            files="\n".join(_file_html(number, file) for number, file in enumerate(self._files)),
        )

    def _first_html(self) -> str:
        first = self._first()
        if not first:
            return "<p>No page has to be looked at.</p>"
        numbers = {id(file): number for number, file in enumerate(self._files)}
        rows = "\n".join(
            f'<tr><td><a href="#f{numbers[id(file)]}{f"-{page}" if page else ""}">{escape(file.name)}'
            f"{f', page {page}' if page else ''}</a></td><td>{_items(said)}</td></tr>"
            for file, page, said in first
        )
        return f"<h2>To look at first</h2>\n<table>\n{rows}\n</table>"


def _warnings(page: PageRecord, file: _ReportFile) -> list[tuple[float, str]]:
    """What may be wrong with a page, each with its weight."""
    found = []
    if page.status is not Status.OK:
        found.append((90.0 if page.status is Status.FAILED else 70.0, page.error or str(page.status)))
    elif page.loss:
        found.append((60.0, page.loss))
    elif page.unread:
        found.append((10.0 + page.unread, f"{page.unread} lines could not be read"))
    if page.confidence is not None and page.confidence < UNSURE:
        found.append((50.0 * (1 - page.confidence) + 20.0, f"read with a confidence of {page.confidence:.2f}"))
    if page.page in file.empty and page.status is Status.OK:
        found.append((15.0, "nothing was found on it"))
    if page.skipped:
        found.append((30.0, f"parts of its layout failed: {', '.join(page.skipped)}"))
    return found


def _file_html(number: int, file: _ReportFile) -> str:
    head = f'<h2 id="f{number}">{escape(file.name)} <span class="{file.status}">{file.status}</span></h2>'
    results = f"<p>{escape(', '.join(file.results))}</p>" if file.results else ""
    error = f'<p class="failed">{escape(file.error)}</p>' if file.error else ""
    rows = "\n".join(_page_html(number, page, file) for page in file.pages)
    heads = "".join(f"<th>{head}</th>" for head in _HEADS)
    table = f"<table>\n<tr>{heads}</tr>\n{rows}\n</table>" if rows else ""
    return f"{head}\n{results}{error}{table}"


def _page_html(number: int, page: PageRecord, file: _ReportFile) -> str:
    picture = file.pictures.get(page.page, "")
    shown = f'<img loading="lazy" alt="page {page.page}" src="data:image/jpeg;base64,{picture}">' if picture else ""
    sure = "" if page.confidence is None else f"{page.confidence:.2f}"
    warnings = _items([said for _, said in _warnings(page, file)])
    return (
        f'<tr id="f{number}-{page.page}"><td>{shown}</td><td class="number">{page.page}</td>'
        f'<td class="{page.status}">{page.status}</td><td>{page.route}<div class="why">{escape(page.why)}</div></td>'
        f'<td class="number">{page.seconds:.1f} s</td><td class="number">{sure}</td><td>{warnings}</td></tr>'
    )


def _items(texts: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(text)}</li>' for text in texts)}</ul>" if texts else ""
