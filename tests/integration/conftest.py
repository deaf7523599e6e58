"""Fixtures of the tests of the clients, of hosts with all their sockets and of the bridge."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.bridge_support import BridgeThread
from tests.client_support import Blocking, BlockingClient, Clients
from tests.support import LOOPS, HostThread, WholeHost
from warmwire.client import Client


@pytest.fixture(scope="module")
def place() -> Iterator[str]:
    directory = tempfile.mkdtemp(prefix="ww-", dir="/tmp")
    yield f"{directory}/s.sock"
    shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture(scope="module")
def bridge(place: str) -> Iterator[BridgeThread]:
    """One bridge for all tests; hosts come and go behind it."""
    with BridgeThread(place) as bridge:
        yield bridge


@pytest.fixture
def behind(place: str) -> Iterator[Callable[..., HostThread]]:
    """`behind(model)` runs a host behind the bridge until the test ends."""
    with ExitStack() as stack:
        yield lambda model, **options: stack.enter_context(HostThread(model, place, **options))


@pytest.fixture(params=["sync", *(f"async on {name}" for name in sorted(LOOPS))])
def client_class(request: pytest.FixtureRequest) -> Iterator[Clients]:
    """Each kind of client in turn, all with the methods of the blocking one."""
    if request.param == "sync":
        yield Client
        return
    runner = Blocking(LOOPS[request.param.removeprefix("async on ")])
    yield lambda *args, **options: BlockingClient(runner, *args, **options)
    runner.stop()


@pytest.fixture
def start_whole(path: str) -> Iterator[Callable[..., WholeHost]]:
    """`start_whole(model, ...)` gives a running host with all its sockets; it is stopped after the test."""
    with ExitStack() as stack:
        yield lambda model, **options: stack.enter_context(WholeHost(model, path, **options))
