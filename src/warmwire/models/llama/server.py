"""The same GGUF in a `llama-server` of ours: a program found on this machine, never fetched.

It is started on a Unix socket in a private directory, so nobody else can reach it, and it lives no longer than this
process: a small shell between the two ends it, and clears up, when its standard input, which only we hold, is closed.
That happens however we end, also by SIGKILL.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, Final

from warmwire.errors import BackendUnavailableError, InputError
from warmwire.models.llama.options import LlamaSettings
from warmwire.models.openai.upstream import HttpUpstream
from warmwire.system.private import private_directory

PROGRAM: Final = "llama-server"
_POLL: Final = 0.1
_LOAD_TIMEOUT: Final = 600.0
_QUESTION_TIMEOUT: Final = 10.0
_KEPT: Final = 32 << 10
"""Bytes of what the server has said last that are kept to explain its end."""

_LEASH: Final = """
directory=$1; shift
exec 3<&0
"$@" 3<&- </dev/null &
server=$!
exec >/dev/null 2>&1  # the pipe is the server's: the shell must not die of having nobody to speak to
( read -r _ <&3; kill -KILL $server ) &
wait $server
status=$?
rm -rf "$directory"
exit $status
"""


def find_server(given: str | None = None) -> Path | None:
    """The `llama-server` to use: the given one, else the one on PATH, else none. Raises InputError for a bad path."""
    found = shutil.which(given or PROGRAM)
    if given and found is None:
        raise InputError(
            f"{given}: no such program; llama-server is part of llama.cpp, to be had as a package or built from source"
        )
    return Path(found) if found else None


class Tail(threading.Thread):
    """Reads all that comes out of a pipe, and keeps the end of it: a server that is never idle says more and more."""

    def __init__(self, pipe: IO[bytes]) -> None:
        super().__init__(name="llama-server-tail", daemon=True)
        self._pipe = pipe
        self._kept = b""

    def run(self) -> None:
        with self._pipe:
            while part := os.read(self._pipe.fileno(), _KEPT):
                self._kept = (self._kept + part)[-_KEPT:]

    def end(self) -> bytes:
        """The last `_KEPT` bytes, once the pipe has no more writers."""
        self.join(_QUESTION_TIMEOUT)
        return self._kept


class LlamaServer(HttpUpstream):
    """A running `llama-server` with its model loaded; one that has died is started again for the next request.

    Raises InputError with its own reason if it does not start.
    """

    def __init__(self, program: Path, settings: LlamaSettings) -> None:
        self._program, self._settings = program, settings
        self._starting = threading.Lock()
        self.device: dict[str, Any] = {}  # it does not say
        super().__init__("http://llama/v1")
        self.properties = self._start()

    def chat(self, body: dict[str, Any], take: Callable[[bytes], None], cancelled: threading.Event) -> None:
        """See `Upstream.chat`."""
        self._revive()
        super().chat(body, take, cancelled)

    def call(self, path: str, body: dict[str, Any], cancelled: threading.Event) -> bytes:
        """See `Upstream.call`."""
        self._revive()
        return super().call(path, body, cancelled)

    def close(self) -> None:
        """End the server."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait()

    def _revive(self) -> None:
        with self._starting:
            if self._process.poll() is None:
                return
            status = self._process.returncode
            self.close()
            try:
                self._start()
            except InputError as error:
                raise BackendUnavailableError(
                    f"llama-server has died ({status}) and does not start again: {error}"
                ) from None

    def _start(self) -> dict[str, Any]:
        """Start it and wait for its model; returns what it says of it."""
        directory = private_directory()
        self._uds = os.path.join(directory, "llama.sock")
        command = ["/bin/sh", "-c", _LEASH, "sh", directory, str(self._program), *_arguments(self._settings, self._uds)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        assert self._process.stdout is not None
        said = Tail(self._process.stdout)
        said.start()
        try:
            return self._await_model()
        except InputError as error:
            self.close()
            raise InputError(f"{error}{_last_error(said.end())}") from None

    def _await_model(self) -> dict[str, Any]:
        """Wait until the model is loaded; returns what the server says of it."""
        deadline = time.monotonic() + _LOAD_TIMEOUT
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise InputError(
                    f"llama-server cannot load {self._settings.path} (exit status {self._process.returncode})"
                )
            try:
                status, body = self.get("http://llama/props", _QUESTION_TIMEOUT)
            except BackendUnavailableError:
                status, body = 0, b""
            if status == 200:
                properties: dict[str, Any] = json.loads(body)
                return properties
            time.sleep(_POLL)
        raise InputError(f"llama-server has not loaded {self._settings.path} within {_LOAD_TIMEOUT:g} s")


def _arguments(settings: LlamaSettings, socket: str) -> list[str]:
    arguments = [
        "--model",
        str(settings.path),
        "--host",
        socket,
        "--ctx-size",
        str(settings.context * settings.parallel),
    ]
    batch = str(settings.batch(bool(settings.gpu_layers)))
    arguments += ["--batch-size", batch, "--ubatch-size", batch]
    arguments += [
        "--threads",
        str(settings.threads),
        "--parallel",
        str(settings.parallel),
        "--jinja",
        "--no-webui",
        "--offline",
    ]
    arguments += ["--mmproj", str(settings.mmproj)] if settings.mmproj else ["--no-mmproj"]
    if settings.gpu_layers is not None:
        arguments += ["--n-gpu-layers", str(settings.gpu_layers)]
    if settings.template is not None:
        arguments += ["--chat-template", settings.template]
    if settings.keeps_all:
        arguments.append("--swa-full")
    if settings.special:
        arguments.append("--special")
    if settings.reranks:
        arguments.append("--rerank")
    elif settings.embeds:
        arguments.append("--embedding")
        if settings.mean_pooling:
            arguments += ["--pooling", "mean"]
    return arguments


def _last_error(log: bytes) -> str:
    lines = [line.strip() for line in log.decode("utf-8", "replace").splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()] or lines[-1:]
    return f": {errors[0][:300]}" if errors else ""
