"""Bridges that start models when they are asked for, unload them, and are ended or killed: one life after another."""

from __future__ import annotations

import os
import re
import signal
from contextlib import suppress
from typing import Any, Final

import httpx

from tests.soak.stage import HANGS, WAIT, Actor, Process, Stage
from tests.soak.wire import words
from warmwire.transport.listen import lock_holder

CONFIG: Final = """
memory = "400MiB"
[models]
a = { model = "faulty", keep_alive = "1s" }
b = { model = "faulty", keep_alive = 0, workers = 2 }
none = { model = "nowhere.gguf" }
"""


class Fleet(Actor):
    """Asks a bridge for models that nobody has started."""

    fault = "models started when asked for"
    pause = 0.5
    has_processes = True

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self._folder = stage.folder / "fleet"
        (self._folder / "inferd").mkdir(parents=True, mode=0o700)
        self._config = self._folder / "models.toml"
        self._config.write_text(CONFIG)
        self._sockets = [str(self._folder / "inferd" / f"{name}.sock") for name in ("a", "b")]

    def turn(self) -> None:
        try:
            self._live()
        finally:
            for path in self._sockets if self.stage.closed else ():  # of a bridge that was killed, with none after it
                self._kill(path)

    def _live(self) -> None:
        """A bridge from its beginning to its end."""
        process, url = self._begin()
        for number in range(self.rng.randint(1, 6)):
            if self.stage.over.is_set():
                break
            self._step(url, f"{self.name}.{number}")
        if self.rng.random() < 0.3:
            self.did("bridge of models killed")
            process.end()
            process, url = self._begin()
            self._ask(url, self.rng.choice("ab"), "after", 3)
        process.signal(signal.SIGTERM)
        status = process.wait()
        if status is None:
            process.end()
        self.check(status == 0 and not process.stumbles(), f"exit status {status}: {process.said()[-600:]}")
        gone = self.stage.soon(lambda: not any(map(lock_holder, self._sockets)))
        self.check(gone, f"hosts outlive their bridge: {list(map(lock_holder, self._sockets))}")
        self.check(not list(self._folder.glob("inferd/*.sock")), f"{os.listdir(self._folder / 'inferd')}")

    def _begin(self) -> tuple[Process, str]:
        process = self.stage.start(
            "bridge", "--config", str(self._config), "--listen", "127.0.0.1:0", XDG_RUNTIME_DIR=str(self._folder)
        )
        said = self.stage.soon(lambda: re.search(r"http://\S+", process.said()), HANGS)
        if said is None:
            raise AssertionError(f"the bridge did not start: {process.said()}")
        return process, said[0]

    def _step(self, url: str, name: str) -> None:
        what = self.one_of({"ask": 8, "leave": 3, "unload": 3, "kill": 2, "none": 1})
        self.did("models started when asked for", what)
        model = self.rng.choice("ab")
        match what:
            case "ask":
                self._ask(url, model, name, self.rng.choice([0, 3, 100]))
            case "leave":
                with (
                    suppress(httpx.TimeoutException),
                    httpx.stream("POST", **_chat(url, model, f"slow {name} 5000", self.rng.uniform(0.01, 1), True)),
                ):
                    pass
            case "unload":
                self._ask(url, "b", name, 1)
                gone = self.stage.soon(lambda: lock_holder(self._sockets[1]) is None)
                self.check(gone, "a model that nobody asks for is not unloaded")
            case "kill":
                self._ask(url, model, name, 1)
                self._kill(self._sockets["ab".index(model)])
                self._ask(url, model, name, 2)
            case "none":
                answer = httpx.post(**_chat(url, "none", "x", WAIT))
                self.check(answer.status_code == 503 and "no such file" in answer.text, answer.text[:300])

    def _ask(self, url: str, model: str, name: str, count: int) -> None:
        """The answer is whole; or the host ends just now, and whoever asks again is answered."""
        for _ in range(20):
            answer = httpx.post(**_chat(url, model, f"mark {name} {count}", HANGS))
            if answer.status_code != 503:
                break
            self.stage.over.wait(0.5)
        said = answer.json()["choices"][0]["message"]["content"] if answer.status_code == 200 else ""
        self.check(said.endswith(words(name, count)) and answer.status_code == 200, answer.text[:300])

    def _kill(self, path: str) -> None:
        holder = lock_holder(path)
        if holder is None:  # it has been unloaded already
            return
        with suppress(OSError):
            descriptor = os.pidfd_open(holder)
            try:
                if lock_holder(path) == holder:
                    signal.pidfd_send_signal(descriptor, signal.SIGKILL)
            finally:
                os.close(descriptor)


def _chat(url: str, model: str, prompt: str, timeout: float, stream: bool = False) -> dict[str, Any]:
    """What httpx needs to ask."""
    body = {"model": model, "messages": [{"role": "user", "content": prompt}], "stream": stream}
    return {"url": f"{url}/chat/completions", "json": body, "timeout": timeout, "trust_env": False}
