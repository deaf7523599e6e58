"""ask, embed, rerank, status, watch and doctor as people run them; a service manager's side of `serve`."""

from __future__ import annotations

import contextlib
import grp
import io
import json
import os
import pty
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

import pytest
from rich.console import Console

from tests import tiny_gguf
from tests.conftest import ServeProcess
from tests.support import DATA, PATIENCE, Gate, HostThread, LinePeer, Peer, Script, json_frame, text_body
from warmwire.cli import main, reach
from warmwire.cli.watch import View, _line, _table
from warmwire.client import OutBlock, StopReason, Usage
from warmwire.client import tasks as client_tasks
from warmwire.models.base import Finish
from warmwire.transport.dial import connect
from warmwire.transport.paths import MAX_PATH, Surface, surface_addr

COMMAND = [sys.executable, "-c", "from warmwire.cli import main; main()"]
Start = Callable[..., HostThread]
Serve = Callable[..., ServeProcess]
Done = subprocess.CompletedProcess[str]


def run(*arguments: str | Path, stdin: str | None = None) -> Done:
    """Run a command in this process, which spares starting one: its standard streams are real files."""
    words = [*map(str, arguments)]
    with contextlib.ExitStack() as stack:
        streams = [stack.enter_context(tempfile.TemporaryFile("w+", newline="")) for _ in range(3)]
        streams[0].write(stdin or "")
        streams[0].seek(0)
        source = streams[0] if stdin is not None else stack.enter_context(open(os.devnull))
        patched = {"argv": ["warmwire", *words], "stdin": source, "stdout": streams[1], "stderr": streams[2]}
        for name, value in patched.items():
            stack.enter_context(mock.patch.object(sys, name, value))
        stack.enter_context(descriptor_1(streams[1].fileno()))
        with pytest.raises(SystemExit) as ended:
            main()
        sys.stdout.flush()
        written = []
        for stream in streams[1:]:
            stream.flush()
            stream.seek(0)
            written.append(stream.read())
    return subprocess.CompletedProcess(words, int(ended.value.code or 0), *written)


@contextlib.contextmanager
def descriptor_1(fd: int) -> Iterator[None]:
    """Let descriptor 1 be another, for whoever writes to it without asking `sys`."""
    before = os.dup(1)
    os.dup2(fd, 1)
    try:
        yield
    finally:
        os.dup2(before, 1)
        os.close(before)


def run_process(*arguments: str | Path, stdin: str | None = None, **environment: str) -> Done:
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | environment,
        input=stdin or "",
    )


