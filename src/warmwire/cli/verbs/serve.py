"""`warmwire serve MODEL`: keep a model warm behind a socket."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from warmwire.cli.console.numbers import finite
from warmwire.cli.console.options import AllowedGroup, AllowedUsers
from warmwire.host.defaults import DRAIN_TIMEOUT, PAGE_TIMEOUT, QUEUE_DEPTH, WRITE_TIMEOUT


def serve(
    model: Annotated[
        str,
        typer.Argument(metavar="MODEL", help="The model: pages, x.gguf, x.gril, openai:URL#MODEL or echo."),
    ],
    socket: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="Path of the socket.",
            show_default="where all verbs, and inferd's clients, look for it",
        ),
    ] = None,
    workers: Annotated[
        int, typer.Option(min=1, max=64, help="Requests answered at the same time, each by a process of its own.")
    ] = 1,
    threads: Annotated[
        int | None, typer.Option(min=1, max=256, help="Threads per worker.", show_default="cores / workers")
    ] = None,
    queue: Annotated[
        int,
        typer.Option(
            min=0, max=100_000, help="Requests that may wait while all workers are busy; further ones are refused."
        ),
    ] = QUEUE_DEPTH,
    write_timeout: Annotated[
        float,
        typer.Option(
            callback=finite,
            min=0,
            help="Drop a client that leaves its answer unread for this many seconds; 0 never does.",
        ),
    ] = WRITE_TIMEOUT,
    drain_timeout: Annotated[
        float,
        typer.Option(callback=finite, min=0, help="After SIGTERM, give running requests this many seconds to finish."),
    ] = DRAIN_TIMEOUT,
    request_timeout: Annotated[
        float | None,
        typer.Option(
            callback=finite,
            min=0,
            help="Stop a request after this many seconds and replace its worker; 0 never does.",
            show_default=f"{PAGE_TIMEOUT:g} for a page, 0 for a chat",
        ),
    ] = None,
    log_dir: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            envvar="WARMWIRE_LOG_DIR",
            help="Write a log of requests into this folder, without prompts or answers.",
        ),
    ] = None,
    allow_uid: AllowedUsers = None,
    group: AllowedGroup = None,
    ctx: Annotated[int | None, typer.Option(min=1, help="GGUF: room for prompt and answer, in tokens.")] = None,
    parallel: Annotated[
        int | None, typer.Option(min=1, max=64, help="GGUF: requests that one worker answers at the same time.")
    ] = None,
    gpu_layers: Annotated[int | None, typer.Option(min=0, help="GGUF: layers to put on the GPU.")] = None,
    mmproj: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="GGUF: projector file for pictures or sound; none turns both off."),
    ] = None,
    llama_server: Annotated[
        str | None, typer.Option(metavar="FILE", help="GGUF: run the model with this llama-server program.")
    ] = None,
) -> None:
    """Load a model, keep it in memory and answer requests for it on a local socket.

    MODEL is the page reader (pages), a model for llama.cpp (x.gguf), a Markov chain (x.gril), a model behind a server
    of the OpenAI format (openai:URL#MODEL), or echo, which answers with what it was asked. `warmwire models` says more.

    The socket appears when the model is loaded, so whoever can connect can be answered. If the model embeds or ranks,
    sockets for that appear beside it. After SIGTERM or Ctrl-C, requests that run are finished first. The protocol is
    that of inferd, a daemon for local models, whose clients work with it.
    """
    import logging
    import sys

    from warmwire.host.daemon import run_host
    from warmwire.models.registry import check_model, with_options

    model = with_options(
        model, ctx=ctx, parallel=parallel, gpu_layers=gpu_layers, mmproj=mmproj, llama_server=llama_server
    )
    check_model(model)
    logging.basicConfig(level=logging.INFO, format="warmwire: %(message)s")

    def ready(path: str) -> None:
        typer.echo(f"warmwire: {model} is ready at {path} ({workers} worker{'s' if workers > 1 else ''})", err=True)

    if sys.stderr.isatty():  # a log needs one line only, and has it when the host is ready
        typer.echo(f"warmwire: loading {model}", err=True)
    run_host(
        model,
        socket,
        workers=workers,
        threads=threads,
        queue_depth=queue,
        write_timeout=write_timeout,
        drain_timeout=drain_timeout,
        request_timeout=request_timeout,
        log_dir=log_dir,
        allow_uids=allow_uid or (),
        group=group,
        on_ready=ready,
    )
