"""Signals that end a verb."""

from __future__ import annotations

import signal
import sys


def unwind_on_sigterm() -> None:
    """Let SIGTERM leave as little behind as Ctrl-C does: no half-written file. The exit status is a shell's, 143."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
