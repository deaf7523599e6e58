"""Clients of the generation wire in every bad manner, and what breaks a host's workers."""

from __future__ import annotations

import asyncio
import itertools
import json
import signal
import socket
import time
from contextlib import suppress
from typing import Any, Final

from tests.fuzz.damage import damage
from tests.soak.stage import WAIT, Actor, Process, Stage, send_to_child
from tests.support import Peer, blob_pair, children, image_body, is_running, json_frame, text_body, uvarint
from warmwire.client import AsyncClient, BackendUnavailableError, InternalError
from warmwire.transport.dial import connect
from warmwire.transport.paths import Surface, surface_addr
from warmwire.wire.generation.messages import MAX_FRAME

EXCUSES: Final = {"backend_unavailable", "internal", "queue_full"}
"""How an answer may end while workers are being killed."""

TIMEOUT: Final = 2.0
"""The host's --request-timeout and --write-timeout, in seconds."""

MANNERS: Final = {
    "ask": 20,
    "disconnect at a byte": 12,
    "half-close": 8,
    "mutated frames": 12,
    "two requests at once": 8,
    "request cancelled": 10,
    "pictures": 6,
    "trickle": 3,
    "oversized frame": 3,
}


def words(name: str, count: int) -> str:
    """What the order `mark` makes the model say."""
    return "".join(f"{name}-{number} " for number in range(count))


def order(name: str, count: int, how: str = "mark") -> bytes:
    """A request for that."""
    return json_frame(text_body(f"{how} {name} {count}", id=name))


class Wire(Actor):
    """One who talks to the host of the generation wire."""

    def __init__(self, stage: Stage, path: str, number: int = 0) -> None:
        super().__init__(stage, number)
        self.path = path
        self._names = (f"{self.name}.{count}" for count in itertools.count())

    def peer(self) -> Peer:
        return Peer(self.path, timeout=WAIT)

    def read(self, peer: Peer, id: str) -> tuple[str, dict[str, Any]]:
        """The text and the terminal frame of an answer, each frame with the request's id."""
        said = ""
        while (response := peer.receive()) is not None:
            if response["id"] != id:
                raise AssertionError(f"an answer to {id} has {response}")
            if response["type"] != "frame":
                return said, response
            said += response["block"]["delta"]
        raise AssertionError(f"the stream ended without a terminal frame after {said[-80:]!r}")

    def judge(self, peer: Peer, name: str, count: int) -> bool:
        """Read the answer to `order`: it is whole, or a beginning and an excuse. Returns whether it is whole."""
        said, last = self.read(peer, name)
        _, _, spoken = said.partition(" ")[2].partition(" ")  # after "pid N "
        whole = words(name, count)
        well = last["type"] == "done" and spoken == whole
        excused = last["type"] == "error" and last["code"] in EXCUSES and whole.startswith(spoken)
        self.check(well or excused, f"{name}: {said[:200]!r} {last}")
        return well

    def nothing_more(self, peer: Peer) -> None:
        """After the last terminal frame comes none."""
        with suppress(OSError):  # the host has closed already
            peer.shutdown()
        self.check(peer.at_end(), "a frame after the terminal one")


