"""Shared fixtures."""

from __future__ import annotations

import gc
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.support import COMMAND, LOOPS, PATIENCE, HostThread

# A busy machine is no reason to fail.
settings.register_profile("warmwire", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("warmwire")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What tests log goes from process to process as UTF-8, also where they log what is none."""
    report = yield
    report.sections = [(name, said.encode(errors="backslashreplace").decode()) for name, said in report.sections]
    return report


@pytest.fixture
def no_collector() -> Iterator[None]:
    """What only the cyclic collector would give back counts as kept."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def directory() -> Iterator[str]:
    """A directory whose paths fit a socket address, which pytest's own often do not."""
    path = tempfile.mkdtemp(prefix="ww-", dir="/tmp")
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def path(directory: str) -> str:
    """A free socket path."""
    return f"{directory}/s.sock"


@pytest.fixture(params=sorted(LOOPS))
def loop_name(request: pytest.FixtureRequest) -> str:
    """Both event loops, one after the other."""
    name: str = request.param
    return name


@pytest.fixture
def start(path: str, caplog: pytest.LogCaptureFixture) -> Iterator[Callable[..., HostThread]]:
    """`start(model, ...)` gives a running host in this process; it is stopped after the test.

    A host that stumbles says so in the log, by way of asyncio or as an unexpected RuntimeError.
    """
    with ExitStack() as stack:
        yield lambda model, **options: stack.enter_context(HostThread(model, path, **options))
    gc.collect()  # a task whose exception nobody took says so when it goes
    for record in (*caplog.get_records("call"), *caplog.records):
        stumbled = record.exc_info and isinstance(record.exc_info[1], RuntimeError)
        assert not stumbled, record.exc_text
        assert record.name != "asyncio" or record.levelno < logging.ERROR, record.getMessage()


class ServeProcess:
    """`warmwire serve` in a process of its own."""

    def __init__(self, model: str, path: str, *options: str, wait: bool = True, python: str = sys.executable) -> None:
        self.path = path
        self.process = subprocess.Popen(
            [python, *COMMAND[1:], "serve", model, "--socket", path, *options],
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.pid = self.process.pid
        if wait:
            self.wait_ready()

    def wait_ready(self) -> str:
        """Wait for the line that says so."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if "ready" in line:
                return line
        raise AssertionError(f"the host ended with {self.process.wait(PATIENCE)}")

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Send a signal; returns the exit status and the rest of the log."""
        self.process.send_signal(number)
        _, log = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, log

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate(timeout=PATIENCE)


Serve = Callable[..., ServeProcess]
"""The type of the fixture `serve`."""


@pytest.fixture
def serve(path: str) -> Iterator[Callable[..., ServeProcess]]:
    """`serve(model, *options)` gives a running `warmwire serve`; it is killed after the test."""
    started: list[ServeProcess] = []

    def begin(model: str = "echo", *options: str, **more: Any) -> ServeProcess:
        started.append(ServeProcess(model, more.pop("path", path), *options, **more))
        return started[-1]

    yield begin
    for process in started:
        process.end()


@pytest.fixture(scope="module")
def echo_host() -> Iterator[ServeProcess]:
    """One `warmwire serve echo` with two workers for a module's tests."""
    directory = tempfile.mkdtemp(prefix="ww-", dir="/tmp")
    process = ServeProcess("echo", os.path.join(directory, "s.sock"), "--workers", "2")
    yield process
    process.end()
    shutil.rmtree(directory, ignore_errors=True)
