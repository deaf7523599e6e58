"""`warmwire train --memory`: text beyond the memory allowed gives the same file, in that memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.markov_support import GRALL
from tests.support import COMMAND

MEMORY = 8 << 20

_MEASURE = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
"""Runs a command from a small process: a child's peak counts from what its parent had when it was started."""


def peak(*words: object) -> int:
    """Most bytes that a command had in memory at once."""
    said = subprocess.run([sys.executable, "-c", _MEASURE, *COMMAND, *map(str, words)], stdout=subprocess.PIPE)
    assert said.returncode == 0
    return int(said.stdout) * (1024 if sys.platform == "linux" else 1)


def test_text_ten_times_the_memory(tmp_path: Path) -> None:
    rows = np.random.default_rng(1).integers(97, 101, (10, MEMORY), np.uint8)
    for i, row in enumerate(rows):
        (tmp_path / f"text{i}").write_bytes(row.tobytes())
    texts = sorted(tmp_path.glob("text*"))
    base = peak("train", tmp_path / "small.gril", 3, GRALL / "one.txt")
    used = peak("train", tmp_path / "bounded.gril", 3, *texts, "--memory", "8M", "--jobs", 1) - base
    assert used < MEMORY
    whole = peak("train", tmp_path / "whole.gril", 3, *texts) - base
    assert whole > 10 * MEMORY  # the text alone
    assert (tmp_path / "bounded.gril").read_bytes() == (tmp_path / "whole.gril").read_bytes()


@pytest.mark.parametrize("depth", [8, 20])
def test_a_full_disk_ends_sorting_in_one_sentence(tmp_path: Path, depth: int) -> None:
    import resource

    (tmp_path / "m.gril").write_bytes(b"old")
    command = [*COMMAND, "train", str(tmp_path / "m.gril"), str(depth), str(GRALL / "words.txt"), "--memory", "1M"]
    ended = subprocess.run(
        command,
        capture_output=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000)),
    )
    assert ended.returncode == 1
    assert ended.stderr.decode().splitlines()[-1] == "warmwire: cannot write a temporary file: File too large"
    assert (tmp_path / "m.gril").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["m.gril"]
