"""Files that take their name when they are whole, and the processors that are ours."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from warmwire.errors import InputError, UsageError
from warmwire.host.workers.pool import WorkerPool
from warmwire.markov import storage
from warmwire.models.registry import check_model
from warmwire.system.cpus import cores
from warmwire.system.files import replacing, write_all

LONG = "x" * 300


def test_writers_of_one_path_do_not_meet(tmp_path: Path) -> None:
    path = tmp_path / "model.gril"
    (tmp_path / f".model.gril.{os.getpid()}.tmp").write_bytes(b"left behind by a killed run of the same number")
    both = threading.Barrier(2)
    failed: list[Exception] = []

    def write(letter: bytes) -> None:
        try:
            with storage.replacing(path) as file:
                both.wait(10)
                write_all(file, 100_000 * letter)
                both.wait(10)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=write, args=(letter,)) for letter in (b"a", b"b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert not failed
    assert path.read_bytes() in (100_000 * b"a", 100_000 * b"b")
    assert len(os.listdir(tmp_path)) == 2


def interrupt(written: int) -> None:
    assert written
    raise KeyboardInterrupt


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "old"
    path.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt), replacing(path) as file:
        interrupt(file.write(b"new"))
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["old"]


def test_the_umask_is_kept_and_never_touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = os.umask(0o027)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(os, "umask", lambda mask: pytest.fail("other threads create files at this moment"))
            with replacing(tmp_path / "new") as file:
                write_all(file, b"new")
        assert (tmp_path / "new").stat().st_mode & 0o777 == 0o640
    finally:
        os.umask(before)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    with replacing(tmp_path / "link") as file:
        write_all(file, b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


@pytest.mark.parametrize("name", [LONG, LONG + ".gril", f"{LONG}/x"])
def test_a_model_that_cannot_be_written_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"cannot write .*File name too long"), storage.replacing(tmp_path / name):
        pytest.fail("there is no such file to write")
    with pytest.raises(UsageError, match="not a regular file"), storage.replacing(tmp_path):
        pytest.fail("a directory is no file")


@pytest.mark.parametrize("name", ["{}.gguf", "{}.gguf?ctx=9", "{}.gril", "page:{}.gguf"])
def test_a_model_that_cannot_be_looked_up_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"cannot be read \(File name too long"):
        check_model(name.format(tmp_path / LONG))
    with pytest.raises(InputError, match="no such file"):
        check_model(name.format(tmp_path / "none"))
    (tmp_path / "dir.gguf").mkdir()
    (tmp_path / "dir.gril").mkdir()
    with pytest.raises(InputError, match="is not a file"):
        check_model(name.format(tmp_path / "dir"))


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system cannot say which processors are ours")
def test_processors_that_are_not_ours_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert cores() == len(os.sched_getaffinity(0))
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {3})
    assert cores() == 1
    assert WorkerPool("echo").threads == 1
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(6)))
    assert WorkerPool("echo", workers=2).threads == 3


def test_no_other_module_counts_processors() -> None:
    source = Path(storage.__file__).parents[2]
    counting = [file.name for file in source.rglob("*.py") if "cpu_count" in file.read_text()]
    assert counting == ["cpus.py"]
