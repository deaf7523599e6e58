"""`warmwire help [VERB]`: the same as `--help`, for those who type it so."""

from __future__ import annotations

from typing import Annotated

import typer


def help(
    ctx: typer.Context,
    verb: Annotated[str, typer.Argument(metavar="[VERB]", help="A verb to explain; without one, all are listed.")] = "",
) -> None:
    """Show the help of a verb, as `warmwire VERB --help` does."""
    words = [verb, "--help"] if verb else ["--help"]
    parent = ctx.parent
    assert parent is not None  # a verb always has the command above it
    parent.command.main(words, prog_name=parent.info_name, standalone_mode=False)
