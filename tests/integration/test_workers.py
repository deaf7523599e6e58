"""Worker processes: what one costs when it dies, hangs or misbehaves, and how it is replaced.

The model `faulty` (tests/data/faulty) does in its worker what a prompt tells it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from tests.support import (
    FAULTY_PATH,
    HostThread,
    Peer,
    blob_pair,
    children,
    eventually,
    frame,
    image_body,
    is_running,
    json_frame,
    kill,
    random_image,
    text_body,
)
from warmwire.errors import BackendUnavailableError, InputError
from warmwire.host.workers.pool import PoolLimits, PoolView, WorkerPool
from warmwire.wire.generation.messages import MAX_FRAME

StartPool = Callable[..., HostThread]


@pytest.fixture(autouse=True)
def _faulty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", FAULTY_PATH)


@pytest.fixture
def start_pool(start: Callable[..., HostThread]) -> Iterator[StartPool]:
    """A host in this process whose workers are processes."""

    def begin(
        model: str = "faulty", *, workers: int = 1, limits: PoolLimits | None = None, **options: Any
    ) -> HostThread:
        return start(lambda: WorkerPool(model, workers, threads=1, limits=limits), **options)

    return begin


def pids(host: HostThread) -> set[int]:
    """The processes that can be given work."""
    return set(view(host).pids)


def view(host: HostThread) -> PoolView:
    """What the host's pool holds."""
    found: PoolView = host.call(lambda: cast(WorkerPool, host.host.runner).look())
    return found


def pid_of(text: str) -> int:
    match = re.match(r"pid (\d+) ", text)
    assert match, text
    return int(match[1])


def one_pid(host: HostThread) -> int:
    [pid] = eventually(lambda: pids(host), "a worker")
    return pid


# ---------------------------------------------------------------------- death at work


@pytest.mark.parametrize(
    ("order", "cause"),
    [
        ("kill 9", "killed by SIGKILL (out of memory?)"),
        ("kill 11", "killed by signal 11 (Segmentation fault)"),
        ("kill 34", "killed by signal 34"),
        ("exit 3", "exit status 3"),
    ],
)
def test_a_worker_that_dies_costs_its_request_and_is_replaced(
    start_pool: StartPool, loop_name: str, order: str, cause: str
) -> None:
    host = start_pool(loop=loop_name)
    with host.peer() as peer:
        text, error = peer.ask(order, id="r")
        dead = pid_of(text)
        assert (error["type"], error["code"], error["id"]) == ("error", "backend_unavailable", "r")
        assert f"(pid {dead}) died: {cause}" in error["message"]
        text, done = peer.ask("hello")
        assert done["type"] == "done"
        assert pid_of(text) != dead


def test_others_do_not_notice(start_pool: StartPool, tmp_path: Path) -> None:
    host = start_pool(workers=2)
    with host.peer() as victim, host.peer() as other, host.peer() as waiting:
        other.send(json_frame(text_body(f"watch {tmp_path}/w")))
        survivor = pid_of((other.receive() or {})["block"]["delta"])
        victim.send(json_frame(text_body("deaf")))
        dead = pid_of((victim.receive() or {})["block"]["delta"])
        waiting.send(json_frame(text_body("hello")))
        kill(dead)
        assert victim.answer()[1]["code"] == "backend_unavailable"
        text, done = waiting.answer()
        assert done["type"] == "done"
        assert pid_of(text) not in (dead, survivor)
        assert is_running(survivor)
        assert victim.ask("hello")[1]["type"] == "done"
    assert eventually((tmp_path / "w").exists)


def test_a_worker_killed_while_idle_costs_nothing(start_pool: StartPool, loop_name: str) -> None:
    host = start_pool(loop=loop_name)
    image = random_image(20, 30)
    with host.peer() as peer:
        for n in range(3):
            dead = one_pid(host)
            kill(dead)
            body = image_body("a", width=30, height=20)
            body["messages"][0]["content"][-1]["text"] = "sum"
            peer.send(json_frame(body), blob_pair("a", image.tobytes()))
            text, done = peer.answer()
            assert done["type"] == "done", (n, done)
            assert text.endswith(f" {int(image.astype(int).sum())} ")


