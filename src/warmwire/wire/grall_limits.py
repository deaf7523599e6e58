"""How long what the grall wire carries may be, bytes. Apart, so that the command line starts fast."""

from __future__ import annotations

from typing import Final

MAX_NAME: Final = 4 << 10
"""Longest name of a generation."""

MAX_SEED: Final = 1 << 20
"""Longest seed."""

MAX_TOKEN: Final = 1 << 20
"""Longest token or message a client accepts; the document lets tokens grow beyond four."""

TOKEN: Final = 4
"""Bytes of a token as we send it."""
