"""Stages of the layout that may fail without the page being lost."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

_LOG: Final = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StageGuard:
    """Runs stages; the name of each that failed is put into `skipped`, once."""

    skipped: list[str]

    def run(self, stage: str, work: Callable[[], T], otherwise: Callable[[], T]) -> T:
        """What `work` gives, or `otherwise` where it fails: text is never lost for structure's sake."""
        try:
            return work()
        except Exception:
            _LOG.warning("the layout's stage %r failed and is left out", stage, exc_info=True)
            if stage not in self.skipped:
                self.skipped.append(stage)
            return otherwise()
