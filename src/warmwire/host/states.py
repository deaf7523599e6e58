"""State machines as tables: for each state, which events can happen in it and which state each leads to.

An event that a table has no place for is a mistake in the program, and is said at once and by name, instead of being
found later as two flags that contradict each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TypeVar

S = TypeVar("S", bound=Enum)
E = TypeVar("E", bound=Enum)

Table = Mapping[S, Mapping[E, S]]


def after(table: Table[S, E], state: S, event: E) -> S:
    """The state that `event` leads to. Raises RuntimeError for one that cannot happen in `state`."""
    try:
        return table[state][event]
    except KeyError:
        raise RuntimeError(f"{event.name} cannot happen to what is {state.name}") from None
