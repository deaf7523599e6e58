"""`make bench`, small: groups run in processes that can be stopped, and two of them measure what they say."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchmarks import grall, suite, transfer
from benchmarks.results import Result, load, machine, save
from benchmarks.rows import Budget, Note, Row, alone
from tests.support import eventually
from warmwire.markov import train

GROUP = """
import subprocess
from benchmarks.rows import alone

def rows(budget):
    child = subprocess.Popen(["sleep", "600"])
    yield alone("g", "child", "pid", [child.pid], more=True)
    {then}
"""


@pytest.fixture
def group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A group that starts a process, yields its number, and then does as told."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def made(then: str):
        (tmp_path / "bench_group.py").write_text(GROUP.format(then=then))
        return suite.run("g", "bench_group", Budget(1), 100)

    return made


def gone(pid: float) -> bool:
    try:
        return Path(f"/proc/{pid:.0f}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_a_fault_becomes_a_note_and_the_rows_before_it_are_kept(group):
    row, note = group("raise ValueError('no peer')")
    assert isinstance(row, Row)
    assert note == Note("g", "ValueError: no peer")
    eventually(lambda: gone(row.ours.middle))


def test_a_group_that_is_left_is_stopped_with_what_it_started(group):
    rows = group("child.wait()")
    row = next(rows)
    os.kill(int(row.ours.middle), 0)
    rows.close()
    eventually(lambda: gone(row.ours.middle))


def test_a_group_without_time_is_stopped():
    assert list(suite.run("g", "benchmarks.transfer", Budget(1), 0)) == [Note("g", "stopped after 0 s")]


def test_interrupted_it_keeps_what_is_finished(monkeypatch: pytest.MonkeyPatch):
    row = alone("host", "n", "x", [1.0], more=True)

    def run(name: str, module: str, budget: Budget, most: float):
        yield row
        raise KeyboardInterrupt

    monkeypatch.setattr(suite, "run", run)
    result = suite.measure(list(suite.GROUPS), "quick")
    assert result.rows == [row]
    assert not result.whole


@contextmanager
def serving(folder: Path):
    """A server of a small Markov model."""
    (folder / "text").write_bytes(bytes(range(97, 123)) * 400)
    train([folder / "text"], 3).save(str(folder / "model.gril"))
    server = grall.Server(folder / "model.gril", str(folder / "s"))
    try:
        yield server
    finally:
        server.stop()


def test_two_groups_measure(directory: str):
    folder = Path(directory)
    with transfer.serving() as addr, serving(folder) as server:
        given = [*transfer.delta_rows(addr, 200, 0, 3), *grall.busy_rows(server, 0.2)]
    result = Result(machine(), "quick", False, 1, given, [])
    save(result, folder / "result.json")
    assert load(folder / "result.json") == result
    rows = {(row.name, row.beside): row for row in given}
    assert len(rows) == len(given)
    assert all(row.ours.middle > 0 for row in given if row.unit)
    assert rows["deltas, counted", "bare, one write"].ratio.count == 3
    assert rows["share of a generation, off the mean", ""].ours.middle < 1  # each has had a token
