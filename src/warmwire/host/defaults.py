"""What a host allows where nobody says otherwise. Apart, so that the command line starts fast."""

from __future__ import annotations

from typing import Final

QUEUE_DEPTH: Final = 10
"""Requests that may wait beyond those that run."""

WRITE_TIMEOUT: Final = 60.0
"""Seconds a client may leave its answer unread."""

DRAIN_TIMEOUT: Final = 10.0
"""Seconds that requests under way get when the host is told to stop."""

PAGE_TIMEOUT: Final = 120.0
"""Seconds that a page gets where nobody has said how many. A chat has no such bound."""

READ_TIMEOUT: Final = 60.0
"""Seconds from the first byte of a request to its last."""

MAX_PARTIAL: Final = 1 << 30
"""Bytes of all requests together that have arrived in part: room for eight of the largest."""
