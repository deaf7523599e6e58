"""python -m tests.soak [--minutes 5] [--seed N] [--output docs/reliability.md]

Starts a host of each wire and a bridge, lets every actor loose on them for so many minutes, and looks at what is left.
The minutes are those in which faults are begun. What is under way then has a minute to end by itself; a program that
has not ended is told to, and nothing is asked of it. On a machine of its own a run ends seconds after its time; on one
that others use it may take a minute and a half more, with the start and the looks at what is left.

Prints the counts and, where something did not hold, what it was, where the log of everything that was done lies, and
how to do it again; the exit status is 1 then. With --output the counts of a good run are written into that page.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import re
import shutil
import signal
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from statistics import median

import httpx

from tests.figures import write_between
from tests.soak.bridge import Http
from tests.soak.fleet import Fleet
from tests.soak.grall import Grall
from tests.soak.ledger import ALLOWED_MB, ALLOWED_SHARE, Ledger
from tests.soak.lives import Lives
from tests.soak.runs import Dropper, Reader
from tests.soak.stage import GRACE, HANGS, WAIT, Actor, Process, Stage
from tests.soak.tasks import Tasks
from tests.soak.wire import TIMEOUT, Breaker, Crowd, Rude, Staller, Subscriber, Survivor, order, words
from tests.support import DATA, PATIENCE, Peer, children, is_running
from warmwire.transport.dial import connect
from warmwire.transport.listen import raise_descriptor_limit

WORKERS = 3
SPARE = 2 * WORKERS + 4
"""Descriptors of a kind, and mappings, that a host may have more than before the run: it keeps some for the next."""

LAST = WAIT
"""Seconds that what is under way has at the end of the run: a worker that was killed may only just be replaced."""

END = "at the end"


class Watched:
    """A host that lives through the whole run: what it holds before, meanwhile and after."""

    def __init__(self, name: str, process: Process) -> None:
        self.name, self.process = name, process
        self.before = self.held()
        self.memory: list[float] = []

    def held(self) -> dict[str, int]:
        """Descriptors by what they are, and mappings of shared memory. Pictures' segments are kept for the next."""
        folder = Path(f"/proc/{self.process.pid}/fd")
        targets = []
        for name in os.listdir(folder):
            with suppress(FileNotFoundError):  # closed meanwhile
                targets.append(os.readlink(folder / name))
        kinds = {kind: sum(kind in target for target in targets) for kind in ("socket:", "pipe:", "memfd:")}
        maps = Path(f"/proc/{self.process.pid}/maps").read_text()
        return kinds | {"others": len(targets) - sum(kinds.values()), "mappings": maps.count("memfd:")}

    def sample(self) -> None:
        """Note how much memory of its own it has, in MB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(r"RssAnon:\s+(\d+) kB", status)
        if found is not None:
            self.memory.append(int(found[1]) / 1024)

    def growth(self) -> tuple[float, float]:
        """The most that it had in two thirds of the run, and its median in the last, in MB.

        A crowd leaves a heap with holes behind, which the next one fills: the first of them is not growth.
        """
        last = 2 * len(self.memory) // 3
        return max(self.memory[:last]), median(self.memory[last:])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak")
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    raise_descriptor_limit()
    folder = Path(tempfile.mkdtemp(prefix="ww-soak-", dir="/tmp"))
    print(f"soak: seed {options.seed}, everything that is done is written to {folder}/actions", flush=True)
    ledger = Ledger(folder / "actions")
    stage = Stage(folder, options.seed, 60 * options.minutes, ledger)
    try:
        grown = play(stage)
    finally:
        stage.end_all()
        ledger.close()
    return report(stage, grown, options.output)


def play(stage: Stage) -> list[str]:
    """The run; returns how each host's memory went."""
    wire, grall = str(stage.folder / "wire.sock"), str(stage.folder / "grall.sock")
    served = stage.start("serve", "faulty-tasks", "--socket", wire, "--workers", str(WORKERS), "--queue", "2000",
                         "--request-timeout", f"{TIMEOUT}", "--write-timeout", f"{TIMEOUT}")  # fmt: skip
    chained = stage.start("ipc", str(DATA / "grall" / "utf8_d6.gril"), grall, "--rng-seed", "7")
    bridged = stage.start("bridge", "--socket", wire, "--listen", "127.0.0.1:0")
    for path in (wire, grall):
        connect(path, wait=HANGS).close()
    found = stage.soon(lambda: re.search(r"http://\S+", bridged.said()), HANGS)
    if found is None:
        raise RuntimeError(f"the bridge did not start: {bridged.said()}")
    answered(wire)
    httpx.get(f"{found[0]}/models", timeout=PATIENCE, trust_env=False).raise_for_status()
    until = time.monotonic() + stage.seconds
    hosts = [Watched("serve", served), Watched("ipc", chained), Watched("bridge", bridged)]
    actors: list[Actor] = [
        *(Rude(stage, wire, number) for number in range(3)),
        *(Grall(stage, grall, number) for number in range(2)),
        *(Http(stage, found[0], number) for number in range(2)),
        *(actor(stage, wire) for actor in (Survivor, Staller, Subscriber, Crowd, Tasks)),
        Breaker(stage, served, wire),
        *(actor(stage) for actor in (Reader, Dropper, Lives, Fleet)),
    ]
    for actor in actors:
        actor.start()
    while time.monotonic() < until:
        for host in hosts:
            host.sample()
        stage.over.wait(0.5)
    stage.over.set()
    end(stage, hosts, actors)
    look(stage, hosts, wire)
    return memory(stage, hosts)


