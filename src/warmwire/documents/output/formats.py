"""The output formats and their file suffixes. Imports nothing, so that a command line can name them at once."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import PurePath
from typing import Final


class Format(StrEnum):
    """What a reading can be written as."""

    MD = "md"
    HTML = "html"
    JSON = "json"
    DOCTAGS = "doctags"
    TEXT = "text"
    PDF = "pdf"
    CSV = "csv"
    XLSX = "xlsx"
    CHUNKS = "chunks"
    HOCR = "hocr"
    ALTO = "alto"
    VIEWER = "viewer"


SUFFIX: Final = {
    Format.MD: ".md",
    Format.HTML: ".html",
    Format.JSON: ".json",
    Format.DOCTAGS: ".dt",
    Format.TEXT: ".txt",
    Format.PDF: ".pdf",
    Format.CSV: ".csv",
    Format.XLSX: ".xlsx",
    Format.CHUNKS: ".jsonl",
    Format.HOCR: ".hocr",
    Format.ALTO: ".alto.xml",
    Format.VIEWER: ".viewer.html",
}

JOINED: Final = (Format.MD, Format.TEXT)
"""What can follow each other in one stream."""

BINARY: Final = (Format.PDF, Format.XLSX)

_SUFFIXES: Final = {suffix: form for form, suffix in SUFFIX.items()} | {
    ".markdown": Format.MD,
    ".htm": Format.HTML,
    ".doctags": Format.DOCTAGS,
    ".text": Format.TEXT,
    ".xml": Format.ALTO,
}


def without_suffix(name: str) -> str:
    """A file's name without the suffix of a format; any other end is part of the name."""
    return name[: len(name) - len(_suffix_of(name))]


def format_of(path: str | os.PathLike[str]) -> Format:
    """The format that a file's suffix asks for. Raises UsageError for one that none has."""
    from warmwire.errors import UsageError

    name = PurePath(path).name
    if suffix := _suffix_of(name):
        return _SUFFIXES[suffix]
    last = PurePath(path).suffix
    said = f"there is no format with the suffix {last}" if last else "it has no suffix to say the format"
    raise UsageError(f"{os.fspath(path)}: {said}; there are {', '.join(SUFFIX.values())}")


def _suffix_of(name: str) -> str:
    """The longest end of a name that is a format's suffix, "" for none: x.viewer.html is no plain HTML."""
    ends = (suffix for suffix in _SUFFIXES if name.lower().endswith(suffix) and len(name) > len(suffix))
    return max(ends, key=len, default="")
