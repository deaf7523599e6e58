"""The one thing the documents room knows of recognition: an `Engine` that turns a page's pixels into DocTags."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from warmwire.models.base import Image
from warmwire.wire.messages import PROMPT_PAGE, Usage


@dataclass(slots=True)
class Recognition:
    """One page's answer. `report` is what the model said of it: `confidence` (0 to 1) and `turn` (degrees)."""

    text: str
    backend: str = ""
    usage: Usage = field(default_factory=Usage)
    report: Mapping[str, Any] = field(default_factory=dict)


class Engine(Protocol):
    """Recognises pages, in this process (`Local`) or through a host (`dial`)."""

    def read(
        self,
        image: Image,
        *,
        prompt: str = PROMPT_PAGE,
        max_tokens: int | None = None,
        on_delta: Callable[[str], None] | None = None,
    ) -> Recognition:
        """Read one page. Errors carry the text so far as `.partial`."""

    def recognize(
        self,
        image: Image,
        *,
        prompt: str = PROMPT_PAGE,
        max_tokens: int | None = None,
        on_delta: Callable[[str], None] | None = None,
    ) -> str:
        """The text of `read`."""

    def close(self) -> None:
        """Give the connection or the model back."""
