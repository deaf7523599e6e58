"""Where a model failed, for the people who can mend it. None of this goes to a client."""

from __future__ import annotations

import traceback
from typing import Final

import msgspec

from warmwire.errors import InternalError

_MOST_PLACES: Final = 30
"""Places kept, the last ones, which are nearest to the failure."""

_MOST_TEXT: Final = 1 << 14


class Trace(msgspec.Struct):
    """`error` is the type, `places` are files, lines and functions, and quote nobody's words; `text` may."""

    error: str
    places: list[str]
    text: str


class ModelError(InternalError):
    """The model itself failed."""

    def __init__(self, message: str, trace: Trace) -> None:
        super().__init__(message)
        self.trace = trace


def trace_of(error: BaseException) -> Trace:
    """Where an exception came from, the deepest place last."""
    frames = traceback.extract_tb(error.__traceback__)[-_MOST_PLACES:]
    text = "".join(traceback.format_exception(error))[-_MOST_TEXT:]
    return Trace(
        type(error).__name__,
        [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
        text.encode("utf-8", "replace").decode(),
    )
