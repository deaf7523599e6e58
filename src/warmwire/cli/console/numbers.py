"""Numbers on the command line."""

from __future__ import annotations

from math import isfinite

import typer


def finite(value: float | None) -> float | None:
    """Refuse nan and infinity, which pass every range. A callback of options."""
    if value is not None and not isfinite(value):
        raise typer.BadParameter(f"{value} is not a finite number.")
    return value
