"""Fuzzing that is led by coverage, with atheris: an input that reaches new code is kept, and changed further.

An engine of this kind takes its process over, so each target runs in one of its own. Half of the changes are those of
`damage`, the others libFuzzer's. What was reached is measured afterwards, by `coverage`, on the inputs that the engine
has kept.
"""

from __future__ import annotations

import logging
import random
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.damage import damage

MOST = 1 << 13
"""Longest input, in bytes."""

SLOW = 30
"""Seconds for one input after which it counts as a failure."""

MEMORY = 2048
"""MB of a process that count as one."""


@dataclass(frozen=True)
class Reached:
    """What a run of one target came to. `lines` is the share of the lines of its modules, 0 to 1."""

    runs: int
    a_second: int
    kept: int
    lines: float
    failed: bool


def fuzz(name: str, seconds: int, artifacts: Path) -> Reached:
    """Run one target in a process of its own; an input that fails is left in `artifacts` and told on standard error."""
    with tempfile.TemporaryDirectory() as kept:
        arguments = [kept, f"-max_total_time={seconds}", f"-artifact_prefix={artifacts}/{name}-"]
        command = [sys.executable, "-m", "tests.fuzz.guided", name, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 120)
        failed = done.returncode != 0
        if failed:
            print(done.stderr[-6000:], file=sys.stderr)
        measured = subprocess.run([sys.executable, "-m", "tests.fuzz.guided", name, "--measure", kept],
                                  capture_output=True, text=True, timeout=600, check=True)  # fmt: skip
        runs = re.search(r"stat::number_of_executed_units: (\d+)", done.stderr)
        rate = re.search(r"stat::average_exec_per_sec: +(\d+)", done.stderr)
        return Reached(
            int(runs[1]) if runs else 0,
            int(rate[1]) if rate else 0,
            len(list(Path(kept).iterdir())),
            float(measured.stdout),
            failed,
        )


def _run(name: str, arguments: list[str]) -> None:
    """Inside that process. Does not return."""
    import atheris

    with atheris.instrument_imports(include=["warmwire"]):
        from tests.fuzz.targets import TARGETS, agree, inputs
    read = TARGETS[name].read

    def one(data: bytes) -> None:
        agree(read, data, random.Random(len(data)))

    def change(data: bytes, most: int, seed: int) -> bytes:
        rng = random.Random(seed)
        return damage(data, rng)[:most] if rng.random() < 0.5 else atheris.Mutate(data, most)

    with tempfile.TemporaryDirectory() as seeds:
        for number, data in enumerate(inputs(name)):
            (Path(seeds) / str(number)).write_bytes(data)
        limits = {"max_len": MOST, "timeout": SLOW, "report_slow_units": SLOW, "rss_limit_mb": MEMORY}
        options = [f"-{name}={value}" for name, value in {**limits, "print_final_stats": 1}.items()]
        atheris.Setup([sys.argv[0], *options, *arguments, seeds], one, custom_mutator=change)
        atheris.Fuzz()


def _measure(name: str, kept: Path) -> float:
    """The share of the lines of a target's modules that its inputs reach, those included that run once, at import."""
    import coverage

    watch = coverage.Coverage(data_file=None, source=["warmwire"], config_file=False)
    watch.start()
    from tests.fuzz.targets import TARGETS, inputs

    target = TARGETS[name]
    for data in [*inputs(name), *(path.read_bytes() for path in kept.iterdir())]:
        target.read(iter([data]))
    watch.stop()
    found = missed = 0
    for module in {module for module in sys.modules if _is_of(module, target.modules)}:
        _, lines, _, missing, _ = watch.analysis2(sys.modules[module])
        found, missed = found + len(lines), missed + len(missing)
    return 1 - missed / found


def _is_of(module: str, names: tuple[str, ...]) -> bool:
    return any(module == f"warmwire.{name}" or module.startswith(f"warmwire.{name}.") for name in names)


if __name__ == "__main__":
    logging.disable()
    if sys.argv[2] == "--measure":
        print(_measure(sys.argv[1], Path(sys.argv[3])))
    else:
        _run(sys.argv[1], sys.argv[2:])
