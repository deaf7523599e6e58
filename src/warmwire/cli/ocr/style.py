"""How a run tells what it does. Imports nothing, so that a command line can name it at once."""

from __future__ import annotations

from enum import StrEnum


class ProgressStyle(StrEnum):
    """`auto` is a bar on a terminal and lines elsewhere; `none` leaves only what went wrong."""

    AUTO = "auto"
    BAR = "bar"
    LINES = "lines"
    JSON = "json"
    NONE = "none"
