"""`warmwire inspect MODEL`: what a Markov model holds."""

from __future__ import annotations

from typing import Annotated

import typer


def inspect(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The .gril file; all of it is checked.")],
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Also print sizes, training bytes and entropy.")
    ] = False,
) -> None:
    """Print a Markov model's depth and its numbers of contexts and weights."""
    from warmwire.markov import load

    chain = load(model)
    header = chain.header
    typer.echo(f"depth: {header.depth}\nnodes: {header.nodes}\nweights: {header.weights}")
    if verbose:
        from warmwire.markov.statistics import measure

        found = measure(chain)
        typer.echo(
            f"file bytes: {header.file_size}\n"
            f"training bytes: {found.trained}\n"
            f"nodes with one continuation: {found.single} ({found.single / header.nodes:.1%})\n"
            f"most continuations of a node: {found.widest}\n"
            f"entropy: {found.entropy:.3f} bits per byte"
        )
