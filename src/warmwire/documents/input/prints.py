"""Whether a picture shows print on paper, or is a photo, a logo, a texture.

Print is dark on light with little in between, wherever one looks: most of a small patch is paper, and what is not is
clearly darker. A photo has all shades side by side.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from warmwire.media.images import Image

_PATCH: Final = 12
"""Side of a patch in pixels at 72 dots per inch, about a line of print."""

_CONTRAST: Final = 60
"""Shades between the lightest and the darkest tenth of a patch with ink on it."""

_PAPER: Final = 0.45
"""Share of an inked patch that is paper: between what a page of print has and what a photo has, set by judgement."""

_INKED: Final = 0.04
"""Share of the patches that has ink in a picture of print; a photo of sky and water has fewer."""

_LIGHT: Final = 120
"""The shade of paper, at least."""


def is_print(picture: Image) -> bool:
    """Whether a picture of about 72 dots per inch shows print."""
    patches = _patches(picture.mean(axis=2, dtype=np.float32))
    if not len(patches):
        return False
    dark, light = np.percentile(patches, (5, 90), axis=1)
    inked = light - dark > _CONTRAST
    if inked.mean() < _INKED or float(np.median(light)) < _LIGHT:
        return False
    near = patches[inked] > (light - 0.25 * (light - dark))[inked, np.newaxis]
    return float(np.median(near.mean(axis=1))) > _PAPER


def _patches(grey: NDArray[np.float32]) -> NDArray[np.float32]:
    """The whole patches of a picture, one a row."""
    rows, columns = grey.shape[0] // _PATCH, grey.shape[1] // _PATCH
    cut = grey[: rows * _PATCH, : columns * _PATCH].reshape(rows, _PATCH, columns, _PATCH)
    return cut.transpose(0, 2, 1, 3).reshape(rows * columns, _PATCH * _PATCH)
