"""This process as a driver of a Ray cluster, for the length of a block.

Ray is the engine: it starts processes on machines, moves arrays between them, and notices what dies. It is also
talkative, on standard output, which belongs to results here; so for the block, text goes aside and only bytes reach it.
"""

from __future__ import annotations

import io
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Final, TextIO, cast

from warmwire.errors import DialError, UsageError

AUTO: Final = "auto"
"""The cluster that $RAY_ADDRESS names or this machine is part of; without one, a Ray of our own on this machine."""
_DIAL_TIMEOUT: Final = 5.0


@contextmanager
def connected(address: str, *, verbose: bool = False) -> Iterator[Any]:
    """The module `ray`, connected to the cluster at `address` (HOST:PORT or `auto`); `verbose` lets it speak on stderr.

    Raises UsageError where ray is not installed or the address is none, DialError where no cluster answers.
    """
    if "://" in address:
        raise UsageError(
            f"--ray {address}: give HOST:PORT, on a machine of the cluster; pages would go through Ray's proxy twice"
        )
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError:
        raise UsageError(
            "--ray needs ray, which is not installed; install it with: pip install 'warmwire[ray]'"
        ) from None
    stdout, sys.stdout = sys.stdout, cast(TextIO, _Aside(sys.stdout, sys.stderr if verbose else None))
    try:
        try:
            _begin(ray, address, verbose)
        except (OSError, ValueError, RuntimeError) as error:
            reason = " ".join(str(error).split())
            raise DialError(f"no Ray cluster answers at {address} ({reason}); `ray status` shows what runs") from None
        try:
            yield ray
        finally:
            ray.shutdown()
    finally:
        sys.stdout = stdout


def cpus(ray: Any) -> int:
    """Processors of the cluster, at least 1."""
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def _begin(ray: Any, address: str, verbose: bool) -> None:
    """`ray.init`, less the handler of SIGTERM that it sets: ours unwinds."""
    if address != AUTO:  # Ray itself tries for minutes
        host, _, port = address.rpartition(":")
        socket.create_connection((host.strip("[]"), int(port)), _DIAL_TIMEOUT).close()
    main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(
            None if address == AUTO else address,
            include_dashboard=None if address != AUTO else False,
            configure_logging=True,
            logging_level=logging.INFO if verbose else logging.CRITICAL,
            log_to_driver=verbose,
        )
    finally:
        if main:
            signal.signal(signal.SIGTERM, handler)


class _Aside(io.TextIOBase):
    """Standard output whose text goes elsewhere, or nowhere; the bytes below it are as they were."""

    def __init__(self, stdout: TextIO, aside: TextIO | None) -> None:
        self._stdout, self._elsewhere = stdout, aside

    @property
    def buffer(self) -> BinaryIO:
        return self._stdout.buffer

    def writable(self) -> bool:
        return True

    def write(self, text: str, /) -> int:
        if self._elsewhere is not None:
            self._elsewhere.write(text)
        return len(text)

    def flush(self) -> None:
        self._stdout.flush()
