"""Clients of the grall wire in every bad manner. The host has a seed, so every text is known once it was read."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress
from typing import Any, Final

from tests.fuzz.damage import damage
from tests.soak.stage import WAIT, Actor, Stage
from warmwire.transport.dial import connect
from warmwire.wire.grall import Close, Command, Delay, End, Err, EventReader, Gen, New, Ping, Pong, encode_command

LIMITS: Final = (0, 1, 4, 401, 20_000)
_SEEDS: Final = (b"", b"a", b"the ")


class Grall(Actor):
    """One who talks to the host of the grall wire."""

    fault = "grall generations"
    known: Final[dict[tuple[bytes, bytes], bytes]] = {}
    """By name and seed: the longest text that came so far. Every other must begin it, or begin with it."""
    _turn: Final = threading.Lock()

    def __init__(self, stage: Stage, path: str, number: int = 0) -> None:
        super().__init__(stage, number)
        self._path = path
        self._cut = number

    def turn(self) -> None:
        with connect(self._path, wait=WAIT) as sock:
            sock.settimeout(WAIT)
            events = Events(sock)
            match self.one_of({"generate": 10, "damage": 8, "stall": 1}):
                case "generate":
                    self._generate(sock, events)
                case "damage":
                    self._damage(sock, events)
                case "stall":
                    self._stall(sock, events)

    def _generate(self, sock: socket.socket, events: Events) -> None:
        """Several at once, some ended by us: each text is its own, each end comes once."""
        commands: list[Command] = []
        names = [b"%d" % number for number in self.rng.sample(range(12), self.rng.randint(1, 4))]
        wanted = {name: (self.rng.choice(_SEEDS), self.rng.choice(LIMITS[1:])) for name in names}
        for name, (seed, limit) in wanted.items():
            commands.append(New(name, seed, limit, self.rng.choice([0, 0, 0, 1])))
            commands.append(Delay(name, 0))
        self.did("grall generations", f"{wanted}")
        data = b"".join(map(encode_command, commands))
        if self.rng.random() < 0.3:
            for byte in data:
                sock.sendall(bytes([byte]))
        else:
            sock.sendall(data)
        left = set(names)
        if self.rng.random() < 0.3:
            sock.sendall(encode_command(End(left.pop())))
        texts = events.until(left) if left else {}
        sock.sendall(encode_command(Ping()))
        texts = events.until(set(), texts)  # what else is said until the pong
        for name, text in texts.items():
            self._judge(name, wanted[name][0], text, wanted[name][1])
        self.check(not events.errors, f"{events.errors}")
        self.check(events.ended <= set(names), f"ends of {events.ended}")

    def _judge(self, name: bytes, seed: bytes, text: bytes, limit: int) -> None:
        with Grall._turn:
            before = Grall.known.setdefault((name, seed), text)
            same = before.startswith(text) or text.startswith(before)
            if len(text) > len(before):
                Grall.known[name, seed] = text
        self.check(same and len(text) <= limit, f"{name!r}, {seed!r}: {len(text)} of {limit} bytes: {text[:60]!r}")

    def _damage(self, sock: socket.socket, events: Events) -> None:
        data = b"".join(map(encode_command, (New(b"x", b"a", 40, 0), Delay(b"x", 1), End(b"x"), Ping(), Close())))
        match self.one_of({"cut": 4, "flip": 4, "length": 1, "opcode": 1}):
            case "cut":
                self._cut = (self._cut + 1) % len(data)
                bad = data[: self._cut]
            case "flip":
                bad = damage(data, self.rng)
            case "length":
                bad = b"\x02" + self.rng.choice([b"\xff\xff\xff\xff", b"\x00\x10\x00\x00", b"\x7f\xff\xff\xff"])
            case _:
                bad = bytes([self.rng.randint(6, 255)]) + data
        self.did("grall commands cut or damaged", bad[:200].hex())
        sock.settimeout(1)  # what is damaged may ask for a text that comes slowly
        with suppress(BrokenPipeError, ConnectionResetError, TimeoutError):
            sock.sendall(bad)
            if self.rng.random() < 0.7:
                sock.shutdown(socket.SHUT_WR)
                events.to_the_end(self.rng.randint(1, 20))
        self.check(all(len(message) < 5000 for message in events.errors), "a very long error")

    def _stall(self, sock: socket.socket, events: Events) -> None:
        """One without limit that nobody reads for a while, then a text that is known."""
        self.did("grall reader that stalls")
        sock.sendall(encode_command(New(b"endless", b"a", 0, 0)))
        self.stage.over.wait(self.rng.uniform(0, 1.5))
        sock.sendall(encode_command(End(b"endless")) + encode_command(New(b"3", b"a", 400, 0)))
        texts = events.until({b"3"})
        self._judge(b"3", b"a", texts[b"3"], 400)


class Events:
    """What the host says on one connection."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock, self._reader = sock, EventReader()
        self._waiting: list[Any] = []
        self.errors: list[bytes] = []
        self.ended: set[bytes] = set()
        if self._next() != Pong():
            raise AssertionError("the host did not greet")

    def until(self, left: set[bytes], texts: dict[bytes, bytes] | None = None) -> dict[bytes, bytes]:
        """The texts by name, until all of `left` have ended; until the next pong where none is left to end."""
        texts = dict(texts or {})
        left = left - self.ended
        pong = not left
        began = time.monotonic()
        while pong or left:
            match self._next():
                case Gen(name, data):
                    if name in self.ended:
                        raise AssertionError(f"{name!r} goes on after its end")
                    texts[name] = texts.get(name, b"") + data
                case End(name):
                    if name in self.ended:
                        raise AssertionError(f"{name!r} has ended twice")
                    self.ended.add(name)
                    texts.setdefault(name, b"")
                    left = left - {name}
                case Err(message):
                    self.errors.append(message)
                case Pong():
                    pong = False
                case None:
                    raise AssertionError("the host closed")
            if time.monotonic() - began > WAIT:
                raise AssertionError(f"still no end of {left}")
        return texts

    def to_the_end(self, most: int) -> None:
        """Read so many events, or to the end of the stream."""
        for _ in range(most):
            event = self._next()
            if event is None:
                return
            if isinstance(event, Err):
                self.errors.append(event.message)

    def _next(self) -> Any:
        while not self._waiting:
            data = self._sock.recv(1 << 16)
            if not data:
                return None
            self._waiting += self._reader.feed(data)
            if self._reader.fault is not None:
                raise self._reader.fault
        return self._waiting.pop(0)
