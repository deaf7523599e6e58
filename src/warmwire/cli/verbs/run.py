"""`warmwire run MODEL`: text from a Markov model."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from warmwire.cli.console.numbers import finite
from warmwire.markov.styles import Style

if TYPE_CHECKING:
    from warmwire.markov import Generation

_PIECE = 1 << 16


def run(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A .gril file.")],
    infinite: Annotated[str, typer.Argument(metavar="[infinite]", help="The word `infinite` means --forever.")] = "",
    pause: Annotated[int, typer.Argument(metavar="[DELAY]", help="The same as --delay.", min=0)] = 0,
    seed: Annotated[str, typer.Option(metavar="TEXT", help="Text to continue.")] = "",
    limit: Annotated[int, typer.Option(min=0, help="Stop after this many bytes; 0 is no limit.")] = 0,
    forever: Annotated[bool, typer.Option("--forever", help="Start over each time the text has ended.")] = False,
    delay: Annotated[int, typer.Option(min=0, metavar="MS", help="Milliseconds between bytes.")] = 0,
    rng_seed: Annotated[
        int | None,
        typer.Option(metavar="N", help="Write the same text each time for the same N.", show_default="random"),
    ] = None,
    style: Annotated[
        Style,
        typer.Option(
            help="When to stop: never; none: where the model does not know the context; after a line; after a word."
        ),
    ] = Style.NEVER,
    temperature: Annotated[
        float,
        typer.Option(
            callback=finite,
            min=0,
            max=100,
            help="1 draws by the counts of the text, less prefers what is frequent, 0 takes only that.",
        ),
    ] = 1.0,
) -> None:
    """Write text from a Markov model to standard output.

    It ends where the model knows nothing more to write, at the limit, or with Ctrl-C.
    """
    import os

    from warmwire.errors import UsageError
    from warmwire.markov import Generation, load

    if infinite not in ("", "infinite"):
        raise UsageError(f"unexpected argument {infinite!r}; to go on from a text, use --seed")
    generation = Generation(
        load(model), os.fsencode(seed), limit=limit, temperature=temperature, style=style, rng_seed=rng_seed
    )
    if not write(generation, forever=forever or infinite == "infinite", delay=(delay or pause) / 1000):
        print("warmwire: nothing in this model can follow that seed", file=sys.stderr)


def write(generation: Generation, *, forever: bool, delay: float) -> int:
    """Write everything; returns the bytes written."""
    import time

    out = sys.stdout.buffer
    made = 0
    while True:
        piece = generation.take(1 if delay else _PIECE)
        out.write(piece)
        made += len(piece)
        if delay:
            out.flush()
            time.sleep(delay if piece else 0)
        if generation.ended:
            if not forever or generation.remaining == 0 or not made:
                break
            generation.restart()
    out.flush()
    return made
