"""What a model is trained on: files, standard input, directories and gzip files, as one stream of bytes."""

from __future__ import annotations

import gzip
import os
import sys
import zlib
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Final, Protocol, cast

from warmwire.errors import InputError, UsageError

STDIN: Final = "-"


class ByteReader(Protocol):
    """The part of a binary file that is needed."""

    def readinto(self, buffer: memoryview, /) -> int | None: ...


def expand(paths: Sequence[str | os.PathLike[str]], output: str | os.PathLike[str] | None = None) -> list[Path]:
    """The files to read, in order; a directory stands for all files below it, sorted, less `output` itself.

    Raises InputError for what cannot be read and for a directory without files, UsageError for no paths at all and
    for reading the file that is to be written.
    """
    if not paths:
        raise UsageError("nothing to train on: give files, directories, or - for standard input")
    files: list[Path] = []
    for path in map(Path, paths):
        if str(path) == STDIN:
            files.append(path)
            continue
        try:
            below = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
            below = [p for p in below if not (path.is_dir() and _same(p, output))]
            for file in below:
                os.stat(file)
        except OSError as error:
            raise InputError(f"cannot read {path}: {error.strerror or error}") from error
        if not below:
            raise InputError(f"{path}: the directory holds no files")
        files += below
    for file in files:
        if not os.access(file, os.R_OK) and str(file) != STDIN:
            raise InputError(f"cannot read {file}: permission denied")
        if _same(file, output):
            raise UsageError(f"{file} is both training text and the model to write")
    return files


def total_size(files: Sequence[Path]) -> int | None:
    """Bytes in all, or None where a pipe or a compressed file leaves that open."""
    if any(str(file) == STDIN or file.suffix == ".gz" or not file.is_file() for file in files):
        return None
    return sum(file.stat().st_size for file in files)


def open_text(file: Path) -> AbstractContextManager[ByteReader]:
    """The bytes of one file, unpacked where its name ends in .gz."""
    if str(file) == STDIN:
        return nullcontext(cast(ByteReader, sys.stdin.buffer))
    if file.suffix == ".gz":
        return gzip.open(file, "rb")
    return open(file, "rb", buffering=0)


def read_some(reader: ByteReader, part: memoryview, file: Path) -> int:
    """Bytes read into `part`; 0 at the end. Raises InputError."""
    try:
        return reader.readinto(part) or 0
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"cannot read {file}: {getattr(error, 'strerror', None) or error}") from error


def _same(file: Path, output: str | os.PathLike[str] | None) -> bool:
    try:
        return output is not None and os.path.samefile(file, output)
    except OSError:
        return False
