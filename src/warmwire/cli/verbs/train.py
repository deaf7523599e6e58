"""`warmwire train MODEL DEPTH FILES...`: learn a Markov model."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

Report = Callable[[str, int, int | None], None]


def train(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The .gril file to write.")],
    depth: Annotated[
        int,
        typer.Argument(metavar="DEPTH", help="How many bytes back the model looks, 1 to 255; 8 suits a few megabytes."),
    ],
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILES...", help="Files to learn from, .gz files, directories; - is standard input."),
    ],
    separate: Annotated[
        bool, typer.Option("--separate", help="Learn each file on its own instead of as one running text.")
    ] = False,
    memory: Annotated[
        str, typer.Option(metavar="SIZE", help="Memory to use; a text that needs more is sorted on disk.")
    ] = "4G",
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, max=256, help="Threads to use.", show_default="all cores")
    ] = None,
    ray: Annotated[
        str | None,
        typer.Option(metavar="auto|HOST:PORT", help="Train on a Ray cluster; --memory is then for each of its tasks."),
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="With --ray, pass on what Ray says.")] = False,
) -> None:
    """Train a Markov model on any files.

    The file format and these verbs are those of grall, a Markov chain program. An existing MODEL is replaced only
    when the new one is complete.
    """
    import time

    from warmwire.cli.console.signals import unwind_on_sigterm
    from warmwire.errors import UsageError
    from warmwire.markov.training import train_file

    if ray is not None and jobs is not None:
        raise UsageError("--jobs is for threads of this machine, and --ray has the processors of a cluster; give one")
    unwind_on_sigterm()
    begun = time.monotonic()
    size = parse_size(memory)
    if ray is None:
        with progress() as report:
            made = train_file(model, files, depth, separate=separate, memory=size, jobs=jobs, progress=report)
    else:
        from warmwire.cluster import training
        from warmwire.cluster.connection import connected

        with connected(ray, verbose=verbose) as cluster, progress() as report:
            made = training.train_file(
                cluster, model, files, depth, separate=separate, memory=size, progress=report
            )  # fmt: skip
    seconds = time.monotonic() - begun
    print(
        f"{model}: depth {made.depth}, {made.nodes:,} contexts, {made.weights:,} weights,"
        f" {made.file_size:,} bytes in {seconds:.1f} s",
        file=sys.stderr,
    )


def parse_size(text: str) -> int:
    """Bytes of "512M", "4G", "1.5GiB"; K, M, G and T are powers of 1024. Raises UsageError."""
    from warmwire.errors import UsageError

    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:I?B)?\s*", text, re.IGNORECASE)
    if not match:
        raise UsageError(f"{text!r} is no size; write for example 512M or 4G")
    return int(float(match[1]) * 1024 ** " KMGT".index(match[2].upper() or " "))


@contextmanager
def progress() -> Iterator[Report]:
    """A bar per stage on a terminal, a line per stage elsewhere; on standard error."""
    if not sys.stderr.isatty():
        seen: set[str] = set()

        def line(stage: str, done: int, total: int | None) -> None:
            if stage not in seen:
                seen.add(stage)
                print(f"{stage}...", file=sys.stderr, flush=True)

        yield line
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TransferSpeedColumn

    columns = TextColumn("{task.description:>8}"), BarColumn(), DownloadColumn(), TransferSpeedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def bar(stage: str, done: int, total: int | None) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=done, total=total)

        yield bar
