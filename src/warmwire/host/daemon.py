"""A host of its own: `run_host` is `warmwire serve`, and `run_daemon` the same for a host of any wire.

`PrivateHost` is a host for one program's own use, on a thread, behind a socket that nobody else can reach: it gives a
run over many pages what a host gives, worker processes that may crash or grow without taking the run along.
"""

from __future__ import annotations

import asyncio
import grp
import os
import signal
import threading
from collections.abc import Callable, Collection, Coroutine, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any, cast

from warmwire.errors import CancelledError, ListenError, UsageError
from warmwire.host.activity_log import activity_log, record
from warmwire.host.base import BaseHost
from warmwire.host.defaults import DRAIN_TIMEOUT, QUEUE_DEPTH, WRITE_TIMEOUT
from warmwire.host.generation.server import Host
from warmwire.host.notify import InheritedPath, inherited_paths, notify
from warmwire.host.serving import serving, unless
from warmwire.host.workers.pool import WorkerPool
from warmwire.system.closing import Closing
from warmwire.system.private import PrivateDirectory
from warmwire.transport.listen import Access, raise_descriptor_limit
from warmwire.transport.paths import Surface, surface_addr
from warmwire.transport.peer import own_uids

Loop = Callable[[], asyncio.AbstractEventLoop]


def run_daemon(
    make: Callable[[], BaseHost[Any]],
    addr: str | os.PathLike[str] | None = None,
    *,
    drain_timeout: float = DRAIN_TIMEOUT,
    log_dir: str | os.PathLike[str] | None = None,
    allow_uids: Collection[int] = (),
    group: str | None = None,
    on_ready: Callable[[str], None] = lambda path: None,
    loop_factory: Loop | None = None,
) -> None:
    """Serve until SIGTERM or SIGINT; a second signal cuts what is still under way.

    `log_dir` is where the activity log goes, None for none. Only the host's user and root may connect, and to the admin
    socket nobody else ever: `allow_uids` are taken as well, or the members of `group`. Sockets that a service manager
    hands over are served in place of those at the same paths. Raises ListenError, UsageError, and what loading raises.
    """
    access = _access(allow_uids, group)
    inherited = inherited_paths()
    _check_inherited(inherited, addr)

    async def main() -> None:
        stop, cut = asyncio.Event(), asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, lambda: (cut if stop.is_set() else stop).set())
        raise_descriptor_limit()
        host = make()
        host.uids = None if group else own_uids() | set(allow_uids)
        model = host.name

        def ready(path: str) -> None:
            notify(READY=1, STATUS=f"serving {model} at {path}")
            on_ready(path)

        notify(STATUS=f"loading {model}")
        async with serving(host, addr, stop, ready, inherited, access):
            notify(STOPPING=1, STATUS="draining")
            record("draining", outstanding=host.activity.outstanding)
            await unless(cut, host.drain(drain_timeout))
        record("stopped", answered=host.activity.answered, refused=host.activity.refused)

    name = Path(surface_addr(addr, Surface.GENERATION)).stem
    with activity_log(log_dir, name), asyncio.Runner(loop_factory=loop_factory) as runner:
        runner.run(main())


def run_host(
    model: str,
    addr: str | os.PathLike[str] | None = None,
    *,
    workers: int = 1,
    threads: int | None = None,
    queue_depth: int = QUEUE_DEPTH,
    write_timeout: float = WRITE_TIMEOUT,
    request_timeout: float | None = None,
    **daemon: Any,
) -> None:
    """Serve `model` on the generation wire; `daemon` is for `run_daemon`.

    `threads` is per worker, None shares the cores out. `request_timeout` is how many seconds a model gets for a request
    before its worker is replaced: None, 120 for a page and any number otherwise; 0, any number. Raises InputError or
    BackendUnavailableError when the model cannot be loaded.
    """

    def make() -> Host:
        return Host(
            WorkerPool(model, workers, threads),
            queue_depth=queue_depth,
            write_timeout=write_timeout,
            request_timeout=request_timeout,
        )

    run_daemon(make, addr, loop_factory=_loop_factory(), **daemon)


class PrivateHost(Closing):
    """A host on a thread of this process, for this process. Loads in the background; `wait` says when it is ready."""

    def __init__(
        self, model: str, *, workers: int = 1, threads: int | None = None, request_timeout: float | None = None
    ) -> None:
        self._directory = PrivateDirectory()
        self.addr = str(Path(self._directory.path) / "private.sock")
        self._ready: Future[str] = Future()
        self._stop: Callable[[], object] = lambda: None
        self._started = threading.Event()

        async def main() -> None:
            stop, loop = asyncio.Event(), asyncio.get_running_loop()
            self._stop = lambda: loop.call_soon_threadsafe(stop.set)
            self._started.set()
            host = Host(WorkerPool(model, workers, threads), request_timeout=request_timeout)
            async with serving(host, self.addr, stop, self._ready.set_result, {}, Access()):
                pass

        self._thread = threading.Thread(target=self._run, args=(main,), name="warmwire-host", daemon=True)
        try:
            self._thread.start()
            self._started.wait()
        except BaseException:  # a signal
            self.close()
            raise

    def wait(self) -> str:
        """Wait until the model is loaded; returns the address. Raises what loading raised."""
        return self._ready.result()

    def close(self) -> None:
        """Stop the workers and remove the socket. May be called twice."""
        try:
            if self._thread.is_alive():
                self._started.wait()
                self._stop()
                self._thread.join()
        finally:  # a signal may end the waiting
            self._directory.close()

    def _run(self, main: Callable[[], Coroutine[Any, Any, None]]) -> None:
        try:
            asyncio.run(main())
        except BaseException as error:
            if self._ready.done():
                raise
            self._ready.set_exception(error)
        finally:
            self._started.set()
            if not self._ready.done():
                self._ready.set_exception(CancelledError("the host was stopped while it loaded"))


def _access(allow_uids: Collection[int], group: str | None) -> Access:
    """Raises UsageError for a group that does not exist, and where both are given."""
    if group and allow_uids:
        raise UsageError("give --group or --allow-uid, not both: the host is told a client's user, not its groups")
    if allow_uids:
        return Access(0o666)  # the file system knows no list of users: the host itself turns the others away
    if not group:
        return Access()
    try:
        return Access(0o660, grp.getgrnam(group).gr_gid)
    except KeyError:
        raise UsageError(f"there is no group {group!r}") from None


def _check_inherited(inherited: Mapping[str, InheritedPath], addr: str | os.PathLike[str] | None) -> None:
    """Raise ListenError for a socket that we were given and have no use for: its clients would wait for ever."""
    ours = [surface_addr(addr, surface) for surface in Surface]
    for path in inherited.keys() - set(ours):
        raise ListenError(
            f"the socket {path} was handed over, but this host listens at {', '.join(ours)}; see --socket"
        )


def _loop_factory() -> Loop | None:
    """uvloop's, where it is installed."""
    try:
        from uvloop import new_event_loop
    except ImportError:
        return None
    return cast(Loop, new_event_loop)
