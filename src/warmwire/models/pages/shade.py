"""Lines in half shade: a photo's paper is not of one brightness, and a threshold would take its dark part for ink."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MIN_CHANGE = 1.25
"""Paper whose brightest part is less than that times as bright as its darkest is left as it is."""
MIN_PAPER = 40.0
"""What is darker all the way from top to bottom is no paper in shade but a dark ground."""

LIT = 0.85
"""Paper is as bright as that share of the pixels at most ..."""
EVERY = 2
"""... of which every so many are looked at, both ways."""


def evened(crop: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The picture of one line, shape (height, width, 3), with its paper as bright everywhere as where it is brightest.

    The same array where the paper is even already.
    """
    height, width = crop.shape[:2]
    if width < 2 * height:
        return crop
    half = max(1, height // 2)  # a stretch as long as the line is high has paper between and above its letters
    places = np.arange(half, width - half + 1, half)
    blue, green, red = np.moveaxis(crop[::EVERY, ::EVERY], 2, 0)
    light = np.maximum(np.maximum(blue, green), red)  # a maximum along the short axis takes ten times as long
    stretches = light[:, (places[:, None] + np.arange(-half, half, EVERY)) // EVERY]
    stretches = stretches.transpose(1, 0, 2).reshape(len(places), -1)
    lit = int(LIT * (stretches.shape[1] - 1))
    paper = np.partition(stretches, lit, axis=1)[:, lit].astype(np.float64)
    if paper.min() < MIN_PAPER or paper.max() < MIN_CHANGE * paper.min():
        return crop
    gain = paper.max() / np.interp(np.arange(width), places, paper)
    even: NDArray[np.uint8] = np.clip(crop * gain[None, :, None], 0, 255).astype(np.uint8)
    return even
