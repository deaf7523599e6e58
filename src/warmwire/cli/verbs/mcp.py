"""`warmwire mcp`: documents and models as tools of an assistant's program, by the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from warmwire.cli.console.options import HostSocket


def mcp(
    root: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="DIR",
            help="A folder whose files may be read; may be repeated.",
            show_default="the current folder",
        ),
    ] = None,
    socket: HostSocket = None,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=1, max=64, help="Pages read at once.")] = None,
) -> None:
    """Serve the tools read_document, search_document and ask_model on standard input and output.

    An assistant's program starts this itself; tell it the command `warmwire mcp --root FOLDER`. Documents are read here
    unless --socket names a host that reads pages; ask_model asks the host at --socket, or at the default place.
    """
    import asyncio

    from warmwire.errors import UsageError

    try:
        from warmwire.bridge.mcp import serve_tools
    except ImportError as error:
        raise UsageError(
            f"the tools need {error.name}, which is not installed; install it with: pip install 'warmwire[mcp,pages]'"
        ) from None
    roots = root or [Path.cwd()]
    for one in roots:
        if not one.is_dir():
            raise UsageError(f"--root {one}: no such folder")
    asyncio.run(serve_tools(roots, str(socket) if socket is not None else None, jobs))
