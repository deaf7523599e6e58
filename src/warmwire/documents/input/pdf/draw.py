"""Drawing a PDF page to pixels."""

from __future__ import annotations

from typing import Any

import numpy as np

from warmwire.media.images import Image


def draw(page: Any, scale: float) -> Image:
    """A pdfium page as RGB pixels, `scale` of them to a point. Hold the pdfium lock."""
    bitmap = page.render(scale=scale, rev_byteorder=True, prefer_bgrx=False)
    try:
        return np.array(bitmap.to_numpy()[:, :, :3], dtype=np.uint8, order="C")
    finally:
        bitmap.close()
