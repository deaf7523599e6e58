"""`warmwire serve` as its users run it: a process, its socket, its signals, its words."""

from __future__ import annotations

import os
import resource
import signal
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.conftest import Serve, ServeProcess
from tests.support import (
    COMMAND,
    FAULTY_PATH,
    GOLDEN_REQUEST,
    Peer,
    blob_pair,
    children,
    descriptor,
    eventually,
    image_body,
    is_running,
    json_frame,
    kill,
    open_descriptors,
    random_image,
    text_body,
)
from warmwire.client import Client, DialError
from warmwire.transport.dial import connect

BIG = ("w" * 1000 + " ") * 8000
"""An echo of this takes a worker a while, and a client that does not read it holds it at work."""

REST = BIG[1000:]
"""What `busy` leaves unread."""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [*COMMAND, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def busy(host: ServeProcess, *, id: str = "busy") -> Peer:
    """A connection whose answer is under way and unread."""
    peer = Peer(host.path)
    peer.send(json_frame(text_body(BIG, id=id)))
    assert (peer.receive() or {})["type"] == "frame"
    return peer


def let_it_see(host: ServeProcess) -> None:
    """Wait until the host has seen what was sent to it before: it answers invalid requests at once, in their turn."""
    with Peer(host.path) as peer:
        peer.send(json_frame(text_body() | {"messages": []}))
        assert peer.answer()[1]["code"] == "invalid_request"


# ---------------------------------------------------------------------- serving


def test_golden_request(echo_host: ServeProcess) -> None:
    with Peer(echo_host.path) as peer:
        for _ in range(3):
            peer.send(GOLDEN_REQUEST)
            text, done = peer.answer()
            assert text == "[image page-1 3x2]Convert this page to docling."
            assert done == {
                "id": "page-1",
                "type": "done",
                "usage": {"input_tokens": 5, "output_tokens": 6},
                "stop_reason": "end_turn",
                "backend": "echo",
            }


def test_a_large_page(echo_host: ServeProcess) -> None:
    image = random_image(2200, 1700)
    with Client(echo_host.path) as client:
        for _ in range(3):
            assert client.ask("a b", images=[image]).text() == "[image image-1 1700x2200]a b"


def test_errors_keep_and_close(echo_host: ServeProcess) -> None:
    with Peer(echo_host.path) as peer:
        peer.send(json_frame(text_body(tool_choice="auto")))
        assert peer.answer()[1]["code"] == "invalid_request"
        assert peer.ask("still here")[0] == "still here"
        peer.send(json_frame(text_body(wire_version=3)))
        assert peer.answer()[1]["code"] == "wire_version_unsupported"
        assert peer.at_end()


def test_fifty_clients_all_finish(serve: Serve) -> None:
    host = serve("echo", "--workers", "2", "--queue", "100")
    results: list[str] = []

    def client(n: int) -> None:
        with Client(host.path) as client:
            results.append(client.ask(f"client {n} of fifty", images=[random_image(50, 50)]).text())

    threads = [threading.Thread(target=client, args=(n,)) for n in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == sorted(f"[image image-1 50x50]client {n} of fifty" for n in range(50))


def test_two_hundred_connections_leave_no_descriptor(serve: Serve) -> None:
    host = serve()
    with Peer(host.path) as peer:
        peer.send(GOLDEN_REQUEST)
        peer.answer()
    before = eventually(lambda: open_descriptors(host.pid))
    for n in range(200):
        with Peer(host.path) as peer:
            if n % 3 == 1:
                peer.send(GOLDEN_REQUEST)
            elif n % 3 == 2:
                peer.send(json_frame(image_body("a")), descriptor("a", 6), b"\x06\x02ab")
    with Peer(host.path) as peer:
        assert peer.ask("still here")[0] == "still here"
    # Up to a few blobs are kept for the next page: a descriptor and its mapping each.
    eventually(lambda: open_descriptors(host.pid) <= before + 4, "the end of all descriptors")


def test_a_host_out_of_descriptors_serves_who_is_there_and_the_others_later(serve: Serve) -> None:
    host = serve()
    with Peer(host.path) as peer:
        peer.ask("warm up")
    eventually(lambda: stat.S_ISSOCK(os.stat(host.path).st_mode))
    old = resource.prlimit(host.pid, resource.RLIMIT_NOFILE)
    numbers = [int(name) for name in os.listdir(f"/proc/{host.pid}/fd")]
    free = min(set(range(1000)) - set(numbers))
    resource.prlimit(host.pid, resource.RLIMIT_NOFILE, (max(max(numbers) + 1, free + 2), old[1]))
    peers = [Peer(host.path) for _ in range(40)]
    for n, peer in enumerate(peers):
        peer.send(json_frame(text_body(f"peer {n}")))
    for n, peer in enumerate(peers):  # the first are answered; each that leaves makes room for another
        with peer:
            assert peer.answer()[0] == f"peer {n}"
    status, log = host.stop()
    assert status == 0
    assert "cannot accept a connection: Too many open files" in log


def test_a_client_that_reads_nothing_is_dropped(serve: Serve) -> None:
    host = serve("echo", "--write-timeout", "0.3", "--queue", "0")
    with busy(host), Peer(host.path) as patient:
        assert patient.ask("x")[1]["code"] == "queue_full"
        assert eventually(lambda: patient.ask("x")[1]["type"] == "done", "a free slot")


def test_a_worker_killed_in_mid_request(serve: Serve) -> None:
    host = serve("echo", "--workers", "2")
    workers = eventually(lambda: len(found := children(host.pid)) == 2 and found)
    with busy(host, id="a") as first, busy(host, id="b") as second, Peer(host.path) as waiting:
        waiting.send(GOLDEN_REQUEST)
        victim = min(workers)
        kill(victim)
        endings = [first.answer(), second.answer()]
        errors = [end for _, end in endings if end["type"] == "error"]
        assert len(errors) == 1
        assert errors[0]["code"] == "backend_unavailable"
        assert f"pid {victim}) died: killed by SIGKILL" in errors[0]["message"]
        assert [text for text, end in endings if end["type"] == "done"] == [REST]
        assert waiting.answer()[1]["type"] == "done"
    after = eventually(lambda: len(found := children(host.pid)) == 2 and found, "a new worker")
    assert victim not in after
    assert workers - {victim} <= after
    status, log = host.stop()
    assert status == 0
    assert f"worker {victim} ended: killed by SIGKILL" in log


# ---------------------------------------------------------------------- the socket


def test_the_socket_appears_when_the_model_is_loaded(
    serve: Serve, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that cannot start keeps the socket away."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    (tmp_path / "sitecustomize.py").write_text(
        f"import sys\nif 'warmwire.host.workers.process' in sys.orig_argv: open({str(fifo)!r}).read()\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    host = serve(wait=False)
    with open(fifo, "w"):  # opens when the worker waits for it
        assert not os.path.exists(path)
        with pytest.raises(DialError, match="no such file"):
            connect(path, wait=0)
        second = run("serve", "echo", "--socket", path)
        assert second.returncode == 1
        assert f"{path} is already served by pid {host.pid}" in second.stderr
    assert f"echo is ready at {path} (1 worker)" in host.wait_ready()
    connect(path, wait=0).close()
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_its_directory_is_private(serve: Serve, directory: str) -> None:
    serve(path=f"{directory}/a/b/s.sock")
    assert stat.S_IMODE(os.stat(f"{directory}/a/b").st_mode) == 0o700


def test_a_second_host_is_refused_and_the_first_unharmed(echo_host: ServeProcess) -> None:
    second = run("serve", "echo", "--socket", echo_host.path)
    assert second.returncode == 1
    assert second.stderr == (
        f"warmwire: {echo_host.path} is already served by pid {echo_host.pid}; stop it or give another path\n"
    )
    with Peer(echo_host.path) as peer:
        assert peer.ask("x")[0] == "x"


def test_a_killed_host_leaves_nothing_in_the_way_of_the_next(serve: Serve, path: str) -> None:
    first = serve("echo", "--workers", "2")
    workers = eventually(lambda: len(found := children(first.pid)) == 2 and found)
    with busy(first), Peer(first.path) as other:
        other.send(json_frame(image_body("a")) + blob_pair("a", bytes(6)))
        first.stop(signal.SIGKILL)
    assert os.path.exists(path)
    with pytest.raises(DialError, match="its host has ended"):
        connect(path, wait=0)
    eventually(lambda: not any(map(is_running, workers)), "the end of the orphaned workers")
    serve()
    with Peer(path) as peer:
        assert peer.ask("x")[0] == "x"


@pytest.mark.parametrize("kind", ["file", "symlink", "directory", "too long", "not a directory"])
def test_a_path_that_cannot_be_served(directory: str, path: str, kind: str) -> None:
    expected, status = f"refused: {path} exists and is not a socket", 1
    if kind == "file":
        Path(path).write_text("precious")
    elif kind == "directory":
        os.mkdir(path)
    elif kind == "symlink":
        os.symlink("nowhere", path)
        expected = f"refused: {path} is a symbolic link"
    elif kind == "too long":
        path = f"{directory}/{'x' * 100}"
        expected, status = f"socket path is {len(path)} bytes long, the system's limit is", 2
    else:
        Path(path).write_text("")
        path = f"{path}/deep/s.sock"
        expected = "cannot create the socket directory"
    result = run("serve", "echo", "--socket", path)
    assert result.returncode == status
    assert result.stdout == ""
    assert result.stderr.startswith(f"warmwire: {expected}")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nonsense"], "unknown model 'nonsense'"),
        (["echo", "--workers", "0"], "--workers"),
        (["echo", "--queue", "-1"], "--queue"),
    ],
)
def test_wrong_usage(arguments: list[str], message: str) -> None:
    result = run("serve", *arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_a_model_that_cannot_be_loaded(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", FAULTY_PATH)
    script = "from warmwire.host.daemon import run_host; run_host('faulty-exit', %r)" % path  # noqa: UP031
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert "a worker died while loading its model: exit status 7" in result.stderr
    assert not os.path.exists(path)
    assert not os.path.exists(f"{path}.lock")


# ---------------------------------------------------------------------- the end


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_drains(serve: Serve, path: str, number: int) -> None:
    host = serve("echo", "--drain-timeout", "60")
    workers = eventually(lambda: children(host.pid))
    with busy(host) as running, Peer(path) as waiting, Peer(path) as idle:
        waiting.send(GOLDEN_REQUEST)
        let_it_see(host)
        host.process.send_signal(number)
        eventually(lambda: not os.path.exists(path), "the end of the socket")
        text, error = idle.ask("too late")
        assert (error["code"], idle.at_end()) == ("backend_unavailable", True)
        text, done = running.answer()
        assert text == REST
        assert done["type"] == "done"
        assert waiting.answer()[1]["type"] == "done"
    assert host.process.wait(60) == 0
    assert os.listdir(os.path.dirname(path)) == []
    assert not any(map(is_running, workers))


def test_after_the_drain_timeout_the_rest_is_cut(serve: Serve, path: str) -> None:
    host = serve("echo", "--drain-timeout", "0.3")
    with busy(host) as running, Peer(path) as waiting:
        waiting.send(GOLDEN_REQUEST)
        let_it_see(host)
        host.process.send_signal(signal.SIGTERM)
        assert waiting.answer()[1]["code"] == "backend_unavailable"
        assert running.answer()[1]["code"] == "backend_unavailable"
    assert host.process.wait(60) == 0
    assert not os.path.exists(path)


def test_a_second_signal_does_not_wait(serve: Serve, path: str) -> None:
    host = serve("echo", "--drain-timeout", "1000")
    with busy(host):
        host.process.send_signal(signal.SIGTERM)
        eventually(lambda: not os.path.exists(path), "the end of the socket")
        host.process.send_signal(signal.SIGTERM)
        assert host.process.wait(60) == 0


def test_a_signal_while_loading(serve: Serve, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import sys, time\nif 'warmwire.host.workers.process' in sys.orig_argv: time.sleep(1000)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    host = serve(wait=False)
    [worker] = eventually(lambda: children(host.pid))
    status, _ = host.stop()
    assert status == 0
    assert os.listdir(os.path.dirname(path)) == []
    assert not is_running(worker)


def test_nothing_is_said_on_stdout(serve: Serve) -> None:
    host = serve()
    with Peer(host.path) as peer:
        peer.ask("x")
    host.process.send_signal(signal.SIGTERM)
    out, _ = host.process.communicate(timeout=60)
    assert out == ""


def test_a_socket_that_is_taken_away_under_it_is_not_ours_to_remove(serve: Serve, path: str) -> None:
    host = serve()
    os.unlink(path)
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(path)
        host.stop()
        assert os.path.exists(path)
