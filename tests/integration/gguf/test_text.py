"""Real llama.cpp on models made here: text, and what a cancel costs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import tiny_gguf
from tests.gguf_support import ask, load
from tests.model_support import run, text_of
from warmwire.errors import CancelledError, InvalidRequestError
from warmwire.models.openai.model import ChatModel
from warmwire.wire.generation.messages import Message, OutBlock, Request, StopReason, text_block

pytest.importorskip("xllamacpp")


EMOJI = "😀世界é!"
"""No byte in it twice, so that a chain can be cut at each one."""


def test_streams_text_with_usage_and_reason(chain: ChatModel) -> None:
    blocks, finish = run(chain, ask())
    assert [block.delta for block in blocks] == ["Hello", ", ", "world", "!"]
    assert finish.stop_reason == StopReason.END_TURN
    # <|im_start|> user \n h i <|im_end|> \n <|im_start|> assistant \n, one token a byte; four pieces and the end.
    assert finish.usage.input_tokens == 1 + 5 + 2 + 1 + 1 + 1 + 10
    assert finish.usage.output_tokens == 5


def test_usage_tells_what_was_known_of_a_prompt_and_counts_it_all_the_same(chain: ChatModel) -> None:
    run(chain, ask("another"))
    first = run(chain, ask("x" * 200))[1].usage
    second = run(chain, ask("x" * 200 + " and more"))[1].usage
    assert second.input_tokens - first.input_tokens == len(" and more")
    assert isinstance(first.cached_tokens, int)
    assert isinstance(second.cached_tokens, int)
    assert first.cached_tokens < 100 < 200 <= second.cached_tokens < second.input_tokens


def test_max_tokens_ends_the_answer(chain: ChatModel) -> None:
    blocks, finish = run(chain, ask(max_tokens=2))
    assert text_of(blocks) == "Hello, "
    assert (finish.stop_reason, finish.usage.output_tokens) == (StopReason.MAX_TOKENS, 2)


def test_the_context_ends_an_endless_answer(made: Path) -> None:
    model = load(tiny_gguf.text_model(made / "short.gguf", ["a", "b"], loop=True), "?ctx=300")
    assert model.capabilities.context == 512  # llama.cpp rounds up
    blocks, finish = run(model, ask())
    assert finish.stop_reason == StopReason.MAX_TOKENS
    assert finish.usage.input_tokens + finish.usage.output_tokens in (512, 513)
    assert set(text_of(blocks)) == {"a", "b"}


def test_a_prompt_over_the_context_is_invalid(chain: ChatModel) -> None:
    with pytest.raises(InvalidRequestError, match="context"):
        run(chain, ask("x" * 5000))
    assert text_of(run(chain, ask())[0]) == "Hello, world!"


def _splits() -> list[list[bytes]]:
    data = EMOJI.encode()
    pairs = [[data[:a], data[a:]] for a in range(1, len(data))]
    return [[bytes([byte]) for byte in data], *pairs[:: max(1, len(pairs) // 5)]]


@pytest.mark.parametrize("pieces", _splits(), ids=lambda pieces: str(len(pieces[0])) + "of" + str(len(pieces)))
def test_text_is_whole_however_tokens_cut_it(made: Path, pieces: list[bytes]) -> None:
    model = load(tiny_gguf.text_model(made / "cut.gguf", pieces))
    blocks, finish = run(model, ask())
    assert text_of(blocks) == EMOJI
    for block in blocks:
        assert "\ufffd" not in block.delta
    assert finish.usage.output_tokens == len(pieces) + 1


def test_bytes_that_are_no_text_do_not_stall(made: Path) -> None:
    model = load(tiny_gguf.text_model(made / "broken.gguf", [b"ok ", b"\xf0\x9f", b" then", b"\xe4"]))
    text = text_of(run(model, ask())[0])
    assert text.startswith("ok ")
    assert " then" in text
    text.encode()


def test_system_and_earlier_turns_reach_the_template(chain: ChatModel) -> None:
    turns = [
        Message("system", [text_block("sys")]),
        Message("user", [text_block("one")]),
        Message("assistant", [text_block("two")]),
        Message("user", [text_block("th"), text_block("ree")]),
    ]
    _, finish = run(chain, Request(messages=turns, temperature=0))
    letters = len("systemsys" + "userone" + "assistanttwo" + "userthree" + "assistant")
    assert finish.usage.input_tokens == letters + 3 * 4 + 4 + 2  # three marks a turn and a newline, two for ours


# ---------------------------------------------------------------------- cancel


def cancel_after(model: ChatModel, request: Request, when: Callable[[list[OutBlock]], bool]) -> tuple[float, int]:
    """Seconds from cancel to the model being idle, and deltas seen."""
    cancelled = threading.Event()
    blocks: list[OutBlock] = []
    at: list[float] = []

    def wait() -> None:
        while not when(blocks):
            time.sleep(0.001)
        at.append(time.monotonic())
        cancelled.set()

    watcher = threading.Thread(target=wait)
    watcher.start()
    with pytest.raises(CancelledError):
        model.generate(request, blocks.append, cancelled)
    watcher.join()
    return time.monotonic() - at[0], len(blocks)


def test_cancel_in_decode(endless: ChatModel) -> None:
    took, deltas = cancel_after(endless, ask(), lambda blocks: len(blocks) > 5)
    assert deltas < 3000
    assert took < 5
    assert_idle(endless)


def test_cancel_in_prefill(endless: ChatModel) -> None:
    start = time.monotonic()
    run(endless, ask("y" * 4000, max_tokens=1))
    whole = time.monotonic() - start
    began = time.monotonic()
    took, deltas = cancel_after(endless, ask("z" * 4000), lambda _: time.monotonic() - began > whole / 8)
    assert deltas == 0
    assert took < max(0.2, whole / 3)
    assert_idle(endless)


def test_cancel_before_it_begins(chain: ChatModel) -> None:
    cancelled = threading.Event()
    cancelled.set()
    blocks: list[OutBlock] = []
    with pytest.raises(CancelledError):
        chain.generate(ask(), blocks.append, cancelled)
    assert blocks == []


def test_an_error_in_emit_ends_the_request_and_comes_back(endless: ChatModel) -> None:
    class Full(Exception):
        pass

    def emit(block: OutBlock) -> None:
        raise Full

    with pytest.raises(Full):
        endless.generate(ask(), emit, threading.Event())
    assert_idle(endless)


def assert_idle(model: ChatModel) -> None:
    """The engine has no work left: the next short request is answered at once."""
    start = time.monotonic()
    assert text_of(run(model, ask(max_tokens=2))[0]) == "round and "
    assert time.monotonic() - start < 10
