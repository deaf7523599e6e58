"""Six seconds of `make soak`: every kind of host under every fault, as processes."""

from __future__ import annotations

import subprocess
import sys


def test_six_seconds_under_every_fault() -> None:
    command = [sys.executable, "-m", "tests.soak", "--minutes", "0.1", "--seed", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "| at the end | 1 |" in done.stdout
