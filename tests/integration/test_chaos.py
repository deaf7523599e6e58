"""Clients that come and go as they like, workers that die at any moment: a host must come out of it as it went in."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable
from typing import cast

import pytest

from tests.support import (
    FAULTY_PATH,
    HostThread,
    Peer,
    blob_pair,
    eventually,
    image_body,
    json_frame,
    kill,
    open_descriptors,
    text_body,
)
from warmwire.host.workers.pool import PoolLimits, PoolView, WorkerPool

SECONDS, CLIENTS = 2.5, 8

ORDERS = {
    "hello": 20,
    "sum": 10,
    "scribble": 5,
    "burst 300000": 8,
    "burst 600000": 8,
    "flood 10": 4,
    "raise": 3,
    "refuse": 3,
    "exit 3": 1,
    "kill 11": 1,
    "answer-and-exit": 1,
}
"""What clients ask of the model `faulty`, and how often."""


def request(order: str, rng: random.Random) -> bytes:
    if order not in ("sum", "scribble"):
        return json_frame(text_body(order))
    width, height = rng.randint(1, 300), rng.randint(1, 300)
    body = image_body("a", width=width, height=height)
    body["messages"][0]["content"][-1]["text"] = order
    return json_frame(body) + blob_pair("a", rng.randbytes(width * height * 3))


def misbehave(peer: Peer, data: bytes, rng: random.Random) -> bool:
    """One request in one of many manners; False when the connection is to be left."""
    match rng.choices(
        ["ask", "cut", "leave", "leave in the middle", "twice", "junk", "half-close"], [70, 6, 5, 5, 5, 2, 5]
    )[0]:
        case "cut":
            peer.send(data[: rng.randint(0, len(data))])
            return False
        case "leave":
            peer.send(data)
            return False
        case "leave in the middle":
            peer.send(data)
            peer.receive()
            return False
        case "twice":
            peer.send(data, data)
            peer.answer()
        case "junk":
            peer.send(b"\x02\x09junk")
            assert (peer.receive() or {})["code"] == "invalid_request"
            return False
        case "half-close":
            peer.send(data)
            peer.shutdown()
            peer.answer()
            return False
        case "ask":
            peer.send(data)
    peer.answer()
    return True


@pytest.mark.parametrize("seed", [1])
def test_chaos(start: Callable[..., HostThread], loop_name: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", FAULTY_PATH)
    limits = PoolLimits(first_pause=0.02, longest_pause=0.1)
    host = start(lambda: WorkerPool("faulty", 2, threads=1, limits=limits), loop=loop_name, queue_depth=CLIENTS)

    def view() -> PoolView:
        found: PoolView = host.call(lambda: cast(WorkerPool, host.host.runner).look())
        return found

    before = open_descriptors()
    stop = threading.Event()
    outcomes: Counter[str] = Counter()

    def client(number: int) -> None:
        rng = random.Random(f"{seed}/{number}")
        while not stop.is_set():
            try:
                with host.peer() as peer:
                    while misbehave(peer, request(rng.choices(list(ORDERS), list(ORDERS.values()))[0], rng), rng):
                        outcomes["answered"] += 1
            except BaseException as error:  # every answer has its terminal and comes in time, or `Peer` raises
                outcomes[f"{type(error).__name__}: {error}"] += 1
                return

    threads = [threading.Thread(target=client, args=(n,)) for n in range(CLIENTS)]
    for thread in threads:
        thread.start()
    rng = random.Random(seed)
    for _ in range(int(SECONDS / 0.25)):
        stop.wait(0.25)
        if (pids := sorted(view().pids)) and rng.randint(0, 1):
            kill(rng.choice(pids))
    stop.set()
    for thread in threads:
        thread.join()
    assert list(outcomes) == ["answered"], outcomes

    host.wait_outstanding(0)
    eventually(lambda: host.call(lambda: not host.host.connections), "the end of all sessions")
    eventually(lambda: view().idle == view().workers == 2, "two idle workers")
    assert view().waiting + host.call(lambda: len(host.host.hangups)) == 0
    eventually(lambda: open_descriptors() <= before + 2 * view().segments, "the end of all descriptors")
    with host.peer() as peer:
        assert peer.ask("hello")[1]["type"] == "done"
