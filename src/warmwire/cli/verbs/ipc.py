"""`warmwire ipc MODEL SOCKET`: serve a Markov model on the grall wire."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from warmwire.cli.console.numbers import finite
from warmwire.host.grall.pacing import Pacing
from warmwire.markov.styles import Style


def ipc(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A .gril file.")],
    socket: Annotated[str, typer.Argument(metavar="SOCKET", help="Where to listen.")],
    rng_seed: Annotated[
        int | None,
        typer.Option(metavar="N", help="Equal names and seeds then give equal text.", show_default="random"),
    ] = None,
    pacing: Annotated[Pacing, typer.Option(help="What a delay holds up.")] = Pacing.GENERATION,
    style: Annotated[Style, typer.Option(help="When generations end besides their limit.")] = Style.NEVER,
    temperature: Annotated[float, typer.Option(callback=finite, min=0, max=100, help="As for run.")] = 1.0,
    max_name: Annotated[int, typer.Option(min=1, max=1 << 20, help="Longest name taken, bytes.")] = 4 << 10,
    max_seed: Annotated[int, typer.Option(min=1, max=1 << 30, help="Longest seed taken, bytes.")] = 1 << 20,
) -> None:
    """Serve a Markov model on the grall wire until SIGTERM or Ctrl-C.

    The socket appears when the model is loaded. One that a host answers on is left alone; a dead one is replaced.
    """
    import logging

    from warmwire.host.grall.server import GrallOptions, run_grall_host
    from warmwire.markov import load

    logging.basicConfig(level=logging.INFO, format="warmwire: %(message)s")
    options = GrallOptions(
        rng_seed=rng_seed,
        pacing=pacing,
        style=style,
        temperature=temperature,
        max_name=max_name,
        max_seed=max_seed,
    )

    def ready(path: str) -> None:
        print(f"warmwire: {model} is ready at {path}", file=sys.stderr, flush=True)

    run_grall_host(lambda: load(model), socket, options, on_ready=ready)