class Rude(Wire):
    """A client of every manner."""

    fault = "two requests at once"
    _cuts = itertools.count()

    def turn(self) -> None:
        name, count = next(self._names), self.rng.choice([0, 1, 3, 30, 400])
        manner = self.one_of(MANNERS)
        with self.peer() as peer:
            match manner:
                case "ask":
                    for _ in range(self.rng.randint(1, 5)):
                        peer.send(order(name, count))
                        self.judge(peer, name, count)
                    self.nothing_more(peer)
                case "disconnect at a byte":
                    data = order(name, count)
                    cut = next(Rude._cuts) % (len(data) + 1)
                    self.did(manner, f"{name} after {cut} of {len(data)} bytes")
                    peer.send(data[:cut])
                case "half-close":
                    self.did(manner, f"{name} asks for {count}")
                    peer.send(order(name, count))
                    peer.shutdown()
                    self.judge(peer, name, count)
                    self.check(peer.at_end(), "a frame after the terminal one")
                case "two requests at once":
                    other = next(self._names)
                    self.did(manner, f"{name}, {other}")
                    peer.send(order(name, count) + order(other, 5))
                    self.judge(peer, name, count)
                    self.judge(peer, other, 5)
                    self.nothing_more(peer)
                case "trickle":
                    self.did(manner, name)
                    for byte in order(name, count):
                        peer.send(bytes([byte]))
                        time.sleep(0.0005)
                    self.judge(peer, name, count)
                    self.nothing_more(peer)
                case "request cancelled":
                    self.did(manner, name)
                    peer.send(order(name, 10_000, "slow"))
                    for _ in range(self.rng.randint(0, 3)):
                        peer.receive()
                case "oversized frame":
                    self._oversized(peer)
                case "mutated frames":
                    self._mutated(peer, order(name, count))
                case "pictures":
                    self._picture(peer, name)

    def _oversized(self, peer: Peer) -> None:
        size = self.rng.choice([MAX_FRAME + 1, 1 << 31, (1 << 35) - 1])
        self.did("oversized frame", f"{size} bytes")
        peer.send(uvarint(size) + b"\x01")
        last = peer.receive()
        self.check(last is not None and last["code"] in ("frame_too_large", "invalid_request"), f"{last}")
        self.check(peer.at_end(), "a frame after the terminal one")

    def _mutated(self, peer: Peer, data: bytes) -> None:
        bad = damage(data, self.rng)
        self.did("mutated frames", bad[:300].hex())
        peer.send(bad)
        self._end_of(peer)

    def _end_of(self, peer: Peer) -> None:
        """Half-close, and read what comes: every request that was whole has one terminal frame."""
        with suppress(OSError):
            peer.shutdown()
        terminals = 0
        while (response := peer.receive()) is not None:
            terminals += response["type"] != "frame"
        self.check(terminals <= 3, f"{terminals} terminal frames")

    def _picture(self, peer: Peer, name: str) -> None:
        width, height = self.rng.randint(1, 400), self.rng.randint(1, 400)
        body = image_body(name, id=name, width=width, height=height)
        body["messages"][0]["content"][-1]["text"] = "sum"
        pixels = self.rng.randbytes(width * height * 3)
        self.did("pictures", f"{name}, {width} x {height}")
        peer.send(json_frame(body) + blob_pair(name, pixels))
        said, last = self.read(peer, name)
        well = last["type"] == "done" and said.endswith(f" {sum(pixels)} ")
        self.check(well or last.get("code") in EXCUSES, f"{said!r} {last}")


class Survivor(Wire):
    """A client that behaves: it asks again when it is refused or its worker dies, and is answered in the end."""

    fault = "worker killed"
    pause = 0.05

    def turn(self) -> None:
        began = time.monotonic()
        with self.peer() as peer:
            while not self.stage.over.is_set():
                name = next(self._names)
                peer.send(order(name, 20))
                if self.judge(peer, name, 20):
                    break
                self.stage.over.wait(0.1)
        waited = time.monotonic() - began
        self.check(waited < WAIT, f"an answer only after {waited:.1f} s")


class Staller(Wire):
    """Asks for more than any buffer holds and does not read it."""

    fault = "stalled reader"
    pause = 1.0

    def turn(self) -> None:
        name = next(self._names)
        self.did("stalled reader", name)
        with self.peer() as peer:
            peer.send(order(name, 60_000))
            self.stage.over.wait(self.rng.uniform(0, 2 * TIMEOUT))
            count, ended = 0, False
            with suppress(AssertionError):  # half a frame is where it was dropped
                while not ended and (response := peer.receive()) is not None:
                    count += 1
                    ended = response["type"] != "frame"
                    self.check(response["id"] == name, f"{response}")
            self.check(ended or count < 60_000, f"{count} frames and no terminal one")


class Subscriber(Wire):
    """Reads a few lines of the admin socket, and sometimes none."""

    fault = "admin subscriber that stalls"
    pause = 0.3

    def turn(self) -> None:
        self.did("admin subscriber that stalls")
        with connect(surface_addr(self.path, Surface.ADMIN), wait=WAIT) as sock:
            sock.settimeout(WAIT)
            with sock.makefile("rb") as lines:
                for _ in range(self.rng.randint(0, 4)):
                    line = lines.readline()
                    self.check(line.endswith(b"\n") and json.loads(line)["type"] == "status", f"{line!r}")
            self.stage.over.wait(self.rng.uniform(0, 1))


