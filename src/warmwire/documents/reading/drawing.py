"""The picture of a page that a model is shown: how fine it is drawn, and whether anything is on it."""

from __future__ import annotations

from typing import Final

import numpy as np

from warmwire.media.images import Image

_USUAL_DPI: Final = 200.0
_COARSEST_DPI, _LEAST_DPI, _FINEST_DPI = 100.0, 200.0, 300.0
_MOST_ENLARGED: Final = 2.0


def drawing_dpi(resolution: float) -> float:
    """At how many dots per inch a page is drawn for a model, when its scan has `resolution`, 0 for no scan.

    Its own pixels are best. Coarse ones gain from being enlarged somewhat, fine ones nothing over what print needs.
    """
    if not resolution:
        return _USUAL_DPI
    coarse = min(_MOST_ENLARGED * resolution, _LEAST_DPI)
    return float(round(min(max(resolution, coarse, _COARSEST_DPI), _FINEST_DPI)))


def drawn_smaller(image: Image, size: tuple[float, float], wanted: float) -> str:
    """What to add to the reason of a page of `size` points that was drawn less finely than `wanted`, "" for others.

    A picture file has its own pixels, as many as its size says.
    """
    width, height = size
    drawn = 72.0 * image.shape[1] / width
    if drawn > 0.99 * wanted or image.shape[1] == round(width):
        return ""
    return f"; drawn at {drawn:.0f} dots per inch: {width / 72:.0f} by {height / 72:.0f} inches are too large for more"


def is_even(image: Image) -> bool:
    """Whether a picture is empty paper: nearly no place of it differs from the rest, specks and edges aside."""
    height, width = image.shape[:2]
    inner = image[height // 25 : height - height // 25, width // 25 : width - width // 25]
    height, width = (side - side % 4 for side in inner.shape[:2])
    if not height or not width:
        return True
    grey = inner[:height, :width].mean(axis=2, dtype=np.float32)
    places = grey.reshape(height // 4, 4, width // 4, 4).mean(axis=(1, 3))
    return float((abs(places - np.median(places)) > 32).mean()) < 2e-4
