"""What the tests of page engines and of the library's server share: a handler of pages, and serving it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import warmwire
from tests.support import PATIENCE, random_image
from warmwire.client import InvalidRequestError


class Reader:
    """A page handler that says what it sees, and fails in the way the prompt asks for."""

    name = "reader"

    def __init__(self) -> None:
        self.cancelled = threading.Event()
        self.running = threading.Event()
        self.threads: set[int] = set()
        self.pages: list[np.ndarray] = []

    def generate(
        self,
        image: np.ndarray,
        prompt: str,
        max_tokens: int | None,
        emit: Callable[[str], None],
        cancelled: threading.Event,
    ) -> dict[str, Any] | None:
        self.threads.add(threading.get_ident())
        self.pages.append(image)
        emit("<doctag>")
        emit(f"{image.shape[1]}x{image.shape[0]} sum={int(image.astype(np.int64).sum())} ")
        if "fail" in prompt:
            raise ValueError("asked to fail")
        if "refuse" in prompt:
            raise InvalidRequestError("not this page")
        if "wait" in prompt:
            self.running.set()
            assert cancelled.wait(PATIENCE)
            self.cancelled.set()
            if "return" in prompt:
                return None
        if "swallow" in prompt:
            for _ in range(100):
                try:
                    emit("word ")
                except Exception:
                    pass
            return None
        if "many" in prompt:
            for n in range(20_000):
                emit(f"w{n:07d} ")
        emit(f"{prompt} {max_tokens}")
        emit("é😀</doctag>")
        return {"confidence": 0.9, "turn": 90}


@contextmanager
def listening(handler: Any, path: str, **options: Any) -> Iterator[warmwire.Listener]:
    with warmwire.listen(path) as listener:
        thread = threading.Thread(target=listener.serve_forever, args=(handler,), kwargs=options, daemon=True)
        thread.start()
        yield listener
        listener.close()
        thread.join(PATIENCE)
        assert not thread.is_alive()


PAGE = random_image(30, 20)
