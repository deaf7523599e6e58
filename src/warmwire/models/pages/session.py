"""Models out of wheels, run by onnxruntime without anything between.

A model is a file inside an installed package, found by its path: nothing is looked up, let alone downloaded, and the
package's own code is never imported. The runtime's threads sleep while there is nothing to do (they would otherwise
spin, and two workers on two processors would take each other's time). Models run one after the other, so all of them
take their memory from one store, which keeps it from run to run: to get it anew from the system, page by page, is a
quarter of the time of finding lines. What a picture of unusual size needed is given back, so that one huge page does
not stay with a worker for good.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from warmwire.errors import BackendUnavailableError

Floats = NDArray[np.float32]

_QUIET: Final = 4
"""The runtime's log level at which only what ends the process is printed."""


LARGE: Final = 3 * 1280 * 1280
"""After a run on more values than that the store gives back what it can: no page of usual size has as many."""


@cache
def _store() -> None:
    """Have the process's store of memory made; it grows by what is asked for, not to the next power of two."""
    import onnxruntime

    info = onnxruntime.OrtMemoryInfo(
        "Cpu", onnxruntime.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, onnxruntime.OrtMemType.DEFAULT
    )
    onnxruntime.create_and_register_allocator(info, onnxruntime.OrtArenaCfg({"arena_extend_strategy": 1}))


def model_path(package: str, *parts: str) -> Path:
    """The path of a file inside an installed package. Raises BackendUnavailableError where it is not."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise BackendUnavailableError(f"the package {package} is not installed; run: pip install 'warmwire[pages]'")
    path = Path(spec.origin).parent.joinpath(*parts)
    if not path.is_file():
        raise BackendUnavailableError(f"{path} is missing; run: pip install --force-reinstall {package}")
    return path


@contextmanager
def _path_of(model: Path | Sequence[bytes | memoryview]) -> Iterator[str]:
    """The path of a model, of one in memory for as long as it is needed: the runtime would keep its bytes for good."""
    if isinstance(model, Path):
        yield str(model)
    elif hasattr(os, "memfd_create"):
        with open(os.memfd_create("model", os.MFD_CLOEXEC), "wb") as file:
            file.writelines(model)
            file.flush()
            yield f"/proc/self/fd/{file.fileno()}"
    else:
        with NamedTemporaryFile() as file:
            file.writelines(model)
            file.flush()
            yield file.name


class Session:
    """One model, given by its path or its bytes in pieces. `threads` is how many it computes on; runs of one session do
    not share anything that changes."""

    def __init__(self, model: Path | Sequence[bytes | memoryview], threads: int) -> None:
        import onnxruntime

        _store()
        options = onnxruntime.SessionOptions()
        options.log_severity_level = _QUIET
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.add_session_config_entry("session.use_env_allocators", "1")
        options.enable_mem_pattern = False  # planned anew for each size of input, and kept for every size ever seen
        with _path_of(model) as path:
            self._session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self._input = self._session.get_inputs()[0].name
        self._giving_back = onnxruntime.RunOptions()
        self._giving_back.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")

    @property
    def labels(self) -> list[str]:
        """The names of the model's classes, where its file has them."""
        text = self._session.get_modelmeta().custom_metadata_map.get("character", "")
        return [str(label) for label in text.splitlines()]

    def run(self, batch: Floats) -> list[Floats]:
        """The model's outputs for a batch of inputs."""
        options = self._giving_back if batch.size > LARGE else None
        outputs: list[Any] = self._session.run(None, {self._input: batch}, options)
        return [np.asarray(output, np.float32) for output in outputs]


def planes(image: NDArray[np.uint8], mean: tuple[float, ...], spread: tuple[float, ...]) -> Floats:
    """An image (height, width, 3) as models take it: (1, 3, height, width), each channel less its mean over its spread,
    both for values from 0 to 1."""
    import cv2

    height, width = image.shape[:2]
    values = np.empty((1, 3, height, width), np.float32)
    for plane, channel, middle, width_of in zip(values[0], cv2.split(image), mean, spread, strict=True):
        np.multiply(channel, np.float32(1 / (255 * width_of)), out=plane)
        plane -= np.float32(middle / width_of)
    return values
