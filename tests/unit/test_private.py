"""The folder for sockets that nobody else needs to find."""

from __future__ import annotations

import fcntl
import os
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from warmwire.errors import WarmwireError
from warmwire.host.daemon import PrivateHost
from warmwire.system.private import PrivateDirectory, private_directory
from warmwire.transport.paths import Surface, check_path, surface_addr


def test_a_socket_has_room_in_it_whatever_tmpdir_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / ("x" * 100)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    place = private_directory()
    try:
        for surface in Surface:
            check_path(surface_addr(f"{place}/private.sock", surface))
        assert stat.S_IMODE(os.stat(place).st_mode) == 0o700
    finally:
        os.rmdir(place)


def test_where_there_is_no_room_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/no/such/place")
    with pytest.raises(WarmwireError, match="set TMPDIR"):
        private_directory()


@pytest.fixture
def base(directory: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The place of temporary folders, for this test alone."""
    monkeypatch.setattr(tempfile, "tempdir", directory)
    return Path(directory)


def test_what_killed_owners_leave_behind_goes_with_the_next_one(base: Path) -> None:
    script = (
        "import os; from warmwire.system.private import PrivateDirectory;"
        " os.mkdir(PrivateDirectory().path + '/more'); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", script], env=os.environ | {"TMPDIR": str(base)})
    [abandoned] = base.iterdir()
    (base / "elsewhere").mkdir()
    (base / "elsewhere" / "owner").touch()
    (base / "warmwire-link").symlink_to("elsewhere")
    (base / "warmwire-file").touch()
    (base / "warmwire-without").mkdir()
    with PrivateDirectory() as alive:
        assert not abandoned.exists()
        with PrivateDirectory() as other:
            assert os.listdir(alive.path) == os.listdir(other.path) == ["owner"]
        assert not os.path.exists(other.path)
    kept = {"elsewhere", "warmwire-link", "warmwire-file", "warmwire-without"}
    assert set(os.listdir(base)) == kept
    assert os.listdir(base / "elsewhere") == ["owner"]


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_signal_while_it_is_made_leaves_nothing(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fcntl, "flock", interrupted)
    with pytest.raises(KeyboardInterrupt):
        PrivateDirectory()
    assert not list(base.iterdir())


def test_a_signal_while_a_private_host_ends_leaves_nothing(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = set(threading.enumerate())
    host = PrivateHost("echo", threads=1)
    host.wait()
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "join", interrupted)
        with pytest.raises(KeyboardInterrupt):
            host.close()
    for thread in set(threading.enumerate()) - before:
        thread.join()
    assert not list(base.iterdir())
