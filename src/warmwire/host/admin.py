"""The admin socket: it is there before the model is, and tells whoever connects how far the host has come.

A subscriber only listens. One that falls behind is dropped; it connects again and gets a fresh snapshot.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Mapping
from typing import Any, Final, cast

import msgspec

from warmwire.host.accept import accept_until
from warmwire.host.base import Activity, BaseHost
from warmwire.host.hangup import HangupWatch
from warmwire.models.interface import Capabilities
from warmwire.transport.peer import peer_credentials
from warmwire.wire.admin import HostEvent, encode_status
from warmwire.wire.generation.messages import VERSION

_MOST_BEHIND: Final = 64 << 10
"""Bytes that may wait for a subscriber: some 256 events."""

_ACTIVITY_PAUSE: Final = 0.2
"""Seconds between a change of activity and the line about it, which gathers what else changes meanwhile."""

_HEARTBEAT: Final = 1.0
"""Seconds between two lines about activity while requests are under way: their messages are counted in it."""


class Admin:
    """Keeps the host's state and tells it to subscribers. Lives in the host's event loop."""

    def __init__(self, uids: set[int], hangups: HangupWatch) -> None:
        self._uids = uids
        self.hangups = hangups
        self._state = encode_status(HostEvent.STARTING)
        self._capabilities = b""
        self._activity: Activity | None = None
        self._changed_at = time.monotonic()
        self._announced: asyncio.TimerHandle | None = None
        self._subscribers: set[_Subscriber] = set()

    def publish(self, status: HostEvent, details: Mapping[str, Any] | None = None) -> None:
        """Enter a state."""
        self._state = encode_status(status, details)
        self._tell(self._state)

    def present(self, host: BaseHost[Any]) -> None:
        """Say what a loaded host can do, and tell of its activity from now on."""
        self._capabilities = encode_status(HostEvent.CAPABILITIES, _details(host.name, host.capabilities))
        self._tell(self._capabilities)
        self._activity = host.activity
        host.on_activity = self._changed

    async def serve(self, listening: socket.socket) -> None:
        """Accept subscribers until cancelled."""
        await accept_until(asyncio.Event(), {listening: self._adopt})

    def close(self) -> None:
        """End every subscription."""
        for subscriber in tuple(self._subscribers):
            subscriber.close()
        if self._announced is not None:
            self._announced.cancel()

    # ------------------------------------------------------------------ what subscribers call

    def join(self, subscriber: _Subscriber, uid: int | None) -> bool:
        """Take a subscriber in and tell it how things are; False for another user's."""
        if uid not in self._uids:
            return False
        self._subscribers.add(subscriber)
        subscriber.send(self._capabilities + self._state + self._activity_line())
        if self._activity is not None and self._activity.outstanding:
            self._announce_in(_HEARTBEAT)
        return True

    def leave(self, subscriber: _Subscriber) -> None:
        """A subscriber has gone."""
        self._subscribers.discard(subscriber)

    async def _adopt(self, sock: socket.socket) -> None:
        await asyncio.get_running_loop().connect_accepted_socket(lambda: _Subscriber(self), sock)

    def _changed(self) -> None:
        """The activity has changed: say so, but not too often."""
        self._changed_at = time.monotonic()
        self._announce_in(_ACTIVITY_PAUSE)

    def _announce_in(self, seconds: float) -> None:
        if self._announced is None and self._subscribers:
            self._announced = asyncio.get_running_loop().call_later(seconds, self._announce)

    def _announce(self) -> None:
        self._announced = None
        self._tell(self._activity_line())
        if self._activity is not None and self._activity.outstanding:
            self._announce_in(_HEARTBEAT)

    def _activity_line(self) -> bytes:
        """What goes on, and for how many seconds nothing has."""
        if self._activity is None:
            return b""
        idle = 0.0 if self._activity.outstanding else round(time.monotonic() - self._changed_at, 1)
        return encode_status(HostEvent.ACTIVITY, msgspec.to_builtins(self._activity) | {"idle": idle})

    def _tell(self, line: bytes) -> None:
        for subscriber in tuple(self._subscribers):
            subscriber.send(line)


class _Subscriber(asyncio.Protocol):
    def __init__(self, admin: Admin) -> None:
        self._admin = admin
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        sock: socket.socket = transport.get_extra_info("socket")
        self._fd = sock.fileno()
        if self._admin.join(self, peer_credentials(sock).uid):
            self._admin.hangups.add(self._fd, self.drop)
        else:
            self.drop()

    def connection_lost(self, exc: Exception | None) -> None:
        self._admin.hangups.remove(self._fd, self.drop)
        self._admin.leave(self)

    def eof_received(self) -> bool:
        """A subscriber may close its sending side alone; that it has gone altogether, the hang-up watch tells."""
        return self._admin.hangups.can_tell

    def send(self, line: bytes) -> None:
        self._transport.write(line)
        if self._transport.get_write_buffer_size() > _MOST_BEHIND:
            self.drop()

    def drop(self) -> None:
        """End the subscription at once."""
        self._transport.abort()

    def close(self) -> None:
        self._transport.close()


def _details(label: str, capabilities: Capabilities) -> dict[str, Any]:
    """The keys of a capabilities line: what is not there, and `rerank` when false, is left out."""
    details = {
        "backend": label,
        "wire_version": VERSION,
        "v2": capabilities.generate,
        "vision": capabilities.vision,
        "audio": capabilities.audio,
        "tools": capabilities.tools,
        "thinking": capabilities.thinking,
        "embed": capabilities.embed,
        "accelerator": capabilities.accelerator,
        "gpu_layers": capabilities.gpu_layers,
    }
    if capabilities.rerank:
        details["rerank"] = True
    for key in ("audio_sample_rate", "device_name", "vram_total_bytes"):
        if (value := getattr(capabilities, key)) is not None:
            details[key] = value
    return details
