"""`warmwire merge OUT MODEL...`: several Markov models in one."""

from __future__ import annotations

import sys
from typing import Annotated

import typer


def merge(
    out: Annotated[str, typer.Argument(metavar="OUT", help="The .gril file to write.")],
    models: Annotated[list[str], typer.Argument(metavar="MODEL...", help=".gril files, all of the same depth.")],
    weights: Annotated[
        str, typer.Option(metavar="W,W,...", help="How much each model counts, in their order.", show_default="1 each")
    ] = "",
) -> None:
    """Merge Markov models into one, as if it had been trained on all of their texts.

    The counts of each model are multiplied by its weight and added.
    """
    from warmwire.cli.console.signals import unwind_on_sigterm
    from warmwire.errors import UsageError
    from warmwire.markov.merging import merge_files

    try:
        scales = [float(word) for word in weights.split(",")] if weights else None
    except ValueError:
        raise UsageError(f"--weights takes numbers with commas between, not {weights!r}") from None
    unwind_on_sigterm()
    merged = merge_files(models, scales)
    merged.save(out)
    header = merged.header
    print(
        f"{out}: depth {header.depth}, {header.nodes:,} contexts, {header.weights:,} weights,"
        f" {header.file_size:,} bytes",
        file=sys.stderr,
    )
