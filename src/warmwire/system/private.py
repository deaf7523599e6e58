"""A folder for the sockets of one process, which nobody else needs to find.

A process that is killed cannot remove its folder, so whoever makes the next one does. That its owner lives is told by a
lock on a file in it, which the system drops with the process. The file appears under its name when it is locked
already: without a lock, then, is only what nobody owns any more.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from typing import Final

from warmwire.errors import WarmwireError
from warmwire.system.closing import Closing

_PREFIX: Final = "warmwire-"
_OWNER: Final = "owner"

_LONGEST: Final = 64
"""Bytes of a folder's path under which a socket's path stays below the 104 that some systems allow."""


def private_directory() -> str:
    """A new directory that only we can enter, for a socket; its path is short enough for one.

    Raises WarmwireError where the system gives no place for it, as on a full disk.
    """
    try:
        base = tempfile.gettempdir()
        return tempfile.mkdtemp(prefix=_PREFIX, dir=base if len(os.fsencode(base)) <= _LONGEST else "/tmp")
    except OSError as error:
        raise _no_room(error) from None


class PrivateDirectory(Closing):
    """One that is removed when it is closed or, if we are killed, when the next one is made. Raises WarmwireError."""

    def __init__(self) -> None:
        self.path = private_directory()
        self._lock = -1
        try:
            self._lock = _claim(self.path)
            _remove_abandoned(os.path.dirname(self.path))
        except BaseException as error:  # a signal as well
            self.close()
            if isinstance(error, OSError):
                raise _no_room(error) from None
            raise

    def close(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def _no_room(error: OSError) -> WarmwireError:
    return WarmwireError(
        f"there is no room for a temporary folder ({error.strerror or error}); make some, or set TMPDIR to a folder"
        " that can be written to"
    )


def _claim(directory: str) -> int:
    """Lock the owner's file of a new directory; returns its descriptor, which holds the lock."""
    new = os.path.join(directory, f"{_OWNER}.new")
    lock = os.open(new, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.rename(new, os.path.join(directory, _OWNER))
    except OSError:
        os.unlink(new)
        os.close(lock)
        raise
    return lock


def _remove_abandoned(base: str) -> None:
    """Remove our own user's directories whose owners have gone; what cannot be looked at stays."""
    with suppress(OSError), os.scandir(base) as entries:
        for entry in entries:
            if entry.name.startswith(_PREFIX):
                with suppress(OSError):
                    _remove_if_abandoned(entry)


def _remove_if_abandoned(entry: os.DirEntry[str]) -> None:
    found = entry.stat(follow_symlinks=False)
    if not entry.is_dir(follow_symlinks=False) or found.st_uid != os.geteuid():
        return
    lock = os.open(os.path.join(entry.path, _OWNER), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(entry.path, ignore_errors=True)
    finally:
        os.close(lock)
