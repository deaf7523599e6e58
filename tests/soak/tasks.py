"""Clients of the embeddings and rerank sockets in every bad manner. The numbers of an answer are of its texts alone, so
one that belongs to another is seen."""

from __future__ import annotations

import itertools
import json
import time
import zlib
from contextlib import suppress
from typing import Any, Final

from tests.fuzz.damage import damage
from tests.soak.stage import WAIT, Stage
from tests.soak.wire import EXCUSES, Wire
from tests.support import LinePeer
from warmwire.transport.paths import Surface

MANNERS: Final = {
    "embeddings and rerank": 12,
    "two at once": 4,
    "half-close": 4,
    "trickle": 1,
    "cut": 6,
    "damaged": 6,
    "left": 3,
    "breaks": 1,
}


def number_of(text: str) -> float:
    """What the model makes of a text."""
    return zlib.crc32(text.encode()) / (1 << 32)


class Tasks(Wire):
    """One who has texts embedded and documents ranked."""

    fault = "embeddings and rerank"
    pause = 0.05

    def __init__(self, stage: Stage, path: str) -> None:
        super().__init__(stage, path)
        self._cuts = itertools.count()

    def turn(self) -> None:
        surface = self.rng.choice([Surface.EMBEDDINGS, Surface.RERANK])
        first, second = self._request(surface), self._request(surface)
        data = _line(first)
        manner = self.one_of(MANNERS)
        damaging = manner in ("cut", "damaged", "left")
        self.did("embeddings and rerank, cut or damaged" if damaging else self.fault, f"{manner}, {first['id']}")
        with LinePeer(self.path, surface, timeout=WAIT) as peer:
            match manner:
                case "embeddings and rerank":
                    for request in (first, second):
                        peer.send(request)
                        self._judge(peer, request)
                case "two at once":
                    peer.send(first, second)
                    self._judge(peer, first)
                    self._judge(peer, second)
                case "half-close":
                    peer.send(first)
                    peer.shutdown()
                    self._judge(peer, first)
                    self.check(peer.at_end(), "a line after the answer")
                case "trickle":
                    for byte in data:
                        peer.send(bytes([byte]))
                        time.sleep(0.0005)
                    self._judge(peer, first)
                case "cut":
                    peer.send(data[: next(self._cuts) % len(data)])
                case "damaged":
                    self._damaged(peer, data)
                case "left":
                    peer.send(self._request(surface, "slow"))
                case "breaks":
                    peer.send(self._request(surface, self.rng.choice(["exit", "raise"])))
                    last = peer.receive()
                    self.check(last is not None and last.get("code") in EXCUSES, f"{last}")
        self.fault = Tasks.fault

    def _request(self, surface: Surface, how: str = "text") -> dict[str, Any]:
        name = next(self._names)
        texts = [f"{how} {name} {number}" for number in range(self.rng.randint(1, 20))]
        if surface is Surface.EMBEDDINGS:
            return {"id": name, "input": texts}
        return {"id": name, "query": f"{how} {name}", "documents": texts, "top_n": self.rng.randint(1, 25)}

    def _judge(self, peer: LinePeer, request: dict[str, Any]) -> None:
        """The answer has the numbers of these texts, or says that a worker was killed."""
        said = peer.receive() or {}
        if said.get("type") == "embeddings":
            well = [vector[0] for vector in said["embeddings"]] == [number_of(text) for text in request["input"]]
        elif said.get("type") == "rerank":
            scores = [number_of(f"{request['query']}/{document}") for document in request["documents"]]
            best = sorted(range(len(scores)), key=lambda index: -scores[index])[: request["top_n"]]
            well = [(each["index"], each["score"]) for each in said["results"]] == [(n, scores[n]) for n in best]
        else:
            well = said.get("code") in EXCUSES
        self.check(well and said.get("id") == request["id"], f"{request}: {str(said)[:300]}")

    def _damaged(self, peer: LinePeer, data: bytes) -> None:
        """Every line that comes is an answer or an error, and then comes the end."""
        with suppress(OSError):
            peer.send(damage(data, self.rng))
            peer.shutdown()
        kinds = []
        with suppress(ConnectionResetError):
            while (line := peer.receive()) is not None:
                kinds.append(line["type"])
        self.check(len(kinds) <= 8 and set(kinds) <= {"embeddings", "rerank", "error"}, f"{kinds}")


def _line(request: dict[str, Any]) -> bytes:
    return json.dumps(request).encode() + b"\n"
