"""Fixtures of the tests of the bridge."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.bridge_support import BridgeThread
from tests.support import HostThread


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
