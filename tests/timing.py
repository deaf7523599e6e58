"""How much work a call is, told so that neither a slow machine, nor a busy one, nor coverage's tracing changes it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable


def effort(call: Callable[[], object]) -> float:
    """The processor time of a call, as a multiple of what a loop of a million steps takes here and now."""
    tracer = sys.gettrace()
    sys.settrace(None)
    try:
        loop = min(_seconds(_loop) for _ in range(3))
        return _seconds(call) / loop
    finally:
        sys.settrace(tracer)


def _seconds(call: Callable[[], object]) -> float:
    started = time.process_time()
    call()
    return time.process_time() - started


def _loop() -> int:
    total = 0
    for step in range(1_000_000):
        total += step
    return total
