"""`warmwire yaml MODEL OUT`: a Markov model for people to read."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from warmwire.markov import Chain

_LINES = 4096
_ESCAPES = [chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\x{b:02x}" for b in range(256)]


def yaml(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The .gril file.")],
    out: Annotated[str, typer.Argument(metavar="OUT", help="The YAML file to write; - is standard output.")],
) -> None:
    r"""Write a Markov model as YAML, for people to read.

    Bytes that are not printable ASCII are written as \xNN.
    """
    from warmwire.cli.console.signals import unwind_on_sigterm
    from warmwire.markov import load
    from warmwire.markov.storage import replacing
    from warmwire.system.files import write_all

    chain = load(model)
    if out == "-":
        for part in parts(chain):
            sys.stdout.write(part)
        return
    unwind_on_sigterm()
    with replacing(out) as file:
        for part in parts(chain):
            write_all(file, part.encode())


def parts(chain: Chain) -> Iterator[str]:
    """The text, some records at a time."""
    header = chain.header
    yield f"depth: {header.depth}\nnode_count: {header.nodes}\nweights_count: {header.weights}\nnodes:\n"
    lines: list[str] = []
    for context, weights in chain.records():
        lines.append(f'  - seq: "{"".join(_ESCAPES[b] for b in context)}"\n    weights:\n')
        lines += [f"      - char: {byte}\n        weight: {count}\n" for byte, count in weights]
        if len(lines) >= _LINES:
            yield "".join(lines)
            lines.clear()
    yield "".join(lines)
