"""Owning a socket path: never a live one, always a dead one, and modes that keep others out."""

from __future__ import annotations

import asyncio
import fcntl
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support import without_privileges
from warmwire.errors import DialError, ListenError, UsageError
from warmwire.transport.dial import connect, connect_async
from warmwire.transport.listen import SocketPath


@contextmanager
def bound(path: str) -> Iterator[tuple[SocketPath, socket.socket]]:
    with SocketPath(path) as owner:
        sock = owner.bind()
        with sock:
            yield owner, sock


def dead_socket(path: str) -> None:
    """A socket file whose owner has gone."""
    sock = socket.socket(socket.AF_UNIX)
    sock.bind(path)
    sock.close()


def mode(path: str | Path) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_modes(directory: str, umask: int) -> None:
    path = f"{directory}/new/s.sock"
    old = os.umask(umask)
    try:
        with bound(path):
            assert mode(path) == 0o600
            assert mode(f"{directory}/new") & 0o077 == 0
    finally:
        os.umask(old)


def test_a_directory_that_exists_is_never_changed(directory: str) -> None:
    os.chmod(directory, 0o751)
    with bound(f"{directory}/s.sock"):
        assert mode(directory) == 0o751
    assert mode(directory) == 0o751


def test_nothing_is_left_behind(directory: str, path: str) -> None:
    with bound(path):
        assert sorted(os.listdir(directory)) == ["s.sock", "s.sock.lock"]
    assert os.listdir(directory) == []


def test_connect_is_refused_until_bound(path: str) -> None:
    with SocketPath(path) as owner:
        with pytest.raises(DialError, match="no such file"):
            connect(path, wait=0)
        with owner.bind():
            connect(path, wait=0).close()


@pytest.mark.parametrize("make", [os.mkdir, os.mknod])
def test_what_is_no_socket_is_not_waited_for(path: str, make: Callable[[str], None]) -> None:
    make(path)
    with pytest.raises(DialError, match=f"^{path} is not a socket"):
        connect(path, wait=3600)
    with pytest.raises(DialError, match=f"^{path} is not a socket"):
        asyncio.run(connect_async(path, wait=3600))


def test_a_live_socket_is_not_stolen(path: str) -> None:
    with bound(path), pytest.raises(ListenError, match=f"{path} is already served by pid {os.getpid()};"):
        SocketPath(path).claim()
    with bound(path):
        pass


def test_a_host_that_still_loads_holds_its_path(path: str) -> None:
    with SocketPath(path), pytest.raises(ListenError, match=f"already served by pid {os.getpid()}"):
        SocketPath(path).claim()


def test_a_live_socket_of_another_program_is_not_stolen(path: str) -> None:
    with socket.socket(socket.AF_UNIX) as foreign:
        foreign.bind(path)
        foreign.listen()
        with pytest.raises(ListenError, match=f"already served by pid {os.getpid()}"):
            SocketPath(path).claim()
        assert os.path.exists(path)
        connect(path, wait=0).close()


def test_a_dead_socket_is_replaced(path: str) -> None:
    dead_socket(path)
    with bound(path):
        connect(path, wait=0).close()


def test_a_lock_left_by_a_killed_process_is_harmless(path: str) -> None:
    Path(f"{path}.lock").write_text("4194304\n")
    dead_socket(path)
    with bound(path):
        assert Path(f"{path}.lock").read_text() == f"{os.getpid()}\n"


def test_the_lock_is_not_inherited(path: str) -> None:
    with SocketPath(path):
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, close_fds=False)
    try:
        SocketPath(path).claim()
    finally:
        child.communicate(b"\n")


def test_a_symlink_is_refused_whatever_it_points_to(directory: str, path: str) -> None:
    for target in (f"{directory}/nothing", directory):
        os.symlink(target, path)
        with pytest.raises(ListenError, match=f"refused: {path} is a symbolic link"):
            SocketPath(path).claim()
        os.unlink(path)


def test_other_files_are_refused_and_left(directory: str, path: str) -> None:
    Path(path).write_text("precious")
    with pytest.raises(ListenError, match=f"refused: {path} exists and is not a socket"):
        SocketPath(path).claim()
    assert Path(path).read_text() == "precious"
    with pytest.raises(ListenError, match="is not a socket"):
        SocketPath(directory).claim()


def test_a_lock_that_is_no_file_is_refused(path: str) -> None:
    os.symlink("/etc/passwd", f"{path}.lock")
    with pytest.raises(ListenError, match=r"cannot lock .*\.lock: is a symbolic link"):
        SocketPath(path).claim()
    os.unlink(f"{path}.lock")
    os.mkfifo(f"{path}.lock")
    with pytest.raises(ListenError, match="not a regular file"):
        SocketPath(path).claim()


def test_a_directory_that_cannot_be_made(directory: str) -> None:
    Path(f"{directory}/file").write_text("")
    with pytest.raises(ListenError, match="file"):
        SocketPath(f"{directory}/file/s.sock").claim()
    with pytest.raises(ListenError, match="cannot create the socket directory"):
        SocketPath(f"{directory}/file/deep/s.sock").claim()


def test_a_directory_without_permission(directory: str) -> None:
    os.chmod(directory, 0o555)
    with without_privileges():
        with pytest.raises(ListenError, match=r"cannot lock .*: Permission denied"):
            SocketPath(f"{directory}/s.sock").claim()
        with pytest.raises(ListenError, match=r"cannot create the socket directory .*: Permission denied"):
            SocketPath(f"{directory}/new/s.sock").claim()


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
def test_a_default_directory_of_somebody_else_is_refused(directory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", directory)
    os.mkdir(f"{directory}/inferd")
    os.chown(f"{directory}/inferd", 12345, -1)
    with pytest.raises(ListenError, match="belongs to uid 12345"):
        SocketPath().claim()


def test_a_default_directory_that_is_a_link_is_refused(directory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", directory)
    os.mkdir(f"{directory}/elsewhere")
    os.symlink(f"{directory}/elsewhere", f"{directory}/inferd")
    with pytest.raises(ListenError, match="is not a directory"):
        SocketPath().claim()


def test_a_path_that_is_too_long(directory: str) -> None:
    with pytest.raises(UsageError, match="the system's limit is 10"):
        SocketPath(f"{directory}/{'x' * 200}")


def test_release_leaves_what_others_put_there(path: str) -> None:
    owner = SocketPath(path)
    owner.claim()
    with owner.bind():
        os.unlink(path)
        Path(path).write_text("theirs")
    owner.release()
    owner.release()
    assert Path(path).read_text() == "theirs"


def test_a_lock_that_is_removed_under_us_is_taken_again(path: str) -> None:
    """Its holder unlinks the lock when it ends; who opened it before then must not hold a file without a name."""
    lock = f"{path}.lock"
    fd = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(fd, fcntl.LOCK_EX)
    os.unlink(lock)
    with SocketPath(path):
        assert os.stat(lock).st_ino != os.fstat(fd).st_ino
        with pytest.raises(ListenError):
            SocketPath(path).claim()
    os.close(fd)
