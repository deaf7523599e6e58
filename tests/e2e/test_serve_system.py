"""`warmwire serve` in a system: other users, service managers, sockets handed over, a log."""

from __future__ import annotations

import grp
import json
import os
import re
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from tests.cli_support import failure, run, status
from tests.conftest import Serve, ServeProcess
from tests.support import COMMAND, PATIENCE, LinePeer, Peer, json_frame, text_body
from warmwire.transport.paths import Surface, surface_addr

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


UNIT = Path(__file__).parents[2] / "deploy" / "warmwire.service"


def unit_options() -> list[str]:
    """What the unit puts behind the model and the socket."""
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
