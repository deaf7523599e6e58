"""What the Markov and grall tests share: the golden data, both kernels, a host of the grall wire."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.support import DATA, PATIENCE
from warmwire.host.grall.server import GrallHost, GrallOptions
from warmwire.markov import Chain, kernel, load
from warmwire.transport.listen import SocketPath

GRALL = DATA / "grall"
EXPECTED: dict[str, Any] = json.loads((GRALL / "expected.json").read_text())
MODELS = [model for model in EXPECTED["models"] if "ours" not in model]
VECTORS = [vector for vector in EXPECTED["wire"] if "send" in vector]


def interpreted() -> ModuleType:
    """The kernel as the interpreter runs it, whether or not it was compiled."""
    whole = ModuleType("interpreted")
    for name in kernel.MODULES:
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
    """A grall host in a thread of this process."""

    def __init__(self, model: Chain, path: str, **options: Any) -> None:
        self.path = path
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main(model, options)), daemon=True)
        self._thread.start()
        assert self._ready.wait(PATIENCE)

    async def _main(self, model: Chain, options: dict[str, Any]) -> None:
        self._stop = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        with SocketPath(self.path) as claimed:
            self.host = GrallHost(model, GrallOptions(**options))
            listening = claimed.bind()
            self._ready.set()
            await self.host.serve(listening, self._stop)

    def stop(self) -> None:
        """End it; may be called twice."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(PATIENCE)
        assert not self._thread.is_alive()
