"""What a delay holds up on the grall wire. Apart, so that the command line starts fast."""

from __future__ import annotations

from enum import StrEnum


class Pacing(StrEnum):
    """What waits while a generation's delay runs."""

    GENERATION = "generation"
    """That generation alone, as the reference server does."""
    CONNECTION = "connection"
    """Everything on its connection, as the protocol's document says."""
