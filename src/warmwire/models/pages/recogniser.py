"""Pictures of lines to text, each as wide as it is.

A line is read alone: what it reads then depends on nothing but itself, and on a processor a batch is no faster (one
of 1600 pixels takes what its lines take one by one, one of 6400 half as long again, as it no longer fits the caches).
Several lines are under way at once, each on one thread, which is twice as fast on two processors, where a model that
parts its own work between them is not. A picture that was read before, to the pixel, is not read again: the lines that
a page's direction is tried on are read with all others later.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from warmwire.models.interface import Progress
from warmwire.models.pages.decode import WIDE, Decoder, LineReading
from warmwire.models.pages.parting import parted
from warmwire.models.pages.session import Floats, Session

Pixels = NDArray[np.uint8]

HEIGHT: Final = 48
"""Height of the picture of a line that the model takes, pixels."""
STEP: Final = 8
"""Pixels of a line's width that the model makes one step of."""
_VALUES: Final = np.linspace(-1, 1, 256, dtype=np.float32)
"""What the model takes for each of 256 brightnesses."""


class Recogniser:
    """Reads pictures of one line each with one model."""

    def __init__(
        self, model: Path, characters: Path, threads: ThreadPoolExecutor | None = None, **spaces: float
    ) -> None:
        known = ["", *characters.read_text("utf-8").split("\n")[:-1], " "]
        some = [i for i, char in enumerate(known) if not char or ord(char[0]) <= WIDE]
        with model.open("rb") as file:
            first, second = parted(memoryview(mmap(file.fileno(), 0, access=ACCESS_READ)), some)
        self._first, self._last_layer = Session(first, 1), Session(second, 1)
        self._decoder = Decoder(known, some, **spaces)
        self._threads = threads
        self._known: dict[tuple[tuple[int, ...], bytes], LineReading] = {}
        """Readings by the shapes and digests of their pictures."""

    def forget(self) -> None:
        """Remember no reading: for a new page, which may be somebody else's."""
        self._known.clear()

    def __call__(self, crops: Sequence[Pixels], progress: Progress | None = None) -> list[LineReading]:
        """What each picture reads, in their order; `progress` hears of each."""
        order = sorted(range(len(crops)), key=lambda i: -crops[i].shape[1])  # so that all threads end together
        each = map if self._threads is None or len(crops) < 2 else self._threads.map
        done: dict[int, LineReading] = {}
        for i, reading in zip(order, each(self._read, [crops[i] for i in order]), strict=True):
            done[i] = reading
            if progress is not None:
                progress(len(done), len(crops))
        return [done[i] for i in range(len(crops))]

    def _read(self, crop: Pixels) -> LineReading:
        key = crop.shape, sha256(np.ascontiguousarray(crop).data).digest()
        if (reading := self._known.get(key)) is None:
            batch, share = picture_of(crop)
            features, scores = self._first.run(batch)
            reading = self._decoder(scores[0], lambda steps: self._last_layer.run(features[:, steps])[0][0], share)
            self._known[key] = reading
        return reading


def picture_of(crop: Pixels) -> tuple[Floats, float]:
    """A line as the model takes it, values from -1 to 1, with 0 to its right up to a whole step; and the share of the
    picture that is the line."""
    import cv2

    height, width = crop.shape[:2]
    if height != HEIGHT:
        width = max(1, round(width * HEIGHT / height))
        crop = np.asarray(cv2.resize(crop, (width, HEIGHT)), np.uint8)
    wide = -(-width // STEP) * STEP
    batch = np.zeros((1, 3, HEIGHT, wide), np.float32)
    for plane, channel in zip(batch[0, :, :, :width], cv2.split(crop), strict=True):
        cv2.LUT(channel, _VALUES, plane)
    return batch, width / wide
