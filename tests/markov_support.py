"""What the Markov and grall tests share: the golden data, both kernels, a host of the grall wire."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.support import DATA, PATIENCE
from warmwire.host.grall.options import GrallOptions
from warmwire.host.grall.server import GrallHost
from warmwire.host.serving import serving
from warmwire.markov import Chain, kernel, load
from warmwire.transport.listen import Access

GRALL = DATA / "grall"
EXPECTED: dict[str, Any] = json.loads((GRALL / "expected.json").read_text())
MODELS = [model for model in EXPECTED["models"] if "ours" not in model]
VECTORS = [vector for vector in EXPECTED["wire"] if "send" in vector]


@cache
def interpreted() -> ModuleType:
    """The kernel as the interpreter runs it, whether or not it was compiled."""
    whole = ModuleType("interpreted")
    for name in ("sorting", "records", "graph", "walks"):
        path = Path(kernel.__file__).with_name(f"{name}.py")
        spec = importlib.util.spec_from_file_location(f"{kernel.__name__}.interpreted_{name}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        assert not module.COMPILED
        vars(whole).update({name: vars(module)[name] for name in kernel.__all__ if name in vars(module)})
    assert set(kernel.__all__) <= set(vars(whole))
    return whole


def chain(name: str = "rep_d8") -> Chain:
    """One of the golden models."""
    return load(GRALL / f"{name}.gril")


class GrallHostThread:
    """A grall host in a thread of this process, with its admin socket, as `warmwire ipc` runs one."""

    def __init__(self, model: Chain, path: str, *, drain_timeout: float = 0, **options: Any) -> None:
        self.path = path
        self._drain_timeout = drain_timeout
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main(model, options)), daemon=True)
        self._thread.start()
        assert self._ready.wait(PATIENCE)

    async def _main(self, model: Chain, options: dict[str, Any]) -> None:
        self._stop = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self.host = GrallHost(lambda: model, GrallOptions(**options))
        async with serving(self.host, self.path, self._stop, lambda _: self._ready.set(), {}, Access()):
            await self.host.drain(self._drain_timeout)

    def call(self, function: Callable[[], Any]) -> Any:
        """Call something in the host's loop."""

        async def run() -> Any:
            return function()

        return asyncio.run_coroutine_threadsafe(run(), self._loop).result(PATIENCE)

    def running(self) -> int:
        """How many generations run."""
        return int(self.call(lambda: self.host.activity.outstanding))

    def begin_to_stop(self) -> None:
        """Begin to drain."""
        self._loop.call_soon_threadsafe(self._stop.set)

    def stop(self) -> None:
        """End it; may be called twice."""
        if self._thread.is_alive():
            self.begin_to_stop()
            self._thread.join(PATIENCE)
        assert not self._thread.is_alive()
