"""The life of a host: claim its paths, load, bind, serve, and give everything back."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from typing import Any

from warmwire.errors import UsageError
from warmwire.host.activity_log import record
from warmwire.host.admin import Admin
from warmwire.host.base import BaseHost
from warmwire.host.notify import InheritedPath
from warmwire.transport.listen import Access, SocketPath
from warmwire.transport.paths import Surface, check_path, surface_addr
from warmwire.transport.peer import own_uids
from warmwire.wire.admin import HostEvent

log = logging.getLogger("warmwire.host")


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
    host: BaseHost[Any],
    addr: str | os.PathLike[str] | None,
    stop: asyncio.Event,
    on_ready: Callable[[str], None],
    inherited: Mapping[str, InheritedPath],
    access: Access,
) -> AsyncIterator[None]:
    """Claim, load, bind, accept until `stop`; inside, the host accepts no more and what was admitted still runs.

    The admin socket comes first and goes last. Of the others the host's own path is the last to come, so whoever can
    connect to it finds the others as well.
    """
    admin = Admin(own_uids(), host.hangups)
    with _Paths(addr, inherited) as paths:
        own = paths.claim(Surface.GENERATION)
        telling = None
        if paths.wanted(Surface.ADMIN):
            telling = asyncio.create_task(admin.serve(paths.claim(Surface.ADMIN).bind()))
        try:
            admin.publish(HostEvent.LOADING_MODEL, {"phase": "checking_local", "path": host.name})
            if await unless(stop, host.start()):
                admin.present(host)
                served = {s: paths.claim(s) for s, able in host.beside().items() if paths.wanted(s, able)}
                served[Surface.GENERATION] = own
                listening = {surface: path.bind(access) for surface, path in served.items()}
                admin.publish(HostEvent.READY)
                record(
                    "ready",
                    model=host.name,
                    path=own.path,
                    workers=host.activity.workers,
                    surfaces=[s.name.lower() for s in listening if s is not Surface.GENERATION] + [host.speaks],
                )
                on_ready(own.path)
                await host.serve(listening, stop)
                for path in served.values():
                    path.unlink()
                admin.publish(HostEvent.DRAINING)
            yield
        finally:
            if telling is not None:
                telling.cancel()
            admin.close()
            await host.close()


async def unless(event: asyncio.Event, coroutine: Coroutine[Any, Any, object]) -> bool:
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
