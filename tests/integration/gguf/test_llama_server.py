"""The same models in a `llama-server`, where one is on PATH or named in WARMWIRE_TEST_LLAMA_SERVER."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from tests import tiny_gguf
from tests.gguf_support import ask
from tests.model_support import text_of
from tests.support import kill
from warmwire.errors import BackendUnavailableError, CancelledError, InputError, InvalidRequestError
from warmwire.media.images import image_attachment
from warmwire.models.llama.server import LlamaServer, Tail, find_server
from warmwire.models.openai.model import ChatModel
from warmwire.models.registry import load_model
from warmwire.wire.generation.messages import Message, OutBlock, Request, StopReason, Tool, image_block, text_block

PROGRAM = shutil.which(os.environ.get("WARMWIRE_TEST_LLAMA_SERVER", "llama-server"))
needs_server = pytest.mark.skipif(PROGRAM is None, reason="no llama-server on PATH or in WARMWIRE_TEST_LLAMA_SERVER")


def load(path: Path) -> ChatModel:
    model = load_model(f"{path}?llama_server={PROGRAM}", threads=1)
    assert isinstance(model, ChatModel)
    assert isinstance(model.upstream, LlamaServer)
    return model


def close(model: ChatModel) -> None:
    assert isinstance(model.upstream, LlamaServer)
    model.upstream.close()


@needs_server
def test_chat_images_and_tools(tmp_path: Path) -> None:
    pieces = ["\U0001f600", "<tool_call>\n", '{"name": "f", "arguments": {}}\n', "</tool_call>"]
    path = tiny_gguf.text_model(tmp_path / "eyes.gguf", pieces, template=tiny_gguf.TOOLS)
    tiny_gguf.projector(tmp_path / "mmproj-eyes.gguf", path)
    model = load(path)
    try:
        assert model.capabilities.vision
        assert model.capabilities.tools
        blocks: list[OutBlock] = []
        image = image_attachment("p", np.zeros((30, 40, 3), np.uint8))
        request = Request(
            messages=[Message("user", [image_block("p"), text_block("what?")])],
            attachments=[image],
            tools=[Tool("f", "", {"type": "object", "properties": {}})],
            temperature=0,
        )
        finish = model.generate(request, blocks.append, threading.Event())
        assert text_of(blocks).strip() == "\U0001f600"
        assert blocks[-1].name == "f"
        assert finish.stop_reason == StopReason.TOOL_USE
        assert finish.usage.output_tokens == 5
        with pytest.raises(InvalidRequestError, match="context"):
            model.generate(ask("x" * 9000), blocks.append, threading.Event())
    finally:
        close(model)


@needs_server
def test_cancel(tmp_path: Path) -> None:
    model = load(tiny_gguf.text_model(tmp_path / "endless.gguf", ["a", "b"], loop=True, layers=4, hidden=512))
    try:
        cancelled = threading.Event()
        threading.Timer(0.3, cancelled.set).start()
        start = time.monotonic()
        with pytest.raises(CancelledError):
            model.generate(ask(), lambda block: time.sleep(0.001), cancelled)
        assert time.monotonic() - start < 10
        blocks: list[OutBlock] = []
        model.generate(ask(max_tokens=2), blocks.append, threading.Event())
        assert text_of(blocks) == "ab"
        assert time.monotonic() - start < 20
    finally:
        close(model)


@needs_server
def test_embeddings_and_rerank(tmp_path: Path) -> None:
    embedder = load(tiny_gguf.encoder(tmp_path / "embed.gguf"))
    try:
        result = embedder.embed(["abc", "hello", "abc"], threading.Event(), dimensions=8)
        assert np.allclose(np.linalg.norm(result.vectors, axis=1), 1)
        assert np.allclose(result.vectors[0], result.vectors[2], atol=1e-5)
    finally:
        close(embedder)
    ranker = load(tiny_gguf.encoder(tmp_path / "rank.gguf", rank=True))
    try:
        ranking = ranker.rerank("abc", ["hello", "abc", "zzz"], threading.Event())
        assert sorted(result.index for result in ranking.results) == [0, 1, 2]
    finally:
        close(ranker)


@needs_server
def test_a_model_it_cannot_load_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "cut.gguf"
    path.write_bytes(tiny_gguf.text_model(tmp_path / "whole.gguf").read_bytes()[:-50_000])
    with pytest.raises(InputError, match=r"cut\.gguf.*error"):
        load(path)


@needs_server
def test_it_dies_with_us_also_by_sigkill(tmp_path: Path) -> None:
    path = tiny_gguf.text_model(tmp_path / "left.gguf")
    code = (
        "import sys; from warmwire.models.registry import load_model; load_model(sys.argv[1], 1);"
        "print('up', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, f"{path}?llama_server={PROGRAM}"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        (server,) = _running(path)
        socket = Path(f"/proc/{server}/cmdline").read_text().split("\0--host\0")[1].split("\0")[0]
        assert Path(socket).is_socket()
        process.send_signal(signal.SIGKILL)
    for _ in range(100):
        if not _running(path) and not Path(socket).parent.exists():
            return
        time.sleep(0.05)
    raise AssertionError("llama-server outlived its owner, or its directory did")


@needs_server
def test_one_that_dies_is_started_again(tmp_path: Path) -> None:
    path = tiny_gguf.text_model(tmp_path / "mortal.gguf", ["still ", "here"])
    model = load(path)
    try:
        (server,) = _running(path)
        kill(server)
        blocks: list[OutBlock] = []
        for _ in range(100):  # until its death has been noticed
            blocks.clear()
            try:
                model.generate(ask(), blocks.append, threading.Event())
                break
            except BackendUnavailableError:
                time.sleep(0.05)
        assert text_of(blocks) == "still here"
        assert _running(path) != [server]
    finally:
        close(model)


@needs_server
def test_what_it_says_goes_into_no_file(tmp_path: Path) -> None:
    path = tiny_gguf.text_model(tmp_path / "talkative.gguf")
    model = load(path)
    try:
        (server,) = _running(path)
        assert [os.readlink(f"/proc/{server}/fd/{n}").partition(":")[0] for n in (1, 2)] == ["pipe", "pipe"]
        for _ in range(5):  # nor does it wait for somebody to read it
            model.generate(ask(), lambda block: None, threading.Event())
    finally:
        close(model)


def test_the_end_of_what_a_program_says_is_kept() -> None:
    code = "import sys; print(*range(200_000), sep='\\n', flush=True); print('error: the end', file=sys.stderr)"
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        assert process.stdout is not None
        tail = Tail(process.stdout)
        tail.start()
        kept = tail.end()
    assert len(kept) == 32 << 10
    assert kept.endswith(b"\n199999\nerror: the end\n")


def _running(path: Path) -> list[int]:
    """The servers with that model on their command line."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().split(b"\0")
        except OSError:
            continue
        if str(path).encode() in words and b"llama-server" in words[0]:
            found.append(int(entry.parent.name))
    return found


def test_a_program_that_is_none_is_named() -> None:
    with pytest.raises(InputError, match="nowhere/llama-server: no such program"):
        find_server("/nowhere/llama-server")


def test_none_on_path_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert find_server() is None


def test_without_library_and_server_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import importlib.util

    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'warmwire\[llama\]'.*llama-server"):
        load_model(str(tiny_gguf.text_model(tmp_path / "x.gguf")), threads=1)
