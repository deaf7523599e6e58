"""A host of its own: claim the path, load, bind, serve, drain.

`run_host` is `warmwire serve`: it ends on a signal. `PrivateHost` is the same for one program's own use, on a thread,
behind a socket that nobody else can reach: it gives a run over many pages what a host gives, worker processes that may
crash or grow without taking the run along.
"""

from __future__ import annotations

import asyncio
import contextlib
import grp
import logging
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any, cast

from warmwire.errors import CancelledError, ListenError, UsageError
from warmwire.host.activity_log import activity_log, record
from warmwire.host.admin import Admin
from warmwire.host.generation.server import DRAIN_TIMEOUT, QUEUE_DEPTH, WRITE_TIMEOUT, Host
from warmwire.host.notify import InheritedPath, inherited_paths, notify
from warmwire.host.workers.pool import WorkerPool
from warmwire.system.closing import Closing
from warmwire.transport.listen import Access, SocketPath, raise_descriptor_limit
from warmwire.transport.paths import Surface, check_path, surface_addr
from warmwire.transport.peer import own_uids
from warmwire.wire.admin import Status

log = logging.getLogger("warmwire.host")


def run_host(
    model: str,
    addr: str | os.PathLike[str] | None = None,
    *,
    workers: int = 1,
    threads: int | None = None,
    queue_depth: int = QUEUE_DEPTH,
    write_timeout: float = WRITE_TIMEOUT,
    drain_timeout: float = DRAIN_TIMEOUT,
    request_timeout: float | None = None,
    log_dir: str | os.PathLike[str] | None = None,
    allow_uids: Collection[int] = (),
    group: str | None = None,
    on_ready: Callable[[str], None] = lambda path: None,
) -> None:
    """Serve `model` until SIGTERM or SIGINT; a second signal cuts what is still under way.

    `threads` is per worker, None shares the cores out. `request_timeout` is how many seconds a model gets for a request
    before its worker is replaced: None, 120 for a page and any number otherwise; 0, any number. `log_dir` is where the
    activity log goes, None for none. Only the host's user and root may connect, and to the admin socket nobody else
    ever: `allow_uids` are taken as well, or the members of `group`.
    Sockets that a service manager hands over are served in place of those at the same paths. Raises ListenError,
    UsageError, and InputError or BackendUnavailableError when the model cannot be loaded.
    """
    access = _access(allow_uids, group)
    inherited = inherited_paths()
    _check_inherited(inherited, addr)

    def ready(path: str) -> None:
        notify(READY=1, STATUS=f"serving {model} at {path}")
        on_ready(path)

    async def main() -> None:
        stop, cut = asyncio.Event(), asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, lambda: (cut if stop.is_set() else stop).set())
        raise_descriptor_limit()
        host = Host(
            WorkerPool(model, workers, threads),
            queue_depth=queue_depth,
            write_timeout=write_timeout,
            request_timeout=request_timeout,
        )
        host.uids = None if group else own_uids() | set(allow_uids)
        notify(STATUS=f"loading {model}")
        async with serving(host, addr, stop, ready, inherited, access):
            notify(STOPPING=1, STATUS="draining")
            record("draining", outstanding=host.activity.outstanding)
            await _unless(cut, host.drain(drain_timeout))
        record("stopped", answered=host.activity.answered, refused=host.activity.refused)

    name = Path(surface_addr(addr, Surface.GENERATION)).stem
    with activity_log(log_dir, name), asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(main())


class PrivateHost(Closing):
    """A host on a thread of this process, for this process. Loads in the background; `wait` says when it is ready."""

    def __init__(
        self, model: str, *, workers: int = 1, threads: int | None = None, request_timeout: float | None = None
    ) -> None:
        self._directory = tempfile.mkdtemp(prefix="warmwire-")
        self.addr = str(Path(self._directory) / "private.sock")
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
        self._thread.start()
        self._started.wait()

    def wait(self) -> str:
        """Wait until the model is loaded; returns the address. Raises what loading raised."""
        return self._ready.result()

    def close(self) -> None:
        """Stop the workers and remove the socket. May be called twice."""
        if self._thread.is_alive():
            self._stop()
            self._thread.join()
        shutil.rmtree(self._directory, ignore_errors=True)

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


