"""How long the command takes to start, beside an interpreter that does nothing.

    python benchmarks/start.py [--runs 7] [--json]

Each run is a process from its start to its exit, in turn with `python -c pass`; one that serves is timed until it says
that it is ready. Every verb is asked for its help, and does the least that it can do if it can without a model that
costs more than itself: what needs a host asks one that echoes, what needs a file has a small one.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import tempfile
from collections.abc import Collection
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.corpus import DATA
from benchmarks.crowd import COMMAND, running
from benchmarks.rows import Budget, Rows, in_turn, paired, timed
from benchmarks.table import show
from warmwire.markov import train

GROUP: Final = "start"
NOTHING: Final = "python -c pass"
READY: Final = ("serve", "ipc", "bridge")
"""Verbs that say when they are ready, and then go on."""
SOME: Final = ("ocr", "ask", "run", "serve")
"""Verbs that stand for all where there is little time."""
MOST: Final = {"run": 350.0}
"""Milliseconds that are wanted of a verb."""


def verbs() -> list[str]:
    """All verbs, in the order of the help."""
    from warmwire.cli import VERBS

    return list(VERBS)


def words(folder: Path, addr: str) -> dict[str, list[str]]:
    """The least that each verb can do, as its arguments; `ask` and its like talk to the host at `addr`."""
    text, model, host = folder / "text", folder / "model.gril", ["--socket", addr]
    text.write_bytes(b"some text of some words, and more of it. " * 50)
    train([text], 3).save(str(model))
    return {
        "ocr": [str(DATA / "scored" / "letter.pdf")],
        "ask": ["x", *host],
        "chat": host,
        "status": host,
        "ps": [],
        "train": [str(folder / "made.gril"), "3", str(text)],
        "run": [str(model), "--limit", "200"],
        "inspect": [str(model)],
        "yaml": [str(model), str(folder / "made.yaml")],
        "merge": [str(folder / "both.gril"), str(model), str(model)],
        "models": [str(folder)],
        "doctor": [],
        "help": [],
        "mcp": [],
        "serve": ["echo", "--socket", str(folder / "serve.sock")],
        "ipc": [str(model), str(folder / "ipc.sock")],
        "bridge": [*host, "--listen", "127.0.0.1:0"],
    }


def ends(*command: str) -> float:
    """Milliseconds until a command has ended, its input being empty."""
    null = subprocess.DEVNULL
    return 1000 * timed(lambda: subprocess.run(command, check=True, stdin=null, stdout=null, stderr=null))


def is_ready(*command: str) -> float:
    """Milliseconds until one of ours says that it is ready."""
    with running(*command) as process:
        return 1000 * process.seconds


def nothing() -> float:
    return ends(sys.executable, "-c", "pass")


def help_rows(seconds: float, most: int) -> Rows:
    """The help of all verbs, of which the slowest is told too."""
    names = verbs()
    limits = {"least": 1, "most": most, "warm": False}
    pairs = {
        name: in_turn(partial(ends, *COMMAND, name, "--help"), nothing, seconds / len(names), **limits)  # type: ignore[arg-type]
        for name in names
    }
    rows = {name: paired(GROUP, name, "ms", NOTHING, of, more=False) for name, of in pairs.items()}
    every = list(chain.from_iterable(pairs.values()))
    yield paired(GROUP, f"--help of {len(names)} verbs", "ms", NOTHING, every, more=False)
    slowest = max(names, key=lambda name: rows[name].ours.middle)
    yield paired(GROUP, "--help, slowest verb", "ms", NOTHING, pairs[slowest], more=False)


def run_rows(seconds: float, most: int, some: Collection[str] = ()) -> Rows:
    """The least that each verb can do, or some of them."""
    with tempfile.TemporaryDirectory(prefix="warmwire-") as directory:
        folder = Path(directory)
        addr = str(folder / "host.sock")
        with running("serve", "echo", "--socket", addr):
            calls = {verb: given for verb, given in words(folder, addr).items() if not some or verb in some}
            for verb, arguments in calls.items():
                call = partial(is_ready, verb) if verb in READY else partial(ends, *COMMAND, verb)
                pairs = in_turn(partial(call, *arguments), nothing, seconds / len(calls), most=most, warm=False)
                name = f"{verb}, until ready" if verb in READY else verb
                yield paired(GROUP, name, "ms", NOTHING, pairs, more=False, wanted=MOST.get(verb), wanted_of="ours")


def rows(budget: Budget) -> Rows:
    yield from help_rows(budget.share(0.3), 3)
    yield from run_rows(budget.share(0.6), 7, SOME if budget.quick else ())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7, help="runs of each")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    options = parser.parse_args()

    def everything() -> Rows:
        yield from help_rows(math.inf, options.runs)
        yield from run_rows(math.inf, options.runs)

    show(everything(), options.json)


if __name__ == "__main__":
    main()
