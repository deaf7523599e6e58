"""Whether what reading documents needs is installed."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

from warmwire.errors import UsageError

_PARTS: Final = ("docling_core", "PIL", "pypdfium2")


def require_parts() -> None:
    """Raise UsageError where the extra `pages` is not installed."""
    missing = [part for part in _PARTS if find_spec(part) is None]
    if missing:
        raise UsageError(f"reading documents needs {', '.join(missing)}: pip install 'warmwire[pages]'")
