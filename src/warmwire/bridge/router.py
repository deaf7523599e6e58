"""Which host a request goes to.

The endpoints ask a `Router` for the host of a model's name and hold it for as long as their request lasts. `OneHost` is
the bridge to one socket, where any name will do; the fleet knows many by their names.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final, NamedTuple, Protocol

from warmwire.bridge.fleet.look import HostState, look
from warmwire.client import AsyncClient
from warmwire.errors import BackendUnavailableError, DialError, WarmwireError

ANY_MODEL: Final = "warmwire"
"""What a model is called that nobody has named."""

Say = Callable[[str], Awaitable[None]]
"""Takes a word about what a request waits for."""


class Readiness(NamedTuple):
    """Whether a request would be taken now, why in words, and the state of each model where there are several."""

    ready: bool
    reason: str
    models: dict[str, str] | None = None


class Listed(NamedTuple):
    """A model as a list of models has it."""

    name: str
    able: dict[str, Any]
    """What it can do, as its host tells it."""
    more: dict[str, Any]


class Router(Protocol):
    """Knows the hosts."""

    def host(self, model: str | None, say: Say) -> AbstractAsyncContextManager[str]:
        """The socket path of a model's host, which is kept while the block lasts.

        Raises UnknownModelError, BackendUnavailableError. A DialError of the block is told in the host's own words.
        """

    async def models(self) -> list[Listed]:
        """Every model that may be asked for. Raises DialError where there is none: a list would look like one."""

    async def readiness(self) -> Readiness:
        """How things are."""

    async def start(self) -> None:
        """Begin to keep hosts."""

    async def close(self) -> None:
        """End the hosts that were started here."""


async def silently(word: str) -> None:
    """Whoever waits for an answer in one piece is told nothing on the way."""


class OneHost:
    """One socket, whatever the model is called. A host has one."""

    def __init__(self, addr: str) -> None:
        self._addr = addr

    @asynccontextmanager
    async def host(self, model: str | None, say: Say) -> AsyncIterator[str]:
        try:
            yield self._addr
        except DialError as error:
            raise await explained(self._addr, error) from None

    async def models(self) -> list[Listed]:
        try:
            found = (await look(self._addr)).models
        except DialError:
            found = []
        if not found:  # a host that tells nothing of itself, or none
            try:
                await _connect(self._addr)
            except DialError as error:
                raise await explained(self._addr, error) from None
            found = [{}]
        return [Listed(str(model.get("backend", ANY_MODEL)), model, {}) for model in found]

    async def readiness(self) -> Readiness:
        return await readiness_of(self._addr)

    async def start(self) -> None:
        """Somebody else has started it."""

    async def close(self) -> None:
        """And will end it."""


async def readiness_of(addr: str) -> Readiness:
    """Whether a host would take a request now, and why. It tells on its admin socket, if it has one."""
    try:
        state = await look(addr)
    except BackendUnavailableError as error:
        return Readiness(False, str(error))
    except WarmwireError:
        return await _accepts(addr, HostState("ready", None, []))
    if state.state != "ready":
        return Readiness(False, f"the host is not ready: {state.in_words}")
    return await _accepts(addr, state)


async def explained(addr: str, error: DialError) -> WarmwireError:
    """Why nobody answers, in the host's own words if it has some: it loads its model, say."""
    ready, reason, _ = await readiness_of(addr)
    return error if ready else BackendUnavailableError(reason)


async def _accepts(addr: str, state: HostState) -> Readiness:
    """A connect that succeeds means ready."""
    try:
        await _connect(addr)
    except WarmwireError as error:
        return Readiness(False, str(error))
    names = ", ".join(str(model.get("backend")) for model in state.models)
    return Readiness(True, f"the host is ready: {names}" if names else "the host is ready")


async def _connect(addr: str) -> None:
    async with AsyncClient(addr, wait=0) as client:
        await client.connect()
