"""How a grall host answers. Apart, so that connections need not know their host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from warmwire.host.grall.pacing import Pacing
from warmwire.markov.styles import Style
from warmwire.wire.grall_limits import MAX_NAME, MAX_SEED

MAX_GENERATIONS: Final = 4096
"""Most generations that run on one connection."""


@dataclass(frozen=True, slots=True)
class GrallOptions:
    """`rng_seed` makes equal requests (name and seed) give equal text."""

    rng_seed: int | None = None
    pacing: Pacing = Pacing.GENERATION
    style: Style = Style.NEVER
    temperature: float = 1.0
    max_name: int = MAX_NAME
    max_seed: int = MAX_SEED
    max_generations: int = MAX_GENERATIONS
