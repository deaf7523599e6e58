"""Does the way from a PDF to its structure ever fail, or take long? Any folder of PDFs, no truth needed.

    python benchmarks/sweep.py DIR [--only a,b] [--limit SECONDS] [--pages N]

Every page goes as far as a page can without a model: opened, its text read, routed, and its own text structured
whether it would be read from the file or not. Prints what raised and what took over `--limit` seconds, then totals.
Each file has a process to itself for at most two minutes.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

FILE_SECONDS = 120.0


@dataclass(slots=True)
class Result:
    """What one file gave: pages by route, seconds of structure, and what went wrong, each as (page, sentence)."""

    file: str
    routes: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    slow: list[tuple[int, float]] = field(default_factory=list)
    raised: list[tuple[int, str]] = field(default_factory=list)
    refused: str = ""


def try_file(file: str, limit: float, most: int) -> Result:
    """Structure up to `most` pages of a file."""
    from warmwire.documents.input.open import open_source
    from warmwire.errors import WarmwireError

    result = Result(file)
    try:
        source = open_source(file)
    except WarmwireError as error:
        result.refused = str(error)
        return result
    for index in range(min(len(source), most)):
        _try_page(source, index, limit, result)
    source.close()
    return result


def _try_page(source, index: int, limit: float, result: Result) -> None:  # type: ignore[no-untyped-def]
    from warmwire.documents.reading.reader import structure_text
    from warmwire.documents.reading.record import PageRecord, ReadPage
    from warmwire.documents.reading.route import route
    from warmwire.errors import WarmwireError

    started = time.monotonic()
    try:
        page = source.page(index)
        try:
            read = ReadPage(PageRecord(index + 1), *page.size)
            text = page.text()
        finally:
            page.close()
        result.routes[route(text)[0].value] += 1
        structure_text(text.lines or text.hidden, text, read)
    except WarmwireError:
        result.routes["broken"] += 1
    except Exception as error:
        result.raised.append((index + 1, f"{type(error).__name__}: {error}"))
    seconds = time.monotonic() - started
    result.seconds += seconds
    if seconds > limit:
        result.slow.append((index + 1, seconds))


def _run(file: str, limit: float, most: int, queue) -> None:  # type: ignore[no-untyped-def]
    queue.put(try_file(file, limit, most))


def isolated(file: str, limit: float, most: int) -> Result:
    """`try_file` in a process of its own, so that a crash or an endless loop costs this file alone."""
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    process = context.Process(target=_run, args=(file, limit, most, queue))
    process.start()
    deadline = time.monotonic() + FILE_SECONDS
    while queue.empty() and process.is_alive() and time.monotonic() < deadline:
        process.join(0.005)
    if not queue.empty():
        result: Result = queue.get()
        process.join()
        return result
    stuck = process.is_alive()
    process.kill()
    process.join()
    return Result(file, raised=[(0, f"over {FILE_SECONDS:.0f} s" if stuck else f"died ({process.exitcode})")])


def main() -> int:
    parser = argparse.ArgumentParser(description="Try the structure of every page of many PDFs.")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--only", default="", help="parts of paths, by commas")
    parser.add_argument("--limit", type=float, default=2.0, help="seconds a page may take")
    parser.add_argument("--pages", type=int, default=30, help="most pages of one file")
    arguments = parser.parse_args()
    only = [part for part in arguments.only.split(",") if part]
    files = [str(path) for path in sorted(arguments.directory.rglob("*.pdf"))]
    files = [file for file in files if not only or any(part in file for part in only)]
    import warmwire.documents.reading.reader  # noqa: F401  loaded once, before the forks

    routes: Counter[str] = Counter()
    raised = slow = refused = 0
    seconds = 0.0
    for file in files:
        result = isolated(file, arguments.limit, arguments.pages)
        routes.update(result.routes)
        seconds += result.seconds
        refused += bool(result.refused)
        raised += len(result.raised)
        slow += len(result.slow)
        for page, sentence in result.raised:
            print(f"raised  {file} page {page}: {sentence}")
        for page, taken in result.slow:
            print(f"slow    {file} page {page}: {taken:.1f} s")
    pages = sum(routes.values())
    print(
        f"{len(files)} files, {refused} refused, {pages} pages {dict(routes)}: "
        f"{raised} raised, {slow} over {arguments.limit:g} s, {pages / max(seconds, 1e-9):.1f} pages/s"
    )
    return 1 if raised or slow else 0


if __name__ == "__main__":
    sys.exit(main())
