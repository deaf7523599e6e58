"""All benchmarks with one command: one table, one file of results, the page of docs.

    python -m benchmarks.suite [--scale quick|full|long] [--groups transfer,markov]

Groups run one after another, each in a process of its own with a time of its own, so that none disturbs another. One
that takes longer may have what those before it left, and the last one goes by it; then it is stopped and keeps the rows
that it has, as all do at Ctrl-C. Results go to `out/bench/latest.json`; those of a whole run that is not quick also to
`benchmarks/results/`, under this version, and into docs/performance.md with its plots. `compare.py` sets two results
side by side.
"""

from __future__ import annotations

import argparse
import importlib
import os
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Final, NamedTuple, get_args

from benchmarks.publish import publish
from benchmarks.results import LATEST, Result, machine, released, save
from benchmarks.rows import Budget, Note, Row, Scale
from benchmarks.table import line, table

MOST_SECONDS: Final = {"quick": 120, "full": 720, "long": 3600}
"""What a run may take."""
GRACE: Final = 5.0
"""Seconds that a stopped group has to end what it started."""


class Group(NamedTuple):
    """A module with `rows`, and the seconds that it has at each scale."""

    module: str
    quick: float
    full: float
    long: float

    def budget(self, scale: Scale) -> Budget:
        return Budget(getattr(self, scale), scale)


GROUPS: Final = {
    "transfer": Group("benchmarks.transfer", 9, 30, 30),
    "host": Group("benchmarks.host", 16, 45, 45),
    "chats": Group("benchmarks.chats", 0, 0, 200),
    "crowd": Group("benchmarks.crowd", 14, 45, 45),
    "markov": Group("benchmarks.markov", 14, 85, 900),
    "grall": Group("benchmarks.grall", 12, 35, 35),
    "start": Group("benchmarks.start", 16, 40, 40),
    "peers": Group("benchmarks.peers", 0, 75, 300),
    "digital": Group("benchmarks.digital", 12, 95, 95),
    "pages": Group("benchmarks.pages", 26, 260, 260),
}
"""In the order in which they run."""


def run(name: str, module: str, budget: Budget, most: float) -> Iterator[Row | Note]:
    """The rows of one group as they come; its process is stopped after `most` seconds or when nobody asks for more."""
    context = get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_give, args=(name, module, budget, sender))
    process.start()
    sender.close()
    until = time.monotonic() + most
    try:
        while receiver.poll(max(0.0, until - time.monotonic())):
            yield receiver.recv()
        yield Note(name, f"stopped after {most:.0f} s")
    except EOFError:
        pass
    finally:
        _stop(process)


def _give(name: str, module: str, budget: Budget, sender: Connection) -> None:
    """A group's process. Its session is its own: Ctrl-C is for who asked, and what it starts is stopped with it."""
    os.setsid()
    try:
        for row in importlib.import_module(module).rows(budget):
            sender.send(row)
    except KeyboardInterrupt:
        pass
    except Exception as error:
        traceback.print_exc()
        sender.send(Note(name, f"{type(error).__name__}: {error}"))


def _stop(process: BaseProcess) -> None:
    assert process.pid is not None
    with suppress(ProcessLookupError):
        if process.is_alive():
            os.kill(process.pid, signal.SIGINT)
            process.join(GRACE)
        os.killpg(process.pid, signal.SIGKILL)
    process.join()


def measure(names: list[str], scale: Scale) -> Result:
    """Run groups and tell of every row as it comes."""
    rows: list[Row] = []
    notes: list[Note] = []
    begun = due = time.monotonic()
    whole = False
    try:
        for name in names:
            budget = GROUPS[name].budget(scale)
            if not budget.seconds:
                continue
            due += budget.seconds
            most = due - time.monotonic()
            if name == names[-1]:
                budget = Budget(most, scale)
            print(f"{name}, up to {most:.0f} s", file=sys.stderr, flush=True)
            for given in run(name, GROUPS[name].module, budget, most):
                (rows if isinstance(given, Row) else notes).append(given)  # type: ignore[arg-type]
                print(f"  {line(given)}", file=sys.stderr, flush=True)
        whole = names == list(GROUPS)
    except KeyboardInterrupt:
        print("stopped; what is finished is kept", file=sys.stderr)
    return Result(machine(), scale, whole, round(time.monotonic() - begun), rows, notes)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", choices=get_args(Scale), default="full")
    parser.add_argument("--groups", default=",".join(GROUPS), help="separated by commas")
    options = parser.parse_args()
    names = options.groups.split(",")
    if unknown := set(names) - set(GROUPS):
        parser.error(f"no group {', '.join(unknown)}; there are {', '.join(GROUPS)}")
    result = measure(names, options.scale)
    print(table(result.rows, result.notes))
    save(result, LATEST)
    if result.whole and options.scale != "quick":
        save(result, released(result.machine.version))
        publish(result)
    return 0 if result.rows else 1


if __name__ == "__main__":
    sys.exit(main())