def test_both_workers_killed_at_once_are_both_replaced(start_pool: StartPool) -> None:
    host = start_pool(workers=2)
    dead = eventually(lambda: len(found := pids(host)) == 2 and found)
    for pid in dead:
        kill(pid)
    with host.peer() as peer:
        assert peer.ask("hello")[1]["type"] == "done"
    alive = eventually(lambda: len(found := pids(host) - dead) == 2 and found, "two new workers")
    assert alive.isdisjoint(dead)


def test_a_worker_that_answers_and_dies_is_replaced(start_pool: StartPool) -> None:
    """Its terminal frame and its end arrive together: neither may hide the other."""
    host = start_pool()
    with host.peer() as peer:
        for _ in range(5):
            assert peer.ask("answer-and-exit")[1]["type"] in ("done", "error")
            assert peer.ask("hello")[1]["type"] == "done"


def test_a_worker_killed_while_its_request_is_being_cancelled(start_pool: StartPool) -> None:
    host = start_pool()
    for _ in range(3):
        with host.peer() as peer:
            peer.send(json_frame(text_body("deaf")))
            pid = pid_of((peer.receive() or {})["block"]["delta"])
        kill(pid)
        with host.peer() as peer:
            text, done = peer.ask("hello")
            assert done["type"] == "done"
            assert pid_of(text) != pid


def test_a_worker_killed_before_its_cancel(start_pool: StartPool) -> None:
    host = start_pool()
    with host.peer() as peer:
        peer.send(json_frame(text_body("deaf")))
        pid = pid_of((peer.receive() or {})["block"]["delta"])
        kill(pid)
    with host.peer() as peer:
        assert peer.ask("hello")[1]["type"] == "done"


# ---------------------------------------------------------------------- cancel


def test_closing_cancels_in_the_worker_which_lives_on(start_pool: StartPool, loop_name: str, tmp_path: Path) -> None:
    host = start_pool(loop=loop_name)
    before = one_pid(host)
    for n in range(3):
        mark = tmp_path / str(n)
        with host.peer() as peer:
            peer.send(json_frame(text_body(f"watch {mark}")))
            assert pid_of((peer.receive() or {})["block"]["delta"]) == before
        with host.peer() as peer:
            text, _ = peer.ask("hello")
        assert text == f"pid {before} "
        assert mark.read_text() == "cancelled"


def test_a_model_deaf_to_cancel_is_killed(start_pool: StartPool) -> None:
    host = start_pool(limits=PoolLimits(cancel_grace=0.2))
    for order in ("deaf", "stop"):
        with host.peer() as peer:
            peer.send(json_frame(text_body(order)))
            pid = pid_of((peer.receive() or {})["block"]["delta"])
        with host.peer() as peer:
            text, done = peer.ask("hello")
            assert done["type"] == "done"
            assert pid_of(text) != pid
        eventually(lambda pid=pid: not is_running(pid), "the end of the deaf worker")


def test_a_client_that_leaves_a_flood_unread_cancels_it(start_pool: StartPool, loop_name: str) -> None:
    host = start_pool(loop=loop_name)
    before = one_pid(host)
    with host.peer() as peer:
        peer.send(json_frame(text_body("flood 1000000")))
        assert peer.receive()
        eventually(lambda: host.call(lambda: any(s.paused for s in host.host.connections)), "a paused session")
    with host.peer() as peer:
        assert peer.ask("hello")[0] == f"pid {before} "


def test_a_flood_is_bounded_and_complete(start_pool: StartPool, loop_name: str) -> None:
    host = start_pool(loop=loop_name)
    with host.peer() as peer:
        peer.send(json_frame(text_body("flood 300")))
        eventually(lambda: host.call(lambda: any(s.paused for s in host.host.connections)), "a paused session")
        text, done = peer.answer()
        assert len(text) == 300 * 100_000 + len(text.split("x")[0])
        assert done["type"] == "done"


