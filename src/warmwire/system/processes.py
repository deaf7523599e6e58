"""What a process and those that it has started take of the machine's memory."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc/self/smaps_rollup")
_PS_TIMEOUT: Final = 5.0


def tree_memory(pid: int) -> int:
    """Bytes of a process and all below it; what several of them share, a model's file say, counts once where the system
    can tell. 0 for what has gone."""
    if _PROC.exists():
        return sum(map(_proportional, _tree(pid)))
    return _resident(pid)


def _tree(pid: int) -> Iterator[int]:
    yield pid
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):  # a thread that has just ended
                for child in (task / "children").read_text().split():
                    yield from _tree(int(child))


def _proportional(pid: int) -> int:
    with suppress(OSError, ValueError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) << 10
    return 0


def _resident(pid: int) -> int:
    """The same without /proc, as `ps` tells it."""
    try:
        said = subprocess.run(
            ["ps", "-axo", "pid=,ppid=,rss="], capture_output=True, text=True, timeout=_PS_TIMEOUT, check=False
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return 0
    rows = [tuple(map(int, line.split())) for line in said.splitlines() if line.strip()]
    tree, total = {pid}, 0
    while new := [row for row in rows if row[0] in tree or row[1] in tree]:
        tree |= {row[0] for row in new}
        total += sum(row[2] for row in new)
        rows = [row for row in rows if row not in new]
    return total << 10
