"""Where the sockets are.

The directory is resolved as inferd resolves it, so that its clients find us and ours find it: a per-user runtime
directory first, because a socket in a world-writable /tmp is a target for whoever creates the path before us. An
empty variable counts as unset.
"""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Final

from warmwire.errors import UsageError

MAX_PATH: Final = 103 if sys.platform == "darwin" else 107
"""Longest path of a Unix socket, bytes (`sun_path` less its terminating NUL)."""


class Surface(StrEnum):
    """A socket's leaf name, by what is spoken on it."""

    GENERATION = "inferd.sock"
    EMBEDDINGS = "infer.embed.sock"
    RERANK = "infer.rerank.sock"
    ADMIN = "admin.sock"


def default_directory() -> Path:
    """The directory of the default sockets; nothing is created or looked up."""
    if sys.platform == "darwin":
        return Path(os.environ.get("TMPDIR") or "/tmp") / "inferd"
    if runtime := os.environ.get("XDG_RUNTIME_DIR"):
        return Path(runtime) / "inferd"
    if home := os.environ.get("HOME"):
        return Path(home) / ".inferd" / "run"
    # The published page says /tmp/inferd; the daemon itself adds the uid, without which two users collide.
    return Path(f"/tmp/inferd-{os.getuid()}")


def default_addr(surface: Surface = Surface.GENERATION) -> str:
    """The default socket path of a surface; on Windows the name of its pipe, which nothing here serves yet."""
    if sys.platform == "win32":
        leaf = (
            "inferd" if surface is Surface.GENERATION else f"inferd-{surface.removesuffix('.sock').replace('.', '-')}"
        )
        return rf"\\.\pipe\{leaf}"
    return str(default_directory() / surface)


def surface_addr(addr: str | os.PathLike[str] | None, surface: Surface) -> str:
    """The path of another surface of the host at `addr`: in inferd's directory by its own name, elsewhere beside it.

    `/run/me/pages.sock` has its admin socket at `/run/me/pages.admin.sock`. Raises UsageError for a path without a
    name, such as `.`.
    """
    path = Path(addr or default_addr())
    if not path.name:
        raise UsageError(f"not a socket path: {str(path)!r}")
    if path.name == Surface.GENERATION:
        return str(path.with_name(surface.value))
    if surface is Surface.GENERATION:
        return str(path)
    word = surface.removeprefix("infer.").removesuffix(".sock")
    return str(path.with_name(f"{path.name.removesuffix('.sock')}.{word}.sock"))


def check_path(addr: str | os.PathLike[str]) -> str:
    """The address as a string. Raises UsageError where it is empty or too long for a Unix socket."""
    path = os.fspath(addr)
    size = len(os.fsencode(path))
    if not path or "\0" in path:
        raise UsageError(f"not a socket path: {path!r}")
    if size > MAX_PATH:
        raise UsageError(
            f"socket path is {size} bytes long, the system's limit is {MAX_PATH}: {path}; use a shorter directory"
        )
    return path
