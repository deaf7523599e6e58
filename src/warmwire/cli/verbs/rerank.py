"""`warmwire rerank QUERY DOC...`: which text answers a query best, says the model of a running host."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from warmwire.cli.console.options import HostSocket

_LONGEST = 1000


def rerank(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The question or search words.")],
    documents: Annotated[
        list[str] | None,
        typer.Argument(metavar="[DOC... | -]", help="Texts to rank; - takes each line of standard input."),
    ] = None,
    top_n: Annotated[int | None, typer.Option(min=1, max=2**32 - 1, help="Print only this many of the best.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of one line per text.")] = False,
    socket: HostSocket = None,
) -> None:
    """Rank texts by how well they answer a query, best first.

    Each line has the score, the number of the text (from 0) and the text. Scores are the model's own: they may be
    negative, and those of different models cannot be compared.
    """
    import msgspec

    from warmwire.cli.console.reach import reach
    from warmwire.cli.console.stdin import given_texts
    from warmwire.errors import UsageError
    from warmwire.system.text import printable

    given = given_texts(documents or [])
    if not given:
        raise UsageError("there is nothing to rank; give texts, or - and lines on standard input")
    with reach(socket) as client:
        response = client.rerank(query, given, top_n=top_n)
    out = sys.stdout.buffer
    if as_json:
        fields = {key: value for key, value in msgspec.to_builtins(response).items() if key not in ("id", "type")}
        out.write(msgspec.json.encode(fields) + b"\n")
    else:
        for ranked in response.results:
            text = printable(given[ranked.index], _LONGEST) if 0 <= ranked.index < len(given) else ""
            out.write(f"{ranked.score:.6g}\t{ranked.index}\t{text}\n".encode(errors="replace"))
    out.flush()
