"""Reaching a host from a verb: one that still loads its model is waited for, with a word about it."""

from __future__ import annotations

import sys
from pathlib import Path

from warmwire.client import Client
from warmwire.errors import DialError
from warmwire.transport.dial import DIAL_WAIT
from warmwire.transport.paths import Surface, surface_addr

_LOADING_WAIT = 3600.0
"""Seconds given to a host that is there and loads."""


def reach(socket: Path | None) -> Client:
    """A client of the host at `socket`, connected. Raises DialError, BackendUnavailableError.

    A host that was started a moment ago gets the usual time to show up.
    """
    try:
        return _connected(socket, 0)
    except DialError:
        if _wait_loading(socket):
            return _connected(socket, DIAL_WAIT)
    path = surface_addr(socket, Surface.GENERATION)
    print(f"warmwire: waiting up to {DIAL_WAIT:g} s for a host at {path}", file=sys.stderr, flush=True)
    try:
        return _connected(socket, DIAL_WAIT)
    except DialError:
        if not _wait_loading(socket):
            raise
    return _connected(socket, DIAL_WAIT)


def _connected(socket: Path | None, wait: float) -> Client:
    client = Client(socket, wait=wait)
    client.connect()
    return client


def _wait_loading(socket: Path | None) -> bool:
    """Wait for a host that loads; False where none does."""
    from warmwire.cli.verbs.status import look
    from warmwire.system.text import printable

    found = look(socket)
    if found["state"] not in ("starting", "loading_model"):
        return False
    print(f"warmwire: waiting for the host: {printable(found['reason'], 300)}", file=sys.stderr, flush=True)
    Client(socket).wait_ready(_LOADING_WAIT)
    return True
