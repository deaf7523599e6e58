"""One declared model and its host.

There is at most one host of it: it lives at one path, whose lock says so also across processes, and everybody who asks
while it loads waits for the same load. It may be somebody else's (`warmwire load`); then it is kept and unloaded all
the same. While a request holds it, or somebody asks it directly, it stays; after `keep_alive` seconds of quiet it is
told to end, and drains. A load that fails is told to all who wait, and to who asks within a pause that doubles from
failure to failure.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Protocol

from warmwire.bridge.fleet.config import Declared
from warmwire.bridge.fleet.look import events
from warmwire.bridge.fleet.start import LoadError, last_words, start_host
from warmwire.bridge.router import Say
from warmwire.errors import BackendUnavailableError, DialError, WarmwireError
from warmwire.system.processes import tree_memory
from warmwire.transport.listen import lock_holder

log = logging.getLogger("warmwire.bridge")

_POLL: Final = 0.05
"""Seconds between two looks for the admin socket of a host that was just started."""

_END_GRACE: Final = 15.0
"""Seconds a host gets to end: its own time for draining, and some."""


@dataclass(frozen=True)
class Upkeep:
    """How declared models are kept. Times are in seconds, memory is in bytes."""

    first_pause: float = 1.0
    """How long a model that could not be loaded is not tried again; doubled with each failure."""

    longest_pause: float = 60.0
    first_word: float = 1.0
    """Waiting before the first word about it to who asks."""

    next_word: float = 10.0
    """Waiting between two words: proxies drop a stream that is silent."""

    base: int = 100 << 20
    """What a host and its worker take before a model, and some: 43 MiB with `echo`, 73 with a tiny GGUF file."""

    measure: Callable[[int], int] = tree_memory
    """What a host takes now, by its process id."""

    clock: Callable[[], float] = time.monotonic


class State(StrEnum):
    """What a declared model is doing."""

    STOPPED = "stopped"
    WAITING = "waiting for memory"
    LOADING = "loading"
    READY = "ready"
    ENDING = "ending"


class _LeftError(BackendUnavailableError):
    """Somebody else's host has ended that was found loading, or about to end: there is room for one of ours now."""


class Room(Protocol):
    """Has memory for hosts."""

    async def make(self, kept: Kept) -> None:
        """Wait until there is memory for one more; it is taken from then on. Raises LoadError."""

    def trim(self) -> None:
        """A host has been loaded: it may have taken more than was thought."""

    def changed(self) -> None:
        """One has become quiet, or has gone."""


