"""Where the sockets are, and which paths no socket can have."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from warmwire.errors import UsageError
from warmwire.transport.paths import MAX_PATH, Surface, check_path, default_addr, default_directory, surface_addr


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS has a rule of its own")
@pytest.mark.parametrize(
    ("runtime", "home", "expected"),
    [
        ("/run/user/7", "/home/x", "/run/user/7/inferd"),
        ("", "/home/x", "/home/x/.inferd/run"),
        (None, "/home/x", "/home/x/.inferd/run"),
        ("", "", f"/tmp/inferd-{os.getuid()}"),
        (None, None, f"/tmp/inferd-{os.getuid()}"),
    ],
)
def test_directory(monkeypatch: pytest.MonkeyPatch, runtime: str | None, home: str | None, expected: str) -> None:
    for name, value in (("XDG_RUNTIME_DIR", runtime), ("HOME", home)):
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)
    assert str(default_directory()) == expected
    assert default_addr() == f"{expected}/inferd.sock"
    assert default_addr(Surface.EMBEDDINGS) == f"{expected}/infer.embed.sock"
    assert default_addr(Surface.RERANK) == f"{expected}/infer.rerank.sock"
    assert default_addr(Surface.ADMIN) == f"{expected}/admin.sock"


@pytest.mark.parametrize("tmpdir", ["/var/folders/x", "", None])
def test_directory_on_macos(monkeypatch: pytest.MonkeyPatch, tmpdir: str | None) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    if tmpdir is None:
        monkeypatch.delenv("TMPDIR", raising=False)
    else:
        monkeypatch.setenv("TMPDIR", tmpdir)
    assert str(default_directory()) == f"{tmpdir or '/tmp'}/inferd"


def test_pipes_of_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert [default_addr(surface) for surface in Surface] == [
        r"\\.\pipe\inferd",
        r"\\.\pipe\inferd-infer-embed",
        r"\\.\pipe\inferd-infer-rerank",
        r"\\.\pipe\inferd-admin",
    ]


def test_the_limit_counts_bytes_and_is_named() -> None:
    assert check_path("/" + "x" * (MAX_PATH - 1)) == "/" + "x" * (MAX_PATH - 1)
    long = "/tmp/" + "é" * 60
    with pytest.raises(UsageError, match=rf"is 125 bytes long, the system's limit is {MAX_PATH}: {long}") as caught:
        check_path(long)
    assert caught.value.exit_status == 2


@pytest.mark.parametrize("path", ["", "a\0b"])
def test_no_path_at_all(path: str) -> None:
    with pytest.raises(UsageError, match="not a socket path"):
        check_path(path)


@pytest.mark.parametrize(
    ("addr", "surface", "path"),
    [
        (None, Surface.GENERATION, "/run/me/inferd/inferd.sock"),
        (None, Surface.EMBEDDINGS, "/run/me/inferd/infer.embed.sock"),
        (None, Surface.RERANK, "/run/me/inferd/infer.rerank.sock"),
        (None, Surface.ADMIN, "/run/me/inferd/admin.sock"),
        ("/x/inferd.sock", Surface.ADMIN, "/x/admin.sock"),
        ("/x/pages.sock", Surface.GENERATION, "/x/pages.sock"),
        ("/x/pages.sock", Surface.EMBEDDINGS, "/x/pages.embed.sock"),
        ("/x/pages.sock", Surface.RERANK, "/x/pages.rerank.sock"),
        (Path("/x/pages.sock"), Surface.ADMIN, "/x/pages.admin.sock"),
        ("here", Surface.ADMIN, "here.admin.sock"),
    ],
)
def test_the_other_sockets_of_a_host(
    monkeypatch: pytest.MonkeyPatch, addr: str | Path | None, surface: Surface, path: str
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/me")
    assert surface_addr(addr, surface) == path


@pytest.mark.parametrize("path", [".", "/", "./"])
def test_a_path_without_a_name_has_no_neighbours(path: str) -> None:
    with pytest.raises(UsageError, match="not a socket path"):
        surface_addr(path, Surface.ADMIN)
