"""The state machines of the host: their tables are whole, and what cannot happen is said by name."""

from __future__ import annotations

from enum import Enum
from typing import Any

import pytest

from warmwire.host.generation.states import CONNECTION, ConnectionEvent, ConnectionState
from warmwire.host.grall.named import NAMED, Move, Waits
from warmwire.host.states import after
from warmwire.host.workers.handle import WORKER, WorkerEvent, WorkerState

MACHINES: dict[str, tuple[Any, Any, Any, Any]] = {
    "connection": (CONNECTION, ConnectionState.READING, ConnectionState.CLOSED, ConnectionEvent.LOST),
    "worker": (WORKER, WorkerState.LOADING, WorkerState.GONE, WorkerEvent.LOST),
    "named": (NAMED, Waits.IDLE, Waits.ENDED, Move.ENDED),
}


def reached(table: Any, start: Enum) -> set[Enum]:
    found, new = {start}, {start}
    while new:
        new = {state for one in new for state in table[one].values()} - found
        found |= new
    return found


@pytest.mark.parametrize("name", MACHINES)
def test_every_state_is_reached_and_can_end(name: str) -> None:
    table, start, end, lost = MACHINES[name]
    assert set(table) == set(type(start)) == reached(table, start)
    assert {event for row in table.values() for event in row} == set(type(lost))
    assert table[end] == {}
    assert all(row[lost] is end for state, row in table.items() if state is not end)


def test_an_answer() -> None:
    state = ConnectionState.READING
    seen = []
    for event in (ConnectionEvent.REQUEST, ConnectionEvent.TERMINAL, ConnectionEvent.TAKEN, ConnectionEvent.FAULT):
        state = after(CONNECTION, state, event)
        seen.append(state)
    assert seen == [
        ConnectionState.ANSWERING,
        ConnectionState.ENDING,
        ConnectionState.READING,
        ConnectionState.LINGERING,
    ]


def test_a_second_terminal_cannot_be() -> None:
    with pytest.raises(RuntimeError, match="TERMINAL cannot happen to what is ENDING"):
        after(CONNECTION, ConnectionState.ENDING, ConnectionEvent.TERMINAL)