def test_an_answer_that_ends_where_its_reader_falls_behind(start_pool: StartPool, loop_name: str) -> None:
    """The terminal may come right behind the frame that makes the host stop reading; the worker must still be heard."""
    host = start_pool(loop=loop_name)
    with host.peer() as peer:
        for size in range(200_000, 1_000_000, 10_000):
            peer.send(json_frame(text_body(f"burst {size}")))
            eventually(
                lambda: host.call(
                    lambda: any(s.paused for s in host.host.connections) or not host.host.activity.outstanding
                )
            )
            text, done = peer.answer()
            assert len(text.partition("x")[2]) == size - 1
            assert done["type"] == "done"


def test_a_worker_killed_while_its_reader_is_behind(start_pool: StartPool, loop_name: str) -> None:
    host = start_pool(loop=loop_name)
    with host.peer() as peer:
        peer.send(json_frame(text_body("flood 1000")))
        eventually(lambda: host.call(lambda: any(s.paused for s in host.host.connections)), "a paused session")
        kill(one_pid(host))
        text, error = peer.answer()
        assert len(text) > 100_000
        assert error["code"] == "backend_unavailable"
        assert peer.ask("hello")[1]["type"] == "done"


# ---------------------------------------------------------------------- failures that are no deaths


@pytest.mark.parametrize(
    ("order", "code", "message"),
    [
        ("raise", "internal", "ValueError: caf?"),
        ("refuse", "invalid_request", "not like this"),
        ("memory", "backend_unavailable", "ran out of memory"),
        ("report", "internal", "TypeError"),
    ],
)
def test_an_exception_is_told_and_the_worker_lives_on(
    start_pool: StartPool, order: str, code: str, message: str
) -> None:
    host = start_pool()
    with host.peer() as peer:
        text, error = peer.ask(order, id="r")
        assert (error["code"], error["id"]) == (code, "r")
        assert message in error["message"]
        assert peer.ask("hello")[0] == text


def test_a_body_that_fits_no_job_frame_costs_no_worker(start_pool: StartPool) -> None:
    """A job is the request and a few bytes more, so a request right at the cap cannot be passed on."""
    host = start_pool()
    with host.peer() as peer:
        body = json.dumps(text_body("?")).encode()
        body = body.replace(b"?", b"x" * (MAX_FRAME - len(body) + 1))
        peer.send(frame(1, body))
        _, error = peer.answer()
        assert error["code"] == "frame_too_large"
        assert peer.ask("hello")[1]["type"] == "done"


def test_what_a_model_prints_reaches_nobodys_stdout(start_pool: StartPool, capfd: pytest.CaptureFixture[str]) -> None:
    host = start_pool()
    with host.peer() as peer:
        assert peer.ask("print")[1]["type"] == "done"
    out, err = capfd.readouterr()
    assert out == ""
    assert "noise of a child" in err


def test_tools_and_reports_pass_through(start_pool: StartPool) -> None:
    host = start_pool()
    tools = [{"name": "f", "description": "", "input_schema": {}}]
    with host.peer() as peer:
        peer.send(json_frame(text_body("tool", tools=tools, tool_choice="required", stream=False)))
        assert (peer.receive() or {})["block"]["type"] == "tool_use"
        done = peer.receive() or {}
        assert (done["stop_reason"], done["report"]) == ("tool_use", {"confidence": 1})
        assert "tool_choice_unsatisfied" not in done
        _, done = peer.ask("hello", tools=tools, tool_choice="required")
        assert done["tool_choice_unsatisfied"] is True


# ---------------------------------------------------------------------- pages


def ask_images(peer: Peer, images: dict[str, np.ndarray], order: str = "sum", **more: Any) -> tuple[str, Any]:
    body = image_body(*images, **more)
    body["messages"][0]["content"][-1]["text"] = order
    for attachment in body["attachments"]:
        attachment["height"], attachment["width"] = images[attachment["id"]].shape[:2]
    peer.send(json_frame(body), *(blob_pair(id, image.tobytes()) for id, image in images.items()))
    return peer.answer()


def sums(*images: np.ndarray) -> str:
    return "".join(f"{int(image.astype(np.int64).sum())} " for image in images)


