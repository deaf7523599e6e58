"""Options that several verbs have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

HostSocket = Annotated[
    Path | None,
    typer.Option(
        "--socket", metavar="PATH", help="The socket of a running host.", show_default="where `warmwire serve` listens"
    ),
]

FleetConfig = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="The TOML file that declares models.",
        show_default="models.toml in your folder of settings for warmwire",
    ),
]

AllowedUsers = Annotated[
    list[int] | None,
    typer.Option("--allow-uid", metavar="UID", min=0, help="Let this user connect as well; may be repeated."),
]

AllowedGroup = Annotated[
    str | None, typer.Option("--group", metavar="NAME", help="Let the members of this group connect as well.")
]