def end(stage: Stage, hosts: list[Watched], actors: list[Actor]) -> None:
    """Wait for what is under way, then cut it off. Who only asks a host must have been answered by then."""
    last = time.monotonic() + LAST
    for actor in actors:
        actor.join(max(0.0, last - time.monotonic()))
        stage.ledger.check(END, actor.has_processes or not actor.is_alive(), f"{actor.name} has not ended")
    stage.cut_off(but=[host.process for host in hosts])
    for actor in actors:
        actor.join(GRACE)


def answered(path: str) -> bool:
    """Whether a host gives the answer that it should."""
    with Peer(path, timeout=WAIT) as peer:
        peer.send(order("last", 3))
        text, terminal = peer.answer()
    return terminal["type"] == "done" and text.endswith(words("last", 3))


def look(stage: Stage, hosts: list[Watched], wire: str) -> None:
    """What is left: of each host while it lives, and of all when they have ended."""
    check = stage.ledger.check
    stage.ledger.did(END)
    served = hosts[0].process
    check(END, stage.soon(lambda: len(children(served.pid)) == WORKERS), "not as many workers as there were")
    check(END, answered(wire), "the host does not answer")
    for host in hosts:
        check(END, host.process.status is None, f"{host.name} has ended: {host.process.said()[-600:]}")
        if host.process.status is None:
            allowed = {kind: count + SPARE for kind, count in host.before.items()}
            none = stage.soon(lambda h=host, a=allowed: all(n <= a[kind] for kind, n in h.held().items()), 5)
            check(END, none, f"{host.name} had {host.before} and has {host.held()}")
        check(END, not host.process.stumbles(), f"{host.name}: {host.process.stumbles()}")
    workers = children(served.pid)
    for host in hosts:
        host.process.signal(signal.SIGTERM)
    for host in hosts:
        check(END, host.process.wait() == 0, f"{host.name}: {host.process.said()[-600:]}")
    check(END, stage.soon(lambda: not any(map(is_running, workers)), 5), "workers outlive their host")
    check(END, stage.soon(lambda: not stage.left_behind(), 5), f"processes left: {stage.left_behind()}")
    left = [path.name for path in stage.folder.iterdir() if path.suffix in (".sock", ".lock")]
    check(END, not left, f"sockets and locks left: {left}")
    check(END, not os.listdir(stage.temporary), f"temporary files left: {os.listdir(stage.temporary)}")


def memory(stage: Stage, hosts: list[Watched]) -> list[str]:
    """How each host's memory went. A run of less than a minute ends before it has settled, so nothing is asked then."""
    said = []
    for host in hosts:
        before, after = host.growth()
        said.append(f"{host.name} {before:.1f} and {after:.1f} MB")
        if stage.seconds >= 60:
            flat = after <= before * (1 + ALLOWED_SHARE) + ALLOWED_MB
            stage.ledger.check(END, flat, f"memory of {host.name} grew from {before:.1f} to {after:.1f} MB")
    return said


def report(stage: Stage, grown: list[str], output: Path | None) -> int:
    """Print what was found; write the page of a good run, and keep the folder of a bad one."""
    ledger = stage.ledger
    took = f"{stage.seconds / 60:g} minutes, seed {stage.seed}, {platform.system()}, Python {platform.python_version()}"
    lines = [
        f"{took}, {os.cpu_count()} processors. Memory of each host's own, the most of two thirds and the median"
        f" of the last: {', '.join(grown)}.",
        "",
        *ledger.table(),
    ]
    print(*lines, sep="\n")
    if ledger.violations:
        print(*(f"\nsoak: {what}" for what in ledger.violations[:20]), sep="\n", file=sys.stderr)
        print(f"\nsoak: {len(ledger.violations)} violations; what was done is in {ledger.path}", file=sys.stderr)
        print(f"again: python -m tests.soak --minutes {stage.seconds / 60:g} --seed {stage.seed}", file=sys.stderr)
        return 1
    if output is not None:
        write_between(output, "soak", lines)
    shutil.rmtree(stage.folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
