"""Where the `warmwire` command begins: signals mean the same from the first moment as later on.

Loading the command line takes a part of a second, in which Python's own way with signals would decide the exit status.
A verb that serves ends with 0 when it is told to, ready or not; any other is interrupted, with 130, or terminated, 143.
"""

from __future__ import annotations

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
    try:
        from warmwire.cli import main as run
    except KeyboardInterrupt:
        print("warmwire: interrupted", file=sys.stderr)
        sys.exit(130)
    run()
