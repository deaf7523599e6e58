"""What a model's server says went wrong, as an error of the wire with a sentence for a person."""

from __future__ import annotations

import json
from typing import Any, Final

from warmwire.errors import (
    BackendUnavailableError,
    InvalidRequestError,
    QueueFullError,
    RequestError,
)
from warmwire.system.text import printable

_LONGEST: Final = 500
"""Characters of another server's message that are passed on."""

_INVALID_TYPES: Final = {"exceed_context_size_error", "invalid_request_error", "BadRequestError", "not_supported_error"}
_INVALID_CODES: Final = {400, 413, 414, 415, 422, 431, 501}
_REFUSED_CODES: Final = {401, 403, 407}


def status_error(status: int, body: bytes) -> RequestError:
    """The error for an HTTP answer that is no 200."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        value = body[:_LONGEST].decode("utf-8", "replace").strip()
    if isinstance(value, dict) and "error" in value:
        value = value["error"]
    return upstream_error(value, status)


def upstream_error(value: Any, status: int | None = None) -> RequestError:
    """The error for an error object, wherever it stood: an HTTP answer, a stream, or llama.cpp in this process."""
    kind: Any = None
    message: Any = value
    if isinstance(value, dict):
        message, kind = value.get("message") or value.get("detail") or value, value.get("type")
        code = value.get("code")
        status = status or (code if isinstance(code, int) else None)
    text = message if isinstance(message, str) else json.dumps(message, default=str)
    text = printable(text, _LONGEST) or "no reason given"
    said = f"the model's server answered {status}: {text}" if status else f"the model's server failed: {text}"
    if status == 429:
        return QueueFullError(f"the model's server is busy (429): {text}")
    if status in _REFUSED_CODES:
        return BackendUnavailableError(f"{said} (is the key in WARMWIRE_API_KEY the right one?)")
    # llama.cpp calls an input that does not fit its batch a server error; it is the request that does not fit.
    if status in _INVALID_CODES or kind in _INVALID_TYPES or "is too large to process" in text:
        return InvalidRequestError(said if status != 400 else text)
    return BackendUnavailableError(said)
