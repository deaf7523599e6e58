"""What got slower since a release: two results row by row, each with the spread that it was measured with.

    python -m benchmarks.compare [NEW] [--base FILE]

NEW is the latest result, the base the last released one that is not NEW itself. Rows are the same if group, name and
what stands beside them are. Compared are ratios, which hardly depend on how fast the machine was that day; a row
without one only where both were measured on the same processor. A row got slower if its spread begins where the spread
before had ended. Exit status: 1 if one did, 2 if there is nothing to compare with.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal, NamedTuple

from packaging.version import Version

from benchmarks.results import LATEST, RELEASES, Result, load
from benchmarks.rows import Row, Spread
from benchmarks.table import figure, spread

ONCE: Final = 0.1
"""How far off either way something is taken to be that was measured once."""

Key = tuple[str, str, str]


class Change(NamedTuple):
    """A row of both results."""

    row: Row
    before: Spread
    after: Spread
    verdict: Literal["slower", "faster", "same"]


def compared(new: Result, base: Result) -> list[Change]:
    """What became of each row that both have."""
    before = {key(row): row for row in base.rows}
    same = new.machine.same_as(base.machine)
    pairs = [(row, before[key(row)]) for row in new.rows if key(row) in before]
    return [change(row, old) for row, old in pairs if same or row.ratio or row.points]


def key(row: Row) -> Key:
    return row.group, row.name, row.beside


def change(new: Row, old: Row) -> Change:
    """One row, now and before."""
    now, then = _wide(new.judged), _wide(old.judged)
    up, down = now.low > then.high, now.high < then.low
    verdict: Literal["slower", "faster", "same"] = "same"
    if up or down:
        verdict = "faster" if up == new.more else "slower"
    return Change(new, old.judged, new.judged, verdict)


def _wide(value: Spread) -> Spread:
    if value.count > 1:
        return value
    off = ONCE * abs(value.middle)
    return Spread(value.middle - off, value.middle, value.middle + off)


def gone(new: Result, base: Result) -> list[Row]:
    """Rows that only the base has, of groups that both have, where both are of one scale."""
    if new.scale != base.scale:
        return []
    there, groups = {key(row) for row in new.rows}, {row.group for row in new.rows}
    return [row for row in base.rows if key(row) not in there and row.group in groups]


def report(new: Result, base: Result) -> Iterator[str]:
    """What is told of it."""
    changes = compared(new, base)
    yield f"{len(changes)} rows of {new.machine.version} ({new.machine.when}) and of {base.machine.version}"
    if not new.machine.same_as(base.machine):
        yield f"measured on {new.machine.processor} and on {base.machine.processor}: ratios only"
    for verdict in ("slower", "faster"):
        for row, before, after, _ in (each for each in changes if each.verdict == verdict):
            what = f"{row.group}: {row.name}{f' / {row.beside}' if row.beside else ''}"
            yield (
                f"{verdict}: {what}: {figure(before.middle)} ({spread(before)}) before, "
                f"{figure(after.middle)} ({spread(after)}) now"
            )
    yield from (f"not measured now: {row.group}: {row.name}" for row in gone(new, base))


def last_released(new: Result, folder: Path = RELEASES) -> Path | None:
    """The results of the highest version in a folder that are not these."""
    files = sorted(folder.glob("*.json"), key=lambda path: Version(path.stem), reverse=True)
    return next((path for path in files if load(path).machine != new.machine), None)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("new", nargs="?", type=Path, default=LATEST)
    parser.add_argument("--base", type=Path)
    options = parser.parse_args()
    if not options.new.exists():
        print(f"{options.new}: no results; `make bench` makes them", file=sys.stderr)
        return 2
    new = load(options.new)
    base = options.base or last_released(new)
    if base is None:
        print(f"{RELEASES}: no other results to compare with; name some with BASE=FILE", file=sys.stderr)
        return 2
    print(*report(new, load(base)), sep="\n")
    return 1 if any(each.verdict == "slower" for each in compared(new, load(base))) else 0


if __name__ == "__main__":
    sys.exit(main())
