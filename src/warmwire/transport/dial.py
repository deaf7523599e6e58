"""Connecting to a host.

A host binds its socket when its model is ready, so "no such file" and "connection refused" mean "not yet" and are
tried again for a bounded time; every other failure is final. Errors name the path, the reason and what to do.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import stat
import time
from typing import Final

from warmwire.transport.paths import check_path, default_addr
from warmwire.wire.errors import DialError

DIAL_WAIT: Final = 10.0
"""Seconds to wait for a host that is not listening yet."""

START: Final = "warmwire serve MODEL --socket {path}"
"""The command that an error proposes where nobody listens."""

_PAUSE: Final = 0.1
_NOT_YET: Final = frozenset({errno.ENOENT, errno.ECONNREFUSED, errno.EAGAIN})
"""Not bound yet, not listening yet, too many waiting to be accepted."""

_BUFFER: Final = 1 << 20


def connect(
    addr: str | os.PathLike[str] | None = None, *, wait: float = DIAL_WAIT, start: str = START
) -> socket.socket:
    """A connected, blocking socket. Raises DialError, or UsageError for a path no socket can have."""
    path = check_path(addr or default_addr())
    deadline = time.monotonic() + wait
    while True:
        sock = new_socket()
        try:
            sock.connect(path)
            return sock
        except OSError as error:
            sock.close()
            if not _is_not_yet(path, error) or time.monotonic() + _PAUSE > deadline:
                raise dial_error(path, error, wait, start) from error
        time.sleep(_PAUSE)


async def connect_async(
    addr: str | os.PathLike[str] | None = None, *, wait: float = DIAL_WAIT, start: str = START
) -> socket.socket:
    """`connect` for an event loop; the socket is non-blocking."""
    path = check_path(addr or default_addr())
    loop = asyncio.get_running_loop()
    deadline = loop.time() + wait
    while True:
        sock = new_socket()
        sock.setblocking(False)
        try:
            await loop.sock_connect(sock, path)
            return sock
        except OSError as error:
            sock.close()
            if not _is_not_yet(path, error) or loop.time() + _PAUSE > deadline:
                raise dial_error(path, error, wait, start) from error
        except BaseException:
            sock.close()
            raise
        await asyncio.sleep(_PAUSE)


def _is_not_yet(path: str, error: OSError) -> bool:
    """Whether a failed connect is worth another try. A file that is no socket refuses as well, and always will."""
    return error.errno in _NOT_YET and not _is_other_file(path, error)


def _is_other_file(path: str, error: OSError) -> bool:
    try:
        return error.errno == errno.ECONNREFUSED and not stat.S_ISSOCK(os.stat(path).st_mode)
    except OSError:
        return False


def new_socket() -> socket.socket:
    """A Unix stream socket with room for a large part of a page in flight."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER)
    return sock


def dial_error(path: str, error: OSError, waited: float, start: str = START) -> DialError:
    """What a failed connect means and what to do about it."""
    start = start.format(path=path)
    if error.errno == errno.ENOENT:
        why = f"no host listens at {path} (no such file after {waited:g} s); start one with: {start}"
    elif _is_other_file(path, error):
        why = f"{path} is not a socket; give the path that `warmwire serve` printed"
    elif error.errno == errno.ECONNREFUSED:
        why = (
            f"no host listens at {path} (connection refused after {waited:g} s: its host has ended);"
            f" start one with: {start}"
        )
    elif error.errno in (errno.EACCES, errno.EPERM):
        why = f"permission denied at {path}: the host runs as another user; ask its owner, or start your own"
    elif error.errno in (errno.EPROTOTYPE, errno.ENOTSOCK):
        why = f"{path} is not a stream socket; give the path that `warmwire serve` printed"
    elif error.errno == errno.EAGAIN:
        why = f"the host at {path} has too many connections waiting; try again"
    else:
        why = f"cannot connect to {path}: {error.strerror or error} [{errno.errorcode.get(error.errno or 0, '?')}]"
    return DialError(why)
