"""Files that take their name when they are whole."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path

from warmwire.errors import InputError


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[FileIO]:
    """A new file to write, unbuffered, in the directory of `path`; links are followed.

    It takes the place of `path` when the block ends well and is on the disk, else it never was. Several writers of
    one path do not meet: the last that ends stays. The file gets the rights that any new file gets. Raises OSError.
    """
    target = Path(os.path.realpath(path))
    with suppress(FileNotFoundError):
        target.stat()  # a name that no file can have is found before the work, not after it
    temporary = target.with_name(f".{secrets.token_hex(8)}.tmp")
    with open(temporary, "xb", buffering=0) as file:
        try:
            yield file
            os.fsync(file.fileno())
            os.replace(temporary, target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def write_all(file: FileIO, data: bytes | memoryview) -> None:
    """Write every byte; an unbuffered file may take less at once."""
    view = memoryview(data).cast("B")
    while view.nbytes:
        view = view[file.write(view) :]


def write_file(path: Path, data: bytes) -> None:
    """Write a file so that nobody ever sees half of it; what is no ordinary file (a device, a pipe) is written to.

    Raises InputError where it cannot be written.
    """
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            write_all(file, data)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror or error})") from None
