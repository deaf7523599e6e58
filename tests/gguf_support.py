"""What the tests of GGUF models share; `tiny_gguf` makes the files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tests import model_support
from warmwire.media.images import image_attachment
from warmwire.models.openai.model import ChatModel
from warmwire.models.registry import load_model
from warmwire.wire.generation.messages import Attachment, Request


def load(path: Path, options: str = "") -> ChatModel:
    model = load_model(f"{path}{options}", threads=1)
    assert isinstance(model, ChatModel)
    return model


def ask(text: str = "hi", **fields: Any) -> Request:
    """A question whose answer is the likeliest one."""
    return model_support.ask(text, **{"temperature": 0, **fields})


def page(width: int = 50, height: int = 40) -> Attachment:
    return image_attachment("p", np.full((height, width, 3), 200, np.uint8))
