"""Page selections as people write them: "1,4-9,20-"."""

from __future__ import annotations

import re
from typing import Final

from warmwire.errors import UsageError

_PART: Final = re.compile(r"\s*(\d{1,9})?\s*(-)?\s*(\d{1,9})?\s*", re.ASCII)


def select_pages(spec: str, count: int) -> list[int]:
    """The page numbers of a selection, from 1, in order and once each; "" is every page.

    "20-" runs to the last page and "-3" from the first. Parts past the end of a file select nothing, since one
    selection may serve files of many lengths.

    Raises:
        UsageError: the selection is malformed, or starts at page 0 or below, or runs backwards.
    """
    if not spec.strip():
        return list(range(1, count + 1))
    chosen: set[int] = set()
    for part in spec.split(","):
        match = _PART.fullmatch(part)
        if match is None or not (match[1] or match[3]) or (match[3] and not match[2]):
            raise UsageError(f"--pages {spec}: {part.strip() or 'an empty part'!r} is not like 3, 4-9 or 20-")
        first = int(match[1]) if match[1] else 1
        last = (int(match[3]) if match[3] else count) if match[2] else first
        if first < 1 or (match[3] and last < first):
            raise UsageError(f"--pages {spec}: {part.strip()} runs backwards or starts before page 1")
        chosen.update(range(first, min(last, count) + 1))
    return sorted(chosen)