class _Paths(contextlib.ExitStack):
    """The paths of a host's sockets, claimed one by one and given back together."""

    def __init__(self, addr: str | os.PathLike[str] | None, inherited: Mapping[str, InheritedPath]) -> None:
        super().__init__()
        self._addr, self._inherited = addr, inherited

    def claim(self, surface: Surface) -> SocketPath | InheritedPath:
        """Raises ListenError, UsageError."""
        path = surface_addr(self._addr, surface)
        return self._inherited.get(path) or self.enter_context(SocketPath(path))

    def wanted(self, surface: Surface, able: bool = True) -> bool:
        """Whether to serve a surface beside generation: where the model is able and the path is not too long.

        A socket that we were given is answered on in any case: nobody else could tell its clients.
        """
        path = surface_addr(self._addr, surface)
        if path in self._inherited or not able:
            return path in self._inherited
        try:
            check_path(path)
        except UsageError as error:
            log.warning("no %s socket: %s", surface.name.lower(), error)
            return False
        return True


@contextlib.asynccontextmanager
async def serving(
    host: Host,
    addr: str | os.PathLike[str] | None,
    stop: asyncio.Event,
    on_ready: Callable[[str], None],
    inherited: Mapping[str, InheritedPath],
    access: Access,
) -> AsyncIterator[None]:
    """Claim, load, bind, accept until `stop`; inside, the host accepts no more and what was admitted still runs.

    The admin socket comes first and goes last. Of the others generation is the last to come, so whoever can connect
    to it finds the others as well.
    """
    runner, admin = host.runner, Admin(own_uids(), host.hangups)
    with _Paths(addr, inherited) as paths:
        generation = paths.claim(Surface.GENERATION)
        telling = None
        if paths.wanted(Surface.ADMIN):
            telling = asyncio.create_task(admin.serve(paths.claim(Surface.ADMIN).bind()))
        try:
            admin.publish(Status.LOADING_MODEL, {"phase": "checking_local", "path": runner.name})
            if await _unless(stop, runner.start()):
                admin.publish_capabilities(runner.name, runner.capabilities)
                admin.watch(host.activity)
                host.on_activity = admin.changed
                able = {Surface.EMBEDDINGS: runner.capabilities.embed, Surface.RERANK: runner.capabilities.rerank}
                served = {surface: paths.claim(surface) for surface, can in able.items() if paths.wanted(surface, can)}
                served[Surface.GENERATION] = generation
                listening = {surface: path.bind(access) for surface, path in served.items()}
                admin.publish(Status.READY)
                record(
                    "ready",
                    model=runner.name,
                    path=generation.path,
                    workers=runner.workers,
                    surfaces=[surface.name.lower() for surface in listening],
                )
                on_ready(generation.path)
                await host.serve(listening, stop)
                for path in served.values():
                    path.unlink()
                admin.publish(Status.DRAINING)
                yield
            else:
                yield
        finally:
            if telling is not None:
                telling.cancel()
            admin.close()
            await host.close()


def _access(allow_uids: Collection[int], group: str | None) -> Access:
    """Raises UsageError for a group that does not exist, and where both are given."""
    if group and allow_uids:
        raise UsageError("give --group or --allow-uid: of a process of another group the host cannot tell its members")
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


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop's, where it is installed."""
    try:
        from uvloop import new_event_loop
    except ImportError:
        return None
    return cast(Callable[[], asyncio.AbstractEventLoop], new_event_loop)


async def _unless(event: asyncio.Event, coroutine: Coroutine[Any, Any, object]) -> bool:
    """Await a coroutine unless the event comes first; returns whether it ended."""
    task = asyncio.ensure_future(coroutine)
    waiting = asyncio.ensure_future(event.wait())
    try:
        await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            task.result()
        return task.done()
    finally:
        waiting.cancel()
        task.cancel()
        await asyncio.gather(task, waiting, return_exceptions=True)