def test_pages_arrive_intact_and_segments_are_used_again(start_pool: StartPool) -> None:
    host = start_pool(workers=2)
    with host.peer() as peer:
        for n, shape in enumerate([(1, 1), (2200, 1700), (300, 200), (2200, 1700), (7, 4000), (4000, 7)]):
            image = random_image(*shape, seed=n)
            text, _ = ask_images(peer, {"a": image})
            assert text.split(" ", 2)[2] == sums(image)
        many = {f"i{n}": random_image(n + 1, 50, seed=n) for n in range(32)}
        text, _ = ask_images(peer, many)
        assert text.split(" ", 2)[2] == sums(*many.values())
    assert view(host).segment_bytes <= 64 << 20


def test_an_empty_blob_does_not_shift_the_others(start_pool: StartPool) -> None:
    host = start_pool()
    image = random_image(5, 6)
    body = image_body("a", width=6, height=5)
    body["attachments"].insert(0, {"kind": "audio", "id": "silence", "sample_rate": 8000})
    body["messages"][0]["content"][-1]["text"] = "sum"
    with host.peer() as peer:
        peer.send(json_frame(body), blob_pair("silence", b""), blob_pair("a", image.tobytes()))
        text, done = peer.answer()
        assert done["type"] == "done"
        assert text.split(" ", 2)[2] == "audio 0 " + sums(image)


def test_what_a_model_writes_into_its_page_stays_with_it(start_pool: StartPool) -> None:
    host = start_pool()
    with host.peer() as peer:
        for n in range(3):
            image = random_image(50, 60, seed=n)
            text, _ = ask_images(peer, {"a": image}, "scribble")
            assert text.split(" ", 2)[2] == sums(image)


# ---------------------------------------------------------------------- loading


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        ("faulty-file", InputError, "the model file is not there"),
        ("faulty-bug", InputError, "RuntimeError: a bug while loading"),
        ("faulty-exit", BackendUnavailableError, "a worker died while loading its model: exit status 7"),
    ],
)
@pytest.mark.parametrize("workers", [1, 2])
def test_a_model_that_cannot_be_loaded_is_said_so(
    path: str, model: str, error: type[Exception], message: str, workers: int
) -> None:
    with pytest.raises(error, match=message), HostThread(lambda: WorkerPool(model, workers, threads=1), path) as host:
        host.join()
    assert not os.path.exists(path)
    eventually(lambda: not children(os.getpid()), "the end of the workers")


def test_a_worker_that_keeps_dying_is_replaced_after_growing_pauses(start_pool: StartPool, tmp_path: Path) -> None:
    flag, tries = tmp_path / "broken", tmp_path / "broken.tries"
    host = start_pool(f"faulty={flag}", limits=PoolLimits(first_pause=0.1))
    assert tries.read_text() == "x"
    flag.touch()
    with host.peer() as peer:
        assert peer.ask("kill 9")[1]["code"] == "backend_unavailable"
        error = eventually(lambda: (e := peer.ask("hello")[1])["code"] == "backend_unavailable" and e)
        assert "every worker has died; the next is started in" in error["message"]
        eventually(lambda: len(tries.read_text()) >= 4, "three more tries")
        flag.unlink()
        assert eventually(lambda: peer.ask("hello")[1]["type"] == "done", "a worker that loads")
        assert peer.ask("hello")[1]["type"] == "done"
    assert view(host).failures == 0


def test_a_worker_that_has_grown_is_replaced_between_requests(start_pool: StartPool) -> None:
    host = start_pool(limits=PoolLimits(recycle_bytes=64 << 20))
    with host.peer() as peer:
        assert len({pid_of(peer.ask("hello")[0]) for _ in range(3)}) == 1  # what it is from the start is no growth
        seen = {pid_of(peer.ask("grow 100")[0]) for _ in range(3)}
    assert len(seen) == 3


# ---------------------------------------------------------------------- the end


def test_no_worker_outlives_its_host(start_pool: StartPool) -> None:
    host = start_pool(workers=2, drain_timeout=0.1)
    found = pids(host)
    with host.peer() as peer:
        peer.send(json_frame(text_body("deaf")))
        assert peer.receive()
        host.stop()
        assert peer.answer()[1]["code"] == "backend_unavailable"
    host.join()
    assert not any(map(is_running, found))
