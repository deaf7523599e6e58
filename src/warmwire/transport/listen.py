"""Owning a socket path.

Two mistakes are common: stealing the path of a live host, and refusing to start because a dead one left its file. So
a path is first claimed by an exclusive lock on `PATH.lock`, which a host takes before it loads its model and holds
while it lives; then whatever lies at the path is probed by connecting. Only a socket that nobody answers is removed.
The socket is 0600 before it listens, unless others are to connect, in a directory that is 0700 if it had to be created;
a directory that existed is never changed.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import resource
import socket
import stat
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from warmwire.errors import ListenError
from warmwire.transport.dial import new_socket
from warmwire.transport.paths import check_path, default_addr, default_directory
from warmwire.transport.peer import peer_credentials

BACKLOG: Final = 512
"""Connections that may wait to be accepted; the kernel may allow fewer."""


@dataclass(frozen=True, slots=True)
class Access:
    """Whom the file system lets connect: the owner alone, unless it says more."""

    mode: int = 0o600
    gid: int | None = None


_PRIVATE: Final = Access()


_LOCK_TRIES, _LOCK_PAUSE = 10, 0.01


class SocketPath:
    """A claimed path: `claim` locks it, `bind` makes the listening socket, `release` gives everything back.

    Raises ListenError (and UsageError for a path no socket can have).
    """

    def __init__(self, addr: str | os.PathLike[str] | None = None) -> None:
        self.path = check_path(addr or default_addr())
        self._lock: int | None = None
        self._bound: tuple[int, int] | None = None

    def __enter__(self) -> SocketPath:
        self.claim()
        return self

    def __exit__(self, *reason: object) -> None:
        self.release()

    def claim(self) -> None:
        """Lock the path, and refuse it at once if a host answers there or something else lies there."""
        _prepare_directory(Path(self.path).parent)
        self._lock = _take_lock(self.path)
        try:
            self._remove_dead()
        except BaseException:
            self.release()
            raise

    def bind(self, access: Access = _PRIVATE) -> socket.socket:
        """The listening socket, non-blocking. The path must have been claimed."""
        self._remove_dead()
        sock = new_socket()
        try:
            sock.bind(self.path)
            status = os.lstat(self.path)
            self._bound = status.st_dev, status.st_ino
            # Before listening: until then a connect is refused, so nobody slips in while the mode is the umask's.
            os.chmod(self.path, 0o600)
            if access.gid is not None:
                os.chown(self.path, -1, access.gid)
            os.chmod(self.path, access.mode)
            sock.listen(BACKLOG)
            sock.setblocking(False)
        except OSError as error:
            sock.close()
            self.unlink()
            raise ListenError(f"cannot listen at {self.path}: {error.strerror}") from error
        return sock

    def unlink(self) -> None:
        """Remove our own socket, and nothing that somebody else has put there since."""
        try:
            status = os.lstat(self.path)
            if self._bound == (status.st_dev, status.st_ino):
                os.unlink(self.path)
        except OSError:
            pass
        self._bound = None

    def release(self) -> None:
        """Unlink the socket and give up the lock."""
        self.unlink()
        if self._lock is not None:
            # While the lock is held nobody else owns the file; a waiting opener notices that it has gone.
            _quietly_unlink(f"{self.path}.lock")
            os.close(self._lock)
            self._lock = None

    def _remove_dead(self) -> None:
        try:
            status = os.lstat(self.path)
        except FileNotFoundError:
            return
        if stat.S_ISLNK(status.st_mode):
            raise ListenError(f"refused: {self.path} is a symbolic link; remove it or give another path")
        if not stat.S_ISSOCK(status.st_mode):
            raise ListenError(f"refused: {self.path} exists and is not a socket; remove it or give another path")
        probe = new_socket()
        probe.settimeout(2)
        try:
            probe.connect(self.path)
        except OSError as error:
            if error.errno not in (errno.ECONNREFUSED, errno.ENOENT):
                raise ListenError(
                    f"refused: {self.path} is in use and does not answer ({error}); stop its owner or give another path"
                ) from error
        else:
            raise _already_served(self.path, peer_credentials(probe).pid)
        finally:
            probe.close()
        _quietly_unlink(self.path)


def raise_descriptor_limit() -> None:
    """Allow as many connections as the system lets this process have."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def lock_holder(path: str) -> int | None:
    """The process that has claimed a socket path and still lives, whether or not its socket is there."""
    try:
        fd = os.open(f"{path}.lock", os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)  # given back at once, with the descriptor
    except BlockingIOError:
        pid = os.pread(fd, 32, 0).decode("ascii", "replace").strip()
        return int(pid) if pid.isascii() and pid.isdigit() else None
    except OSError:
        return None
    finally:
        os.close(fd)
    return None


def _prepare_directory(directory: Path) -> None:
    ours = directory == default_directory()
    try:
        if not directory.exists():
            directory.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):  # another host was faster
                directory.mkdir(mode=0o700)
        status = directory.lstat() if ours else directory.stat()
    except OSError as error:
        raise ListenError(f"cannot create the socket directory {directory}: {error.strerror}") from error
    if not stat.S_ISDIR(status.st_mode):
        raise ListenError(f"refused: {directory} is not a directory")
    # The default directory has a name that anybody could have created first.
    if ours and status.st_uid != os.getuid():
        raise ListenError(
            f"refused: {directory} belongs to uid {status.st_uid}, not to you; remove it or give --socket PATH"
        )


def _already_served(path: str, pid: int | None) -> ListenError:
    who = f"pid {pid}" if pid else "another process"
    return ListenError(f"{path} is already served by {who}; stop it or give another path")


def _take_lock(path: str) -> int:
    name = f"{path}.lock"
    while True:
        try:
            fd = os.open(name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
        except OSError as error:
            why = "is a symbolic link" if error.errno == errno.ELOOP else error.strerror
            raise ListenError(f"cannot lock {name}: {why}") from error
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise ListenError(f"cannot lock {name}: it is not a regular file")
            _lock_exclusively(fd)
            if _same_file(fd, name):
                os.ftruncate(fd, 0)
                os.write(fd, f"{os.getpid()}\n".encode())
                return fd
        except BlockingIOError:
            pid = os.pread(fd, 32, 0).decode("ascii", "replace").strip()
            os.close(fd)
            raise _already_served(path, int(pid) if pid.isdigit() else None) from None
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)  # its holder removed it between our open and our lock: start over


def _lock_exclusively(fd: int) -> None:
    """Raises BlockingIOError when another host holds the lock; `lock_holder` has it for a moment only."""
    for tries_left in reversed(range(_LOCK_TRIES)):
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not tries_left:
                raise
            time.sleep(_LOCK_PAUSE)
        else:
            return


def _same_file(fd: int, name: str) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), os.lstat(name))
    except FileNotFoundError:
        return False


def _quietly_unlink(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass
