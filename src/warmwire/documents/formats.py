"""The output formats and their file suffixes. Imports nothing, so that a command line can name them at once."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Format(StrEnum):
    """What a reading can be written as."""

    MD = "md"
    HTML = "html"
    JSON = "json"
    DOCTAGS = "doctags"
    TEXT = "text"


SUFFIX: Final = {
    Format.MD: ".md",
    Format.HTML: ".html",
    Format.JSON: ".json",
    Format.DOCTAGS: ".dt",
    Format.TEXT: ".txt",
}
