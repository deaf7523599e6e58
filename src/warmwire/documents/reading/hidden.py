"""What is done with text that nobody sees, as most archives lay it over their scans."""

from __future__ import annotations

from enum import StrEnum


class Hidden(StrEnum):
    """Whether a scan's hidden text is kept: when the picture agrees with it, always, or never."""

    AUTO = "auto"
    KEEP = "keep"
    DROP = "drop"
