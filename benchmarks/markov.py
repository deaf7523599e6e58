"""What training, loading and running a Markov model cost, beside the limits of the machine.

    python benchmarks/markov.py [--megabytes 10] [--large] [--json]

The text is made here: words of a Zipf vocabulary in which each has favourite followers, ten megabytes of which give
two million contexts of depth 8. Training stands beside `numpy.sort` of as many random 64-bit keys as the text has
bytes, and beside counting its bytes once; loading beside reading the file, generating beside a copy of as many bytes.
After that comes what the server costs, from `grall.py` beside this file.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import grall
from benchmarks.prose import make_text
from benchmarks.rows import Budget, Rows, alone, growth, in_turn, paired, timed
from benchmarks.table import show
from warmwire.markov import Chain, Generation, kernel, load

GROUP: Final = "markov"
MODEL: Final = "text.gril"
SORTS, BYTES_EACH, LOADS, THREADS_GAIN, GROWTH = 5.0, 40.0, 3.0, 1.6, 1.1
"""What is wanted: sorts that training takes at most, bytes of memory per byte of text, times reading that loading
takes, what a second thread adds at least, and the exponent of training time."""


def train(text: Path, model: Path) -> tuple[float, int]:
    """Seconds and peak bytes of training in a process of its own, without the interpreter's start."""
    program = (
        "import sys, time, resource\n"
        "from warmwire.markov import train_file\n"
        "begun = time.perf_counter(); train_file(sys.argv[2], [sys.argv[1]], 8)\n"
        "print(time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)"
    )
    out = subprocess.run([sys.executable, "-c", program, text, model], check=True, capture_output=True, text=True)
    seconds, peak = out.stdout.split()
    return float(seconds), int(peak)


def made(size: int, folder: Path) -> Path:
    """A text of so many bytes; it is made once."""
    path = folder / f"{size}.txt"
    if not path.exists():
        make_text(size, path)
    return path


def training_rows(size: int, folder: Path, seconds: float) -> Rows:
    """Training of one text, its memory, beside both limits."""
    text, model = made(size, folder), folder / MODEL
    keys = np.random.default_rng(0).integers(0, 2**64, size, dtype=np.uint64)
    peaks = []

    def ours() -> float:
        taken, peak = train(text, model)
        peaks.append(peak / size)
        return 1000 * taken

    def counting() -> float:
        return 1000 * timed(lambda: np.bincount(np.fromfile(text, np.uint8), minlength=256))

    name = f"train {size / 1e6:g} MB"
    pairs = in_turn(ours, lambda: 1000 * timed(lambda: np.sort(keys)), seconds / 2)
    yield paired(GROUP, name, "ms", "numpy.sort of as many keys", pairs, more=False, wanted=SORTS)
    pairs = in_turn(ours, counting, seconds / 2)
    yield paired(GROUP, name, "ms", "counting bytes once", pairs, more=False)
    yield alone(GROUP, f"{name}, memory", "bytes/byte", peaks, more=False, wanted=BYTES_EACH)


def growth_row(sizes: Sequence[int], folder: Path) -> Rows:
    """How training grows with the text."""
    points = [
        (size / 1e6, min(train(made(size, folder), folder / "growth.gril")[0] for _ in range(2))) for size in sizes
    ]
    yield growth(GROUP, "training", ("MB of text", "s"), points, wanted=GROWTH)


def loading_rows(model: Path, seconds: float) -> Rows:
    name = f"load and verify {model.stat().st_size / 1e6:.0f} MB"
    pairs = in_turn(lambda: 1000 * timed(lambda: load(model)), lambda: 1000 * timed(model.read_bytes), seconds)
    yield paired(GROUP, name, "ms", "reading the file", pairs, more=False, wanted=LOADS)


def generate(chain: Chain, size: int, seed: int) -> None:
    source = Generation(chain, rng_seed=seed)
    for _ in range(size >> 16):
        source.take(1 << 16)


def generation_rows(model: Path, seconds: float) -> Rows:
    """One thread beside a copy of memory, two beside one."""
    chain = load(model)
    size = 8 << 20 if kernel.COMPILED else 1 << 16
    seeds = iter(range(1 << 30))
    source, target = np.ones(size, np.uint8), np.ones(size, np.uint8)

    def one() -> float:
        return size / timed(partial(generate, chain, size, next(seeds))) / 1e6

    def copy() -> float:
        return size / timed(lambda: np.copyto(target, source)) / 1e6

    def two() -> float:
        def both() -> None:
            threads = [threading.Thread(target=generate, args=(chain, size, next(seeds))) for _ in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        return 2 * size / timed(both) / 1e6

    preparing = [1000 * timed(each.prepare) for each in (chain, load(model), load(model))]
    yield alone(GROUP, f"prepare {chain.header.nodes:,} contexts", "ms", preparing, more=False)
    pairs = in_turn(one, copy, seconds / 2)
    yield paired(GROUP, "generate, one thread", "MB/s", "copy of memory", pairs, more=True)
    pairs = in_turn(two, one, seconds / 2)
    yield paired(GROUP, "generate, two threads", "MB/s", "one thread", pairs, more=True, wanted=THREADS_GAIN)


def rows(budget: Budget) -> Rows:
    """Training takes most of the time; the largest texts of its growth are trained on twice, each a minute at most."""
    size = 1_000_000 if budget.quick else 10_000_000
    sizes = {"quick": (3, 10, 30), "full": (10, 100, 1000), "long": (10, 100, 1000, 10_000)}[budget.scale]
    with tempfile.TemporaryDirectory(prefix="warmwire-") as name:
        folder = Path(name)
        yield from measure(size, folder, budget.share(0.4))
        yield from growth_row([100_000 * each for each in sizes], folder)


def measure(size: int, folder: Path, seconds: float) -> Rows:
    """What one size of text costs; leaves the model in the folder."""
    yield from training_rows(size, folder, seconds / 2)
    yield from loading_rows(folder / MODEL, seconds / 8)
    yield from generation_rows(folder / MODEL, seconds / 4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=10, help="size of the text")
    parser.add_argument("--large", action="store_true", help="also train on ten times as much")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    options = parser.parse_args()
    size = int(options.megabytes * 1e6)

    def everything() -> Rows:
        with tempfile.TemporaryDirectory(prefix="warmwire-") as name:
            folder = Path(name)
            yield from measure(size, folder, 60)
            if options.large:
                yield from growth_row([size // 10, size, 10 * size], folder)
            yield from grall.measure(folder / MODEL, 20)

    show(everything(), options.json)
    if not kernel.COMPILED:
        print("the kernel is interpreted: a hundred times slower than compiled", file=sys.stderr)


if __name__ == "__main__":
    main()