class Breaker(Wire):
    """Breaks workers, from within and from without, one at a time; the host itself it only stops for a moment."""

    fault = "worker killed"
    pause = 0.4

    def __init__(self, stage: Stage, host: Process, path: str) -> None:
        super().__init__(stage, path)
        self._host = host

    def turn(self) -> None:
        what = self.one_of({"fail": 8, "hang": 1, "kill": 5, "stop": 2, "host": 1})
        match what:
            case "fail" | "hang":
                self._order(self.rng.choice(["exit 3", "kill 11", "raise", "refuse", "memory", "report"]), what)
            case "kill":
                if (worker := self._worker()) is not None:
                    self.did("worker killed", f"{worker}")
                    send_to_child(worker, self._host.pid, signal.SIGKILL)
                    gone = self.stage.soon(lambda: worker not in children(self._host.pid))
                    self.check(gone, f"worker {worker} was not reaped")
            case "stop":
                if (worker := self._worker()) is not None:
                    seconds = self.rng.uniform(0, 1.5 * TIMEOUT)
                    self.did("worker stopped and continued", f"{worker} for {seconds:.2f} s")
                    self._pause(worker, seconds)
            case "host":
                self._stop_host()

    def _stop_host(self) -> None:
        """What is asked of a host that stands still is answered when it goes on."""
        self.did("host stopped and continued")
        name = next(self._names)
        with self.peer() as peer:
            self._host.signal(signal.SIGSTOP)
            try:
                peer.send(order(name, 7))
                self.stage.over.wait(self.rng.uniform(0, 0.5))
            finally:
                self._host.signal(signal.SIGCONT)
            self.judge(peer, name, 7)

    def _order(self, said: str, what: str) -> None:
        name = next(self._names)
        text = "deaf" if what == "hang" else said
        self.did("model hangs" if what == "hang" else "model fails", f"{name}: {text}")
        with self.peer() as peer:
            peer.send(json_frame(text_body(text, id=name)))
            _, last = self.read(peer, name)
            codes = EXCUSES | ({"invalid_request"} if text == "refuse" else set())
            self.check(last.get("code") in codes, f"{text}: {last}")

    def _worker(self) -> int | None:
        found = sorted(children(self._host.pid))
        return self.rng.choice(found) if found else None

    def _pause(self, worker: int, seconds: float) -> None:
        """Whoever is asked meanwhile is answered, or told why not; the worker goes on, or was replaced."""
        send_to_child(worker, self._host.pid, signal.SIGSTOP)
        try:
            self.stage.over.wait(seconds)
        finally:
            send_to_child(worker, self._host.pid, signal.SIGCONT)
        replaced = not is_running(worker)
        with self.peer() as peer:
            name = next(self._names)
            peer.send(order(name, 3))
            self.judge(peer, name, 3)
        self.ledger.did(self.fault, f"{worker} was {'replaced' if replaced else 'continued'}", count=0)


class Crowd(Wire):
    """Very many clients at once, then very many connections one after another; again after a while."""

    fault = "1,000 clients"
    pause = 30.0

    def turn(self) -> None:
        share = min(1.0, self.stage.seconds / 60)
        asyncio.run(self._together(int(1000 * share)))
        self._short(int(10_000 * share))

    async def _together(self, count: int) -> None:
        self.did("1,000 clients", f"{count}")
        clients = [AsyncClient(self.path, wait=WAIT, timeout=2 * WAIT) for _ in range(count)]
        for client in clients:
            if self.stage.over.is_set():
                return
            await client.connect()
        answers = await asyncio.gather(*map(self._ask, clients), return_exceptions=True)
        for error in answers:
            if isinstance(error, BaseException):
                self.ledger.unexpected(self.fault, error)

    async def _ask(self, client: AsyncClient) -> None:
        with suppress(BackendUnavailableError, InternalError):  # its worker was killed
            async with client:
                name = next(self._names)
                async with await client.ask(f"mark {name} 4") as stream:
                    text = await stream.text()
                self.check(text.endswith(words(name, 4)), f"{name}: {text}")

    def _short(self, count: int) -> None:
        self.did("10,000 short connections", f"{count}")
        for number in range(count):
            with connect(self.path, wait=WAIT) as sock:
                if number % 3 == 0:
                    sock.sendall(b"\x05")
                if number % 7 == 0:
                    sock.shutdown(socket.SHUT_WR)
            if self.stage.over.is_set():
                break
        with self.peer() as peer:
            name = next(self._names)
            peer.send(order(name, 2))
            self.judge(peer, name, 2)
