"""Running the bridge: the address it may have, and its life until a signal."""

from __future__ import annotations

import ipaddress
import os
import re
import signal
import socket
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any, Final

import uvicorn

from warmwire.bridge.app import make_app
from warmwire.bridge.http import MAX_HEAD, HttpConnection, Waiting
from warmwire.bridge.output import Bounds
from warmwire.bridge.router import Router
from warmwire.errors import ListenError, UsageError

DRAIN_TIMEOUT: Final = 10
"""Seconds that requests under way get when the bridge is told to stop."""

_KEEP_ALIVE: Final = 60
_LISTEN: Final = re.compile(r"(?:\[(?P<six>[^\]]+)\]|(?P<name>[^:\[\]]+)):(?P<port>\d{1,5})")


def run_bridge(
    hosts: str | Router, listen: str, *, key: str | None = None, on_ready: Callable[[str], None] = lambda url: None
) -> None:
    """Serve until SIGTERM or SIGINT; `on_ready` gets the URL once a connect succeeds.

    Raises UsageError for an address that is none, or that is not loopback while there is no key; ListenError where it
    cannot be had.
    """
    with bind(listen, open_to_all=key is not None) as sock:
        server = make_server(hosts, key)

        def stop(number: int, frame: FrameType | None) -> None:
            server.should_exit = True

        # uvicorn takes the signals over once it runs, and raises them again here when it has ended.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, stop)
        host, port = sock.getsockname()[:2]
        on_ready(f"http://{f'[{host}]' if ':' in host else host}:{port}/v1")
        server.run(sockets=[sock])


def make_server(
    hosts: str | Router,
    key: str | None = None,
    *,
    drain_timeout: int = DRAIN_TIMEOUT,
    waiting: Waiting | None = None,
    bounds: Bounds | None = None,
) -> uvicorn.Server:
    """The bridge to the host at a path, or to those of a router, as a server that is not running yet."""
    http: Any = partial(HttpConnection, waiting or Waiting())
    config = uvicorn.Config(
        make_app(hosts, key, bounds),
        http=http,
        h11_max_incomplete_event_size=MAX_HEAD,
        ws="none",
        lifespan="on",
        log_config=None,
        log_level="warning",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=drain_timeout,
    )
    return uvicorn.Server(config)


def key_from(variable: str | None) -> str | None:
    """The API key in an environment variable. Raises UsageError where the variable is named and holds none."""
    if variable is None:
        return None
    key = os.environ.get(variable, "").strip()
    if not key:
        raise UsageError(f"the variable {variable} holds no API key; set it, or leave --api-key-env out")
    return key


def bind(listen: str, *, open_to_all: bool = False) -> socket.socket:
    """A listening socket at HOST:PORT; port 0 takes a free one. Raises UsageError, ListenError."""
    match = _LISTEN.fullmatch(listen)
    if match is None or int(match["port"]) > 0xFFFF:
        raise UsageError(f"not HOST:PORT: {listen!r}; write 127.0.0.1:8080 or [::1]:8080")
    name = match["six"] or match["name"]
    try:
        found = socket.getaddrinfo(name, int(match["port"]), type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise ListenError(f"cannot listen at {listen}: {name} is no address of this machine ({error})") from None
    family, kind, protocol, _, address = found[0]
    if not open_to_all and not ipaddress.ip_address(str(address[0]).partition("%")[0]).is_loopback:
        raise UsageError(
            f"{listen} can be reached from other machines: set an API key in a variable and name it by --api-key-env,"
            " or listen at 127.0.0.1"
        )
    sock = socket.socket(family, kind, protocol)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        sock.listen(128)
    except OSError as error:
        sock.close()
        raise ListenError(f"cannot listen at {listen}: {error.strerror}; choose another port by --listen") from None
    return sock
