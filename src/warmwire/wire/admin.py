"""The lines of the admin socket: what a host says of itself, to whoever connects.

A subscriber gets the capabilities of each model, one line with the current state, then events as they happen. Lines
are flat: `{"id":"admin","type":"status","status":S, ...}` with the keys of S. Readers skip what they do not know.
`HostStatus` is the reader: it takes one line after another and is, at any time, what has been told so far.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

import msgspec

from warmwire.errors import ProtocolError


class HostEvent(StrEnum):
    """What a host tells: a state that it enters, or `CAPABILITIES` of a model, or its `ACTIVITY`."""

    STARTING = "starting"
    LOADING_MODEL = "loading_model"
    CAPABILITIES = "capabilities"
    READY = "ready"
    RESTARTING = "restarting"
    DRAINING = "draining"
    ACTIVITY = "activity"  # ours: what is running and waiting; other readers skip it


_encode: Final = msgspec.json.Encoder().encode
_decode: Final = msgspec.json.Decoder(dict[str, Any]).decode

_ENVELOPE: Final = frozenset({"id", "type", "status"})


def encode_status(event: HostEvent, details: Mapping[str, Any] | None = None) -> bytes:
    """One line."""
    return _encode({"id": "admin", "type": "status", "status": event, **(details or {})}) + b"\n"


def decode_status(line: bytes) -> dict[str, Any]:
    """The keys of one line. Raises ProtocolError for what is no JSON object."""
    try:
        return _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ProtocolError(f"the admin socket sent a line that cannot be read: {error}") from None


class HostStatus(msgspec.Struct):
    """How a host is: its state and the state's details, what its models can do, what it is doing (ours only)."""

    state: str = ""
    details: dict[str, Any] = msgspec.field(default_factory=dict)
    capabilities: list[dict[str, Any]] = msgspec.field(default_factory=list)
    activity: dict[str, Any] | None = None

    def take(self, line: Mapping[str, Any]) -> str | None:
        """Take the keys of one line in; returns the word of its event, None for a line that has none."""
        details = {key: value for key, value in line.items() if key not in _ENVELOPE}
        event = line.get("status")
        match event:
            case HostEvent.CAPABILITIES:
                self.capabilities.append(details)
            case HostEvent.ACTIVITY:
                self.activity = details
            case str(state):
                self.state, self.details = state, details
            case _:
                return None
        return event


def count_of(told: Mapping[str, Any], key: str) -> int:
    """A count that a host told; 0 for what is none."""
    value = told.get(key)
    return value if isinstance(value, int) else 0
