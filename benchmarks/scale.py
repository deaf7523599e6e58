"""What a Ray cluster reads, from 1 to 1,000 machines: a simulation from rates that are measured on this one.

    python benchmarks/scale.py FILE...          # measure with these scans, then print the table
    python benchmarks/scale.py --read 1.6 --drive 0.2 --bytes 11e6      # with rates measured before

A page costs a reader `read` seconds of a core, the driver `drive` seconds (it opens and draws a page, and puts its text
in order), and its picture goes over the driver's network once. Pages come to the driver one after another, go to
whichever core is free first, and a core has one at a time: a queue with one server before many. It assumes equal pages,
equal cores, no lost machines, and models that are loaded. What the driver computes is bound to one core.
"""

from __future__ import annotations

import argparse
import heapq
import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple

NODES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
MOST_PAGES = 200_000


class Rates(NamedTuple):
    """Seconds of a core of a reader and of the driver, and bytes of the picture, for a page."""

    read: float
    drive: float
    size: float


def measure(files: list[str]) -> Rates:
    """Read files with a model in this process, then once more with its answers: what the driver does."""
    from warmwire.client import Local, Recognition
    from warmwire.documents.input.open import open_source
    from warmwire.documents.reading.reader import Reader, ReadOptions, Task
    from warmwire.models.registry import load_page_handler

    answers: list[Recognition] = []
    sizes: list[int] = []
    spent = [0.0]
    model = Local(load_page_handler("pages", 1))

    class Measured:
        """Reads, and remembers what it said."""

        def read(self, image: Any, **options: Any) -> Recognition:
            begun = time.process_time()
            answers.append(model.read(image, **options))
            spent[0] += time.process_time() - begun
            sizes.append(image.nbytes)
            return answers[-1]

        def close(self) -> None: ...

    class Known(Measured):
        """Says it again."""

        def read(self, image: Any, **options: Any) -> Recognition:
            return answers.pop(0)

    def run(connect: Callable[[], Any]) -> int:
        sources = [open_source(file, "") for file in files]
        reader = Reader(connect, ReadOptions(force=True), 1)
        tasks = [Task(source, range(1, len(source) + 1)) for source in sources]
        return sum(len(reading.pages) for reading in reader.read_all(tasks))

    pages = run(Measured)
    begun = time.process_time()
    run(Known)
    return Rates(spent[0] / pages, (time.process_time() - begun) / pages, sum(sizes) / pages)


def simulate(rates: Rates, cores: int, network: float, pages: int) -> float:
    """Seconds for so many pages on so many cores behind one driver whose network takes `network` bytes a second."""
    free = [0.0] * cores  # when each core has read what it has, as a heap
    drawn = sent = 0.0
    for _ in range(pages):
        drawn += rates.drive
        sent = max(sent, drawn) + rates.size / network
        heapq.heapreplace(free, max(sent, free[0]) + rates.read)
    return max(free)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--read", type=float, help="processor seconds that a reader takes for a page")
    parser.add_argument("--drive", type=float, help="processor seconds that the driver takes for a page")
    parser.add_argument("--bytes", type=float, help="bytes of a page's picture")
    parser.add_argument("--cores", type=int, default=16, help="cores of a machine")
    parser.add_argument("--network", type=float, default=1.25e9, help="bytes a second that the driver sends")
    parser.add_argument("--drivers", type=int, default=1, help="calls of the command at once, each with its own files")
    given = parser.parse_args()
    if given.files:
        rates = measure(given.files)
    elif None not in (given.read, given.drive, given.bytes):
        rates = Rates(given.read, given.drive, given.bytes)
    else:
        parser.error("give scans to measure with, or --read, --drive and --bytes")
    print(f"read {rates.read:.3f} s, drive {rates.drive:.3f} s, picture {rates.size / 1e6:.1f} MB a page")
    print(
        f"{3600 / rates.read:,.0f} pages a core-hour; {rates.read * 1e6 / 3600:,.0f} core-hours for a million pages\n"
    )
    print("| machines | pages / s | of what their cores could do | hours for a million | drivers that keep all busy |")
    print("|---:|---:|---:|---:|---:|")
    for nodes in NODES:
        cores = max(1, nodes * given.cores // given.drivers)
        pages = min(MOST_PAGES, 50 * cores)
        speed = given.drivers * pages / simulate(rates, cores, given.network, pages)
        busy = nodes * given.cores / rates.read  # pages a second that the cores could read
        wanted = math.ceil(busy * max(rates.drive, rates.size / given.network))
        print(f"| {nodes} | {speed:,.1f} | {speed / busy:.1%} | {1e6 / speed / 3600:,.2f} | {wanted:,} |")


if __name__ == "__main__":
    main()
