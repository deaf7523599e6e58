"""`warmwire ocr FILE...`: documents to Markdown and its kin."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from warmwire.cli.console.numbers import finite
from warmwire.cli.ocr.style import ProgressStyle
from warmwire.documents.output.formats import Format
from warmwire.documents.reading.hidden import Hidden
from warmwire.models.effort import Quality

if TYPE_CHECKING:
    from warmwire.client import Engine
    from warmwire.cluster.pages import RayEngines

_STDOUT = "-"
_MOST_JOBS = 64
"""Pages read at once on one machine."""


def ocr(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="PDF and picture files, folders, patterns, file: or data: URLs; - is standard input.",
        ),
    ],
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", metavar="OUT", help="File to write, or folder if there are several; - is standard output."
        ),
    ] = _STDOUT,
    exclude: Annotated[
        list[str] | None,
        typer.Option(metavar="GLOB", help="Skip files whose name, path or folder matches; may be repeated."),
    ] = None,
    format: Annotated[
        str,
        typer.Option(
            "--format",
            "-f",
            metavar="|".join(Format),
            help="Formats to write, with commas between: md,pdf.",
            show_default="by the suffix of OUT, else md",
        ),
    ] = "",
    images: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Cut the figures out into this folder, and show them in Markdown and HTML."),
    ] = None,
    pages: Annotated[str, typer.Option(metavar="1,4-9,20-", help="Pages to read.", show_default="all")] = "",
    dpi: Annotated[
        float | None,
        typer.Option(
            callback=finite,
            min=36,
            max=1200,
            help="Resolution at which pages of a PDF are drawn for the model.",
            show_default="the scan's own, 100 to 300; else 200",
        ),
    ] = None,
    socket: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Let the host at this socket read, instead of loading models here."),
    ] = None,
    model: Annotated[
        str,
        typer.Option(
            metavar="MODEL",
            help="Model that reads scanned pages: pages, a GGUF file of a model that sees, or openai:URL#MODEL.",
        ),
    ] = "pages",
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            min=1,
            max=4096,
            help="Pages read at the same time.",
            show_default="one per core; 1 for other models than pages",
        ),
    ] = None,
    ray: Annotated[
        str | None,
        typer.Option(
            metavar="auto|HOST:PORT",
            help="Let a Ray cluster read, a process per core; auto is the one around, else one on this machine.",
        ),
    ] = None,
    quality: Annotated[
        Quality | None,
        typer.Option(
            help="Read with a quick model (fast), a careful one (best), or both: the careful one where in doubt (auto)."
        ),
    ] = None,
    lang: Annotated[
        str | None,
        typer.Option(
            metavar="rus,heb",
            help="Languages, as tesseract calls them, of lines in other scripts than Latin, Chinese and Japanese.",
            show_default="told by the page",
        ),
    ] = None,
    page_timeout: Annotated[
        float | None,
        typer.Option(
            callback=finite,
            min=0.001,
            help="Give a page up after this many seconds; with --socket, including its time in the queue.",
            show_default="the host's own, 120",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Send every page to the model, even if it has text of its own.")
    ] = False,
    threshold: Annotated[
        float,
        typer.Option(
            callback=finite,
            min=0,
            max=1,
            help="Send a page to the model if its visible text covers less than this share of it (0 = never).",
        ),
    ] = 0.05,
    hidden: Annotated[
        Hidden,
        typer.Option(
            help="Keep the hidden text layer of a scan if the picture agrees with it (auto), always, or never."
        ),
    ] = Hidden.AUTO,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only print how each page would be read, and why; loads no model.")
    ] = False,
    password: Annotated[str, typer.Option(help="Password of an encrypted PDF.")] = "",
    skip_existing: Annotated[
        bool, typer.Option("--skip-existing", help="Skip files whose results exist already.")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Read again only the pages that failed in an earlier run.")
    ] = False,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.html|json",
            help="File for an account of every page: who read it, why, how surely, what to check.",
        ),
    ] = None,
    progress: Annotated[
        ProgressStyle, typer.Option(help="What is said while it works, on stderr: a bar, lines, JSON lines or nothing.")
    ] = ProgressStyle.AUTO,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say only what goes wrong.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Say of each page why it was read so.")] = False,
) -> int:
    """Read documents into Markdown, HTML, JSON, text, a searchable PDF and more.

    Pages with text of their own are read from the file; scanned pages go to the model. If a page fails, its own PDF
    text is kept, the run goes on, the last lines name the page, and the exit status is 1. A run with -o that was cut
    off goes on where it was when it is started again.
    """
    from warmwire import __version__
    from warmwire.cli.ocr.news import News
    from warmwire.cli.ocr.run import Job
    from warmwire.cli.ocr.targets import Targets, formats_wanted
    from warmwire.documents.input.gather import gather
    from warmwire.documents.output.report import Report
    from warmwire.documents.parts import require_parts
    from warmwire.documents.reading.journal import Journal
    from warmwire.documents.reading.reader import DocumentReader, ReadOptions
    from warmwire.documents.reading.selection import select_pages
    from warmwire.engines import PageEngines, page_reader
    from warmwire.errors import UsageError

    require_parts()
    if ray is not None and socket is not None:
        raise UsageError("--ray reads on a cluster and --socket through a host; give one of them")
    if ray is None and jobs is not None and jobs > _MOST_JOBS:
        raise UsageError(f"--jobs {jobs}: one machine reads at most {_MOST_JOBS} pages at once; --ray reads on several")
    if force and threshold == 0:
        raise UsageError("--force sends every page to the model and --threshold 0 none; give one of them")
    if files.count(_STDOUT) > 1:
        raise UsageError("standard input (-) can be read once only")
    select_pages(pages, 1)
    apart = [Path(folder) for folder in (output, images) if folder and folder != _STDOUT]
    inputs, problems = gather(files, exclude=exclude or (), apart=apart, once=output != _STDOUT)
    many = len(inputs) > 1 or len(files) > 1 or os.path.isdir(files[0])
    targets = Targets(inputs, output, formats_wanted(format, output, several=many), images, many=many)
    asked = page_reader(model, quality, socket, lang)
    journal = None
    if targets.journal is not None and not dry_run:
        journal = Journal(targets.journal, f"{__version__} {asked}", retry=retry_failed)
    options = ReadOptions(dpi=dpi or 0.0, threshold=threshold, force=force, hidden=hidden)
    account = Report(report) if report is not None and not dry_run else None
    news = News(ProgressStyle.NONE if quiet else progress, wordy=verbose)
    with ExitStack() as held:
        engines: PageEngines | RayEngines
        if ray is None or dry_run:
            engines = PageEngines(socket, model if socket else asked, jobs, page_timeout)
        else:
            from warmwire.cluster.connection import connected
            from warmwire.cluster.pages import RayEngines

            engines = RayEngines(held.enter_context(connected(ray, verbose=verbose)), asked, jobs, page_timeout)

        def connect() -> Engine:
            with news.loading("calling the host" if socket is not None else "loading models"):
                engine = engines.connect()
            engine.progress = news.within()
            return engine

        reader = DocumentReader(connect, options, engines.jobs, journal)
        job = Job(
            reader, targets, pages=pages, password=password, force=force, journal=journal, news=news, report=account
        )  # fmt: skip
        for problem in problems:
            job.refuse(problem.partition(":")[0], problem)
        if skip_existing:
            inputs = job.missing(inputs)
        complete = False
        try:
            results = [job.plan(one) for one in inputs] if dry_run else job.read_all(inputs)
            complete = True
        finally:
            reader.close()
            engines.close()
            job.close(complete=complete)
    return 0 if all(results) and not problems else 1
