"""Finding the hosts of this user, by the sockets that lie in the runtime directory, or at the paths that were given.

A host that is ready is asked once for its model's name, which stays true for as long as its socket is the same file.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warmwire.bridge.fleet.config import is_beside
from warmwire.bridge.fleet.look import HostState, look
from warmwire.client import AsyncClient
from warmwire.errors import WarmwireError
from warmwire.transport.listen import lock_holder
from warmwire.transport.paths import Surface, default_directory

_SOCKET, _LOCK = ".sock", ".sock.lock"


@dataclass(frozen=True)
class FoundHost:
    """A host: where it is and what it says of itself. `ready` means that it can be connected to."""

    path: str
    ready: bool
    state: HostState

    @property
    def stem(self) -> str:
        """The name that its socket gives it."""
        return os.path.basename(self.path).removesuffix(_SOCKET)

    @property
    def able(self) -> dict[str, Any]:
        return self.state.models[0] if self.state.models else {}

    @property
    def name(self) -> str:
        """Its model's name, as far as it is told."""
        return str(self.able.get("backend") or self.stem)


class Finder:
    """Finds hosts: at `paths`, or, where none are given, in the runtime directory."""

    def __init__(self, paths: Sequence[str] = ()) -> None:
        self._paths = list(paths)
        self._known: dict[str, tuple[tuple[int, int], FoundHost]] = {}

    async def hosts(self) -> list[FoundHost]:
        """All that live, the default one first, then in the order of their paths."""
        found = await asyncio.gather(*map(self._look, self._paths or socket_paths(default_directory())))
        return [host for host in found if host is not None]

    def remembered(self) -> list[FoundHost]:
        """Those that were ready when they were last looked at and have the same socket still. Asks nobody."""
        known = [host for path, (identity, host) in self._known.items() if identity == _identity(path)]
        return sorted(known, key=self._place)  # in the order in which `hosts` has them

    def _place(self, host: FoundHost) -> tuple[int, str]:
        if self._paths:
            return self._paths.index(host.path), host.path
        return int(host.path != str(default_directory() / Surface.GENERATION)), host.path

    async def _look(self, path: str) -> FoundHost | None:
        identity = _identity(path)
        known = self._known.get(path)
        if known is not None and known[0] == identity and await _connects(path):
            return known[1]
        self._known.pop(path, None)
        try:
            state = await look(path)
        except WarmwireError:  # it has no admin socket, or says nothing there
            state = HostState("ready" if await _connects(path) else "silent", None, [])
        ready = state.state == "ready" and await _connects(path)
        if not ready and state.state in ("ready", "silent") and lock_holder(path) is None:
            return None
        host = FoundHost(path, ready, state)
        if ready and identity is not None:
            self._known[path] = identity, host
        return host


def socket_paths(directory: Path) -> list[str]:
    """The generation sockets in a directory of ours, those that are claimed and not bound yet among them."""
    try:
        if directory.stat().st_uid != os.getuid():  # anybody could have made it
            return []
        names = os.listdir(directory)
    except OSError:
        return []
    paths = {str(directory / name.removesuffix(".lock")) for name in names if name.endswith((_SOCKET, _LOCK))}
    default = str(directory / Surface.GENERATION)
    return sorted((p for p in paths if p == default or not is_beside(p)), key=lambda p: (p != default, p))


def by_name(hosts: Iterable[FoundHost]) -> dict[str, FoundHost]:
    """Hosts by their models' names. Of several with one name the first has it; the others have their sockets'."""
    named: dict[str, FoundHost] = {}
    rest = [host for host in hosts if named.setdefault(host.name, host) is not host]
    for host in rest:
        named.setdefault(host.stem, host)
    return named


def _identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_ino, status.st_ctime_ns


async def _connects(path: str) -> bool:
    try:
        async with AsyncClient(path, wait=0) as client:
            await client.connect()
    except WarmwireError:
        return False
    return True
