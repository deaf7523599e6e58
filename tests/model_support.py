"""What the tests of models share, wherever the model runs."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from warmwire.errors import WarmwireError
from warmwire.models.interface import Finish
from warmwire.wire.generation.messages import Message, OutBlock, Request, text_block


def ask(text: str = "hi", **fields: Any) -> Request:
    return Request(messages=[Message("user", [text_block(text)])], **fields)


def run(model: Any, request: Request) -> tuple[list[OutBlock], Finish]:
    blocks: list[OutBlock] = []
    finish = model.generate(request, blocks.append, threading.Event())
    return blocks, finish


def text_of(blocks: list[OutBlock], kind: str = "text") -> str:
    return "".join(block.delta for block in blocks if block.type == kind)


def read_page(handler: Any, prompt: str = "", max_tokens: int | None = None) -> str:
    parts: list[str] = []
    try:
        handler.generate(np.full((60, 40, 3), 255, np.uint8), prompt, max_tokens, parts.append, threading.Event())
    except WarmwireError as error:
        error.partial = "".join(parts)
        raise
    return "".join(parts)
