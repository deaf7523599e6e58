"""What a host says of itself on its admin socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Final, NamedTuple, cast

from warmwire.client import AsyncClient
from warmwire.errors import BackendUnavailableError
from warmwire.wire.admin import HostStatus

_STATE_WAIT: Final = 3.0
"""Seconds within which a host that lives has told how it is."""


class HostState(NamedTuple):
    """A host's state, the phase of one that loads, and what its models can do."""

    state: str
    phase: str | None
    models: list[dict[str, Any]]
    activity: dict[str, Any] | None = None

    @property
    def in_words(self) -> str:
        return self.state.replace("_", " ") + (f" ({self.phase})" if self.phase else "")


async def look(addr: str) -> HostState:
    """How the host at a socket path is. Raises BackendUnavailableError where it says nothing; DialError."""
    host = HostStatus()
    try:
        async with asyncio.timeout(_STATE_WAIT), aclosing(events(addr)) as told:
            async for event in told:
                host.take(event)
                if host.state:
                    phase = host.details.get("phase")
                    return HostState(host.state, phase if isinstance(phase, str) else None, host.capabilities)
    except TimeoutError:
        raise BackendUnavailableError(f"the host has not told its state within {_STATE_WAIT:g} s") from None
    raise BackendUnavailableError("the host ended before it told its state")


def events(addr: str) -> AsyncGenerator[dict[str, Any], None]:
    """What it tells until it ends. Raises DialError."""
    return cast(AsyncGenerator[dict[str, Any], None], AsyncClient(addr, wait=0).events())
