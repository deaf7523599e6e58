"""Lines in a typewriter font to a piece of code: every line its own, indented as it stands on the page."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from warmwire.layout.page import Line


def code_text(lines: Sequence[Line]) -> str:
    """The lines, from top to bottom, each behind as many spaces as letters would fit before it."""
    letter = median(line.box.width / max(len(line.text), 1) for line in lines) or 1.0
    margin = min(line.box.left for line in lines)
    return "\n".join(" " * round((line.box.left - margin) / letter) + line.text for line in lines)
