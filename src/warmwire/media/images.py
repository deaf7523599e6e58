"""Images as attachments: interleaved RGB rows without padding, and arrays over the very same bytes.

Every host, worker and client knows of images, and few are ever shown one: numpy, which takes as long to load as all the
rest of a host, is loaded with the first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from warmwire.errors import InvalidRequestError
from warmwire.wire.generation.messages import MAX_FRAME, MAX_IMAGE_AXIS, Attachment

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Image: TypeAlias = "NDArray[np.uint8]"
"""Pixels: shape (height, width, 3), uint8, RGB."""

MAX_PIXELS: Final = MAX_FRAME // 3
"""Most pixels of a picture: three bytes each, they have to fit one frame of the wire. Larger pages are read smaller."""


def image_attachment(id: str, image: Any) -> Attachment:
    """An attachment of an image: an array (height, width[, 1, 3 or 4]) of uint8 with any strides, or a PIL image.

    Alpha is dropped and grey is repeated. The bytes are the array's own where it is contiguous RGB, else one copy.
    Raises InvalidRequestError for what `decode_image` would refuse.
    """
    import numpy as np

    if hasattr(image, "convert"):
        image = image.convert("RGB")
    pixels = np.asarray(image)
    if pixels.dtype != np.uint8:
        raise InvalidRequestError(f"image {id!r}: pixels must be uint8, not {pixels.dtype}")
    if pixels.ndim == 3 and pixels.shape[2] == 1:
        pixels = pixels[:, :, 0]
    if pixels.ndim == 2:
        pixels = np.repeat(pixels[:, :, None], 3, axis=2)
    if pixels.ndim != 3 or pixels.shape[2] not in (3, 4):
        raise InvalidRequestError(f"image {id!r}: shape {pixels.shape} is not (height, width, 3)")
    height, width = pixels.shape[:2]
    _check_axes(id, width, height)
    rgb = np.ascontiguousarray(pixels[:, :, :3])
    return Attachment("image", id, width=width, height=height, data=rgb.data.cast("B"))


def decode_image(attachment: Attachment) -> Image:
    """The pixels of an image attachment: an array over its own bytes, no copy.

    Raises InvalidRequestError where the bytes are not exactly width x height x 3: read on, they would be a skewed page.
    """
    import numpy as np

    if attachment.kind != "image":
        raise InvalidRequestError(f"attachment {attachment.id!r} is {attachment.kind}, not an image")
    width, height = attachment.width or 0, attachment.height or 0
    _check_axes(attachment.id, width, height)
    size = memoryview(attachment.data).nbytes
    if size != width * height * 3:
        raise InvalidRequestError(
            f"attachment {attachment.id!r}: {width}x{height} RGB needs {width * height * 3} bytes, got {size}"
        )
    return np.frombuffer(attachment.data, np.uint8).reshape(height, width, 3)


def _check_axes(id: str, width: int, height: int) -> None:
    if not (0 < width <= MAX_IMAGE_AXIS and 0 < height <= MAX_IMAGE_AXIS):
        raise InvalidRequestError(f"image {id!r}: {width}x{height} is not 1 to {MAX_IMAGE_AXIS} pixels an axis")


def fit_scale(width: float, height: float, scale: float) -> float:
    """`scale`, or less where `width` by `height` times it would be over a cap of the wire."""
    room = 0.998 * MAX_PIXELS  # each axis is rounded up to whole pixels afterwards
    largest = min((room / (width * height)) ** 0.5, (MAX_IMAGE_AXIS - 1) / max(width, height))
    return float(min(scale, largest))
