"""`warmwire serve MODEL`: keep a model warm behind a socket."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from warmwire.cli.console.numbers import finite


def serve(
    model: Annotated[
        str,
        typer.Argument(metavar="MODEL", help="What to host: pages | x.gril | x.gguf | openai:URL#MODEL | echo."),
    ],
    socket: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Where to listen; by default where inferd's clients look.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Requests answered at once, each by a process.")] = 1,
    threads: Annotated[
        int | None, typer.Option(min=1, max=256, help="Threads per worker.", show_default="cores / workers")
    ] = None,
    queue: Annotated[int, typer.Option(min=0, max=100_000, help="Requests that may wait beyond those.")] = 10,
    write_timeout: Annotated[
        float, typer.Option(callback=finite, min=0, help="Seconds a client may leave its answer unread; 0 is for ever.")
    ] = 60,
    drain_timeout: Annotated[
        float, typer.Option(callback=finite, min=0, help="Seconds that requests under way get after SIGTERM.")
    ] = 10,
    request_timeout: Annotated[
        float | None,
        typer.Option(
            callback=finite,
            min=0,
            help="Seconds a model gets for a request; then its worker is replaced. 0 is for ever.",
            show_default="120 for a page, for ever for a chat",
        ),
    ] = None,
    log_dir: Annotated[
        Path | None,
        typer.Option(metavar="DIR", envvar="WARMWIRE_LOG_DIR", help="Log activity there, without prompts or answers."),
    ] = None,
    allow_uid: Annotated[
        list[int] | None, typer.Option(metavar="UID", min=0, help="Another user who may connect; may be repeated.")
    ] = None,
    group: Annotated[str | None, typer.Option(metavar="NAME", help="A group whose members may connect.")] = None,
    ctx: Annotated[int | None, typer.Option(min=1, help="GGUF: tokens of prompt and answer together.")] = None,
    gpu_layers: Annotated[int | None, typer.Option(min=0, help="GGUF: layers on the GPU.")] = None,
    mmproj: Annotated[
        str | None, typer.Option(metavar="FILE", help="GGUF: its projector, which sees or hears; none for neither.")
    ] = None,
    llama_server: Annotated[
        str | None, typer.Option(metavar="FILE", help="GGUF: the llama-server program to run it with.")
    ] = None,
) -> None:
    """Keep a model warm behind a local socket.

    MODEL is the page reader (pages), a Markov chain (x.gril), a model of llama.cpp (x.gguf), one behind a server of
    the OpenAI format (openai:URL#MODEL), or echo, which needs nothing and answers with what it was asked.

    The socket appears when the model is loaded: a connect that succeeds means ready. Sockets for embeddings and
    rerank appear beside it where the model can; the admin socket is there from the start. SIGTERM or Ctrl-C drains.
    """
    import logging

    from warmwire.host.daemon import run_host
    from warmwire.models.registry import check_model, with_options

    model = with_options(model, ctx=ctx, gpu_layers=gpu_layers, mmproj=mmproj, llama_server=llama_server)
    check_model(model)
    logging.basicConfig(level=logging.INFO, format="warmwire: %(message)s")

    def ready(path: str) -> None:
        typer.echo(f"warmwire: {model} is ready at {path} ({workers} worker{'s' if workers > 1 else ''})", err=True)

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
