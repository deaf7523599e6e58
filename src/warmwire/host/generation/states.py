"""What a connection of the generation wire may be doing, and what takes it from one thing to the next.

READING ──REQUEST──▶ ANSWERING ──TERMINAL──▶ ENDING ──TAKEN──▶ READING
   │ FAULT                                      │ TAKEN_LAST, when the host drains
   └───────────────▶ LINGERING ◀────────────────┘
any of them ──LOST──▶ CLOSED
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Final

from warmwire.host.states import Table


class ConnectionState(Enum):
    READING = auto()
    """The next request is read, or waited for."""
    ANSWERING = auto()
    """A request waits or runs; nothing is read meanwhile."""
    ENDING = auto()
    """The message that ends the answer has been sent; the client has not taken all of it."""
    LINGERING = auto()
    """There will be no more answers: what still comes in is thrown away until the client has read our last message."""
    CLOSED = auto()


class ConnectionEvent(Enum):
    REQUEST = auto()
    TERMINAL = auto()
    TAKEN = auto()
    TAKEN_LAST = auto()
    FAULT = auto()
    LOST = auto()


CONNECTION: Final[Table[ConnectionState, ConnectionEvent]] = {
    ConnectionState.READING: {
        ConnectionEvent.REQUEST: ConnectionState.ANSWERING,
        ConnectionEvent.FAULT: ConnectionState.LINGERING,
        ConnectionEvent.LOST: ConnectionState.CLOSED,
    },
    ConnectionState.ANSWERING: {
        ConnectionEvent.TERMINAL: ConnectionState.ENDING,
        ConnectionEvent.LOST: ConnectionState.CLOSED,
    },
    ConnectionState.ENDING: {
        ConnectionEvent.TAKEN: ConnectionState.READING,
        ConnectionEvent.TAKEN_LAST: ConnectionState.LINGERING,
        ConnectionEvent.LOST: ConnectionState.CLOSED,
    },
    ConnectionState.LINGERING: {ConnectionEvent.LOST: ConnectionState.CLOSED},
    ConnectionState.CLOSED: {},
}