def begin(*arguments: str | Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def failure(done: Done, status: int) -> str:
    """The one line that says what went wrong."""
    assert done.returncode == status, done.stderr
    (line,) = done.stderr.splitlines()
    return line


@pytest.fixture(scope="module")
def vectors() -> Iterator[ServeProcess]:
    """An embedding model behind a host."""
    pytest.importorskip("xllamacpp")
    with tempfile.TemporaryDirectory(prefix="ww-", dir="/tmp") as directory:
        model = tiny_gguf.encoder(Path(directory) / "encoder.gguf")
        process = ServeProcess(str(model), f"{directory}/s.sock")
        yield process
        process.end()


# ---------------------------------------------------------------------- ask


def test_ask_prints_the_answer(echo_host: ServeProcess) -> None:
    done = run("ask", "what  is this\u20ac", "--socket", echo_host.path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "what  is this\u20ac\n", "")


def test_ask_reads_standard_input(echo_host: ServeProcess) -> None:
    assert run_process("ask", "-", "--socket", echo_host.path, stdin="from a pipe\n").stdout == "from a pipe\n"
    assert run("ask", "Sum up.", "--socket", echo_host.path, stdin="a text\n").stdout == "a text\n\nSum up.\n"
    assert run("ask", "alone", "--socket", echo_host.path, stdin="").stdout == "alone\n"


def test_ask_shows_pictures(echo_host: ServeProcess, tmp_path: Path) -> None:
    pillow = pytest.importorskip("PIL.Image")
    pillow.new("RGBA", (30, 20)).save(tmp_path / "a.png")
    pillow.new("L", (7, 9)).save(tmp_path / "b.webp")
    pictures = ("--image", tmp_path / "a.png", "-i", tmp_path / "b.webp")
    done = run("ask", "look", *pictures, "--socket", echo_host.path)
    assert done.stdout == "[image image-1 30x20][image image-2 7x9]look\n"
    (tmp_path / "c.png").write_bytes(b"no picture")
    assert "c.png: not a" in failure(run("ask", "look", "-i", tmp_path / "c.png", "--socket", echo_host.path), 1)
    assert "no such file" in failure(run("ask", "look", "-i", tmp_path / "d.png", "--socket", echo_host.path), 1)
    both = ("-", "-i", "-", "--socket", echo_host.path)
    assert "can be read once only" in failure(run("ask", *both, stdin="x"), 2)
    with (tmp_path / "a.png").open("rb") as picture:
        command = [*COMMAND, "ask", "look", "-i", "-", "--socket", echo_host.path]
        shown = subprocess.run(command, stdin=picture, capture_output=True, timeout=60)
    assert shown.stdout == b"[image image-1 30x20]look\n"
    pdf = DATA / "documents" / "digital.pdf"
    assert "`warmwire ocr` reads documents" in failure(run("ask", "look", "-i", pdf, "--socket", echo_host.path), 2)


def test_ask_says_that_an_answer_was_cut(echo_host: ServeProcess, tmp_path: Path) -> None:
    options = ("--max-tokens", "2", "--socket", echo_host.path)
    done = run("ask", "one two three", *options)
    assert done.stdout == "one two\n"
    assert failure(done, 0) == "warmwire: the answer was cut after 2 tokens"
    (tmp_path / "schema.json").write_text('{"type": "object"}')
    assert run("ask", "one two three", *options, "--json-schema", tmp_path / "schema.json").returncode == 1


def test_ask_sends_everything_it_is_told(start: Start, tmp_path: Path) -> None:
    seen = []

    def play(request: object, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> Finish:
        seen.append(request)
        emit(OutBlock("thinking", "Hm.\x1b[31m"))
        emit(OutBlock("text", "A"))
        return Finish()

    (tmp_path / "s.json").write_text('{"type": "object"}')
    host = start(Script(play))
    options = ("--system", "Be brief.", "--json-schema", tmp_path / "s.json", "--temperature", "0.5", "--thinking")
    done = run("ask", "hello", *options, "--max-tokens", "9", "--socket", host.path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "A\n", "Hm.[31m\n")
    (request,) = seen
    assert [(m.role, m.content[0].text) for m in request.messages] == [("system", "Be brief."), ("user", "hello")]
    assert request.response_format == {"type": "json_schema", "schema": {"type": "object"}}
    assert (request.temperature, request.max_tokens, request.thinking) == (0.5, 9, True)


@pytest.mark.parametrize(
    ("text", "words"),
    [("{", "not JSON"), ("[1]", "not a JSON schema"), (None, "No such file"), ("[" * 9999, "not JSON")],
)
def test_a_schema_that_is_none(tmp_path: Path, path: str, text: str | None, words: str) -> None:
    if text is not None:
        (tmp_path / "s.json").write_text(text)
    assert words in failure(run("ask", "x", "--json-schema", tmp_path / "s.json", "--socket", path), 1)


@pytest.mark.parametrize("words", [("ask", "hello"), ("embed", "a"), ("rerank", "q", "d")], ids=lambda words: words[0])
def test_no_host_at_all(path: str, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    monkeypatch.setattr(reach, "DIAL_WAIT", 0.2)
    assert f"start one with: warmwire serve MODEL --socket {path}" in failure(run(*words, "--socket", path), 1)


def test_what_had_come_stays_when_the_answer_breaks_off(start: Start) -> None:
    def play(request: object, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> Finish:
        emit(OutBlock("text", "half an ans"))
        raise MemoryError

    done = run("ask", "x", "--socket", start(Script(play)).path)
    assert done.stdout == "half an ans\n"
    assert "MemoryError" in failure(done, 1)


def test_an_interrupt_cancels(start: Start) -> None:
    gate = Gate()
    process = begin("ask", "k", "--socket", start(gate).path)
    assert process.stdout is not None
    assert process.stdout.read(3) == "<k>"  # it streams: the answer is under way
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (130, "\n", "warmwire: interrupted\n")
    gate.wait_ended("k")
    assert gate.cancelled == ["k"]


def test_a_reader_that_has_enough_cancels(start: Start) -> None:
    cancelled_ = threading.Event()

    def play(request: object, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> Finish:
        try:
            while True:
                emit(OutBlock("text", "word " * 100))
        finally:
            cancelled_.set()

    process = begin("ask", "k", "--socket", start(Script(play)).path)
    assert process.stdout is not None
    process.stdout.read(10)
    process.stdout.close()
    assert process.wait(PATIENCE) == 1
    assert cancelled_.wait(PATIENCE)
    assert process.stderr is not None
    assert "Traceback" not in process.stderr.read()


def test_a_terminal_is_not_told_what_to_do(start: Start) -> None:
    def play(request: object, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> Finish:
        emit(OutBlock("text", "red\x1b[31m\x07\n\tbell\u202e"))
        return Finish(StopReason.END_TURN, Usage(1, 1))

    path = start(Script(play)).path
    assert terminal("ask", "x", "--socket", path) == b"red[31m\r\n\tbell\r\n"
    assert run("ask", "x", "--socket", path).stdout == "red\x1b[31m\x07\n\tbell\u202e\n"  # a pipe gets it all


def terminal(*arguments: str, until: bytes | None = None) -> bytes:
    """What a command prints on a terminal, to its end, or until some words appear and it is interrupted."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"COLUMNS": "90"},
    )
    os.close(theirs)
    printed = b""
    while True:
        if not select.select([ours], [], [], PATIENCE)[0]:
            process.kill()
            raise AssertionError(f"it hangs after {printed!r}")
        try:
            data = os.read(ours, 4096)
        except OSError:  # how a pty says that its other side has closed
            break
        printed += data
        if until is not None and until in printed:
            process.send_signal(signal.SIGINT)
            until = None
    os.close(ours)
    process.wait(PATIENCE)
    return printed


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


def status(path: str, expected: int = 0) -> dict[str, object]:
    done = run("status", "--json", "--socket", path)
    assert done.returncode == expected, done.stdout + done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


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
    environment = os.environ | {"PYTHONPATH": str(DATA / "faulty")}
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


def test_status_of_a_host_that_hangs(serve: Serve, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_tasks, "_STATE_WAIT", 0.2)
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
    view = View("/x.sock")
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
    done = run_process("doctor", XDG_RUNTIME_DIR=directory, PYTHONPATH=str(tmp_path), PATH="/nowhere")
    assert done.returncode == 0
    assert f"chmod 700 {directory}/inferd" in done.stdout
    assert re.search(r"^no +llama-server", done.stdout, re.M)
    if re.search(r"^ok +\[pages\]", done.stdout, re.M):
        assert re.search(r"^bad +opencv .*libGL.*opencv-python-headless$", done.stdout, re.M)


# ---------------------------------------------------------------------- other users

STRANGER = 65534


def as_stranger(path: str, groups: list[int], uid: int = STRANGER) -> str:
    """What another user gets from a socket: an answer, a closed connection, or a refusal of the file system."""
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.setgroups(groups)
            os.setgid(STRANGER)
            os.setuid(uid)
            with Peer(path) as peer:
                peer.send(json_frame(text_body("hello")))
                response = peer.receive()
            os.write(theirs, b"closed" if response is None else response["type"].encode())
        except BaseException as error:
            os.write(theirs, type(error).__name__.encode())
        finally:
            os._exit(0)
    os.close(theirs)
    with open(ours) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return said


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be somebody else")
class TestOtherUsers:
    def test_nobody_else_by_default(self, serve: Serve, directory: str, path: str) -> None:
        os.chmod(directory, 0o755)
        serve()
        assert as_stranger(path, []) == "DialError"

    def test_a_user_who_is_allowed(self, serve: Serve, directory: str, path: str) -> None:
        os.chmod(directory, 0o755)
        serve("echo", "--allow-uid", str(STRANGER))
        assert as_stranger(path, []) == "frame"
        assert as_stranger(path, [], STRANGER - 1) in ("closed", "BrokenPipeError")
        assert as_stranger(surface_addr(path, Surface.ADMIN), []) == "DialError"
        assert status(path)["ready"] is True

    def test_the_members_of_a_group(self, serve: Serve, directory: str, path: str) -> None:
        os.chmod(directory, 0o755)
        group = next(g for g in grp.getgrall() if g.gr_gid not in (0, STRANGER))
        serve("echo", "--group", group.gr_name)
        assert as_stranger(path, [group.gr_gid]) == "frame"
        assert as_stranger(path, []) == "DialError"
        assert (os.stat(path).st_mode & 0o777, os.stat(path).st_gid) == (0o660, group.gr_gid)


def test_groups_that_cannot_be(path: str) -> None:
    assert "no group 'nonesuch'" in failure(run("serve", "echo", "--group", "nonesuch", "--socket", path), 2)
    both = ("--group", "root", "--allow-uid", "1")
    assert "give --group or --allow-uid" in failure(run("serve", "echo", *both, "--socket", path), 2)


# ---------------------------------------------------------------------- under a service manager


UNIT = Path(__file__).parents[2] / "examples" / "warmwire.service"


def unit_options() -> list[str]:
    """What the example unit puts behind the model and the socket."""
    (command,) = re.findall(r"^ExecStart=(.*)$", UNIT.read_text(), re.M)
    words: list[str] = command.split()
    assert words[1:5] == ["serve", "${WARMWIRE_MODEL}", "--socket", "%t/inferd/inferd.sock"]
    return words[5:]


def test_a_service_manager_is_told(path: str, directory: str, serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(f"{directory}/notify")
        manager.settimeout(PATIENCE)
        monkeypatch.setenv("NOTIFY_SOCKET", f"{directory}/notify")
        host = serve("echo", *unit_options())
        assert manager.recv(1000) == b"STATUS=loading echo"
        assert manager.recv(1000).decode() == f"READY=1\nSTATUS=serving echo at {path}"
        assert host.stop()[0] == 0
        assert manager.recv(1000) == b"STOPPING=1\nSTATUS=draining"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_the_whole_group_still_drains(path: str, number: int) -> None:
    command = [*COMMAND, "serve", "echo", "--socket", path]
    process = subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)
    try:
        with Peer(path) as peer:
            peer.send(json_frame(text_body("word " * 60_000, id="long")))
            assert (peer.receive() or {})["type"] == "frame"
            os.killpg(process.pid, number)
            done = peer.answer()[1]
            assert (done["type"], done["usage"]["output_tokens"]) == ("done", 60_001)
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        process.wait(PATIENCE)


def test_a_service_manager_that_has_gone_is_no_harm(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", "@nobody/there")
    with Peer(serve().path) as peer:
        assert peer.ask("hello")[0] == "hello"


def activated(*sockets: socket.socket, options: tuple[str, ...], log: Path) -> subprocess.Popen[bytes]:
    """`warmwire serve echo` started as systemd starts it, with listening sockets from descriptor 3 on."""
    # Descriptors are moved out of the way first, so that none is overwritten before it is in place.
    numbers = [sock.fileno() for sock in sockets]
    moves = [f"exec {60 + i}<&{n}" for i, n in enumerate(numbers)] + [
        f"exec {3 + i}<&{60 + i}" for i in range(len(numbers))
    ]
    moves += [f"exec {60 + i}<&-" for i in range(len(numbers))]
    script = "; ".join([*moves, f'LISTEN_PID=$$ LISTEN_FDS={len(numbers)} exec "$@"'])
    command = ["/bin/bash", "-c", script, "bash", *COMMAND, "serve", "echo", *options]
    return subprocess.Popen(command, pass_fds=numbers, stderr=log.open("wb"))


def test_sockets_handed_over_are_served(path: str, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as generation, socket.socket(socket.AF_UNIX) as embed:
        for sock, name in ((generation, path), (embed, surface_addr(path, Surface.EMBEDDINGS))):
            sock.bind(name)
            sock.listen()
        with Peer(path) as early:  # it waits for the host to come, as long as that takes
            early.send(json_frame(text_body("early bird")))
            process = activated(generation, embed, options=("--socket", path), log=tmp_path / "log")
            try:
                assert early.answer()[0] == "early bird"
                with LinePeer(path, Surface.EMBEDDINGS) as peer:
                    assert peer.ask({"id": "e", "input": ["a"]})["code"] == "backend_unavailable"
                with LinePeer(path, Surface.ADMIN) as peer:
                    assert (peer.receive() or {})["status"] == "capabilities"
            finally:
                process.terminate()
                assert process.wait(PATIENCE) == 0
        assert os.path.exists(path)  # the manager's, for the next time


def test_a_socket_handed_over_for_another_path_is_refused(path: str, directory: str, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(path)
        sock.listen()
        process = activated(sock, options=("--socket", f"{directory}/other.sock"), log=tmp_path / "log")
        assert process.wait(PATIENCE) == 1
    assert f"the socket {path} was handed over, but this host listens at" in (tmp_path / "log").read_text()


def test_what_is_no_listening_socket_is_refused(path: str, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(path)
        process = activated(sock, options=("--socket", path), log=tmp_path / "log")
        assert process.wait(PATIENCE) == 1
    assert "does not listen; use Accept=no" in (tmp_path / "log").read_text()


def test_the_log_directory_by_option_and_by_environment(
    serve: Serve, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask_once(host: ServeProcess) -> list[str]:
        with Peer(host.path) as peer:
            peer.ask("secret words", id="q")
        host.stop()
        (file,) = tmp_path.glob("*/s.ndjson")
        text = file.read_text()
        file.unlink()
        assert "secret words" not in text
        return [json.loads(line)["msg"] for line in text.splitlines() if '"activity"' in line]

    expected = ["ready", "connection_accepted", "request_done", "draining", "stopped"]
    assert ask_once(serve("echo", "--log-dir", str(tmp_path / "a"))) == expected
    monkeypatch.setenv("WARMWIRE_LOG_DIR", str(tmp_path / "b"))
    assert ask_once(serve()) == expected


def test_options_of_gguf_models_are_for_gguf_models(path: str) -> None:
    assert "echo takes no --ctx" in failure(run("serve", "echo", "--ctx", "10", "--socket", path), 2)
