"""The grammar of models' names: `NAME`, or `NAME?key=value&key=value`."""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import parse_qsl

from warmwire.errors import UsageError


def split_name(name: str, known: Collection[str], *, suffix: str = "") -> tuple[str, dict[str, str]]:
    """A name without its options, and these as text; `known` are the keys that there may be.

    The name of a file may hold question marks of its own: only one behind `suffix` opens options.
    Raises UsageError for other options, and for a question mark with nothing behind it.
    """
    if f"{suffix}?" not in name.lower():
        return name, {}
    base, _, query = name.rpartition("?") if suffix else name.partition("?")
    given = dict(parse_qsl(query, keep_blank_values=True))
    if not given:
        raise UsageError(f"{name!r}: nothing follows the question mark")
    for key, value in given.items():
        if key not in known:
            what = f"the options are {', '.join(known)}" if known else "it takes none"
            raise UsageError(f"{name!r}: no option {key}={value}; {what}")
    return base, given