class Kept:
    """A declared model, loaded or not. Lives in one event loop."""

    def __init__(self, declared: Declared, room: Room, upkeep: Upkeep) -> None:
        self.declared = declared
        self.state = State.STOPPED
        self.phase = ""
        self.failure = ""
        """Why the last load failed; empty once one has not."""

        self.able: dict[str, Any] = {}
        """What its model can do, known once it was loaded."""

        self.used = 0.0
        """When it was last at work, on the monotonic clock."""

        self._room, self._upkeep = room, upkeep
        self._users = 0
        self._busy = False  # with requests of whomever
        self._need = 0
        self._failures = 0
        self._again = 0.0
        self._life: asyncio.Task[None] | None = None
        self._ready: asyncio.Future[None]
        self._process: subprocess.Popen[bytes] | None = None
        self._quiet: asyncio.TimerHandle | None = None

    # ------------------------------------------------------------------ what the fleet asks

    @property
    def name(self) -> str:
        return self.declared.name

    @property
    def path(self) -> str:
        return self.declared.socket

    @property
    def idle(self) -> bool:
        """Whether it is loaded and nobody needs it."""
        return self.state is State.READY and not self._users and not self._busy

    @property
    def in_words(self) -> str:
        if self.state is State.STOPPED and self.failure:
            return f"failed: {self.failure}"
        return f"{self.state} ({self.phase})" if self.phase and self.state is State.LOADING else str(self.state)

    @asynccontextmanager
    async def held(self, say: Say) -> AsyncIterator[str]:
        """The path of its socket, once the host is ready, which it stays meanwhile. Raises LoadError."""
        self._users += 1
        self._touch()
        try:
            await self._loaded(say)
            yield self.path
        finally:
            self._users -= 1
            self._touch()

    def load(self) -> None:
        """Begin to load it, if it is not loaded."""
        if self._life is None:
            self._ready = asyncio.get_running_loop().create_future()
            self._life = asyncio.create_task(self._live())

    def adopt(self) -> None:
        """Take over a host that somebody else has started."""
        if self._life is None and lock_holder(self.path) is not None:
            self.load()

    def unload(self) -> None:
        """Tell its host to end; `wait_end` waits for it."""
        if self.state is State.READY:
            self._become(State.ENDING)
            self._signal(signal.SIGTERM)

    def expire(self) -> None:
        """Unload it if nobody needs it."""
        if self.idle:
            log.info("%s has not been asked for %g s and is unloaded", self.name, self.declared.keep_alive or 0)
            self.unload()

    async def wait_end(self) -> None:
        """Return when it has no host."""
        if self._life is not None:
            await asyncio.wait({self._life}, timeout=_END_GRACE)
            if self._life is not None and self.state is State.ENDING:
                log.warning("the host of %s has not ended in %g s and is killed", self.name, _END_GRACE)
                self._signal(signal.SIGKILL)
                await asyncio.wait({self._life})

    async def close(self) -> None:
        """End the host, if it was started here; one of somebody else's goes on."""
        if self._life is not None and self._process is not None:
            self._become(State.ENDING)
            self._signal(signal.SIGTERM)
            await self.wait_end()
        if self._life is not None:
            self._life.cancel()
            await asyncio.gather(self._life, return_exceptions=True)
        if self._quiet is not None:
            self._quiet.cancel()

    def memory(self) -> int:
        """Bytes its host takes, or will take, as far as is known; what was measured last is remembered."""
        if self.state in (State.READY, State.ENDING) and (pid := lock_holder(self.path)) is not None:
            self._need = self._upkeep.measure(pid) or self._need
        return self._need or self._upkeep.base + self._file_size() * self.declared.workers

    # ------------------------------------------------------------------ waiting

    async def _loaded(self, say: Say) -> None:
        while self.state is not State.READY:
            if self._life is not None and self.state is State.ENDING:
                await self._say_until(self._life, say)
                continue
            if (left := self._again - self._upkeep.clock()) > 0:
                error = LoadError(f"{self.failure} (it is tried again in {left:.0f} s)")
                error.pause = left
                raise error
            self.load()
            ready = self._ready  # others may begin the next load before this goes on
            await self._say_until(ready, say)
            with contextlib.suppress(_LeftError):
                ready.result()

    async def _say_until(self, future: asyncio.Future[None], say: Say) -> None:
        pause = self._upkeep.first_word
        while not (await asyncio.wait({future}, timeout=pause))[0]:
            await say(f"{self.name}: {self.in_words}")
            pause = self._upkeep.next_word

    # ------------------------------------------------------------------ the life of one host

    async def _live(self) -> None:
        failure: WarmwireError | None = None
        try:
            self._become(State.WAITING)
            if lock_holder(self.path) is None:
                await self._room.make(self)
            self._become(State.LOADING)
            if lock_holder(self.path) is None:
                self._process = start_host(self.declared)
            await self._follow()
            failure = self._why() if not self._ready.done() else None
        except asyncio.CancelledError:
            if self._process is not None:  # the loop is ending without `close`: a second Ctrl-C, say
                self._signal(signal.SIGTERM)
            raise
        except WarmwireError as error:
            failure = error
        except Exception as error:
            log.exception("keeping %s failed", self.name)
            failure = LoadError(f"the bridge failed: {type(error).__name__}")
        finally:
            self._end(failure or BackendUnavailableError(f"the host of {self.name} has ended"))

    async def _follow(self) -> None:
        """Listen to the host until it has ended."""
        while self._lives():
            try:
                async with aclosing(events(self.path)) as told:
                    async for event in told:
                        self._take(event)
            except DialError:
                pass  # not yet, or no more
            except WarmwireError as error:
                log.warning("the host of %s: %s", self.name, error)
            await asyncio.sleep(_POLL)

    def _take(self, event: dict[str, Any]) -> None:
        match event.get("status"):
            case "capabilities":
                self.able = event
            case "activity":
                self._busy = bool(event.get("outstanding"))
                idle = event.get("idle")  # the line comes a moment after what it tells of
                self._touch(idle if isinstance(idle, int | float) else 0)
            case "ready" if self.state is State.LOADING:
                self._become(State.READY)
                self.failure, self._failures = "", 0
                if not self._ready.done():
                    self._ready.set_result(None)
                self.memory()
                self._touch()
                self._room.trim()
            case "draining":
                self._become(State.ENDING)
            case "loading_model" | "restarting":
                self.phase = str(event.get("phase", ""))
                self._become(State.LOADING)

    def _why(self) -> WarmwireError:
        """Why a host has ended that was not ready yet."""
        name = self.name
        if self._process is None:
            return _LeftError(f"the host of {name} has ended")
        if not self._process.returncode or self.state is State.ENDING:
            return BackendUnavailableError(f"the host of {name} was stopped while it loaded")
        return LoadError(f"{name} cannot be loaded: {last_words(self.declared)}")

    def _end(self, failure: WarmwireError) -> None:
        if not self._ready.done():
            if isinstance(failure, LoadError):
                self._failures += 1
                pause = self._upkeep.first_pause * 2 ** (self._failures - 1)
                failure.pause = min(pause, self._upkeep.longest_pause)
                self._again = self._upkeep.clock() + failure.pause
                self.failure = str(failure)
                log.warning("%s", failure)
            self._ready.set_exception(failure)
            self._ready.exception()  # perhaps nobody waits
        self._process = self._life = None
        self._busy, self.phase = False, ""
        self._become(State.STOPPED)

    def _lives(self) -> bool:
        if self._process is not None:
            return self._process.poll() is None
        return lock_holder(self.path) is not None

    def _signal(self, number: signal.Signals) -> None:
        ours = self._process is not None and self._process.poll() is None
        pid = self._process.pid if self._process is not None and ours else lock_holder(self.path)
        if pid is not None:
            with contextlib.suppress(OSError):
                os.kill(pid, number)

    def _become(self, state: State) -> None:
        self.state = state
        self._room.changed()

    def _touch(self, ago: float = 0) -> None:
        """It was at work just now, or some seconds ago; from when nobody needs it, its time runs."""
        now = self._upkeep.clock()
        self.used = max(self.used, now - max(0, ago))
        if self._quiet is not None:
            self._quiet.cancel()
            self._quiet = None
        if self.idle:
            self._room.changed()
            if self.declared.keep_alive is not None:
                left = self.declared.keep_alive - (now - self.used)
                self._quiet = asyncio.get_running_loop().call_later(left, self.expire)

    def _file_size(self) -> int:
        """Bytes of the model's file; 0 for a model that is none."""
        for name in (self.declared.model, self.declared.model.rpartition("?")[0]):
            with contextlib.suppress(OSError, ValueError):
                if name:
                    return Path(self.declared.folder, name).stat().st_size
        return 0
