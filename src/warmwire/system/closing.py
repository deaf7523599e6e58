"""What a `with` block closes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self


class Closing(ABC):
    """Closed at the end of its `with` block."""

    @abstractmethod
    def close(self) -> None:
        """Give back what is held; may be called twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()


class AsyncClosing(ABC):
    """Closed at the end of its `async with` block; closing waits for nothing."""

    @abstractmethod
    def close(self) -> None:
        """Give back what is held; may be called twice."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *reason: object) -> None:
        self.close()
