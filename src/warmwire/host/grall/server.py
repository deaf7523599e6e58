"""The grall wire's host: one chain, many connections, many named generations on each, one event loop.

`turns` says who makes text when, `connection` what a client is told, and `base` how the host takes clients in, drains
and ends. A drain waits for the generations that end by themselves, by their limit or the style; those without an end
run until the others are through.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable
from typing import Any, ClassVar, Final

from warmwire.host.base import Activity, BaseHost
from warmwire.host.daemon import run_daemon
from warmwire.host.grall.connection import GrallConnection
from warmwire.host.grall.named import NamedGeneration
from warmwire.host.grall.options import GrallOptions
from warmwire.host.grall.turns import Ring
from warmwire.markov import Chain, Generation
from warmwire.markov.styles import Style
from warmwire.models.interface import Capabilities
from warmwire.transport.paths import Surface
from warmwire.wire.grall import New

_READ: Final = 4 << 10
"""Bytes of commands taken at once: a client that floods us with pings gets turns too, not more. One buffer for all
connections."""


class GrallHost(BaseHost[GrallConnection]):
    """Serves the chain that `load` gives. As many generations as one connection may have count as room in `activity`,
    for each connection."""

    speaks: ClassVar = "grall"

    def __init__(self, load: Callable[[], Chain], options: GrallOptions | None = None, *, name: str = "markov") -> None:
        self.options: Final = options or GrallOptions()
        super().__init__(Activity(0, 0))
        self._make_room()
        self._load = load
        self._name = name
        self._chain: Chain | None = None
        self.buffer: Final = memoryview(bytearray(_READ))
        self.ring: Final = Ring()

    @property
    def name(self) -> str:
        return self._name

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(generate=False)  # nothing that the generation wire knows

    async def start(self) -> None:
        """Load the chain. Raises what `load` raises, and UsageError for options that cannot be meant."""
        self._chain = await asyncio.to_thread(self._load)
        self.generation(New(b""))  # raises what these options would raise later
        self._chain.prepare()

    async def adopt(self, sock: socket.socket, surface: Surface = Surface.GENERATION) -> GrallConnection:
        """Serve a connected socket."""
        sock.setblocking(False)
        loop = asyncio.get_running_loop()
        _, connection = await loop.connect_accepted_socket(lambda: GrallConnection(self), sock)
        return connection

    def accept(self, connection: GrallConnection) -> bool:
        taken = super().accept(connection)
        self._make_room()
        return taken

    def forget(self, connection: GrallConnection) -> None:
        super().forget(connection)
        self._make_room()

    def generation(self, command: New) -> NamedGeneration:
        """What a client asks for, as the options want it."""
        options = self.options
        assert self._chain is not None
        generation = Generation(
            self._chain,
            command.seed,
            limit=command.limit,
            temperature=options.temperature,
            style=options.style,
            rng_seed=None if options.rng_seed is None else b"%d %s" % (options.rng_seed, command.name),
        )
        finite = command.limit > 0 or options.style is not Style.NEVER
        return NamedGeneration(command.name, generation, command.delay / 1000, finite=finite)

    def _make_room(self) -> None:
        """None of them waits: each connection, the next one too, has as much room as the options give it."""
        room = max(len(self._connections), 1) * self.options.max_generations
        self.activity.workers = self.activity.capacity = room


def run_grall_host(
    load: Callable[[], Chain],
    addr: str | os.PathLike[str],
    options: GrallOptions | None = None,
    *,
    name: str = "markov",
    **daemon: Any,
) -> None:
    """Claim `addr`, load the chain, bind, and serve until a signal; `daemon` is for `run_daemon`.

    Raises ListenError and UsageError before anything is loaded, and what `load` raises.
    """
    run_daemon(lambda: GrallHost(load, options, name=name), addr, **daemon)
