"""What a warm model gives to chats: prompts that it knows, answers computed together, and how soon it stops.

    python benchmarks/chats.py [--model x.gguf] [--seconds 120] [--json]

Cached: the first delta of a second turn beside that of the first, whose prompt is some 1,500 tokens, to a client of
`warmwire serve`, with one request at a time and with `--parallel 4`. Parallel: the tokens a second of four answers at
once beside the same four one after the other, by a host, and by the engine in this process, which is the limit; then
the host's four beside the engine's four. Cancel: how much longer the next one waits where an answer was left half-way.
Embeddings: 32 texts in one request beside 32 requests.

Without --model it is the model of `host.py`. The suite runs it at the scale `long` only.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Final

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.host import PROMPT, address, ask, bare, default_model, hosted, serving
from benchmarks.rows import Budget, Rows, alone, in_turn, paired, timed
from benchmarks.table import show
from warmwire.client import Client, Message, Request, text_block
from warmwire.models.registry import load_model
from warmwire.system.cpus import cores

GROUP: Final = "chats"
TOGETHER: Final = 4
MOST_SECOND_TURN, LEAST_TOGETHER, MOST_CANCEL_MS = 0.25, 2.0, 100.0
QUESTIONS: Final = (
    "Tell me about the sea and its animals.",
    "Write a list of ten European cities.",
    "Why is the sky blue during the day?",
    "Count slowly from one to fifty in words.",
)


def conversation(number: int, turns: int, words: int) -> Request:
    """A first turn like no other, or the second one after it."""
    said = " ".join(f"{number} and {i} are" for i in range(words // 4))
    texts = [("user", said), ("assistant", "Numbers."), ("user", "And then?")][: 2 * turns - 1]
    messages = [Message(role, [text_block(text)]) for role, text in texts]  # type: ignore[arg-type]
    return Request(messages=messages, max_tokens=1, temperature=0)


def cache_rows(client: Client, name: str, words: int, seconds: float) -> Rows:
    """The second turn beside the first."""
    until, pairs = time.monotonic() + seconds, []
    for number in count():
        first = hosted(client, conversation(number, 1, words)).first_ms
        pairs.append((hosted(client, conversation(number, 2, words)).first_ms, first))
        if len(pairs) >= 3 and time.monotonic() > until:
            break
    title = f"second turn, first delta, {name}"
    yield paired(GROUP, title, "ms", "first turn", pairs, more=False, wanted=MOST_SECOND_TURN)


Answer = Callable[[str], int]
"""Asks a question; gives the tokens of its answer."""


def rate(answer: Answer, at_once: int) -> float:
    """Tokens a second of all questions, so many at a time."""
    begun = time.perf_counter()
    with ThreadPoolExecutor(at_once) as askers:
        tokens = sum(askers.map(answer, QUESTIONS))
    return tokens / (time.perf_counter() - begun)


def parallel_rows(path: str, threads: int, directory: str, tokens: int, seconds: float) -> Rows:
    """Four answers at once beside one after the other, by the host and by the engine alone."""
    model = load_model(f"{path}?parallel={TOGETHER}&ctx=1024", threads)
    with serving(f"{path}?ctx=1024", threads, directory, "--parallel", str(TOGETHER)):

        def by_host(question: str) -> int:
            with Client(address(directory)) as own:
                return hosted(own, ask(question, tokens)).tokens

        def by_engine(question: str) -> int:
            return bare(model, ask(question, tokens)).tokens

        for name, answer, wanted in (
            ("the engine alone", by_engine, None),
            ("a host", by_host, LEAST_TOGETHER),
        ):
            pairs = in_turn(lambda: rate(answer, TOGETHER), lambda: rate(answer, 1), seconds / 3)  # noqa: B023
            title = f"{TOGETHER} answers at once, {name}"
            yield paired(GROUP, title, "tokens/s", "one by one", pairs, more=True, wanted=wanted)
        pairs = in_turn(lambda: rate(by_host, TOGETHER), lambda: rate(by_engine, TOGETHER), seconds / 3)
        title = f"{TOGETHER} answers at once, a host"
        yield paired(GROUP, title, "tokens/s", "the engine alone", pairs, more=True, wanted=0.9)


def cancel_rows(client: Client, addr: str, seconds: float) -> Rows:
    """How much longer somebody else waits for a first delta where an answer has just been left."""

    def after_leaving() -> float:
        with Client(addr) as leaving:
            next(iter(leaving.generate(ask(PROMPT, 512)).blocks()))
        return hosted(client, ask("one", 1)).first_ms

    def after_an_answer() -> float:
        hosted(client, ask(PROMPT, 1))
        return hosted(client, ask("one", 1)).first_ms

    pairs = in_turn(after_leaving, after_an_answer, seconds, most=20)
    added = [ours - theirs for ours, theirs in pairs]
    yield alone(GROUP, "first delta after another left, added", "ms", added, more=False, wanted=MOST_CANCEL_MS)


def embedding_rows(threads: int, directory: str, seconds: float) -> Rows:
    """Texts in one request beside as many requests."""
    from tests import tiny_gguf

    path = str(tiny_gguf.encoder(Path(directory) / "encoder.gguf"))
    texts = [f"the quick brown fox {i}" for i in range(32)]
    with serving(path, threads, directory) as client:
        pairs = in_turn(
            lambda: 1000 * timed(lambda: client.embed(texts)),
            lambda: 1000 * timed(lambda: [client.embed([text]) for text in texts]),
            seconds,
            most=100,
        )
    yield paired(GROUP, f"{len(texts)} texts in one request", "ms", "one by one", pairs, more=False)


def measure(path: str | None, seconds: float, words: int, tokens: int) -> Rows:
    threads = cores()
    with tempfile.TemporaryDirectory(prefix="warmwire-") as directory:
        yield from embedding_rows(threads, directory, seconds / 20)
        path = path or default_model(directory)
        with serving(path, threads, directory) as client:
            yield from cache_rows(client, "one at a time", words, seconds / 5)
            yield from cancel_rows(client, address(directory), seconds / 20)
        with serving(path, threads, directory, "--parallel", str(TOGETHER)) as client:
            yield from cache_rows(client, f"--parallel {TOGETHER}", words, seconds / 5)
        yield from parallel_rows(path, threads, directory, tokens, seconds / 2)


def rows(budget: Budget) -> Rows:
    yield from measure(None, budget.share(1), 1000, 32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", metavar="PATH", help="a GGUF file of a language model")
    parser.add_argument("--seconds", type=float, default=120, help="what all of it may take, more or less")
    parser.add_argument("--words", type=int, default=1000, help="of a first turn; a word is some one and a half tokens")
    parser.add_argument("--tokens", type=int, default=32, help="of an answer at once with others, at most")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    args = parser.parse_args()
    show(measure(args.model, args.seconds, args.words, args.tokens), args.json)


if __name__ == "__main__":
    main()
