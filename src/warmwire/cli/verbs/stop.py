"""`warmwire stop NAME`: end a host."""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import Annotated, Final

import typer

from warmwire.cli.console.options import FleetConfig

_POLL: Final = 0.05
_QUIET: Final = 1.0
"""Seconds of waiting that need no word."""


def stop(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name that `warmwire ps` lists, or a socket's path.")],
    config: FleetConfig = None,
) -> None:
    """End a host, and return when it has ended. Requests under way get the time of its --drain-timeout to finish.

    A bridge starts a declared model again when it is asked for.
    """
    from warmwire.bridge.fleet.config import load_settings
    from warmwire.cli.console.hosts import named
    from warmwire.errors import InputError
    from warmwire.transport.listen import lock_holder

    row = named(name, load_settings(config))
    pid = lock_holder(row.path)
    if pid is None:
        what = "is of another make, which tells nobody its process" if row.runs else "does not run"
        raise InputError(f"the host of {name} {what}")
    os.kill(pid, signal.SIGTERM)
    begun, told = time.monotonic(), False
    while lock_holder(row.path) == pid:  # the lock is given back last
        if not told and time.monotonic() - begun > _QUIET:
            told = True
            print(f"warmwire: {name} (pid {pid}) answers what is under way first", file=sys.stderr, flush=True)
        time.sleep(_POLL)
    print(f"warmwire: {name} (pid {pid}) has ended", file=sys.stderr)
