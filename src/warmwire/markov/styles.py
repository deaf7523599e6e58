"""The termination styles: when a generation ends besides its limit. Apart, so that the command line starts fast."""

from __future__ import annotations

from enum import StrEnum


class Style(StrEnum):
    """All but NONE go on at the nearest known context where the exact one is unknown, as grall does."""

    NEVER = "never"
    """Only where not even a near context is known."""
    NONE = "none"
    """Where the exact context is unknown."""
    LINE = "line"
    """After the first newline."""
    WORD = "word"
    """Before the first white space or punctuation that follows something else."""
