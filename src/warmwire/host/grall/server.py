"""The grall wire's host: one chain, many connections, many named generations on each, one event loop.

A connection with something to do waits in a queue; the loop takes one connection at a time and gives it a *turn*:
each of its unpaced generations makes an equal share of text, and all of it leaves in one write. A turn takes about a
millisecond, and between turns the loop reads what clients sent, so a ping never waits for more than a turn. A paced
generation is a timer. When a client does not read, its connection leaves the queue (and its own commands wait) until
it does; nobody else notices. A client that reads slower than we write gets smaller turns and a smaller buffer: what
lies in front of a pong is what it has not read yet.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, cast

from warmwire.host.grall.pacing import Pacing
from warmwire.host.hangup import HangupWatch
from warmwire.markov import Chain, Generation, Style
from warmwire.transport.listen import SocketPath, raise_descriptor_limit
from warmwire.transport.peer import own_uids, peer_credentials
from warmwire.wire.grall import (
    MAX_NAME,
    MAX_SEED,
    PONG,
    TOKEN,
    Close,
    Command,
    CommandReader,
    Delay,
    End,
    New,
    Ping,
    Unknown,
    encode_end,
    encode_err,
    encode_tokens,
    unknown_opcode,
)

log = logging.getLogger("warmwire.host")

MAX_GENERATIONS: Final = 4096
"""Most generations that run on one connection."""

TURN: Final = 28 << 10
"""Most bytes a connection sends in a turn, and the kernel is to hold for it: for short names, 8 KiB of text."""

_READ: Final = 4 << 10
"""Bytes of commands taken at once: a client that floods us with pings gets turns too, not more. One buffer for all
connections, since what is read is dealt with before anything else is."""

_LEAST_TURN: Final = TURN >> 3
_GROW_AFTER: Final = 32
"""Turns that a client must keep up with before its turns grow again."""

_TURN_GENERATIONS: Final = 64
"""Most generations that share a turn; the others come first in the next."""


@dataclass(frozen=True, slots=True)
class GrallOptions:
    """How a host answers. `rng_seed` makes equal requests (name and seed) give equal text."""

    rng_seed: int | None = None
    pacing: Pacing = Pacing.GENERATION
    style: Style = Style.NEVER
    temperature: float = 1.0
    max_name: int = MAX_NAME
    max_seed: int = MAX_SEED
    max_generations: int = MAX_GENERATIONS


class GrallHost:
    """Serves one chain. Lives in one event loop. Raises UsageError for options that cannot be meant."""

    def __init__(self, chain: Chain, options: GrallOptions | None = None) -> None:
        self.chain: Final = chain
        self.options: Final = options or GrallOptions()
        self.generation(b"", b"", 0)  # raises what these options would raise later
        chain.prepare()
        self.buffer: Final = memoryview(bytearray(_READ))
        self.hangups: Final = HangupWatch()
        self.uids = own_uids()
        self._connections: set[_Connection] = set()
        self._queue: deque[_Connection] = deque()
        self._loop = asyncio.get_running_loop()
        self._scheduled = False

    async def serve(self, listening: socket.socket, stop: asyncio.Event) -> None:
        """Accept connections until `stop` is set, then close the socket and every connection."""
        accepting = asyncio.create_task(self._accept(listening))
        stopping = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait({accepting, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            accepting.cancel()
            stopping.cancel()
            await asyncio.gather(accepting, stopping, return_exceptions=True)
            listening.close()
            await self.close()

    async def adopt(self, sock: socket.socket) -> None:
        """Serve a connected socket."""
        sock.setblocking(False)
        await self._loop.connect_accepted_socket(lambda: _Connection(self), sock)

    async def close(self) -> None:
        """End every generation and connection; clients get a moment to take what was already sent."""
        for connection in tuple(self._connections):
            connection.close()
        deadline = self._loop.time() + 1
        while self._connections and self._loop.time() < deadline:
            await asyncio.sleep(0.01)
        for connection in tuple(self._connections):
            connection.abort()
        self.hangups.close()

    def generation(self, name: bytes, seed: bytes, limit: int) -> Generation:
        """A generation as the options want it."""
        options = self.options
        return Generation(
            self.chain,
            seed,
            limit=limit,
            temperature=options.temperature,
            style=options.style,
            rng_seed=None if options.rng_seed is None else b"%d %s" % (options.rng_seed, name),
        )

    def enqueue(self, connection: _Connection) -> None:
        """Give `connection` a turn when those before it have had theirs."""
        self._queue.append(connection)
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._turn)

    def _turn(self) -> None:
        self._scheduled = False
        connection = self._queue.popleft()
        connection.turn()
        if self._queue and not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._turn)

    def accept(self, sock: socket.socket) -> bool:
        """Whether a connection is of this process's user or root; False for anybody else's."""
        peer = peer_credentials(sock)
        if peer.uid in self.uids:
            return True
        log.warning("refused a connection of uid %s (pid %s)", peer.uid, peer.pid)
        return False

    def enter(self, connection: _Connection) -> None:
        self._connections.add(connection)

    def leave(self, connection: _Connection) -> None:
        self._connections.discard(connection)

    async def _accept(self, listening: socket.socket) -> None:
        while True:
            try:
                sock, _ = await self._loop.sock_accept(listening)
                await self.adopt(sock)
            except OSError as error:  # out of descriptors: wait for some connection to end
                log.error("cannot accept a connection: %s", error.strerror)
                await asyncio.sleep(0.1)


class _Running:
    """One named generation. `width` is the size of its frames; `last` when it sent its latest token, in loop time."""

    __slots__ = ("delay", "generation", "last", "name", "timer", "width")

    def __init__(self, name: bytes, generation: Generation, delay: float) -> None:
        self.name = name
        self.generation = generation
        self.delay = delay
        self.width = len(encode_tokens(name, bytes(TOKEN)))
        self.last = float("-inf")
        self.timer: asyncio.TimerHandle | None = None

    def produce(self, most: int) -> bytes:
        """Frames for the next `most` bytes, with the end frame if this was the end."""
        frames = encode_tokens(self.name, self.generation.take(most))
        return frames + encode_end(self.name) if self.generation.ended else frames


class _Connection(asyncio.BufferedProtocol):
    """One client.

    Every generation is in `_running`; those that want a turn are in `_eager` too, the others have a timer or, where
    it fired while the client did not read, are in `_late`.
    """

    def __init__(self, host: GrallHost) -> None:
        self._host = host
        self._loop = asyncio.get_running_loop()
        options = host.options
        self._reader = CommandReader(max_name=options.max_name, max_seed=options.max_seed)
        self._whole = options.pacing == Pacing.CONNECTION
        self._running: dict[bytes, _Running] = {}
        self._eager: deque[_Running] = deque()
        self._late: list[_Running] = []
        self._queued = False
        self._paused = False
        self._size = TURN
        self._kept_up = 0
        self._finishing = False
        self._fd: int | None = None
        self._nap: asyncio.TimerHandle | None = None
        self._napping: _Running | None = None
        self._transport: asyncio.Transport

    # ------------------------------------------------------------------ what the loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        if not self._host.accept(transport.get_extra_info("socket")):
            self._transport.abort()
            return
        self._transport.set_write_buffer_limits(high=0)
        self._resize(TURN)
        self._host.enter(self)
        self._transport.write(PONG)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._host.buffer

    def buffer_updated(self, nbytes: int) -> None:
        replies: list[bytes] = []
        closing = False
        for command in self._reader.feed(self._host.buffer[:nbytes]):
            if isinstance(command, Close):
                closing = True
                break
            self._obey(command, replies)
        if (fault := self._reader.fault) is not None and not closing:
            replies.append(encode_err(str(fault).encode()))
            closing = True
        if replies:
            self._transport.write(b"".join(replies))
        if closing:
            self.close()

    def eof_received(self) -> bool:
        """A client that only stops sending still gets what it asked for."""
        self._finishing = True
        if not self._running:
            return False
        self._fd = self._transport.get_extra_info("socket").fileno()
        self._host.hangups.add(self._fd, self.abort)  # nobody reads any more, so nobody would notice a full close
        return True

    def pause_writing(self) -> None:
        self._paused = True
        self._resize(max(self._size // 2, _LEAST_TURN))
        if not self._finishing:
            self._transport.pause_reading()  # or the answers to its commands would pile up

    def resume_writing(self) -> None:
        self._paused = False
        if not self._finishing:
            self._transport.resume_reading()
        late, self._late = self._late, []
        for running in late:
            self._tick(running)
        self._want_turn()

    def connection_lost(self, error: Exception | None) -> None:
        self._stop_all()
        if self._fd is not None:
            self._host.hangups.remove(self._fd, self.abort)
        self._host.leave(self)

    # ------------------------------------------------------------------ what the host calls

    def turn(self) -> None:
        """Let each generation that waits for it make its share, and send everything at once."""
        self._queued = False
        if self._paused or self._nap is not None or not self._eager:
            return
        count, share = self._shares()
        if self._whole and any(running.delay for running in self._eager):
            count, share = 1, TOKEN
            if delay := self._eager[0].delay:
                self._napping = self._eager[0]
                self._nap = self._loop.call_later(delay, self._wake)
        output: list[bytes] = []
        for _ in range(count):
            running = self._eager.popleft()
            output.append(running.produce(share))
            if running.generation.ended:
                del self._running[running.name]
            else:
                self._eager.append(running)
        self._kept_up += 1
        self._transport.write(b"".join(output))
        if self._kept_up == _GROW_AFTER:
            self._resize(min(self._size * 2, TURN))
        self._close_if_done()
        self._want_turn()

    def _shares(self) -> tuple[int, int]:
        """How many generations take part in this turn, and the bytes of text for each."""
        count = width = 0
        for running in self._eager:
            if count == _TURN_GENERATIONS or (count and width + running.width > self._size):
                break
            count += 1
            width += running.width
        return count, max(self._size // width, 1) * TOKEN

    def close(self) -> None:
        """End every generation, send what is waiting, and close."""
        self._stop_all()
        self._transport.close()

    def abort(self) -> None:
        """Close without sending what is waiting."""
        self._transport.abort()

    # ------------------------------------------------------------------ commands

    def _obey(self, command: Command, replies: list[bytes]) -> None:
        match command:
            case Ping():
                replies.append(PONG)
            case New():
                self._new(command, replies)
            case End(name):
                if (running := self._running.pop(name, None)) is not None:
                    self._retire(running)
            case Delay(name, delay):
                if (running := self._running.get(name)) is not None:
                    self._retire(running)
                    running.delay = delay / 1000
                    self._start(running)
            case Unknown(opcode):
                replies.append(unknown_opcode(opcode))

    def _new(self, command: New, replies: list[bytes]) -> None:
        if command.name in self._running:
            replies.append(encode_err(b"generation is still running - " + command.name))
            return
        if len(self._running) >= self._host.options.max_generations:
            replies.append(encode_err(b"too many generations - " + command.name))
            return
        generation = self._host.generation(command.name, command.seed, command.limit)
        running = _Running(command.name, generation, command.delay / 1000)
        self._running[command.name] = running
        self._start(running)

    # ------------------------------------------------------------------ scheduling

    def _start(self, running: _Running) -> None:
        """Queue a generation for turns, or set its timer: a delay after its latest token, at once for the first."""
        if self._whole or not running.delay:
            self._eager.append(running)
            self._want_turn()
        else:
            due = max(self._loop.time(), running.last + running.delay)
            running.timer = self._loop.call_at(due, self._tick, running)

    def _retire(self, running: _Running) -> None:
        """Take a generation out of wherever it waits."""
        if running.timer is not None:
            running.timer.cancel()
            running.timer = None
        with contextlib.suppress(ValueError):
            self._eager.remove(running)
        with contextlib.suppress(ValueError):
            self._late.remove(running)
        if running is self._napping:
            self._wake()

    def _tick(self, running: _Running) -> None:
        """A paced generation is due: one token."""
        running.timer = None
        if self._transport.is_closing():
            return
        if self._paused:
            self._late.append(running)
            return
        now = self._loop.time()
        due = running.last + running.delay
        # Keep the beat, but do not make up for time in which the client did not read.
        running.last = due if now - due < running.delay else now
        frames = running.produce(TOKEN)
        if running.generation.ended:
            del self._running[running.name]
        else:
            self._start(running)
        self._transport.write(frames)
        self._close_if_done()

    def _resize(self, size: int) -> None:
        """Send turns of `size` bytes from now on."""
        self._kept_up = 0
        if size != self._size or size == TURN:
            self._size = size
            sock = self._transport.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, size)

    def _wake(self) -> None:
        if self._nap is not None:
            self._nap.cancel()
            self._nap = self._napping = None
        self._want_turn()

    def _want_turn(self) -> None:
        if self._eager and not self._queued and not self._paused and self._nap is None:
            self._queued = True
            self._host.enqueue(self)

    def _close_if_done(self) -> None:
        if self._finishing and not self._running:
            self._transport.close()

    def _stop_all(self) -> None:
        for running in self._running.values():
            if running.timer is not None:
                running.timer.cancel()
        if self._nap is not None:
            self._nap.cancel()
            self._nap = self._napping = None
        self._running.clear()
        self._eager.clear()
        self._late.clear()


def run_grall_host(
    load: Callable[[], Chain],
    addr: str | os.PathLike[str],
    options: GrallOptions | None = None,
    *,
    on_ready: Callable[[str], Any] = lambda path: None,
) -> None:
    """Claim `addr`, load the chain, bind, and serve until SIGTERM or SIGINT.

    Raises ListenError and UsageError before anything is loaded, and what `load` raises.
    """

    async def main() -> None:
        stop = asyncio.Event()
        raise_descriptor_limit()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        with SocketPath(addr) as path:
            host = GrallHost(await asyncio.to_thread(load), options)
            listening = path.bind()
            on_ready(path.path)
            await host.serve(listening, stop)

    asyncio.run(main())
