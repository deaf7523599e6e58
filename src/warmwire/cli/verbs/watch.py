"""`warmwire watch`: a host as it works, for as long as one looks."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warmwire.cli.console.options import HostSocket

if TYPE_CHECKING:
    from rich.console import RenderableType

_LONGEST = 300
_MOST_WAITING = 40
"""Marks drawn for waiting requests; a queue may be longer."""


def watch(
    socket: HostSocket = None,
) -> None:
    """Show what a host is doing, until it ends or you press Ctrl-C.

    It shows the state of the host, how many requests run and wait, and how many messages it sends a second. On a
    terminal one view is kept up to date; elsewhere every change is printed as a line.
    """
    from rich.console import Console

    console = Console()
    views = _views(socket)
    if console.is_terminal:
        from rich.live import Live

        with Live(console=console, auto_refresh=False) as live:
            for view in views:
                live.update(_table(view), refresh=True)
    else:
        for view in views:
            print(_line(view), flush=True)
    print("warmwire: the host has ended", file=sys.stderr)


_INTERVAL = 1.0
"""Seconds between two words of a busy host at most: what is longer was idle."""


class WatchView:
    """What has been told so far."""

    def __init__(self, path: str) -> None:
        from warmwire.wire.admin import HostStatus

        self.path = path
        self.told = HostStatus()
        self.rate = 0.0
        """Messages a second, of late."""

        self._counted: tuple[float, int] | None = None

    def take(self, event: dict[str, Any], now: float) -> bool:
        """Take one line of the admin socket in, at `now` in seconds; returns whether there is news in it."""
        from warmwire.wire.admin import HostEvent, count_of

        before = self.told.activity
        match self.told.take(event):
            case None | HostEvent.CAPABILITIES:
                return False
            case HostEvent.ACTIVITY:
                sent = count_of(event, "sent")
                if self._counted is not None and now > self._counted[0]:
                    self.rate = max(0, sent - self._counted[1]) / min(now - self._counted[0], _INTERVAL)
                self._counted = now, sent
                return self.told.activity != before
        return True


def _views(socket: Path | None) -> Iterator[WatchView]:
    """The view after each change, until the host ends."""
    import time

    from warmwire.client import Client
    from warmwire.errors import DialError
    from warmwire.transport.paths import Surface, surface_addr
    from warmwire.wire.admin import HostEvent

    path = surface_addr(socket, Surface.GENERATION)
    told = False
    while True:
        view = WatchView(path)
        try:
            for event in Client(path, wait=0).events():
                if view.take(event, time.monotonic()):
                    told = True
                    yield view
        except DialError:
            if not told:
                raise
            return
        if view.told.state in ("", HostEvent.DRAINING):
            return  # otherwise we may have been dropped for being slow: look again


def _line(view: WatchView) -> str:
    from datetime import datetime

    from warmwire.cli.verbs.status import explain, requests_in_words
    from warmwire.system.text import printable

    told = view.told
    line = f"{datetime.now():%H:%M:%S} {told.state}: {explain(told.state, told.details)}"
    if told.activity:
        line += f"; {requests_in_words(told.activity)}, {view.rate:.0f} messages/s"
    return printable(line, _LONGEST)


def _table(view: WatchView) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    from warmwire.cli.verbs.status import explain, requests_in_words
    from warmwire.system.text import printable
    from warmwire.wire.admin import HostEvent, count_of

    table = Table.grid(padding=(0, 2))

    def row(key: str, value: str, style: str = "") -> None:
        table.add_row(Text(key, "dim"), Text(printable(value, _LONGEST), style))

    told = view.told
    row("host", view.path)
    row("model", ", ".join(str(can.get("backend", "?")) for can in told.capabilities) or "-")
    colour = "green" if told.state == HostEvent.READY else "yellow"
    row("state", f"{told.state}: {explain(told.state, told.details)}", colour)
    if told.activity:
        outstanding = count_of(told.activity, "outstanding")
        running = min(outstanding, count_of(told.activity, "workers"))
        row("requests", requests_in_words(told.activity))
        row("queue", "\u25a0" * min(running, 64) + "\u25a1" * min(outstanding - running, _MOST_WAITING), "cyan")
        row("messages", f"{view.rate:.0f}/s" if outstanding else "")
    return table
