"""What the models saw of pages, kept on disk, so that what comes after them can be judged in seconds.

Recognition is nine tenths of a page's time and does not depend on the layout. `SightReader` is the page reader with a
memory: a picture it has seen before is not looked at again. One file a picture, named by the hash of its pixels.
"""

from __future__ import annotations

import hashlib
import threading
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec

from warmwire.layout.page import Box, Line
from warmwire.layout.runs import Run
from warmwire.media.images import Image
from warmwire.models.interface import Progress
from warmwire.models.pages.geometry import Frame
from warmwire.models.pages.reader import PageReader, Sight


class SightReader(PageReader):
    """A page reader that remembers in `folder` what it saw; the models are loaded at the first new picture."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._loaded = False
        self._lock = threading.Lock()
        folder.mkdir(parents=True, exist_ok=True)

    def path_of(self, image: Image) -> Path:
        """Where the sight of a picture is kept."""
        height, width = image.shape[:2]
        return self._folder / f"{width}x{height}-{hashlib.sha256(image.tobytes()).hexdigest()[:24]}.json"

    def look(self, image: Image, cancelled: threading.Event, progress: Progress | None = None) -> Sight | None:
        """What the models see on a page, from memory where it was seen before."""
        path = self.path_of(image)
        if path.exists():
            return load_sight(path)
        with self._lock:
            if not self._loaded:
                super().__init__()
                self._loaded = True
            sight = super().look(image, cancelled, progress)
        if sight is not None:
            save_sight(sight, path)
        return sight


def save_sight(sight: Sight, path: Path) -> None:
    """Write a sight as JSON."""
    value = {
        "frame": asdict(sight.frame),
        "lines": [asdict(line) for line in sight.lines],
        "figures": [asdict(figure) for figure in sight.figures],
        "rules": [asdict(rule) for rule in sight.rules],
        "unread": sight.unread,
    }
    part = path.with_suffix(".part")
    part.write_bytes(msgspec.json.encode(value))
    part.rename(path)


def load_sight(path: Path) -> Sight:
    """Read what `save_sight` wrote; what it did not know of yet has its default."""
    value = msgspec.json.decode(path.read_bytes())
    return Sight(
        Frame(**value["frame"]),
        [_line(line) for line in value["lines"]],
        [Box(**figure) for figure in value["figures"]],
        [Box(**rule) for rule in value["rules"]],
        value["unread"],
    )


def _line(value: dict[str, Any]) -> Line:
    run = value.get("run")
    if run is not None:
        places = {key: tuple(run[key]) for key in ("corner", "along", "across")}
        run = Run(**{**run, **places, "spans": tuple(tuple(span) for span in run["spans"])})
    return Line(**{**value, "box": Box(**value["box"]), "run": run})
