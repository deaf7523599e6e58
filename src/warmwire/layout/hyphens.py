"""Lines of a paragraph to one text: hyphens at line ends go, unless the word is written with one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from warmwire.layout.rows import join_words

_BROKEN = re.compile(r"(\w*[^\W\d_]{2,})[-‐\u00ad]$")  # the part of a word before the hyphen that ends a line
_REST = re.compile(r"[^\W\d_]+")
_SUSPENDED = frozenset(
    ("und", "oder", "bzw", "and", "or", "nor", "to", "et", "ou", "y", "o", "e", "ed", "of", "en", "och")
)
"""Words that follow a hyphen which stands for a part left out ("Haupt- und Nebensatz")."""


def join_lines(texts: Iterable[str], compounds: frozenset[str] = frozenset()) -> str:
    """One text of the lines of a paragraph; `compounds` are the hyphenated words known from elsewhere on the page."""
    joined = ""
    for text in texts:
        text = text.strip()
        broken, rest = _BROKEN.search(joined), _REST.match(text)
        if broken is None or rest is None or not text[0].islower() or rest[0] in _SUSPENDED:
            joined = join_words(part for part in (joined, text) if part)
        elif f"{broken[1]}-{rest[0]}".lower() in compounds:
            joined += text
        else:
            joined = joined[:-1] + text
    return joined


def compounds_of(texts: Sequence[str]) -> frozenset[str]:
    """The words written with a hyphen inside a line."""
    return frozenset(word.lower() for text in texts for word in re.findall(r"[^\W\d_]+-[^\W\d_]+", text))
