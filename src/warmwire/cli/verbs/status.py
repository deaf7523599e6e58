"""`warmwire status`: whether a host is alive, whether it is ready, and what it does."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from warmwire.cli.console.options import HostSocket

if TYPE_CHECKING:
    from warmwire.client import HostStatus

_LONGEST = 300
_ABILITIES = ("vision", "audio", "tools", "thinking", "embed", "rerank")


def status(
    socket: HostSocket = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Show whether a host is running and ready.

    A host is alive when it answers, and ready when its model is loaded and it takes requests. The exit status is 0
    for a host that is alive and has its sockets, 1 otherwise.
    """
    import json

    from warmwire.system.text import printable

    found = look(socket)
    if as_json:
        sys.stdout.write(json.dumps(found) + "\n")
    else:
        for key, value in _lines(found):
            print(f"{key:<9} {printable(value, _LONGEST)}")
    return 0 if found["alive"] and not found["lost"] else 1


def look(socket: Path | None) -> dict[str, Any]:
    """What there is to know of the host at `socket`, its generation socket; None is the default.

    Keys: socket, alive, ready, state, reason (in words, and what to do), pid, lost (socket files that have gone),
    capabilities and activity as the admin socket has them.
    """
    from warmwire.client import Client
    from warmwire.errors import BackendUnavailableError, DialError, UsageError
    from warmwire.transport.listen import lock_holder
    from warmwire.transport.paths import Surface, check_path, surface_addr

    path = check_path(surface_addr(socket, Surface.GENERATION))
    found: dict[str, Any] = {"socket": path, "alive": False, "ready": False, "state": None, "reason": ""}
    found |= {"pid": lock_holder(path), "lost": [], "capabilities": [], "activity": None}
    try:
        told = Client(path, wait=0).status()
    except (DialError, UsageError) as error:  # the second where its path would be too long
        return found | _without_admin(path, error, found["pid"])
    except BackendUnavailableError as error:
        return found | {"reason": str(error)}
    ready = told.state == "ready"
    lost = _lost(path, told) if ready else []
    reason = explain(told.state, told.details)
    if lost:
        reason = (
            f"the socket {' and '.join(lost)} has gone (removed by a cleaner?), so nobody can connect; restart the host"
        )
    found |= {"alive": True, "ready": ready and not lost, "state": told.state, "reason": reason, "lost": lost}
    return found | {"capabilities": told.capabilities, "activity": told.activity}


def explain(state: str, details: dict[str, Any]) -> str:
    """A state in words."""
    match state:
        case "starting":
            return "it has just started"
        case "loading_model" | "restarting":
            what = " ".join(str(value) for key, value in details.items() if key != "phase")
            return f"it loads its model ({details.get('phase', 'at work')}{': ' if what else ''}{what})"
        case "ready":
            return "it takes requests"
        case "draining":
            return "it is shutting down and takes no new requests"
        case _:
            return f"its state is {state}"


def _without_admin(path: str, refusal: Exception, pid: int | None) -> dict[str, Any]:
    """A host whose admin socket does not answer: of another make, half gone, or none at all."""
    from warmwire.errors import DialError
    from warmwire.transport.dial import connect

    try:
        connect(path, wait=0).close()
    except DialError as error:
        if pid is None:
            absent = isinstance(error.__cause__, FileNotFoundError | ConnectionRefusedError)
            return {"reason": f"not running: {error}" if absent else str(error)}
        reason = f"pid {pid} serves this path, but its socket has gone (removed by a cleaner?); restart it"
        return {"alive": True, "lost": [path], "reason": reason}
    if isinstance(refusal.__cause__, FileNotFoundError):
        refusal = DialError("it has no admin socket, as hosts of other makes have none")
    reason = f"it takes requests, but tells nothing of itself: {refusal}"
    return {"alive": True, "ready": True, "state": "ready", "reason": reason}


def _lost(path: str, told: HostStatus) -> list[str]:
    """The sockets that a ready host should have and has not."""
    from warmwire.transport.paths import Surface, surface_addr

    wanted = {Surface.GENERATION: True}
    for key, surface in (("embed", Surface.EMBEDDINGS), ("rerank", Surface.RERANK)):
        wanted[surface] = any(c.get(key) is True for c in told.capabilities)
    paths = [surface_addr(path, surface) for surface, is_wanted in wanted.items() if is_wanted]
    return [path for path in paths if not Path(path).exists()]


def _lines(found: dict[str, Any]) -> list[tuple[str, str]]:
    lines = [("host", found["socket"])]
    if not found["alive"]:
        return [*lines, ("state", found["reason"])]
    lines.append(("alive", f"yes, pid {found['pid']}" if found["pid"] else "yes"))
    lines.append(("ready", f"{'yes' if found['ready'] else 'no'}: {found['reason']}"))
    for can in found["capabilities"]:
        abilities = [word for word in _ABILITIES if can.get(word)]
        more = f": {', '.join(abilities)}" if abilities else ""
        lines.append(("model", f"{can.get('backend', '?')} ({can.get('accelerator', '?')}){more}"))
    if found["activity"]:
        lines.append(("requests", requests_in_words(found["activity"])))
    return lines


def requests_in_words(activity: dict[str, Any]) -> str:
    """What runs and waits, and what has been."""
    from warmwire.wire.admin import count_of

    outstanding, workers, capacity, answered, refused = (
        count_of(activity, key) for key in ("outstanding", "workers", "capacity", "answered", "refused")
    )
    running = min(outstanding, workers)
    waiting = outstanding - running
    return f"{running} running, {waiting} waiting (room for {capacity}), {answered} answered, {refused} refused"
