"""Standard output that may not be writable: a full disk, a quota, a reader that has left."""

from __future__ import annotations

import os
import sys
from io import BufferedWriter, FileIO, TextIOWrapper
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class Stdout(FileIO):
    """Standard output that remembers why it could not be written: an OSError alone does not say which file it means."""

    fault = ""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            self.fault = error.strerror or str(error)
            raise


def watch_stdout() -> Stdout | None:
    """Put a `Stdout` below `sys.stdout`, which buffers as before. None where it is closed or somebody else's."""
    text = sys.stdout
    if text is not sys.__stdout__ or not isinstance(text, TextIOWrapper):
        return None
    raw = Stdout(1, "w", closefd=False)
    sys.stdout = TextIOWrapper(
        cast(BufferedWriter, raw) if text.write_through else BufferedWriter(raw),
        encoding=text.encoding,
        errors=text.errors,
        line_buffering=text.line_buffering,
        write_through=text.write_through,
    )
    return raw


def give_stdout_up() -> None:
    """Point stdout elsewhere, or the interpreter complains at exit of what it could not write."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
