"""Standard input as the verbs that take text use it: as an argument `-`, or piped without a word."""

from __future__ import annotations

import os
import stat
import sys

from warmwire.errors import InputError
from warmwire.system.timer import if_longer

_MOST = 64 << 20
"""Bytes taken: no more fit one message of the wire."""

_SILENCE = 1.0
"""Seconds without an end of input after which a person wonders."""

_WAITING = "warmwire: waiting for the end of standard input (< /dev/null leaves it out)"

STDIN = "-"


def piped() -> bool:
    """Whether something was piped or redirected into this process: not a terminal, not /dev/null, not nothing."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (AttributeError, OSError, ValueError):  # closed, or no file at all
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)


def read_text() -> str:
    """All of standard input; bytes that are no UTF-8 become U+FFFD. Raises InputError for more than fits the wire."""
    with if_longer(_SILENCE, _say_what_is_waited_for):
        data = sys.stdin.buffer.read(_MOST + 1)
    if len(data) > _MOST:
        raise InputError(f"standard input gives over {_MOST >> 20} MiB, which no request can carry")
    return data.decode(errors="replace")


def _say_what_is_waited_for() -> None:
    """A pipe that nobody writes to and nobody closes looks like a hang."""
    print(_WAITING, file=sys.stderr, flush=True)


def given_texts(texts: list[str]) -> list[str]:
    """The texts of a command line; `-` stands for the lines of standard input, as does nothing at all when piped."""
    if not texts and piped():
        texts = [STDIN]
    found: list[str] = []
    for text in texts:
        found += read_text().splitlines() if text == STDIN else [text]
    return found
