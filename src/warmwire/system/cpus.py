"""How much of the machine is ours: what this process may use, where the system can say, else all there is."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Final

_PLENTY: Final = 1 << 62
_LIMIT: Final = Path("/sys/fs/cgroup/memory.max")
_USED: Final = Path("/sys/fs/cgroup/memory.current")


def cores() -> int:
    """At least 1. A container or a batch system that gives fewer than the machine has does so by affinity."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def free_memory() -> int:
    """Bytes that can be had without swapping; a very large number where the system does not say."""
    free = _PLENTY
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                free = int(line.split()[1]) << 10
    with contextlib.suppress(OSError, ValueError):  # "max" where there is no limit
        free = min(free, max(0, int(_LIMIT.read_text()) - int(_USED.read_text())))
    return free
