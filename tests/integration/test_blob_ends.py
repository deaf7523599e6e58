"""However a request with pictures ends, its shared memory is kept for the next page or given back: never both, never
neither, and with Python's cyclic collector off."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest

from tests.support import (
    FAULTY_PATH,
    HostThread,
    Peer,
    blob_pair,
    descriptor,
    eventually,
    image_body,
    json_frame,
    kill,
    uvarint,
)
from warmwire.host.workers.pool import PoolLimits, PoolView, WorkerPool

pytestmark = [
    pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks at descriptors in /proc"),
    pytest.mark.usefixtures("no_collector"),
]

LARGE = 200 << 10


@pytest.fixture
def begin(start: Callable[..., HostThread], monkeypatch: pytest.MonkeyPatch) -> Callable[..., HostThread]:
    """A host of one worker, which is not waited for long."""
    monkeypatch.setenv("PYTHONPATH", FAULTY_PATH)
    limits = PoolLimits(first_pause=0.01, cancel_grace=0.1, late_grace=0.1)
    return partial(start, lambda: WorkerPool("faulty", 1, threads=1, limits=limits))


def look(host: HostThread) -> PoolView:
    view: PoolView = host.call(lambda: cast(WorkerPool, host.host.runner).look())
    return view


def memory_files() -> int:
    """Descriptors of shared memory in this process: two for each segment."""
    found = 0
    for fd in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):
            found += "warmwire-blob" in os.readlink(f"/proc/self/fd/{fd}")
    return found


def ordered(order: str, *ids: str, id: str = "r") -> bytes:
    """A request with a picture of six bytes for each id, whose blobs are still to come."""
    body = image_body(*ids, id=id)
    body["messages"][0]["content"][-1]["text"] = order
    return json_frame(body)


def asked(peer: Peer, order: str, *ids: str) -> None:
    """Send a request with its blobs."""
    peer.send(ordered(order, *ids), *(blob_pair(id, bytes(6)) for id in dict.fromkeys(ids)))


def running(peer: Peer, order: str) -> int:
    """The same, and wait until the model has it; returns the worker's process."""
    asked(peer, order, "a", "b")
    return int((peer.receive() or {})["block"]["delta"].split()[1])


def part_of_a_blob() -> bytes:
    return descriptor("b", LARGE) + uvarint(LARGE) + b"\x02" + bytes(1000)


def ends_of(peer: Peer, end: str, path: str) -> dict[str, Any] | None:
    """Let a request end in one way; returns its last frame where it is to have one."""
    match end:
        case "answered":
            asked(peer, "sum", "a", "b")
        case "half-closed behind it":
            asked(peer, "sum", "a", "b")
            peer.shutdown()
        case "refused when its blobs have come":
            asked(peer, "sum", "a", "a")
        case "failed by the model":
            asked(peer, "raise", "a", "b")
        case "half-closed in a blob":
            peer.send(ordered("sum", "a", "b"), blob_pair("a", bytes(6)), part_of_a_blob())
            peer.shutdown()
        case "damaged behind a blob":
            peer.send(ordered("sum", "a", "b"), blob_pair("a", bytes(6)), descriptor("b", 6), b"\x09\x02")
        case "worker killed":
            kill(running(peer, "deaf"))
        case "worker stopped":
            running(peer, "stop")
        case "too late":
            running(peer, "deaf")
        case "gone in a blob":
            peer.send(ordered("sum", "a", "b"), blob_pair("a", bytes(6)), part_of_a_blob())
            return None
        case "gone between blobs":
            peer.send(ordered("sum", "a", "b"), blob_pair("a", bytes(6)))
            return None
        case "gone while it runs":
            running(peer, "deaf")
            return None
        case "gone while it waits":
            with Peer(path) as other:
                running(other, "deaf")
                asked(peer, "sum", "a", "b")
                return None
        case "gone with another behind it":
            running(peer, "deaf")
            peer.send(ordered("sum", "a", "b", id="next"), blob_pair("a", bytes(6)), part_of_a_blob())
            return None
    return peer.answer()[1]


ENDS = {
    "answered": "done",
    "half-closed behind it": "done",
    "refused when its blobs have come": "invalid_request",
    "failed by the model": "internal",
    "half-closed in a blob": "invalid_request",
    "damaged behind a blob": "invalid_request",
    "worker killed": "backend_unavailable",
    "worker stopped": "internal",
    "too late": "internal",
    "gone in a blob": None,
    "gone between blobs": None,
    "gone while it runs": None,
    "gone while it waits": None,
    "gone with another behind it": None,
}


def at_rest(host: HostThread) -> bool:
    return not host.call(lambda: host.host.connections) and look(host).idle == 1


def test_no_end_of_a_request_loses_shared_memory(begin: Callable[..., HostThread]) -> None:
    host = begin(request_timeout=0.3)
    for end, wanted in ENDS.items():
        with host.peer() as peer:
            last = ends_of(peer, end, host.path)
        assert wanted == (last and last.get("code", last["type"])), (end, last)
        eventually(lambda: at_rest(host), f"rest after {end!r}")
        kept = look(host).segments
        assert memory_files() == 2 * kept, end
        assert 0 < kept <= 4, end


def test_what_has_come_is_given_back_when_there_is_no_descriptor_for_the_rest(
    begin: Callable[..., HostThread], monkeypatch: pytest.MonkeyPatch
) -> None:
    host = begin()
    create, made = os.memfd_create, []

    def one_only(name: str, flags: int) -> int:
        if made:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        made.append(name)
        return create(name, flags)

    monkeypatch.setattr(os, "memfd_create", one_only)
    with host.peer() as peer:
        asked(peer, "sum", "a", "b")
        assert peer.answer()[1]["code"] == "internal"
    eventually(lambda: at_rest(host), "rest")
    assert (look(host).segments, memory_files()) == (1, 2)


def test_a_host_that_ends_keeps_nothing(begin: Callable[..., HostThread]) -> None:
    host = begin(drain_timeout=0)
    with host.peer() as at_work, host.peer() as waiting, host.peer() as coming:
        running(at_work, "deaf")
        asked(waiting, "sum", "a", "b")
        coming.send(ordered("sum", "a", "b"), blob_pair("a", bytes(6)), part_of_a_blob())
        eventually(lambda: memory_files() == 12, "all that is on its way")
        host.stop()
        host.join()
    assert memory_files() == 0
