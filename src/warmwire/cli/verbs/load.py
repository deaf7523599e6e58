"""`warmwire load NAME`: start the host of a declared model now."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Annotated, Final

import typer

from warmwire.cli.console.options import FleetConfig

if TYPE_CHECKING:
    import subprocess

    from warmwire.bridge.fleet.config import Declared

_POLL: Final = 0.05
"""Seconds between two looks for the admin socket of a host that was just started."""


def load(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A model of the configuration, or an alias of one.")],
    config: FleetConfig = None,
) -> None:
    """Load a model that the configuration declares, and return when it is ready.

    Its host goes on in the background, until `warmwire stop` ends it or, where a bridge runs, until nobody has asked it
    for as long as the model's keep_alive says.
    """
    from warmwire.bridge.fleet.config import load_settings
    from warmwire.bridge.fleet.start import start_host
    from warmwire.errors import InputError
    from warmwire.transport.listen import lock_holder

    settings = load_settings(config)
    declared = settings.models.get(settings.aliases.get(name, name))
    if declared is None:
        known = ", ".join(settings.models) or "none"
        raise InputError(f"no model is declared as {name!r}; there are: {known}")
    process = None if lock_holder(declared.socket) is not None else start_host(declared)
    _wait(declared, process)
    print(f"warmwire: {declared.name} is ready at {declared.socket}", file=sys.stderr)


def _wait(declared: Declared, process: subprocess.Popen[bytes] | None) -> None:
    """Return when the host is ready. Raises LoadError when it ends first."""
    from warmwire.bridge.fleet.start import LoadError, last_words
    from warmwire.cli.verbs.status import explain
    from warmwire.client import Client
    from warmwire.errors import DialError
    from warmwire.system.text import printable
    from warmwire.transport.listen import lock_holder
    from warmwire.wire.admin import HostEvent, HostStatus

    while process.poll() is None if process is not None else lock_holder(declared.socket) is not None:
        try:
            told = HostStatus()
            for event in Client(declared.socket, wait=0).events():
                state = told.take(event)
                if state == HostEvent.READY:
                    return
                if state in (HostEvent.LOADING_MODEL, HostEvent.RESTARTING):
                    words = printable(explain(told.state, told.details), 300)
                    print(f"warmwire: {declared.name}: {words}", file=sys.stderr, flush=True)
        except DialError:
            time.sleep(_POLL)
    raise LoadError(f"{declared.name} cannot be loaded: {last_words(declared)}")
