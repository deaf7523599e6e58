"""Where the `warmwire` command begins: signals mean the same from the first moment as later on.

Loading the command line takes a part of a second, in which Python's own way with signals would decide the exit status.
A verb that serves ends with 0 when it is told to, ready or not; any other is interrupted, with 130, or terminated, 143.

A signal is an exception between two instructions, and where those belong to a destructor or to a weak reference's
callback, of which every import has one, Python drops it. The process would go on as if it had not been told.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

_HOSTS = {"serve", "ipc", "bridge", "watch-folder"}
"""Verbs that run until a signal ends them; a host takes the signals over once it has something to put in order."""


def main() -> None:
    """The `warmwire` command."""
    serves = next((word for word in sys.argv[1:] if not word.startswith("-")), "") in _HOSTS

    def end(number: int, frame: FrameType | None) -> None:
        sys.exit(0 if serves else 128 + number)

    signal.signal(signal.SIGTERM, end)
    if serves:
        signal.signal(signal.SIGINT, end)
    sys.unraisablehook = _unraisable
    try:
        from warmwire.cli import main as run
    except KeyboardInterrupt:
        print("warmwire: interrupted", file=sys.stderr)
        sys.exit(130)
    run()


def _unraisable(dropped: sys.UnraisableHookArgs) -> None:
    """End at once where the end was dropped: there is no way back to where things are put in order."""
    match dropped.exc_value:
        case SystemExit(code=int(status)):
            os._exit(status)
        case KeyboardInterrupt():
            os._exit(130)
    sys.__unraisablehook__(dropped)
