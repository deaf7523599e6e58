"""Who may ask: those who know the key, or, where there is none, programs of this machine.

Web pages are no such programs, although a browser lets them send requests to loopback addresses. They give themselves
away: by the Origin header, and, where a page has bent its own name to this address, by the name in Host.
"""

from __future__ import annotations

import hmac
import ipaddress
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from warmwire.bridge.errors import plain_error

_OPEN: Final = ("/health", "/")
"""Say nothing but that this process lives, and how to use it."""


class Guard:
    """Refuses before anything is read or run. `key` is the API key; None: there is none."""

    def __init__(self, app: ASGIApp, key: str | None) -> None:
        self._app = app
        self._key = None if key is None else key.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer: ASGIApp = self._app
        # A server's start and end have no path, and there is no other endpoint than those of HTTP.
        if scope["type"] == "http" and scope["path"] not in _OPEN:
            headers = Headers(scope=scope)
            answer = (self._check_origin(headers) if self._key is None else self._check_key(headers)) or self._app
        await answer(scope, receive, send)

    def _check_key(self, headers: Headers) -> JSONResponse | None:
        assert self._key is not None
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode("latin-1"), self._key):
            return None
        message = "the API key is missing or wrong; send it as Authorization: Bearer KEY"
        return JSONResponse(plain_error(401, "invalid_api_key", message), 401, headers={"WWW-Authenticate": "Bearer"})

    def _check_origin(self, headers: Headers) -> JSONResponse | None:
        origin = headers.get("origin")
        if (origin is None or is_local(_name(origin))) and is_address(headers.get("host", "")):
            return None
        message = "without an API key this bridge answers programs of this machine only, not web pages of other sites"
        return JSONResponse(plain_error(403, "forbidden", message), 403)


def _name(url: str) -> str | None:
    """The name or address in a URL; None where it has none."""
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


def _address(name: str | None) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name or "")
    except ValueError:
        return None


def is_local(name: str | None) -> bool:
    """Whether a host name or address means this machine, whatever a resolver says."""
    if name is not None and (name == "localhost" or name.endswith(".localhost")):
        return True
    address = _address(name)
    return address is not None and address.is_loopback


def is_address(host: str) -> bool:
    """Whether a Host header holds what no resolver can have bent: an address, localhost, or nothing."""
    name = _name("//" + host)
    return not host or is_local(name) or _address(name) is not None
