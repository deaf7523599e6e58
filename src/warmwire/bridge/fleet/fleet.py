"""All models of one user behind one door: hosts that are found, and models that are started when they are asked for.

A name is looked up among the declared models, then the aliases, then the hosts that run, by their models' names and
their sockets'. `memory` bounds what the declared ones take together: before one is loaded, others are unloaded, the one
that was used longest ago first, and never one that is at work; where all are, the load waits its turn.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final

from warmwire.bridge.errors import UnknownModelError
from warmwire.bridge.fleet.config import Settings
from warmwire.bridge.fleet.find import Finder, FoundHost, by_name
from warmwire.bridge.fleet.kept import Kept, State, Upkeep
from warmwire.bridge.fleet.start import LoadError
from warmwire.bridge.router import Listed, Readiness, Say, explained
from warmwire.errors import BackendUnavailableError, DialError
from warmwire.transport.paths import default_addr

log = logging.getLogger("warmwire.bridge")

_LOOK_AGAIN: Final = 5.0
"""Seconds between two looks for declared models that somebody else has loaded."""

_NAMES: Final = 20
"""Names told in an error."""


class Fleet:
    """Hosts by name. Implements `Router`."""

    def __init__(self, settings: Settings, paths: Sequence[str] = (), upkeep: Upkeep | None = None) -> None:
        self._aliases = settings.aliases
        self._finder = Finder(paths)
        self._default = paths[0] if paths else default_addr()
        self._memory = _Memory(settings.memory)
        upkeep = upkeep or Upkeep()
        self.kept: Final = {name: Kept(declared, self._memory, upkeep) for name, declared in settings.models.items()}
        """The declared models by their names."""

        self._memory.kept = self.kept
        self._at = {kept.path: kept for kept in self.kept.values()}
        self._looking: asyncio.Task[None] | None = None

    async def start(self) -> None:
        for kept in self.kept.values():
            if kept.declared.preload:
                kept.load()
        if self.kept:
            self._looking = asyncio.create_task(self._adopt())

    async def close(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
        await asyncio.gather(*(kept.close() for kept in self.kept.values()))

    @asynccontextmanager
    async def host(self, model: str | None, say: Say) -> AsyncIterator[str]:
        found = await self._named(model)
        if isinstance(found, Kept):
            async with found.held(say) as path:
                try:
                    yield path
                except DialError:
                    raise BackendUnavailableError(f"the host of {found.name} has just ended; ask again") from None
            return
        try:
            yield found.path
        except DialError as error:
            raise await explained(found.path, error) from None

    async def models(self) -> list[Listed]:
        hosts = await self._finder.hosts()
        listed = [
            Listed(name, kept.able, {"state": str(kept.state)} | ({"error": kept.failure} if kept.failure else {}))
            for name, kept in self.kept.items()
        ]
        running = by_name(host for host in hosts if host.ready and host.path not in self._at)
        running = {name: host for name, host in running.items() if name not in self.kept}
        listed += [Listed(name, host.able, {"state": "ready"}) for name, host in running.items()]
        if not listed:
            raise self._nobody(hosts)
        known = {model.name: model for model in listed}
        listed += [
            Listed(alias, known[name].able, known[name].more | {"alias_of": name})
            for alias, name in self._aliases.items()
            if name in known and alias not in known
        ]
        return listed

    async def readiness(self) -> Readiness:
        hosts = await self._finder.hosts()
        states = {name: kept.in_words for name, kept in self.kept.items()}
        for name, host in by_name(host for host in hosts if host.path not in self._at).items():
            states.setdefault(name, "ready" if host.ready else host.state.in_words)
        ready = any(host.ready for host in hosts) or any(not kept.failure for kept in self.kept.values())
        if not states:
            return Readiness(False, str(self._nobody(hosts)), states)
        return Readiness(ready, "; ".join(f"{name}: {state}" for name, state in states.items()), states)

    # ------------------------------------------------------------------ names

    async def _named(self, model: str | None) -> Kept | FoundHost:
        """Raises UnknownModelError; BackendUnavailableError where the name may be known in a moment; DialError."""
        name = self._aliases.get(model or "", model or "")
        if name in self.kept:
            return self.kept[name]
        if name and (found := self._running(name, self._finder.remembered())) is not None:
            return found
        hosts = await self._finder.hosts()
        if not name and (only := self._only(hosts)) is not None:
            return only
        if (found := self._running(name, hosts)) is not None:
            return found
        known = [*self.kept, *by_name(h for h in hosts if h.ready and h.path not in self._at), *self._aliases]
        if not known:
            raise self._nobody(hosts)
        loading = [host for host in hosts if not host.ready and host.path not in self._at]
        said = f"no model is called {name!r}" if name else "no model is named, and there are several"
        if model != name:
            said += f", which {model!r} stands for"
        if loading:
            raise BackendUnavailableError(f"{said}; the host at {loading[0].path} is not ready yet")
        more = f" and {len(known) - _NAMES} more" if len(known) > _NAMES else ""
        raise UnknownModelError(f"{said}; there are: {', '.join(sorted(set(known))[:_NAMES])}{more}")

    def _running(self, name: str, hosts: Sequence[FoundHost]) -> Kept | FoundHost | None:
        ready = [host for host in hosts if host.ready]
        host = by_name(ready).get(name) or next((host for host in ready if host.stem == name), None)
        return host if host is None else self._at.get(host.path, host)

    def _only(self, hosts: Sequence[FoundHost]) -> Kept | FoundHost | None:
        """The model that is meant by who names none: where there is but one."""
        every: list[Kept | FoundHost] = [*self.kept.values()]
        every += [host for host in hosts if host.ready and host.path not in self._at]
        return every[0] if len(every) == 1 else None

    def _nobody(self, hosts: Sequence[FoundHost]) -> BackendUnavailableError | DialError:
        if hosts:
            return BackendUnavailableError(f"the host at {hosts[0].path} is not ready: {hosts[0].state.in_words}")
        return DialError(f"no host listens at {self._default}; start one with: warmwire serve MODEL")

    async def _adopt(self) -> None:
        while True:
            for kept in self.kept.values():
                with suppress(OSError):
                    kept.adopt()
            self._memory.trim()
            await asyncio.sleep(_LOOK_AGAIN)


class _Memory:
    """What declared models may take together. Implements `Room`."""

    def __init__(self, bound: int | None) -> None:
        self.kept: dict[str, Kept] = {}
        self._bound = bound
        self._turn = asyncio.Lock()
        self._change = asyncio.Event()

    async def make(self, kept: Kept) -> None:
        if self._bound is None:
            return
        need = kept.memory()
        if need > self._bound:
            raise LoadError(
                f"{kept.name} takes about {need >> 20} MiB, and all models together may take"
                f" {self._bound >> 20} MiB; raise memory in the configuration"
            )
        async with self._turn:  # first come, first served: no large model waits for ever behind small ones
            while need + self._used(kept) > self._bound:
                self._change.clear()
                if (oldest := self._oldest(kept)) is not None:
                    oldest.unload()
                    await oldest.wait_end()
                else:
                    await self._change.wait()
            kept.state = State.LOADING  # from here on it is counted

    def trim(self) -> None:
        """Unload one where they have come to take more than they may."""
        if self._bound is not None and self._used(None) > self._bound and (oldest := self._oldest(None)) is not None:
            oldest.unload()

    def changed(self) -> None:
        self._change.set()

    def _used(self, but: Kept | None) -> int:
        counted = (State.LOADING, State.READY, State.ENDING)
        return sum(kept.memory() for kept in self.kept.values() if kept is not but and kept.state in counted)

    def _oldest(self, but: Kept | None) -> Kept | None:
        idle = [kept for kept in self.kept.values() if kept.idle and kept is not but]
        return min(idle, key=lambda kept: kept.used, default=None)
