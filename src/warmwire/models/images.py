"""Images as attachments: interleaved RGB rows without padding, and arrays over the very same bytes.

And the one way from a picture file to such an array, so that the same file is the same page whoever sends it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from warmwire.wire.errors import InputError, InvalidRequestError
from warmwire.wire.messages import MAX_FRAME, MAX_IMAGE_AXIS, Attachment

if TYPE_CHECKING:
    from PIL.Image import Image as PilImage

Image = NDArray[np.uint8]
"""Pixels: shape (height, width, 3), uint8, RGB."""


MAX_PIXELS: Final = MAX_FRAME // 3
"""Most pixels of a picture: three bytes each, they have to fit one frame of the wire. Larger pages are read smaller."""


def image_attachment(id: str, image: Any) -> Attachment:
    """An attachment of an image: an array (height, width[, 1, 3 or 4]) of uint8 with any strides, or a PIL image.

    Alpha is dropped and grey is repeated. The bytes are the array's own where it is contiguous RGB, else one copy.
    Raises InvalidRequestError for what `decode_image` would refuse.
    """
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


def load_picture(path: str | os.PathLike[str]) -> Image:
    """The first picture in a file, as `decode_picture` gives it. Raises InputError."""
    try:
        from PIL import Image as Pil
    except ImportError:
        raise InputError(f"{path}: pictures are opened by Pillow; run: pip install pillow") from None
    try:
        with Pil.open(path) as picture:
            return decode_picture(picture)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or 'not a picture that can be read'}") from error
    except Exception as error:  # a hostile file makes Pillow raise anything
        raise InputError(f"{path}: not a picture that can be read ({type(error).__name__})") from error


def decode_picture(picture: PilImage) -> Image:
    """A picture that Pillow has opened as an upright RGB array (height, width, 3), uint8, at most `MAX_PIXELS`.

    Recognisers go wrong in silence on anything else: palettes and CMYK give no lines, 16-bit grey gives invented words.
    EXIF turns are applied, transparency is laid on white, oblong pixels (a fax at 204 by 98 dpi) are made square,
    and depths over 8 bits are scaled by the range that is used. Raises what Pillow raises: whatever the bytes make its
    parsing meet.
    """
    from PIL import Image as Pil
    from PIL import ImageOps

    picture.load()
    upright = ImageOps.exif_transpose(picture)
    if upright.mode in ("I", "F") or upright.mode.startswith("I;16"):
        upright = Pil.fromarray(_to_eight_bits(np.asarray(upright)))
    if upright.has_transparency_data:
        layer = upright.convert("RGBA")
        upright = Pil.new("RGB", layer.size, "white")
        upright.paste(layer, mask=layer.getchannel("A"))
    if upright.mode == "1":
        upright = upright.convert("L")
    size = _square_size(upright, picture.info.get("dpi"))
    if size != upright.size:
        upright = upright.resize(size, Pil.Resampling.BICUBIC)
    return np.array(upright.convert("RGB"), dtype=np.uint8)


def _to_eight_bits(values: np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Grey of any depth to 8 bits. A nearly even page keeps its depth's own scale, so that noise is not made ink."""
    values = np.nan_to_num(values.astype(np.float32), posinf=0.0, neginf=0.0)
    low, high = float(values.min()), float(values.max())
    full = next((top for top in (1.0, 255.0, 4095.0, 65535.0) if high <= top), high)
    if high - low < full / 8:
        low, high = min(low, 0.0), full
    return ((values - low) * (255.0 / (high - low))).round().astype(np.uint8)


def _square_size(picture: PilImage, dpi: Any) -> tuple[int, int]:
    """The size with square pixels and within the caps of the wire."""
    width, height = float(picture.width), float(picture.height)
    try:
        ratio = float(dpi[0]) / float(dpi[1])
    except (TypeError, ValueError, IndexError, ZeroDivisionError):
        ratio = 1.0
    if 1.2 < ratio < 4.5:
        height *= ratio
    elif 1.2 * ratio < 1.0 < 4.5 * ratio:
        width /= ratio
    scale = fit_scale(width, height, 1.0)
    return max(1, round(width * scale)), max(1, round(height * scale))
