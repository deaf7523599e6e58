"""Who is at the other end of a Unix socket."""

from __future__ import annotations

import os
import socket
import struct
from typing import NamedTuple

_LOCAL_PEERCRED = 0x001
_LOCAL_PEERPID = 0x002
_SOL_LOCAL = 0


class Peer(NamedTuple):
    """A peer's ids; None where the system does not say."""

    uid: int | None = None
    gid: int | None = None
    pid: int | None = None


def own_uids() -> set[int]:
    """Who may connect unless more is said: this process's own user, and root. Whom the system does not name may not."""
    return {0, os.getuid()}


def peer_credentials(sock: socket.socket) -> Peer:
    """The ids of the process that connected, or, asked from a client, of the one that listens. Never raises."""
    try:
        if hasattr(socket, "SO_PEERCRED"):
            pid, uid, gid = struct.unpack("3i", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
            return Peer(uid, gid, pid or None)
        # macOS: struct xucred {u32 version, u32 uid, i16 groups, gid groups[16]}.
        raw = sock.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, 76)
        uid = struct.unpack_from("I", raw, 4)[0]
        gid = struct.unpack_from("I", raw, 12)[0]
        pid = struct.unpack("i", sock.getsockopt(_SOL_LOCAL, _LOCAL_PEERPID, 4))[0]
        return Peer(uid, gid, pid)
    except (OSError, struct.error):
        return Peer()
