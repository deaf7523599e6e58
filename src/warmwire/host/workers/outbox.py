"""What a worker's model says, on its way to the host.

A host that had to look at every delta of a fast model would do nothing else. So deltas travel together, as bytes of
the answer that the host passes on unread: the first goes at once, and those that follow within a moment go with the
next one, or when the moment is over. A model that takes longer than that for a delta never waits, and no thread wakes
for it.
"""

from __future__ import annotations

import socket
import threading
import time
from typing import Final

from warmwire.wire.generation.frames import encode_header
from warmwire.wire.generation.messages import FRAME_BLOB

_MOMENT: Final = 0.001
"""Seconds over which deltas are gathered."""

_MOST: Final = 64 << 10
"""Bytes that are sent before it is over."""


class Outbox:
    """Sends a worker's messages over its link, in order. A full link makes the model wait."""

    def __init__(self, link: socket.socket) -> None:
        self._link = link
        self._lock = threading.Lock()
        self._gathered: list[bytes] = []
        self._size = 0
        self._quiet_at = 0.0
        self._left_over = threading.Event()
        threading.Thread(target=self._send_left_over, daemon=True).start()

    def put(self, data: bytes) -> None:
        """Bytes of the answer."""
        with self._lock:
            self._gathered.append(data)
            self._size += len(data)
            if self._size > _MOST or time.monotonic() >= self._quiet_at:
                self._flush()
            elif not self._left_over.is_set():
                self._left_over.set()

    def say(self, frame: bytes) -> None:
        """A message for the host itself, behind what has been put. The next delta goes at once all the same."""
        with self._lock:
            self._flush()
            self._link.sendall(frame)
            self._quiet_at = 0.0

    def _flush(self) -> None:
        if self._gathered:
            data = b"".join(self._gathered)
            self._gathered.clear()
            self._size = 0
            self._link.sendall(encode_header(FRAME_BLOB, len(data)) + data)
            self._quiet_at = time.monotonic() + _MOMENT

    def _send_left_over(self) -> None:
        try:
            while self._left_over.wait():
                time.sleep(_MOMENT)
                with self._lock:
                    self._left_over.clear()
                    self._flush()
        except OSError:
            pass  # the host has gone; whoever reads the link ends the process
