"""`warmwire watch-folder IN OUT`: documents are read as they are dropped into a folder."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from warmwire.cli.console.numbers import finite
from warmwire.cli.ocr.style import ProgressStyle
from warmwire.documents.output.formats import Format
from warmwire.models.effort import Quality

if TYPE_CHECKING:
    from warmwire.cli.ocr.targets import Targets
    from warmwire.client import Engine
    from warmwire.documents.input.drop import DropFolder
    from warmwire.documents.input.gather import Input


def watch_folder(
    source: Annotated[Path, typer.Argument(metavar="IN", help="Folder that documents are dropped into.")],
    output: Annotated[Path, typer.Argument(metavar="OUT", help="Folder for the results, a tree like IN.")],
    format: Annotated[
        str,
        typer.Option("--format", "-f", metavar="|".join(Format), help="What to write; several at once: md,pdf."),
    ] = Format.MD,
    done: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder that documents are moved to when they are read, and to DIR/failed if that went wrong.",
            show_default="they stay, and are remembered",
        ),
    ] = None,
    images: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder for the figures.")] = None,
    socket: Annotated[Path | None, typer.Option(metavar="PATH", help="Read through the host at this socket.")] = None,
    model: Annotated[str, typer.Option(metavar="MODEL", help="Model that reads scanned pages, as for ocr.")] = "pages",
    quality: Annotated[Quality | None, typer.Option(help="How scanned pages are read, as for ocr.")] = None,
    lang: Annotated[str | None, typer.Option(metavar="rus,heb", help="Languages of other scripts, as for ocr.")] = None,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=1, max=64, help="Pages read at once.")] = None,
    page_timeout: Annotated[
        float | None, typer.Option(callback=finite, min=0.001, help="Seconds a model gets for a page.")
    ] = None,
    progress: Annotated[
        ProgressStyle, typer.Option(help="What is said on stderr: a bar, lines, JSON lines or nothing.")
    ] = ProgressStyle.LINES,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say only what goes wrong.")] = False,
) -> int:
    """Read documents as they are dropped into a folder, until a signal ends it.

    A document is read when it has stopped growing, and never twice: what was read is remembered in OUT, over restarts.
    The models are loaded when the first page needs them, and stay.
    """
    from warmwire import __version__
    from warmwire.cli.ocr.news import News
    from warmwire.cli.ocr.run import Job
    from warmwire.cli.ocr.targets import Targets, formats_wanted
    from warmwire.documents.input.drop import DropFolder
    from warmwire.documents.parts import require_parts
    from warmwire.documents.reading.journal import Journal, journal_path
    from warmwire.documents.reading.reader import DocumentReader
    from warmwire.engines import PageEngines, page_reader

    require_parts()
    asked = page_reader(model, quality, socket, lang)
    targets = Targets([], str(output), formats_wanted(format, str(output), several=True), images, many=True)
    apart = [output, *([images] if images is not None else [])]
    drop = DropFolder(source, output / ".warmwire-read", done=done, apart=apart)
    journal = Journal(journal_path(output, is_folder=True), f"{__version__} {asked}", brief=True)
    engines = PageEngines(socket, model if socket else asked, jobs, page_timeout)
    news = News(ProgressStyle.NONE if quiet else progress)

    def connect() -> Engine:
        with news.loading("calling the host" if socket is not None else "loading models"):
            return engines.connect()

    def finish(one: Input, well: bool) -> None:
        drop.finish(one, well=well)
        journal.finish(str(one.place))
        targets.remove(one)

    reader = DocumentReader(connect, jobs=engines.jobs, journal=journal)
    try:
        if not quiet:
            news.say(f"watching {source}")
        with contextlib.suppress(KeyboardInterrupt):  # what watches makes one of any signal, and any is to end this
            Job(reader, targets, news=news).read_stream(_dropped(drop, targets), finish)
    finally:
        reader.close()
        engines.close()
        journal.close(complete=False)
    return 0


def _dropped(drop: DropFolder, targets: Targets) -> Iterator[Input | None]:
    """The documents as they come, each with a place for its result that no other has."""
    while True:
        for one in drop.ready():
            placed = _placed(one, drop, targets)
            drop.begin(placed)
            yield placed
        yield None
        drop.wait()


def _placed(one: Input, drop: DropFolder, targets: Targets) -> Input:
    known = drop.place_of(one)
    if known is not None:
        placed = one.at(known)
        targets.add(placed)
        return placed
    whole = one.place.with_name(Path(one.path).name)
    numbered = (one.place.with_name(f"{one.place.name}-{count}") for count in itertools.count(2))
    for place in itertools.chain((one.place, whole), numbered):
        placed = one.at(place)
        if targets.is_free(placed):
            targets.add(placed)
            return placed
    raise AssertionError
