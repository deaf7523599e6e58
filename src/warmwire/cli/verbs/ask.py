"""`warmwire ask PROMPT`: an answer from a running host, as it is made."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from warmwire.cli.console.numbers import finite
from warmwire.cli.console.options import HostSocket

if TYPE_CHECKING:
    from warmwire.client import Stream


def ask(
    prompt: Annotated[str, typer.Argument(metavar="PROMPT", help="The question; - reads it from standard input.")],
    image: Annotated[
        list[Path] | None,
        typer.Option("--image", "-i", metavar="FILE", help="A picture to send along; may be repeated."),
    ] = None,
    system: Annotated[
        str, typer.Option("--system", "-s", metavar="TEXT", help="System prompt: how the model is to behave.")
    ] = "",
    json_schema: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Make the answer JSON that follows the schema in this file.")
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(min=1, max=2**32 - 1, help="Stop the answer after this many tokens.")
    ] = None,
    temperature: Annotated[
        float | None,
        typer.Option(callback=finite, min=0, help="Randomness of the answer: 0 always takes the likeliest word."),
    ] = None,
    thinking: Annotated[
        bool | None,
        typer.Option(
            "--thinking/--no-thinking", help="Let a model that can, think before it answers; its thoughts go to stderr."
        ),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(
            callback=finite, min=0.001, help="Give up when the answer is not complete after this many seconds."
        ),
    ] = None,
    socket: HostSocket = None,
) -> int:
    """Ask the model of a running host and print its answer as it comes.

    Text piped in is put before the question: `warmwire ask "Sum this up." < notes.txt`. If the host is still loading
    its model, the command waits. If the answer breaks off, what had arrived stays printed and the exit status is 1.
    """
    from warmwire.cli.console.reach import reach
    from warmwire.cli.console.stdin import STDIN, piped, read_text
    from warmwire.client import StopReason
    from warmwire.client.generation.shared import AskOptions, ask_request
    from warmwire.errors import UsageError
    from warmwire.media.pictures import read_picture

    files = [str(file) for file in image or []]
    if [prompt, *files].count(STDIN) > 1:
        raise UsageError("standard input (-) can be read once only")
    if prompt == STDIN:
        prompt = read_text()
    elif STDIN not in files and piped() and (text := read_text()):
        prompt = f"{text.rstrip()}\n\n{prompt}"
    pictures = [read_picture(sys.stdin.buffer, "stdin") if file == STDIN else file for file in files]
    options: AskOptions = {"images": pictures, "system": system or None, "thinking": thinking}
    request = ask_request(prompt, {**options, "max_tokens": max_tokens, "temperature": temperature})
    request.response_format = _response_format(json_schema)
    with reach(socket) as client, client.generate(request, timeout=timeout) as stream:
        print_answer(stream)
    stream.answer.check()
    if stream.answer.stop_reason == StopReason.MAX_TOKENS:
        print(f"warmwire: the answer was cut after {stream.answer.usage.output_tokens} tokens", file=sys.stderr)
        return 1 if json_schema else 0
    return 0


def print_answer(stream: Stream) -> None:
    """Text to stdout, thoughts to stderr, both at once as they come. The line is ended however the answer ends."""
    out, plain = sys.stdout.buffer, not sys.stdout.isatty()
    last, thought = "\n", False
    try:
        for block in stream.blocks():
            if block.type == "thinking":
                sys.stderr.write(harmless(block.delta))
                sys.stderr.flush()
                thought = True
            elif block.type == "text" and block.delta:
                if thought:
                    print(file=sys.stderr)
                    thought = False
                last = block.delta[-1]
                out.write((block.delta if plain else harmless(block.delta)).encode(errors="replace"))
                out.flush()
    finally:
        if last != "\n":
            out.write(b"\n")
            out.flush()


def harmless(text: str) -> str:
    """Text that a terminal shows and does not obey."""
    return "".join(char for char in text if char.isprintable() or char in "\n\t")


def _response_format(file: Path | None) -> dict[str, Any] | None:
    if file is None:
        return None
    import json

    from warmwire.errors import InputError

    try:
        schema = json.loads(file.read_bytes())
    except OSError as error:
        raise InputError(f"{file}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file}: not JSON ({error})") from None
    if not isinstance(schema, dict):
        raise InputError(f"{file}: not a JSON schema, which is an object")
    return {"type": "json_schema", "schema": schema}
