"""A GGUF model in a worker process behind a socket: the whole way of a request, and what closing costs."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import tiny_gguf
from tests.support import HostThread, blob_pair, eventually, image_body, json_frame, text_body
from warmwire.host.workers.pool import WorkerPool

pytest.importorskip("xllamacpp")

StartModel = Callable[[Path], HostThread]


@pytest.fixture
def serve(start: Callable[..., HostThread]) -> StartModel:
    return lambda path: start(lambda: WorkerPool(str(path), threads=1))


@pytest.fixture
def endless(tmp_path: Path, serve: StartModel) -> HostThread:
    path = tmp_path / "endless.gguf"
    return serve(tiny_gguf.text_model(path, ["round ", "and "], loop=True, layers=4, hidden=512, context=8192))


def test_an_answer_over_the_wire(tmp_path: Path, serve: StartModel) -> None:
    pieces = [b"\xf0\x9f", b"\x98\x80", " ", b"\xe4\xb8", b"\x96"]
    host = serve(tiny_gguf.text_model(tmp_path / "chain.gguf", pieces))
    with host.peer() as peer:
        for _ in range(3):
            text, done = peer.ask("hi", temperature=0)
            assert text == "\U0001f600 \u4e16"
            assert (done["stop_reason"], done["usage"]["output_tokens"], done["backend"]) == ("end_turn", 6, "chain")
        text, error = peer.ask("x" * 5000)
        assert (text, error["code"]) == ("", "invalid_request")
        assert peer.ask("hi", temperature=0)[0] == "\U0001f600 \u4e16"


def test_an_image_over_the_wire(tmp_path: Path, serve: StartModel) -> None:
    path = tiny_gguf.text_model(tmp_path / "eyes.gguf", ["I ", "see"])
    tiny_gguf.projector(tmp_path / "mmproj-eyes.gguf", path)
    with serve(path).peer() as peer:
        peer.send(json_frame(image_body("p", width=30, height=20, temperature=0)), blob_pair("p", bytes(1800)))
        text, done = peer.answer()
        assert text == "I see"
        assert done["usage"]["input_tokens"] > 50


def test_stream_false_withholds_the_text_and_keeps_the_usage(tmp_path: Path, serve: StartModel) -> None:
    host = serve(tiny_gguf.text_model(tmp_path / "chain.gguf", ["a", "b"]))
    with host.peer() as peer:
        streamed = peer.ask("hi", temperature=0)
        whole = peer.ask("hi", temperature=0, stream=False)
    assert (streamed[0], whole[0]) == ("ab", "")
    cached = [answer["usage"].pop("cached_tokens") for _, answer in (streamed, whole)]
    assert streamed[1] == whole[1]
    assert cached == [0, whole[1]["usage"]["input_tokens"] - 1]  # all of the prompt but its last token


def test_a_required_call_that_does_not_come_is_flagged(tmp_path: Path, serve: StartModel) -> None:
    host = serve(tiny_gguf.text_model(tmp_path / "talker.gguf", ["no ", "call"], template=tiny_gguf.TOOLS))
    tools = [{"name": "f", "description": "", "input_schema": {"type": "object"}}]
    with host.peer() as peer:
        _, done = peer.ask("hi", tools=tools, tool_choice="required", max_tokens=8, temperature=0)
        assert done["tool_choice_unsatisfied"] is True
        assert "tool_choice_unsatisfied" not in peer.ask("hi", tools=tools, temperature=0)[1]


@pytest.mark.parametrize(("words", "most"), [("y" * 3000, 1), ("hi", 600)], ids=["prefill", "decode"])
def test_closing_frees_the_worker(endless: HostThread, words: str, most: int) -> None:
    with endless.peer() as peer:  # how long the work takes without a cancel, at least
        start = time.monotonic()
        peer.ask(words, max_tokens=most, temperature=0)
        whole = time.monotonic() - start
    with endless.peer() as leaving:
        leaving.send(json_frame(text_body(words.replace("y", "z"), temperature=0)))
        if most > 1:
            leaving.receive()
        else:
            time.sleep(whole / 10)
    start = time.monotonic()
    with endless.peer() as peer:
        text, _ = peer.ask("next", max_tokens=2, temperature=0)
    assert text == "round and "
    assert time.monotonic() - start < max(0.5, whole / 2)


def test_a_queued_request_whose_client_leaves_is_never_run(endless: HostThread) -> None:
    with endless.peer() as first, endless.peer() as last:
        first.send(json_frame(text_body("hi", id="first", max_tokens=300, temperature=0)))
        first.receive()
        with endless.peer() as leaving:
            leaving.send(json_frame(text_body("hi", id="gone", temperature=0)))
            time.sleep(0.05)
        last.send(json_frame(text_body("hi", id="last", max_tokens=2, temperature=0)))
        assert first.answer()[1]["usage"]["output_tokens"] == 300
        text, done = last.answer()
        assert (text, done["id"]) == ("round and ", "last")


def test_a_model_that_cannot_be_loaded_says_why(tmp_path: Path) -> None:
    import asyncio

    from warmwire.errors import InputError

    path = tmp_path / "cut.gguf"
    path.write_bytes(tiny_gguf.text_model(tmp_path / "whole.gguf").read_bytes()[:-100_000])
    with pytest.raises(InputError, match=r"cut\.gguf.*(corrupted|incomplete|bounds)"):
        asyncio.run(WorkerPool(str(path), threads=1).start())


def test_workers_leave_no_directories(tmp_path: Path, serve: StartModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    path = tiny_gguf.text_model(tmp_path / "chain.gguf")
    serve(path)
    eventually(lambda: not list(tmp_path.glob("warmwire-*")), "an empty directory")
