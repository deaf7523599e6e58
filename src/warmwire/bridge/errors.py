"""Errors in the OpenAI format: one JSON object, and the HTTP status that tells clients whether to try again."""

from __future__ import annotations

import math
from http import HTTPStatus
from typing import Any, Final

from warmwire.errors import (
    AttachmentError,
    BackendUnavailableError,
    DialError,
    EmbedUnsupportedError,
    FrameTooLargeError,
    InvalidRequestError,
    ProtocolError,
    QueueFullError,
    RerankUnsupportedError,
    StreamLostError,
    UsageError,
    WarmwireError,
    WireVersionError,
)

_RETRY_AFTER: Final = 1
"""Seconds. A queue moves and a host starts within seconds; the wire does not say when."""


class BodyTimeoutError(InvalidRequestError):
    """A request's body was not whole in time."""


class UnknownModelError(InvalidRequestError):
    """No model is called that."""


class NoSuchTaskError(InvalidRequestError):
    """There is no task of that id, or it has not ended."""


_STATUS: Final[tuple[tuple[type[WarmwireError], int], ...]] = (
    (BodyTimeoutError, HTTPStatus.REQUEST_TIMEOUT),
    (UnknownModelError, HTTPStatus.NOT_FOUND),
    (NoSuchTaskError, HTTPStatus.NOT_FOUND),
    (InvalidRequestError, HTTPStatus.BAD_REQUEST),
    (AttachmentError, HTTPStatus.BAD_REQUEST),
    (EmbedUnsupportedError, HTTPStatus.BAD_REQUEST),
    (RerankUnsupportedError, HTTPStatus.BAD_REQUEST),
    (UsageError, HTTPStatus.BAD_REQUEST),
    (FrameTooLargeError, HTTPStatus.REQUEST_ENTITY_TOO_LARGE),
    (QueueFullError, HTTPStatus.TOO_MANY_REQUESTS),
    (BackendUnavailableError, HTTPStatus.SERVICE_UNAVAILABLE),
    (StreamLostError, HTTPStatus.SERVICE_UNAVAILABLE),
    (DialError, HTTPStatus.SERVICE_UNAVAILABLE),
    (WireVersionError, HTTPStatus.BAD_GATEWAY),
    (ProtocolError, HTTPStatus.BAD_GATEWAY),
)
"""The first class that fits counts; what fits none is internal, 500."""

_TYPES: Final = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error"}


def status_of(error: WarmwireError) -> int:
    """The HTTP status of an error."""
    return next((status for kind, status in _STATUS if isinstance(error, kind)), HTTPStatus.INTERNAL_SERVER_ERROR)


def code_of(error: WarmwireError) -> str:
    """The wire's code. What a host said that is no answer is the host's fault, not the request's."""
    if isinstance(error, UnknownModelError):
        return "model_not_found"
    return "bad_gateway" if status_of(error) == HTTPStatus.BAD_GATEWAY else error.code.value


def headers_of(error: WarmwireError) -> dict[str, str]:
    """What goes along with an error: when to try again; and that what is left of a body will not be read."""
    match status_of(error):
        case HTTPStatus.TOO_MANY_REQUESTS | HTTPStatus.SERVICE_UNAVAILABLE:
            return {"Retry-After": str(math.ceil(getattr(error, "pause", 0) or _RETRY_AFTER))}
        case HTTPStatus.REQUEST_TIMEOUT | HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            return {"Connection": "close"}
    return {}


def error_body(error: WarmwireError) -> dict[str, Any]:
    """The JSON of an error."""
    return plain_error(status_of(error), code_of(error), str(error))


def plain_error(status: int, code: str, message: str) -> dict[str, Any]:
    """The JSON of an error that only HTTP knows."""
    kind = _TYPES.get(status) or ("invalid_request_error" if status < 500 else "server_error")
    said = {"message": message, "type": kind, "param": None, "code": code}
    return {"error": said, "detail": message}  # the one as OpenAI has it, the other as clients of docling-serve read it
