"""How carefully pages are read. Apart from the rest, so that a command line can name it without loading anything."""

from __future__ import annotations

from enum import StrEnum


class Quality(StrEnum):
    """How the page reader reads lines: with the quick model, with the careful one where that is in doubt, or with the
    careful one alone."""

    FAST = "fast"
    AUTO = "auto"
    BEST = "best"
