"""Text for people's terminals."""

from __future__ import annotations


def printable(text: str, longest: int) -> str:
    """Somebody else's words for a line on a terminal: one line, no escape sequences, at most `longest` characters."""
    return "".join(char for char in " ".join(text.split()) if char.isprintable())[:longest].strip()
