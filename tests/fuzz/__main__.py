"""python -m tests.fuzz [--seconds 10] [--seed N] [--target NAME] [--engine random|atheris] [--output PAGE]

Damages sound input and feeds it to the readers, whole and in random pieces. A reader may give events or raise an error
of its documented tree; any other exception, a buffer beyond its cap, or a result that depends on where the input was
cut is a failure, and the exit status is 1.

The engine `random` goes through all targets in turn and prints the seed that brings a failure back. `atheris`, from the
package of that name, is led by coverage: each target gets `--seconds` of its own, and what it came to is printed, and
written into the page at --output. What fails is left in a file; put into tests/data/fuzz, it is a case of every run.
"""

from __future__ import annotations

import argparse
import logging
import random
import sys
import tempfile
import time
import traceback
from importlib.util import find_spec
from pathlib import Path

from tests.figures import write_between
from tests.fuzz.damage import damage
from tests.fuzz.guided import fuzz
from tests.fuzz.targets import TARGETS, agree, inputs


def check(name: str, seed: str) -> None:
    """One round. Raises whatever is wrong."""
    rng = random.Random(seed)
    agree(TARGETS[name].read, damage(rng.choice(inputs(name)), rng), rng)


def at_random(names: list[str], seconds: float) -> int:
    """All targets for so many seconds; that has the next turn which has had the least time."""
    start, run = time.monotonic(), random.randrange(1 << 32)
    spent = dict.fromkeys(names, 0.0)
    rounds = 0
    while (began := time.monotonic()) - start < seconds:
        name = min(names, key=spent.__getitem__)
        seed = f"{name}/{run}/{rounds}"
        try:
            check(name, seed)
        except Exception:
            traceback.print_exc()
            print(f"fuzz: failed; again with: python -m tests.fuzz --seed {seed}", file=sys.stderr)
            return 1
        spent[name] += time.monotonic() - began
        rounds += 1
    print(f"fuzz: {rounds} rounds of {', '.join(names)} in {seconds:g} s, nothing found")
    return 0


def guided(names: list[str], seconds: int, output: Path | None) -> int:
    """Each target for so many seconds, led by coverage."""
    if find_spec("atheris") is None:
        print("fuzz: the engine atheris needs the package of that name: pip install atheris", file=sys.stderr)
        return 2
    artifacts = Path(tempfile.mkdtemp(prefix="ww-fuzz-"))
    lines = ["| target | inputs tried | a second | kept | lines reached |", "|---|---:|---:|---:|---:|"]
    failed = []
    print(*lines, sep="\n")
    for name in names:
        found = fuzz(name, seconds, artifacts)
        failed += [name] * found.failed
        lines.append(f"| {name} | {found.runs:,} | {found.a_second:,} | {found.kept} | {found.lines:.0%} |")
        print(lines[-1], flush=True)
    if failed:
        print(f"fuzz: {', '.join(failed)} failed; the inputs are in {artifacts}", file=sys.stderr)
        return 1
    artifacts.rmdir()
    if output is not None:
        write_between(output, "fuzz-guided", [f"{seconds} seconds each.", "", *lines])
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--seed", help="repeat one round, as printed with a failure")
    parser.add_argument("--target", choices=sorted(TARGETS))
    parser.add_argument("--engine", choices=["random", "atheris"], default="random")
    parser.add_argument("--output", type=Path, help="the page that has the table of the engine atheris")
    options = parser.parse_args()
    logging.disable()  # of what cannot be read, libraries say so
    names = [options.target] if options.target else list(TARGETS)
    if options.seed:
        check(options.seed.partition("/")[0], options.seed)
        return 0
    if options.engine == "atheris":
        return guided(names, int(options.seconds), options.output)
    for name in names:  # undamaged input must be sound, or the rounds test nothing but refusals
        for data in TARGETS[name].seeds:
            assert TARGETS[name].read(iter([data]))[1] == "end", (name, data)
    return at_random(names, options.seconds)


if __name__ == "__main__":
    sys.exit(main())
