"""`warmwire ipc MODEL SOCKET`: serve a Markov model on the grall wire."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from warmwire.cli.console.numbers import finite
from warmwire.cli.console.options import AllowedGroup, AllowedUsers
from warmwire.host.defaults import DRAIN_TIMEOUT
from warmwire.host.grall.options import GrallOptions
from warmwire.host.grall.pacing import Pacing
from warmwire.markov.styles import Style

_DEFAULTS = GrallOptions()


def ipc(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The .gril file.")],
    socket: Annotated[str, typer.Argument(metavar="SOCKET", help="Path of the socket to listen at.")],
    rng_seed: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Write the same text each time for the same N, name and seed.", show_default="random"
        ),
    ] = None,
    pacing: Annotated[
        Pacing, typer.Option(help="What waits during a delay: that generation alone, or its whole connection.")
    ] = _DEFAULTS.pacing,
    style: Annotated[
        Style, typer.Option(help="When a generation ends before its limit; as for run.")
    ] = _DEFAULTS.style,
    temperature: Annotated[
        float, typer.Option(callback=finite, min=0, max=100, help="As for run.")
    ] = _DEFAULTS.temperature,
    max_name: Annotated[
        int, typer.Option(min=1, max=1 << 20, help="Longest name accepted, in bytes.")
    ] = _DEFAULTS.max_name,
    max_seed: Annotated[
        int, typer.Option(min=1, max=1 << 30, help="Longest seed accepted, in bytes.")
    ] = _DEFAULTS.max_seed,
    drain_timeout: Annotated[
        float,
        typer.Option(
            callback=finite, min=0, help="After SIGTERM, give generations with a limit this many seconds to finish."
        ),
    ] = DRAIN_TIMEOUT,
    log_dir: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            envvar="WARMWIRE_LOG_DIR",
            help="Write a log of generations into this folder, without seeds or text.",
        ),
    ] = None,
    allow_uid: AllowedUsers = None,
    group: AllowedGroup = None,
) -> None:
    """Serve a Markov model on the socket protocol of grall, until SIGTERM or Ctrl-C.

    The socket appears when the model is loaded; the admin socket, for status and watch, is there from the start. A
    socket on which another host answers is left alone; one that was left behind is replaced.
    """
    import logging

    from warmwire.host.grall.server import run_grall_host
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

    run_grall_host(
        lambda: load(model),
        socket,
        options,
        name=Path(model).name,
        drain_timeout=drain_timeout,
        log_dir=log_dir,
        allow_uids=allow_uid or (),
        group=group,
        on_ready=ready,
    )
