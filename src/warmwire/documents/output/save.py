"""A result to a file."""

from __future__ import annotations

from pathlib import Path

from warmwire.client import InputError, replacing, write_all
from warmwire.documents.export import export
from warmwire.documents.formats import Format
from warmwire.documents.record import Reading


def save(reading: Reading, path: Path, form: Format) -> None:
    """Write a reading to `path`, whole or not at all. Raises InputError where it cannot be written."""
    write_file(path, export(reading, form).encode(errors="replace"))  # a file's name may hold what no text can


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
