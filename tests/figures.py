"""Figures that commands write into pages of the documentation."""

from __future__ import annotations

import re
from pathlib import Path


def write_between(path: Path, command: str, lines: list[str]) -> None:
    """Put what a command of the Makefile has found into its page, between its marks; the rest stays as it is."""
    start, end = f"<!-- made by make {command} -->", f"<!-- end of make {command} -->"
    made = "\n".join([start, "", *lines, "", end])
    text = path.read_text("utf-8")
    if start not in text or end not in text:
        raise LookupError(f"{path} has no place for what make {command} finds")
    path.write_text(re.sub(f"{start}.*{end}", lambda _: made, text, flags=re.DOTALL), "utf-8")
