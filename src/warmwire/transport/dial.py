"""Connecting to a host.

A host binds its socket when its model is ready, so "no such file" and "connection refused" mean "not yet" and are
tried again for a bounded time; every other failure is final. Errors name the path, the reason and what to do.

A Unix socket connects at once or not at all, so nothing here waits inside the kernel: a blocking connect to a host that
is stopped, with as many waiting as it has room for, would never return, and asyncio takes the kernel's "not now" for
"under way" and so for a success.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import stat
import time
from typing import Final

from warmwire.errors import DialError
from warmwire.transport.paths import check_path, default_addr

DIAL_WAIT: Final = 10.0
"""Seconds to wait for a host that is not listening yet."""

START: Final = "warmwire serve MODEL --socket {path}"
"""The command that an error proposes where nobody listens."""

_PAUSE: Final = 0.1
_FULL_PAUSE, _FULL_WAIT = 0.01, 1.0
"""A host that lives makes room within milliseconds: it is given a second for that, also by who would not wait for one
that is not there."""

_NOT_YET: Final = frozenset({errno.ENOENT, errno.ECONNREFUSED, errno.EAGAIN})
"""Not bound yet, not listening yet, too many waiting to be accepted."""

_BUFFER: Final = 1 << 20


def connect(
    addr: str | os.PathLike[str] | None = None, *, wait: float = DIAL_WAIT, start: str = START
) -> socket.socket:
    """A connected, blocking socket. Raises DialError, or UsageError for a path no socket can have."""
    attempts = _Attempts(addr, wait, start)
    while (sock := attempts.connect()) is None:
        time.sleep(attempts.pause)
    sock.setblocking(True)
    return sock


async def connect_async(
    addr: str | os.PathLike[str] | None = None, *, wait: float = DIAL_WAIT, start: str = START
) -> socket.socket:
    """`connect` for an event loop; the socket is non-blocking."""
    attempts = _Attempts(addr, wait, start)
    while (sock := attempts.connect()) is None:
        await asyncio.sleep(attempts.pause)
    return sock


class _Attempts:
    """Tries to connect until it is no longer worth it; `pause` is how long to wait before the next try."""

    def __init__(self, addr: str | os.PathLike[str] | None, wait: float, start: str) -> None:
        self._path = check_path(addr or default_addr())
        self._wait = wait
        self._start = start
        self._begun = time.monotonic()
        self.pause = _PAUSE

    def connect(self) -> socket.socket | None:
        """A connected socket that does not block, or None for not yet. Raises DialError."""
        sock = new_socket()
        sock.setblocking(False)
        try:
            sock.connect(self._path)
        except OSError as error:
            sock.close()
            full = error.errno == errno.EAGAIN
            self.pause, wait = (_FULL_PAUSE, max(self._wait, _FULL_WAIT)) if full else (_PAUSE, self._wait)
            if not _is_not_yet(self._path, error) or time.monotonic() + self.pause > self._begun + wait:
                raise dial_error(self._path, error, wait, self._start) from error
            return None
        return sock


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
    after = f" after {waited:g} s" if waited else ""
    if error.errno == errno.ENOENT:
        why = f"no host listens at {path} (no such file{after}); start one with: {start}"
    elif _is_other_file(path, error):
        why = f"{path} is not a socket; give the path that `warmwire serve` printed"
    elif error.errno == errno.ECONNREFUSED:
        why = f"no host listens at {path} (connection refused{after}: its host has ended); start one with: {start}"
    elif error.errno in (errno.EACCES, errno.EPERM):
        why = f"permission denied at {path}: the host runs as another user; ask its owner, or start your own"
    elif error.errno in (errno.EPROTOTYPE, errno.ENOTSOCK):
        why = f"{path} is not a stream socket; give the path that `warmwire serve` printed"
    elif error.errno == errno.EAGAIN:
        why = (
            f"the host at {path} takes no more connections, and made no room for one in {waited:g} s: it hangs, or"
            " somebody has stopped it; restart it"
        )
    else:
        why = f"cannot connect to {path}: {error.strerror or error} [{errno.errorcode.get(error.errno or 0, '?')}]"
    return DialError(why)
