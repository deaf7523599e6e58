"""`warmwire bridge` with a configuration, `ps`, `load` and `stop`, as their users run them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bridge_support import BridgeProcess
from tests.cli_support import failure, run
from tests.conftest import Serve
from tests.support import eventually, is_running
from warmwire.transport.listen import lock_holder

CONFIG = """
[aliases]
gpt = "parrot"
[models.parrot]
model = "echo"
[models.bad]
model = "nowhere.gguf"
"""


@pytest.fixture(autouse=True)
def runtime(directory: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Folders of the test's own, with a configuration in the usual place; whatever was loaded there is ended."""
    for variable in ("XDG_RUNTIME_DIR", "TMPDIR", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(variable, directory)
    config = Path(directory, "warmwire")
    config.mkdir()
    (config / "models.toml").write_text(CONFIG)
    yield Path(directory, "inferd")
    for path in Path(directory, "inferd").glob("*.sock"):
        run("stop", path)


def listed() -> dict[str, dict[str, object]]:
    done = run("ps", "--json")
    assert done.returncode == 0
    return {row["name"]: row for row in map(json.loads, done.stdout.splitlines())}


def test_load_ps_and_stop_without_a_bridge(runtime: Path) -> None:
    assert {name: row["state"] for name, row in listed().items()} == {"parrot": "stopped", "bad": "stopped"}
    done = run("load", "gpt")
    assert done.returncode == 0
    path = runtime / "parrot.sock"
    assert done.stderr.endswith(f"warmwire: parrot is ready at {path}\n")
    pid = lock_holder(str(path))
    assert run("load", "parrot").returncode == 0  # it is there already
    row = listed()["parrot"]
    assert (row["model"], row["state"], row["pid"], row["socket"]) == ("echo", "ready", pid, str(path))
    assert isinstance(row["memory"], int)
    assert 10e6 < row["memory"] < 1e9
    assert isinstance(row["idle"], float)
    assert run("ask", "--socket", path, "hello").stdout == "hello\n"
    eventually(lambda: listed()["parrot"]["idle"] != 0, "it is idle")
    head, *lines = run("ps").stdout.splitlines()
    assert head.split() == ["NAME", "MODEL", "STATE", "REQUESTS", "MEMORY", "IDLE", "PID", "SOCKET"]
    assert lines[0].split()[:4] == ["parrot", "echo", "ready", "0"]
    assert lines[1].split() == ["bad", "nowhere.gguf", "stopped", "-", "-", "-", "-", str(runtime / "bad.sock")]
    done = run("stop", "echo")  # the model's own name will do
    assert done.stderr == f"warmwire: echo (pid {pid}) has ended\n"
    eventually(lambda: not is_running(pid or 0), "the process has gone")


def test_what_cannot_be_loaded_or_stopped(runtime: Path, directory: str, serve: Serve) -> None:
    assert failure(run("load", "bad"), 1) == "warmwire: bad cannot be loaded: nowhere.gguf: no such file"
    assert failure(run("load", "x"), 1) == "warmwire: no model is declared as 'x'; there are: parrot, bad"
    assert failure(run("stop", "x"), 1) == "warmwire: no model is called 'x'; there are: bad, parrot"
    assert failure(run("stop", "gpt"), 1) == "warmwire: the host of gpt does not run"
    assert failure(run("stop", f"{directory}/no.sock"), 1).endswith("does not run")
    assert "is no size" in failure(run("ps", "--config", write(directory, 'memory = "x"')), 2)
    for name in ("a", "b"):
        serve("echo", path=str(runtime / f"{name}.sock"))
    assert failure(run("stop", "echo"), 2).startswith("warmwire: several hosts are called 'echo'; name the socket: ")
    assert run("stop", "a").returncode == 0
    assert run("stop", "echo").returncode == 0


def write(directory: str, text: str) -> str:
    path = os.path.join(directory, "other.toml")
    Path(path).write_text(text)
    return path


def test_a_bridge_takes_what_was_loaded_and_starts_what_was_stopped(runtime: Path, directory: str) -> None:
    front = BridgeProcess(None, "--config", write(directory, CONFIG.replace('"echo"', '"echo"\nkeep_alive = "1s"')))
    try:
        assert f"bridge to {runtime} and 2 declared models is ready" in front.ready_line
        run("load", "parrot")
        path = str(runtime / "parrot.sock")
        eventually(lambda: lock_holder(path) is None, "the bridge unloads it")
        said = [{"role": "user", "content": "hello there"}]
        answer = front.post("/chat/completions", {"model": "gpt", "messages": said})
        assert "hello there" in answer.text
        pid = lock_holder(path)
        assert pid is not None
        status, log = front.stop()
        assert status == 0
        assert log == front.ready_line
        assert not is_running(pid)
    finally:
        front.end()


def test_wrong_configurations_in_one_line(directory: str) -> None:
    done = run("bridge", "--config", write(directory, "[models.x]\nmodel = 3"))
    assert failure(done, 2) == f"warmwire: {directory}/other.toml: models.x.model: expected `str`, got `int`"
    assert "cannot be read" in failure(run("bridge", "--config", f"{directory}/none.toml"), 1)
