"""`warmwire ps`: the hosts of this user and the models that are declared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from warmwire.cli.console.options import FleetConfig

if TYPE_CHECKING:
    from warmwire.cli.console.hosts import HostRow

_HEADS: Final = ("NAME", "MODEL", "STATE", "REQUESTS", "MEMORY", "IDLE", "PID", "SOCKET")
_WIDEST: Final = 60


def ps(
    config: FleetConfig = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a line.")] = False,
) -> None:
    """List the hosts that run and the models that the bridge would start, with state, memory and time without requests.

    Memory is of the host and its workers. A model is loaded by `warmwire load`, and a host ended by `warmwire stop`.
    """
    import json

    from warmwire.bridge.fleet.config import load_settings
    from warmwire.cli.console.hosts import rows
    from warmwire.system.text import printable
    from warmwire.transport.paths import default_directory

    found = [_described(row) for row in rows(load_settings(config))]
    if as_json:
        for described in found:
            typer.echo(json.dumps(described))
        return
    if not found:
        said = f"no host runs in {default_directory()}; start one with: warmwire serve MODEL"
        typer.echo(f"warmwire: {said} (of one elsewhere tells: warmwire status --socket PATH)", err=True)
        return
    table = [_HEADS, *(_cells(described) for described in found)]
    table = [tuple(printable(cell, _WIDEST) if i < 7 else cell for i, cell in enumerate(line)) for line in table]
    widths = [max(len(line[i]) for line in table) for i in range(len(_HEADS))]
    for line in table:
        typer.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _described(row: HostRow) -> dict[str, Any]:
    from warmwire.system.processes import tree_memory

    activity, pid = row.told["activity"] or {}, row.told["pid"]
    return {
        "name": row.name,
        "model": row.model,
        "state": row.state,
        "outstanding": activity.get("outstanding"),
        "memory": tree_memory(pid) if pid else None,
        "idle": activity.get("idle"),
        "pid": pid,
        "socket": row.path,
    }


def _cells(described: dict[str, Any]) -> tuple[str, ...]:
    memory, idle = described["memory"], described["idle"]
    return (
        described["name"],
        described["model"],
        described["state"],
        _or_dash(described["outstanding"]),
        f"{memory / 1e6:,.0f} MB" if memory else "-",
        _duration(idle) if isinstance(idle, int | float) else "-",
        _or_dash(described["pid"]),
        described["socket"],
    )


def _or_dash(value: object) -> str:
    return "-" if value is None else str(value)


def _duration(seconds: float) -> str:
    """In the two largest units."""
    minutes, hours, days = int(seconds) // 60, int(seconds) // 3600, int(seconds) // 86400
    if days:
        return f"{days}d {hours % 24}h"
    if hours:
        return f"{hours}h {minutes % 60}m"
    return f"{minutes}m {int(seconds) % 60}s" if minutes else f"{seconds:.0f}s"
