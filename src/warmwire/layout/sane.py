"""What comes in from files and models, made fit to reason about.

A file may say anything of where its text stands: boxes upside down, without extent, at infinity. Boxes are put
right; a line that has no place at all is kept aside, so that its words are not lost.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from warmwire.layout.page import Box, Line

MAX_PLACE = 1e6
"""Nothing stands further out than that: no unit in use has pages so large, and products of such lengths stay finite."""


def sane_box(box: Box) -> Box | None:
    """`box` with its sides in order; None where it is nowhere."""
    sides = (box.left, box.top, box.right, box.bottom)
    if not all(math.isfinite(side) and abs(side) <= MAX_PLACE for side in sides):
        return None
    if box.left <= box.right and box.top <= box.bottom:
        return box
    left, right = sorted((box.left, box.right))
    top, bottom = sorted((box.top, box.bottom))
    return Box(left, top, right, bottom)


def sane_boxes(boxes: Sequence[Box]) -> list[Box]:
    return [box for box in map(sane_box, boxes) if box is not None]


def sane_lines(lines: Sequence[Line]) -> tuple[list[Line], list[Line]]:
    """Lines with text: those that have a place, and those that have none. Sound lines stay the same objects."""
    placed, stray = [], []
    for line in lines:
        if not line.text.strip():
            continue
        box = sane_box(line.box)
        size = line.size if 0 <= line.size <= MAX_PLACE else 0.0
        if box is None:
            stray.append(line)
        elif box is line.box and size == line.size and math.isfinite(line.angle):
            placed.append(line)
        else:
            angle = line.angle if math.isfinite(line.angle) else 0.0
            placed.append(replace(line, box=box, size=size, angle=angle))
    return placed, stray
