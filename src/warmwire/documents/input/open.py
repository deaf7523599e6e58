"""Opening a document. The kind is told from its bytes, never from its name."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import BinaryIO, Final

from warmwire.documents.input.images import ImageSource
from warmwire.documents.input.source import Source
from warmwire.documents.input.urls import data_of, file_path, refuse, scheme_of
from warmwire.errors import InputError

MAX_PIPED: Final = 1 << 30
"""Most bytes of a document taken from standard input or a pipe."""


def open_source(path: str, password: str = "") -> Source:
    """Open a document: a path, a `file:` or `data:` URL, or "-" for standard input. The kind is told from the bytes,
    never from the name.

    Raises:
        InputError: there is no such file, it is no document of a known kind, or the password is wrong.
    """
    if path == "-":
        data = _read_all(sys.stdin.buffer, "standard input")
        return open_bytes("stdin", data, password)
    match scheme_of(path):
        case "file":
            path = file_path(path)
        case "data":
            return open_bytes("data", data_of(path), password)
        case scheme if scheme:
            raise refuse(path)
    if not path:  # which would be the current directory
        raise InputError("a file name is empty; give a file")
    file = Path(path)
    try:
        if file.is_dir():
            raise InputError(f"{path} is a directory; give the files in it")
        if file.is_fifo():  # what a shell makes of <(command); it can be read once only
            data = _read_all(file.open("rb"), path)
            return open_bytes(path, data, password)
        if file.exists() and not file.is_file():
            raise InputError(f"{path} is not a file")
        with file.open("rb") as stream:
            head = stream.read(1024)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:  # ValueError: no path has a null in it
        raise InputError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from None
    return _open(path, file, head, password)


def open_bytes(name: str, data: bytes, password: str = "") -> Source:
    """Open a document that is in memory; `name` is what errors call it. Raises as `open_source`."""
    return _open(name, data, data[:1024], password)


def _read_all(stream: BinaryIO, name: str) -> bytes:
    with stream:
        data = stream.read(MAX_PIPED + 1)
    if len(data) > MAX_PIPED:
        raise InputError(f"{name} gives over {MAX_PIPED >> 30} GiB; give a file's path instead")
    return data


def _open(name: str, data: Path | bytes, head: bytes, password: str) -> Source:
    if not head:
        raise InputError(f"{name}: the file is empty (0 bytes)")
    if b"%PDF-" in head:
        from warmwire.documents.input.pdf.file import PdfSource

        return PdfSource(name, data, password)

    return ImageSource(name, data, head)
