"""Where the words of a page stand, whichever way they are turned: what a text layer under a picture is made of.

An `Element` says what a text is and has an upright box; a `Run` is one line of it as it lies on the page, perhaps askew
or on its side, with the places of its words along it. Runs travel in a page reader's report, as lists of numbers in
the pixels of the image; whoever receives them trusts none of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

Point = tuple[float, float]

MAX_RUNS: Final = 20_000
"""Most lines taken of one page; the densest newspaper has a tenth of it."""

_MAX_LETTERS: Final = 4000
_PARTS: Final = 1000
"""Places along a line are sent as whole thousandths of its length."""


@dataclass(frozen=True, slots=True)
class Run:
    """One line of text: `corner` is its top left as it is read, `along` goes from there to its top right, `across` to
    its bottom left. `spans` has the start and the end of each word of `text`, 0 to 1 along the line, in order."""

    text: str
    corner: Point
    along: Point
    across: Point
    spans: tuple[tuple[float, float], ...]
    confidence: float = 1.0

    @property
    def middle(self) -> Point:
        return (
            self.corner[0] + (self.along[0] + self.across[0]) / 2,
            self.corner[1] + (self.along[1] + self.across[1]) / 2,
        )

    @property
    def words(self) -> list[str]:
        return self.text.split()

    def moved(self, move: Callable[[float, float], Point]) -> Run:
        """The run after `move`, which takes points to points and straight lines to straight lines."""
        x, y = self.corner
        corner = move(x, y)
        ends = [move(x + dx, y + dy) for dx, dy in (self.along, self.across)]
        along, across = ((end[0] - corner[0], end[1] - corner[1]) for end in ends)
        return Run(self.text, corner, along, across, self.spans, self.confidence)


def report_runs(runs: Iterable[Run]) -> list[list[Any]]:
    """Runs as a report carries them: text, corner, along, across, the words' places, confidence."""
    return [
        [
            run.text,
            [round(value, 1) for point in (run.corner, run.along, run.across) for value in point],
            [round(place * _PARTS) for span in run.spans for place in span],
            round(run.confidence, 3),
        ]
        for run in runs
    ]


def reported_runs(value: object) -> Iterator[Run]:
    """The runs in a report, in the pixels of its image; what is malformed is left out."""
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes)):
        return
    for item in value[:MAX_RUNS]:
        run = _run(item)
        if run is not None:
            yield run


def _run(item: object) -> Run | None:
    if not isinstance(item, Sequence) or len(item) != 4:
        return None
    text, places, parts, confidence = item
    if not isinstance(text, str) or not 0 < len(text) <= _MAX_LETTERS:
        return None
    if not _are_numbers(places, 6) or not _are_numbers(parts, 2 * len(text.split())):
        return None
    x, y, dx, dy, ex, ey = (float(value) for value in places)
    if not (dx or dy) or not (ex or ey):
        return None
    along = [min(max(part / _PARTS, 0.0), 1.0) for part in parts]
    spans = tuple((start, max(start, end)) for start, end in zip(along[::2], along[1::2], strict=True))
    sure = float(confidence) if _are_numbers([confidence], 1) else 1.0
    return Run(text, (x, y), (dx, dy), (ex, ey), spans, min(max(sure, 0.0), 1.0))


def _are_numbers(values: object, count: int) -> bool:
    return (
        isinstance(values, Sequence)
        and not isinstance(values, str)
        and len(values) == count
        and all(isinstance(v, (int, float)) and math.isfinite(v) and abs(v) < 1e6 for v in values)
    )
