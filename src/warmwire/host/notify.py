"""What a service manager and a host tell each other: sockets handed over at the start, and how far the host has come.

Both are systemd's small protocols (sd_listen_fds(3), sd_notify(3)), which others have taken over. Outside of such a
service nothing here does anything.
"""

from __future__ import annotations

import logging
import os
import socket
from typing import Final

from warmwire.errors import ListenError
from warmwire.transport.listen import Access

_FIRST_FD: Final = 3

log = logging.getLogger("warmwire.host")


class InheritedPath:
    """A listening socket that the service manager made and keeps; has what the host uses of a `SocketPath`."""

    def __init__(self, path: str, sock: socket.socket) -> None:
        self.path = path
        self._sock = sock

    def bind(self, access: Access | None = None) -> socket.socket:
        """The socket, which has been listening since before this process was; who may connect is the manager's."""
        return self._sock

    def unlink(self) -> None:
        """Its file is the manager's."""


def inherited_paths() -> dict[str, InheritedPath]:
    """The sockets handed to this process, by path. They are taken once: the variables that tell of them go.

    Raises ListenError for a descriptor that is no listening Unix stream socket.
    """
    pid, count = os.environ.pop("LISTEN_PID", ""), os.environ.pop("LISTEN_FDS", "")
    os.environ.pop("LISTEN_FDNAMES", None)
    if pid != str(os.getpid()) or not count.isdigit():
        return {}
    found = (_inherit(fd) for fd in range(_FIRST_FD, _FIRST_FD + int(count)))
    return {path.path: path for path in found}


def _inherit(fd: int) -> InheritedPath:
    try:
        os.set_inheritable(fd, False)
        sock = socket.socket(fileno=fd)
        if sock.family is not socket.AF_UNIX or sock.type is not socket.SOCK_STREAM:
            raise ListenError(f"descriptor {fd} of LISTEN_FDS is no Unix stream socket; use ListenStream=/a/path")
        if not sock.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            raise ListenError(f"descriptor {fd} of LISTEN_FDS does not listen; use Accept=no")
        sock.setblocking(False)
        return InheritedPath(str(sock.getsockname()), sock)
    except OSError as error:
        raise ListenError(f"descriptor {fd} of LISTEN_FDS cannot be used: {error.strerror}") from None


def notify(**state: str | int) -> None:
    """Tell the service manager, if there is one: `notify(READY=1, STATUS="serving")`. Never raises."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    if address.startswith("@"):
        address = "\0" + address[1:]
    message = "\n".join(f"{key}={value}" for key, value in state.items())
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
            sock.connect(address)
            sock.sendall(message.encode())
    except OSError as error:
        log.warning("the service manager at NOTIFY_SOCKET could not be told: %s", error.strerror)
