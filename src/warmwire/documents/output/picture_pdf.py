"""A picture as a page of a new PDF: JPEG data as it is, anything else packed without loss."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from warmwire.documents.input.images import ImageSource, Jpeg
from warmwire.documents.input.source import Source
from warmwire.documents.reading.record import ReadPage
from warmwire.layout.runs import Point
from warmwire.media.images import Image

if TYPE_CHECKING:
    from PIL.Image import Image as PilImage

_LONG_SIDE: Final = 842.0
"""Points along the longer side of a page whose picture does not say how large it is: A4."""

_DPI: Final = (100.0, 2400.0)
"""What a scanner writes; the 72 and 96 of other programs mean nothing."""

_PALETTE: Final = 256
_PHOTOMETRIC, _STRIP_OFFSETS, _ROWS_PER_STRIP, _STRIP_SIZES = 262, 273, 278, 279  # tags of TIFF

_TURNS: Final = {
    1: (1, 0, 0, 1, 0, 0),
    2: (-1, 0, 0, 1, 1, 0),
    3: (-1, 0, 0, -1, 1, 1),
    4: (1, 0, 0, -1, 0, 1),
    5: (0, -1, -1, 0, 1, 1),
    6: (0, -1, 1, 0, 0, 1),
    7: (0, 1, 1, 0, 0, 0),
    8: (0, 1, -1, 0, 1, 0),
}
"""For each EXIF orientation, the matrix of the stored picture on an upright page of one by one."""


def picture_page(pdf: Any, source: Source, read: ReadPage) -> Callable[[float, float], Point]:
    """Add a page with the picture that was read; returns what takes its pixels to the page's user space."""
    from pikepdf import Array, Dictionary, Name, Page

    jpeg = source.jpeg(read.record.page - 1) if isinstance(source, ImageSource) else None
    dpi = jpeg.dpi if jpeg is not None else 0.0
    scale = 72.0 / dpi if _DPI[0] <= dpi <= _DPI[1] else _LONG_SIDE / max(read.width, read.height)
    width, height = read.width * scale, read.height * scale
    if jpeg is not None:
        image, turn = _jpeg_stream(pdf, jpeg), jpeg.orientation
    else:
        image, turn = _packed_stream(pdf, _pixels(source, read)), 1
    a, b, c, d, e, f = _TURNS[turn]
    # the first of each pair is along the page's width, the second along its height
    matrix = " ".join(f"{v:.4f}" for v in (a * width, b * height, c * width, d * height, e * width, f * height))
    content = pdf.make_stream(f"q {matrix} cm /Im Do Q\n".encode())
    resources = Dictionary(XObject=Dictionary(Im=image))
    page = Dictionary(Type=Name.Page, MediaBox=Array([0, 0, width, height]), Resources=resources, Contents=content)
    pdf.pages.append(Page(pdf.make_indirect(page)))
    return lambda x, y: (x * scale, height - y * scale)


def _pixels(source: Source, read: ReadPage) -> Image:
    page = source.page(read.record.page - 1)
    try:
        return page.render(0)
    finally:
        page.close()


def _jpeg_stream(pdf: Any, jpeg: Jpeg) -> Any:
    from pikepdf import Name

    return pdf.make_stream(
        jpeg.data,
        Type=Name.XObject, Subtype=Name.Image, Width=jpeg.width, Height=jpeg.height, BitsPerComponent=8,
        ColorSpace=Name.DeviceGray if jpeg.grey else Name.DeviceRGB, Filter=Name.DCTDecode,
    )  # fmt: skip


def _packed_stream(pdf: Any, pixels: Image) -> Any:
    """A picture packed without loss: black and white as a fax packs it, all else as PNG does, few colours as a palette.
    A PDF takes the compressed data of both as they are."""
    from pikepdf import Array, Dictionary, Name, String
    from PIL import Image as Pil

    space: Any = Name.DeviceGray
    if (pixels == pixels[:, :, :1]).all():
        picture = Pil.fromarray(pixels[:, :, 0])
        if np.isin(pixels[:, :, 0], (0, 255)).all():
            return _fax_stream(pdf, picture.convert("1"))
    elif Pil.fromarray(pixels).getcolors(_PALETTE) is not None:
        flat = pixels.reshape(-1, 3).astype(np.uint32)
        colours, places = np.unique(flat @ np.array([1 << 16, 1 << 8, 1], np.uint32), return_inverse=True)
        picture = Pil.fromarray(places.reshape(pixels.shape[:2]).astype(np.uint8))
        table = b"".join(int(colour).to_bytes(3, "big") for colour in colours)
        space = Array([Name.Indexed, Name.DeviceRGB, len(colours) - 1, String(table)])
    else:
        picture, space = Pil.fromarray(pixels), Name.DeviceRGB
    file = io.BytesIO()
    picture.save(file, "PNG")
    colours_each = len(picture.getbands())
    parameters = Dictionary(Predictor=15, Colors=colours_each, BitsPerComponent=8, Columns=picture.width)
    return pdf.make_stream(
        _png_data(file.getvalue()),
        Type=Name.XObject, Subtype=Name.Image, Width=picture.width, Height=picture.height, BitsPerComponent=8,
        ColorSpace=space, Filter=Name.FlateDecode, DecodeParms=parameters,
    )  # fmt: skip


def _fax_stream(pdf: Any, picture: PilImage) -> Any:
    """A black-and-white picture by CCITT's group 4, in the one strip of a TIFF file."""
    from pikepdf import Dictionary, Name
    from PIL import Image as Pil

    file = io.BytesIO()
    picture.save(file, "TIFF", compression="group4", tiffinfo={_ROWS_PER_STRIP: picture.height})
    tiff: Any = Pil.open(file)
    (start,), (size,) = tiff.tag_v2[_STRIP_OFFSETS], tiff.tag_v2[_STRIP_SIZES]
    black_is_zero = tiff.tag_v2[_PHOTOMETRIC] == 1
    parameters = Dictionary(K=-1, Columns=picture.width, Rows=picture.height, BlackIs1=black_is_zero)
    return pdf.make_stream(
        file.getvalue()[start : start + size],
        Type=Name.XObject, Subtype=Name.Image, Width=picture.width, Height=picture.height, BitsPerComponent=1,
        ColorSpace=Name.DeviceGray, Filter=Name.CCITTFaxDecode, DecodeParms=parameters,
    )  # fmt: skip


def _png_data(png: bytes) -> bytes:
    """What is in a PNG's IDAT chunks, one after another."""
    data, at = [], 8
    while at + 8 <= len(png):
        size, kind = struct.unpack_from(">I4s", png, at)
        if kind == b"IDAT":
            data.append(png[at + 8 : at + 8 + size])
        at += 12 + size
    return b"".join(data)
