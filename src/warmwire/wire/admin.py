"""The lines of the admin socket: what a host says of itself, to whoever connects.

A subscriber gets the capabilities of each model, one line with the current state, then events as they happen. Lines
are flat: `{"id":"admin","type":"status","status":S, ...}` with the keys of S. Readers skip what they do not know.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

import msgspec

from warmwire.errors import ProtocolError


class Status(StrEnum):
    """What a host is doing. `CAPABILITIES` tells of a model and changes no state."""

    STARTING = "starting"
    LOADING_MODEL = "loading_model"
    CAPABILITIES = "capabilities"
    READY = "ready"
    RESTARTING = "restarting"
    DRAINING = "draining"
    ACTIVITY = "activity"  # ours: what is running and waiting; other readers skip it


_encode: Final = msgspec.json.Encoder().encode
_decode: Final = msgspec.json.Decoder(dict[str, Any]).decode


def encode_status(status: Status, details: Mapping[str, Any] | None = None) -> bytes:
    """One line."""
    return _encode({"id": "admin", "type": "status", "status": status, **(details or {})}) + b"\n"


def decode_status(line: bytes) -> dict[str, Any]:
    """The keys of one line. Raises ProtocolError for what is no JSON object."""
    try:
        return _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ProtocolError(f"the admin socket sent a line that cannot be read: {error}") from None
