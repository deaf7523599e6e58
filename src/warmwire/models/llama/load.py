"""From a GGUF file to a model: which way to run it, and what it can do then."""

from __future__ import annotations

import importlib.util
from typing import Any, Final

from warmwire.errors import InputError
from warmwire.models.interface import Capabilities
from warmwire.models.llama.engine import LlamaEngine
from warmwire.models.llama.options import LlamaSettings, parse_gguf_name, settings_of
from warmwire.models.llama.server import LlamaServer, find_server
from warmwire.models.openai.model import ChatModel
from warmwire.models.openai.vectors import GEMMA_PREFIXES

_AUDIO_RATE: Final = 16000
"""Hz at which llama.cpp's encoders hear; it brings other rates to this one, so nothing is won by sending more."""

_THINKING_MARKS: Final = ("enable_thinking", "reasoning_content", "<think>", "<|channel|>")


def load_llama(name: str, threads: int | None = None, *, special: bool = False) -> ChatModel:
    """The model in a GGUF file, named `x.gguf` or with options (see `GgufOptions`).

    `special` makes it write its control tokens out. Raises UsageError for the name, InputError for the file and where
    nothing is installed that could run it.
    """
    path, options = parse_gguf_name(name)
    settings = settings_of(path, options, threads, special=special)
    upstream = _upstream(settings, options.llama_server)
    header = settings.header
    return ChatModel(
        header.name,
        _capabilities(settings, upstream.properties, upstream.device),
        upstream,
        prefixes=GEMMA_PREFIXES if header.architecture == "gemma-embedding" else None,
    )


def _upstream(settings: LlamaSettings, server: str | None) -> LlamaEngine | LlamaServer:
    """A server that was asked for, else the library, else a server that happens to be installed."""
    missing = [part for part in ("xllamacpp", "httpx") if importlib.util.find_spec(part) is None]
    program = find_server(server) if server or missing else None
    if program is not None and "httpx" not in missing:
        return LlamaServer(program, settings)
    if missing:
        raise InputError(
            f"GGUF models need {' and '.join(missing)}; install with: pip install 'warmwire[llama]'"
            " (where xllamacpp has no wheel, a llama-server on PATH does as well)"
        )
    return LlamaEngine(settings)


def _capabilities(settings: LlamaSettings, properties: dict[str, Any], device: dict[str, Any]) -> Capabilities:
    context = properties.get("default_generation_settings", {}).get("n_ctx") or settings.context  # it rounds up
    if settings.embeds or settings.reranks:
        return Capabilities(
            generate=False,
            embed=settings.embeds,
            rerank=settings.reranks,
            context=context,
            dimensions=settings.header.dimensions or None if settings.embeds else None,
            **device,
        )
    media = properties.get("modalities", {})
    template = str(properties.get("chat_template", ""))
    hears = media.get("audio") is True
    return Capabilities(
        vision=media.get("vision") is True,
        audio=hears,
        audio_sample_rate=_AUDIO_RATE if hears else None,
        tools=properties.get("chat_template_caps", {}).get("supports_tools") is True,
        thinking=any(mark in template for mark in _THINKING_MARKS),
        structured_output=True,
        context=context,
        gpu_layers=settings.gpu_layers or 0,
        **device,
    )
