"""The folder for sockets that nobody else needs to find."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import pytest

from warmwire.errors import WarmwireError
from warmwire.system.private import private_directory
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
