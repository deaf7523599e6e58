"""`embed`, `rerank`, `status`, `watch` and `doctor` as commands."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from tests import tiny_gguf
from tests.cli_support import begin, failure, run, run_process, status, terminal
from tests.conftest import Serve, ServeProcess
from tests.support import FAULTY_PATH, PATIENCE, Gate, LinePeer, Peer, Start
from warmwire.cli.verbs.watch import WatchView, _line, _table
from warmwire.transport.dial import connect
from warmwire.transport.paths import MAX_PATH, Surface, surface_addr


@pytest.fixture(scope="module")
def vectors() -> Iterator[ServeProcess]:
    """An embedding model behind a host."""
    pytest.importorskip("xllamacpp")
    with tempfile.TemporaryDirectory(prefix="ww-", dir="/tmp") as directory:
        model = tiny_gguf.encoder(Path(directory) / "encoder.gguf")
        process = ServeProcess(str(model), f"{directory}/s.sock")
        yield process
        process.end()


# ---------------------------------------------------------------------- embed, rerank


def test_embed(vectors: ServeProcess) -> None:
    done = run("embed", "hello", "world", "--socket", vectors.path)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found.keys() == {"embeddings", "dimensions", "model", "usage", "backend"}
    assert (len(found["embeddings"]), found["dimensions"], found["model"]) == (2, 32, "encoder")
    done = run("embed", "-", "--format", "lines", "--dimensions", "8", "--socket", vectors.path, stdin="hello\nworld\n")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [len(line) for line in lines] == [8, 8]
    assert (
        run("embed", "-f", "lines", "--dimensions", "8", "--socket", vectors.path, stdin="hello\nworld").stdout
        == done.stdout
    )


@pytest.mark.parametrize(
    ("arguments", "stdin", "status", "words"),
    [
        (["--task", "poetry", "a"], None, 2, "--task poetry is none of retrieval_query"),
        ([], None, 2, "nothing to embed"),
        (["-"], "", 2, "nothing to embed"),
        (["-"], "a\n\nb\n", 1, "input[1] must not be empty"),
        (["a", "--dimensions", "33"], None, 1, "33"),
    ],
)
def test_embed_refuses(vectors: ServeProcess, arguments: list[str], stdin: str | None, status: int, words: str) -> None:
    assert words in failure(run("embed", *arguments, "--socket", vectors.path, stdin=stdin), status)


def test_verbs_that_the_model_cannot(vectors: ServeProcess, echo_host: ServeProcess) -> None:
    assert "does not rerank" in failure(run("rerank", "q", "d", "--socket", vectors.path), 1)
    assert "does not embed" in failure(run("embed", "a", "--socket", echo_host.path), 1)
    assert "does not generate" in failure(run("ask", "a", "--socket", vectors.path), 1)


def test_rerank(serve: Serve, tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    host = serve(str(tiny_gguf.encoder(tmp_path / "ranker.gguf", rank=True)))
    documents = ["one thing", "two\tthings", "three"]
    done = run("rerank", "which", *documents, "--socket", host.path)
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    scores = [float(score) for score, _, _ in lines]
    assert scores == sorted(scores, reverse=True)
    assert {(index, text) for _, index, text in lines} == {("0", "one thing"), ("1", "two things"), ("2", "three")}
    piped = run("rerank", "which", "--top-n", "2", "--json", "--socket", host.path, stdin="\n".join(documents))
    assert [str(r["index"]) for r in json.loads(piped.stdout)["results"]] == [index for _, index, _ in lines[:2]]
    assert "nothing to rank" in failure(run("rerank", "which", "--socket", host.path), 2)


# ---------------------------------------------------------------------- status, watch


def test_status_of_a_ready_host(echo_host: ServeProcess) -> None:
    found = status(echo_host.path)
    assert (found["alive"], found["ready"], found["state"], found["pid"]) == (True, True, "ready", echo_host.pid)
    assert found["activity"]["capacity"] == 12  # type: ignore[index]
    done = run("status", "--socket", echo_host.path)
    assert re.search(rf"^alive +yes, pid {echo_host.pid}$", done.stdout, re.M)
    assert re.search(r"^ready +yes: it takes requests$", done.stdout, re.M)
    assert re.search(r"^model +echo \(cpu\): vision$", done.stdout, re.M)
    assert re.search(r"^requests +0 running, 0 waiting \(room for 12\), \d+ answered, 0 refused$", done.stdout, re.M)


def test_status_of_nothing(path: str) -> None:
    found = status(path, 1)
    assert (found["alive"], found["ready"], found["pid"]) == (False, False, None)
    done = run_process("status", "--socket", path)
    assert re.search(r"^state +not running: no host listens at", done.stdout, re.M)
    assert f"warmwire serve MODEL --socket {path}" in done.stdout


def test_status_at_the_default_address(directory: str) -> None:
    done = run_process("status", "--json", XDG_RUNTIME_DIR=directory)
    assert done.returncode == 1
    assert json.loads(done.stdout)["socket"] == f"{directory}/inferd/inferd.sock"


def test_status_of_a_loading_host(path: str, tmp_path: Path) -> None:
    script = f"from warmwire.host.daemon import run_host; run_host('faulty@{tmp_path / 'go'}', {path!r})"
    environment = os.environ | {"PYTHONPATH": FAULTY_PATH}
    process = subprocess.Popen([sys.executable, "-c", script], env=environment, stderr=subprocess.DEVNULL)
    try:
        with LinePeer(path, Surface.ADMIN) as peer:
            assert (peer.receive() or {})["status"] in ("starting", "loading_model")
        found = status(path)
        assert (found["alive"], found["ready"], found["state"]) == (True, False, "loading_model")
        assert "it loads its model (checking_local: faulty@" in str(found["reason"])
        asking = begin("ask", "hello", "--socket", path)
        assert asking.stderr is not None
        assert "waiting for the host: it loads its model" in asking.stderr.readline()
        (tmp_path / "go").touch()
        assert asking.communicate(timeout=PATIENCE)[0].startswith("pid ")
        connect(path, wait=PATIENCE).close()
        assert status(path)["ready"] is True
    finally:
        process.terminate()
        process.wait(PATIENCE)


def test_status_of_a_host_whose_sockets_have_gone(serve: Serve, path: str) -> None:
    host = serve()
    os.unlink(path)
    found = status(path, 1)
    assert (found["alive"], found["ready"], found["lost"], found["pid"]) == (True, False, [path], host.pid)
    os.unlink(surface_addr(path, Surface.ADMIN))
    found = status(path, 1)
    assert (found["alive"], found["lost"]) == (True, [path])
    assert str(found["reason"]).startswith(f"pid {host.pid} serves this path, but its socket has gone")


def test_status_of_a_host_that_was_killed(serve: Serve, path: str) -> None:
    host = serve()
    host.process.kill()
    host.process.wait(PATIENCE)
    found = status(path, 1)
    assert (found["alive"], found["pid"]) == (False, None)
    assert "its host has ended" in str(found["reason"])


def test_status_of_a_host_that_hangs(serve: Serve, path: str) -> None:
    host = serve()
    host.process.send_signal(signal.SIGSTOP)
    try:
        found = status(path, 1)
    finally:
        host.process.send_signal(signal.SIGCONT)
    assert found["alive"] is False
    assert "it hangs" in str(found["reason"])


def test_status_of_a_host_without_an_admin_socket(start: Start) -> None:
    found = status(start(Gate()).path)
    assert (found["alive"], found["ready"]) == (True, True)
    assert "tells nothing of itself" in str(found["reason"])


def test_status_of_a_path_without_room_for_an_admin_socket(directory: str, serve: Serve) -> None:
    path = f"{directory}/".ljust(MAX_PATH, "x")
    serve("echo", path=path)
    assert status(path)["ready"] is True
    done = run("status", "--socket", path + "x")
    assert f"the system's limit is {MAX_PATH}" in failure(done, 2)


def test_watch_prints_a_line_for_each_change(serve: Serve) -> None:
    host = serve()
    process = begin("watch", "--socket", host.path)
    assert process.stdout is not None
    assert re.fullmatch(r"\d\d:\d\d:\d\d ready: it takes requests\n", process.stdout.readline())
    assert "ready: it takes requests; 0 running, 0 waiting (room for 11), 0 answered" in process.stdout.readline()
    with Peer(host.path) as peer:
        peer.ask("hello")
    line = process.stdout.readline()
    assert re.search(r"1 answered, 0 refused, \d+ messages/s$", line.rstrip())
    host.stop()
    rest, err = process.communicate(timeout=PATIENCE)
    assert "draining: it is shutting down" in rest
    assert (process.returncode, err) == (0, "warmwire: the host has ended\n")


def test_watch_is_a_view_on_a_terminal(echo_host: ServeProcess) -> None:
    printed = terminal("watch", "--socket", echo_host.path, until=b"messages")
    assert b"ready: it takes requests" in printed
    assert b"(room for 12)" in printed


def test_a_view_takes_whatever_a_host_says() -> None:
    view = WatchView("/x.sock")
    events: list[dict[str, object]] = [
        {"status": "capabilities"},
        {"status": "capabilities", "backend": "\x1b[31ma\nb"},
        {"status": "activity", "outstanding": "many", "workers": None, "sent": [1]},
        {"status": "activity", "outstanding": 10**9, "workers": 10**9, "capacity": -1, "sent": 5},
        {"status": "activity", "outstanding": 2, "workers": 1, "sent": 3},
        {"status": 7},
        {},
        {"status": "loading_model", "phase": ["x"], "path": "\x1b]0;title\x07" + "p" * 10_000},
    ]
    news = [view.take(event, now) for now, event in enumerate(events)]
    assert news == [False, False, True, True, True, False, False, True]
    text = io.StringIO()
    Console(file=text, width=200).print(_table(view))
    for printed in (text.getvalue(), _line(view)):
        assert "loading_model: it loads its model" in printed
        assert "\x1b" not in printed
        assert len(printed) < 5000
    assert "1 running, 1 waiting (room for 0)" in text.getvalue()


def test_watch_of_nothing(path: str) -> None:
    assert "no host listens" in failure(run("watch", "--socket", path), 1)


# ---------------------------------------------------------------------- doctor


def test_doctor_finds_everything_here() -> None:
    done = run("doctor")
    assert done.returncode == 0
    found = {line.split()[1]: line.split()[0] for line in done.stdout.splitlines()}
    assert {"python", "base", "markov", "sockets", "listening", "[pages]", "[llama]", "[bridge]"} <= found.keys()
    assert (found["python"], found["base"], found["listening"]) == ("ok", "ok", "ok")


def test_doctor_says_what_to_do(directory: str, tmp_path: Path) -> None:
    (Path(directory) / "inferd").mkdir(mode=0o755)
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Missing:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'cv2':\n"
        "            raise ImportError('libGL.so.1: cannot open shared object file', name=name)\n"
        "sys.meta_path.insert(0, Missing())\n"
    )
    done = run_process(
        "doctor",
        XDG_RUNTIME_DIR=directory,
        PYTHONPATH=f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
        PATH="/nowhere",
    )
    assert done.returncode == 0
    assert f"chmod 700 {directory}/inferd" in done.stdout
    assert re.search(r"^no +llama-server", done.stdout, re.M)
    if re.search(r"^ok +\[pages\]", done.stdout, re.M):
        assert re.search(r"^bad +opencv .*libGL.*opencv-python-headless$", done.stdout, re.M)
