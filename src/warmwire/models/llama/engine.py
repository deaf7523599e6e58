"""llama.cpp in this process, through xllamacpp.

Its `Server` runs the handlers of llama.cpp's own HTTP server, so templates, grammars, tool parsing and media are the
real ones; the calls block and release the GIL. It cannot be had without a listener: that one is put on a Unix socket in
a private directory, asked once what the model can do, and then unlinked, so that nothing listens any more.

A request ends where its callback returns true. The callback is called for each token, and, as progress is asked for,
after each batch of the prompt: so batches are kept small, and a cancel waits for one at most.
"""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from warmwire.errors import InputError, InvalidRequestError
from warmwire.models.llama.options import LlamaSettings
from warmwire.models.openai.errors import upstream_error
from warmwire.system.private import PrivateDirectory

_FORMER_PROMPTS_MIB: Final = 512
"""What is kept of prompts that another one has followed, MiB of each worker process."""

_PROGRESS: Final = {"return_progress": True}
_LOG_PREFIX: Final = re.compile(r"^[\d.]+ [EW] ")


class LlamaEngine:
    """A loaded model. Implements `Upstream`. Raises InputError with llama.cpp's own reason if it cannot be loaded."""

    def __init__(self, settings: LlamaSettings) -> None:
        import xllamacpp

        self.device = _device(xllamacpp)
        with PrivateDirectory() as directory:
            socket = os.path.join(directory.path, "llama.sock")
            params = _params(xllamacpp, settings, socket, gpu=bool(self.device))
            with _captured_errors() as errors:
                try:
                    self._server = xllamacpp.Server(params)
                except (RuntimeError, ValueError) as error:
                    raise InputError(f"llama.cpp cannot load {settings.path}: {_reason(errors(), error)}") from None
            self.properties = _properties(socket)

    def chat(self, body: dict[str, Any], take: Callable[[bytes], None], cancelled: threading.Event) -> None:
        """See `Upstream.chat`."""
        failure: list[BaseException] = []

        def on_chunk(chunk: bytes) -> bool:
            """True ends the request. Nothing may be raised through the C++ frames between."""
            if cancelled.is_set():
                return True
            try:
                take(chunk)
            except BaseException as error:
                failure.append(error)
                return True
            return False

        with _request_errors():
            self._server.handle_chat_completions(msgspec.json.encode(body | _PROGRESS), on_chunk)
        if failure:
            raise failure[0]

    def call(self, path: str, body: dict[str, Any], cancelled: threading.Event) -> bytes:
        """See `Upstream.call`. Once it has begun it runs to its end: these calls have no callback."""
        handler = {"embeddings": self._server.handle_embeddings, "rerank": self._server.handle_rerank}[path]
        with _request_errors():
            answer: bytes = handler(msgspec.json.encode(body))
        error = msgspec.json.decode(answer, type=_Error).error
        if error is not None:
            raise upstream_error(error)
        return answer


class _Error(msgspec.Struct):
    error: Any = None


@contextlib.contextmanager
def _request_errors() -> Iterator[None]:
    """What the handlers throw before they begin is about the request: its shape, its template, its grammar."""
    try:
        yield
    except (RuntimeError, ValueError) as error:
        raise InvalidRequestError(f"llama.cpp refuses the request: {error}") from None


_ACCELERATORS: Final = {"cuda": "cuda", "mtl": "metal", "metal": "metal", "vulkan": "vulkan", "rocm": "rocm"}


def _device(xllamacpp: Any) -> dict[str, Any]:
    """The first GPU that the installed llama.cpp can use, in the words of `Capabilities`; empty where there is none."""
    kinds = xllamacpp.ggml_backend_dev_type
    gpus = (kinds.GGML_BACKEND_DEVICE_TYPE_GPU, kinds.GGML_BACKEND_DEVICE_TYPE_IGPU)
    for device in xllamacpp.get_device_info():
        accelerator = _ACCELERATORS.get(device["name"].rstrip("0123456789").lower())
        if device["type"] in gpus and accelerator is not None:
            name, memory = device["description"], device["memory_total"] or None
            return {"accelerator": accelerator, "device_name": name, "vram_total_bytes": memory}
    return {}


def _params(xllamacpp: Any, settings: LlamaSettings, socket: str, *, gpu: bool) -> Any:
    params = xllamacpp.CommonParams()
    params.model.path = str(settings.path)
    if settings.mmproj is not None:
        params.mmproj.path = str(settings.mmproj)
    else:
        params.no_mmproj = True
    params.n_ctx = settings.context * settings.parallel
    params.n_batch = params.n_ubatch = settings.batch(gpu)
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = settings.threads
    if settings.gpu_layers is not None:
        params.n_gpu_layers = settings.gpu_layers
    params.special = settings.special
    if settings.template is not None:
        params.chat_template = settings.template
    params.embedding = settings.embeds or settings.reranks
    if settings.reranks:
        params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_RANK
    elif settings.mean_pooling:
        params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    params.n_parallel = settings.parallel
    # Weights laid out anew for the processor give other sums for one row than for four: an answer would depend on the
    # company that it is computed in. Left as in the file, they gave as many tokens a second, alone and together.
    params.no_extra_bufts = settings.parallel > 1
    # A prompt that begins like a former one is not read again, also where other conversations came between. A worker's
    # memory is watched, so former ones get half a gigabyte, and not the eight that llama.cpp would take.
    params.cache_ram_mib = _FORMER_PROMPTS_MIB
    params.swa_full = settings.keeps_all
    params.n_ctx_checkpoints = 2
    params.prefill_assistant = False
    params.offline = True
    params.ui = False
    params.n_threads_http = 1
    params.hostnames = [socket]
    params.verbosity = 1  # errors
    return params


def _properties(socket: str) -> dict[str, Any]:
    """What the server says of its model."""
    import httpx

    with httpx.Client(transport=httpx.HTTPTransport(uds=socket), base_url="http://llama", timeout=30) as client:
        properties: dict[str, Any] = client.get("/props").raise_for_status().json()
        return properties


@contextlib.contextmanager
def _captured_errors() -> Iterator[Callable[[], str]]:
    """Catch what C++ writes to stderr; the function given returns it. The model is loading, nobody else writes."""
    with tempfile.TemporaryFile() as file:
        kept = os.dup(2)
        os.dup2(file.fileno(), 2)

        def text() -> str:
            file.seek(0)
            return file.read().decode("utf-8", "replace")

        try:
            yield text
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def _reason(log: str, error: Exception) -> str:
    """The line of the log that says most: the first one of an error; what follows only passes it on."""
    lines = [_LOG_PREFIX.sub("", line).strip() for line in log.splitlines() if " E " in line]
    for line in lines:
        if "error loading model" in line or "mmproj" in line or "clip" in line:
            return f"{lines[0]} ({line})" if line != lines[0] else line
    return lines[0] if lines else str(error)
