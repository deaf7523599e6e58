"""`warmwire ocr FILE...`: documents to Markdown and its kin."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from warmwire.cli.console.numbers import finite
from warmwire.documents.output.formats import Format
from warmwire.documents.reading.hidden import Hidden
from warmwire.models.effort import Quality

_STDOUT = "-"


def ocr(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="PDF and picture files, folders of them, patterns or file: and data: URLs; - is standard input.",
        ),
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="OUT", help="File to write, or a directory for many; - is stdout.")
    ] = _STDOUT,
    exclude: Annotated[
        list[str] | None,
        typer.Option(metavar="GLOB", help="Leave out files whose name, path or folder matches; may be repeated."),
    ] = None,
    format: Annotated[
        str,
        typer.Option(
            "--format",
            "-f",
            metavar="|".join(Format),
            help="What to write; several at once with commas: md,pdf.",
            show_default="what OUT ends in; else md",
        ),
    ] = "",
    images: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for the figures, which Markdown and HTML then show."),
    ] = None,
    pages: Annotated[str, typer.Option(metavar="1,4-9,20-", help="Pages to read; all by default.")] = "",
    dpi: Annotated[
        float | None,
        typer.Option(
            callback=finite,
            min=36,
            max=1200,
            help="Resolution at which PDF pages are drawn.",
            show_default="the scan's own, 100 to 300; else 200",
        ),
    ] = None,
    socket: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Read through the host at this socket instead of here.")
    ] = None,
    model: Annotated[
        str,
        typer.Option(metavar="MODEL", help="What reads scanned pages: pages, x.gguf with vision, openai:URL#MODEL."),
    ] = "pages",
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", "-j", min=1, max=64, help="Pages read at once.", show_default="pages: a core each; else 1"
        ),
    ] = None,
    quality: Annotated[
        Quality | None,
        typer.Option(
            help="How scanned pages are read: a quick model, a careful one where that is in doubt, or it alone."
        ),
    ] = None,
    page_timeout: Annotated[
        float | None,
        typer.Option(
            callback=finite,
            min=0.001,
            help="Seconds a model gets for a page; with --socket, its time in the queue included.",
            show_default="the host's own, 120",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Send every page to the model, also those with text.")] = False,
    threshold: Annotated[
        float,
        typer.Option(
            callback=finite,
            min=0,
            max=1,
            help="Share under text below which a page with more to read goes to the model.",
        ),
    ] = 0.05,
    hidden: Annotated[
        Hidden, typer.Option(help="A scan's hidden text: keep it where the picture agrees, always, or never.")
    ] = Hidden.AUTO,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only print which pages would go to the model, and why.")
    ] = False,
    password: Annotated[str, typer.Option(help="Password of an encrypted PDF.")] = "",
    skip_existing: Annotated[
        bool, typer.Option("--skip-existing", help="Leave out files whose results are there already.")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Read pages that failed in an earlier run again, and only those.")
    ] = False,
) -> int:
    """Read documents into Markdown, HTML, JSON, DocTags, text or a searchable PDF.

    Pages that have text keep it; scanned ones go to the page model. A page that fails costs that page only: the
    exit status is then 1 and the last lines name it.
    """
    from warmwire import __version__
    from warmwire.cli.ocr.run import Job, say
    from warmwire.cli.ocr.targets import Targets, formats_wanted
    from warmwire.documents.input.gather import gather
    from warmwire.documents.parts import require_parts
    from warmwire.documents.reading.journal import Journal
    from warmwire.documents.reading.reader import Options, Reader
    from warmwire.documents.reading.selection import select_pages
    from warmwire.engines import Engines
    from warmwire.errors import UsageError

    require_parts()
    if force and threshold == 0:
        raise UsageError("--force sends every page to the model and --threshold 0 none; give one of them")
    if files.count(_STDOUT) > 1:
        raise UsageError("standard input (-) can be read once only")
    select_pages(pages, 1)
    apart = [Path(folder) for folder in (output, images) if folder and folder != _STDOUT]
    inputs, problems = gather(files, exclude=exclude or (), apart=apart, once=output != _STDOUT)
    many = len(inputs) > 1 or len(files) > 1 or os.path.isdir(files[0])
    targets = Targets(inputs, output, formats_wanted(format, output, several=many), images, many=many)
    if socket is not None and model != "pages":
        raise UsageError("--socket reads with the host's model and --model with another; give one of them")
    if quality is not None and (socket is not None or model != "pages"):
        raise UsageError("--quality is for reading with pages here; a host has it from serve 'pages?quality=X'")
    asked = str(socket) if socket is not None else model if quality is None else f"{model}?quality={quality}"
    journal = None
    if targets.journal is not None and not dry_run:
        journal = Journal(targets.journal, f"{__version__} {asked}", retry=retry_failed)
    engines = Engines(socket, model if quality is None else f"{model}?quality={quality}", jobs, page_timeout)
    options = Options(dpi=dpi or 0.0, threshold=threshold, force=force, hidden=hidden)
    reader = Reader(engines.connect, options, engines.jobs, journal)
    job = Job(reader, targets, pages=pages, password=password, force=force, journal=journal)
    for problem in problems:
        say(problem)
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
