"""`warmwire embed TEXT...`: vectors from a running host."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated

import typer

from warmwire.cli.console.options import HostSocket


class VectorForm(StrEnum):
    """How vectors are written."""

    JSON = "json"
    LINES = "lines"


def embed(
    texts: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TEXT... | -]", help="Texts to embed; - takes each line of standard input."),
    ] = None,
    dimensions: Annotated[
        int | None,
        typer.Option(min=1, max=2**32 - 1, help="Shorten the vectors to this many numbers, scaled back to length 1."),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(
            metavar="TASK",
            help="What they are for: retrieval_query, retrieval_document, similarity, classification, clustering,"
            " question_answering, fact_verification or code_retrieval_query.",
        ),
    ] = None,
    format: Annotated[
        VectorForm,
        typer.Option("--format", "-f", help="json: one object with everything; lines: one array per line and text."),
    ] = VectorForm.JSON,
    socket: HostSocket = None,
) -> None:
    """Turn texts into vectors with the model of a running host, and print them as JSON."""
    import msgspec

    from warmwire.cli.console.reach import reach
    from warmwire.cli.console.stdin import given_texts
    from warmwire.errors import UsageError
    from warmwire.wire.tasks import EMBED_TASKS

    if task is not None and task not in EMBED_TASKS:
        raise UsageError(f"--task {task} is none of {', '.join(EMBED_TASKS)}")
    given = given_texts(texts or [])
    if not given:
        raise UsageError("there is nothing to embed; give texts, or - and lines on standard input")
    with reach(socket) as client:
        response = client.embed(given, dimensions=dimensions, task=task)
    out = sys.stdout.buffer
    if format is VectorForm.JSON:
        fields = {key: value for key, value in msgspec.to_builtins(response).items() if key not in ("id", "type")}
        out.write(msgspec.json.encode(fields) + b"\n")
    else:
        for vector in response.embeddings:
            out.write(msgspec.json.encode(vector) + b"\n")
    out.flush()
