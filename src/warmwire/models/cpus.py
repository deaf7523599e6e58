"""How many processors are ours: those that this process may run on, where the system can say, else all there are."""

from __future__ import annotations

import os


def cores() -> int:
    """At least 1. A container or a batch system that gives fewer than the machine has does so by affinity."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
