"""Images as attachments and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support import random_image
from warmwire import MAX_IMAGE_AXIS, Attachment, Request, decode_image, image_attachment
from warmwire.errors import InvalidRequestError

RGB = random_image(4, 5)


def there_and_back(image: Any) -> np.ndarray:
    attachment = image_attachment("a", image)
    assert (attachment.kind, attachment.id) == ("image", "a")
    assert memoryview(attachment.data).nbytes == attachment.width * attachment.height * 3
    return decode_image(attachment)


def test_contiguous_rgb_is_not_copied_on_either_side() -> None:
    attachment = image_attachment("a", RGB)
    assert (attachment.width, attachment.height) == (5, 4)
    decoded = decode_image(attachment)
    assert np.array_equal(decoded, RGB)
    assert np.shares_memory(decoded, RGB)


@pytest.mark.parametrize("data", [bytes(60), bytearray(60), memoryview(bytes(60)), np.zeros(60, np.uint8)])
def test_decode_looks_at_the_bytes_themselves(data: Any) -> None:
    decoded = decode_image(Attachment("image", "a", width=5, height=4, data=data))
    assert decoded.shape == (4, 5, 3)
    assert np.shares_memory(decoded, np.frombuffer(data, np.uint8))


def test_an_attachment_shows_its_size_and_not_its_bytes() -> None:
    shown = repr(Request(attachments=[image_attachment("a", RGB)]))
    assert "Attachment(kind='image', id='a', width=5, height=4, sample_rate=None, data=<60 bytes>)" in shown


def test_alpha_is_dropped() -> None:
    alpha = np.dstack([RGB, np.full((4, 5), 9, np.uint8)])
    assert np.array_equal(there_and_back(alpha), RGB)


@pytest.mark.parametrize("shape", [(4, 5), (4, 5, 1)])
def test_grey_is_repeated(shape: tuple[int, ...]) -> None:
    grey = RGB[:, :, 0].copy().reshape(shape)
    assert np.array_equal(there_and_back(grey), np.dstack([RGB[:, :, 0]] * 3))


@pytest.mark.parametrize(
    "image",
    [RGB[::-1], RGB[:, ::-1], RGB[:, :, ::-1], RGB[::2, 1:4], np.asfortranarray(RGB), RGB.transpose(1, 0, 2)],
    ids=["upside down", "mirrored", "bgr", "a part", "column order", "turned"],
)
def test_any_strides(image: np.ndarray) -> None:
    assert np.array_equal(there_and_back(image), image)


def test_read_only_pixels() -> None:
    image = RGB.copy()
    image.flags.writeable = False
    assert np.array_equal(there_and_back(image), RGB)


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L", "1", "P", "CMYK", "LA"])
def test_pil_images_of_any_mode(mode: str) -> None:
    from PIL import Image

    image = Image.fromarray(RGB).convert(mode)
    assert np.array_equal(there_and_back(image), np.asarray(image.convert("RGB")))


@pytest.mark.parametrize(
    ("image", "why"),
    [
        (np.zeros((2, 2, 3)), "must be uint8, not float64"),
        (np.zeros((2, 2, 3), np.uint16), "must be uint8, not uint16"),
        (np.zeros((2, 2, 2), np.uint8), r"shape \(2, 2, 2\)"),
        (np.zeros((2, 2, 5), np.uint8), r"shape \(2, 2, 5\)"),
        (np.zeros(12, np.uint8), r"shape \(12,\)"),
        (np.zeros((1, 2, 2, 3), np.uint8), r"shape \(1, 2, 2, 3\)"),
        (np.zeros((0, 2, 3), np.uint8), "2x0"),
        (np.zeros((2, 0), np.uint8), "0x2"),
        (np.zeros((1, MAX_IMAGE_AXIS + 1, 3), np.uint8), f"{MAX_IMAGE_AXIS + 1}x1"),
    ],
)
def test_what_is_no_image_is_refused(image: np.ndarray, why: str) -> None:
    with pytest.raises(InvalidRequestError, match=f"image 'a': .*{why}"):
        image_attachment("a", image)


def test_the_longest_axis_is_accepted() -> None:
    assert there_and_back(np.zeros((1, MAX_IMAGE_AXIS, 3), np.uint8)).shape == (1, MAX_IMAGE_AXIS, 3)


@pytest.mark.parametrize(
    "attachment",
    [
        Attachment("audio", "a", sample_rate=8000),
        Attachment("image", "a", width=5, height=4, data=bytes(59)),
        Attachment("image", "a", width=5, height=4, data=bytes(61)),
        Attachment("image", "a", width=5, data=bytes(60)),
        Attachment("image", "a", width=1 << 31, height=1 << 31),
    ],
)
def test_decode_refuses_a_skewed_page(attachment: Attachment) -> None:
    with pytest.raises(InvalidRequestError, match="'a'"):
        decode_image(attachment)
