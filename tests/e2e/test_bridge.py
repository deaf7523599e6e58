"""`warmwire bridge` as its users run it: processes, ports, signals, words."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import openai
import pytest

from tests.bridge_support import BridgeProcess, ask, receive
from tests.conftest import ServeProcess
from tests.support import COMMAND, PATIENCE, eventually

Start = Callable[..., BridgeProcess]

SAID: Any = [{"role": "user", "content": "héllo 世界 😀"}]
BIG = ("w" * 1000 + " ") * 8000
"""An echo of this takes a worker a while."""


@pytest.fixture
def bridge(path: str) -> Iterator[Start]:
    """`bridge(*options)` gives a running `warmwire bridge` in front of `path`; it is killed after the test."""
    started: list[BridgeProcess] = []

    def begin(*options: str, **environment: str) -> BridgeProcess:
        started.append(BridgeProcess(path, *options, **environment))
        return started[-1]

    yield begin
    for process in started:
        process.end()


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [*COMMAND, "bridge", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_the_official_client_over_two_processes(bridge: Start, serve: Callable[..., ServeProcess], path: str) -> None:
    """The bridge may start before its host; a host that ends and comes back is found again."""
    front = bridge()
    client = front.openai()
    assert front.get("/health").status_code == 200
    reason = front.get("/ready").json()["reason"]
    assert f"no host listens at {path}" in reason
    with pytest.raises(openai.InternalServerError, match="warmwire serve"):
        client.chat.completions.create(model="m", messages=SAID)
    for _ in range(2):
        host = serve("echo")
        assert front.get("/ready").json() == {"ready": True, "reason": "the host is ready: echo"}
        assert [model.id for model in client.models.list()] == ["echo"]
        assert client.chat.completions.create(model="m", messages=SAID).choices[0].message.content == "héllo 世界 😀"
        stream = client.chat.completions.create(model="m", messages=SAID, stream=True)
        assert "".join(chunk.choices[0].delta.content or "" for chunk in stream) == "héllo 世界 😀"
        assert host.stop()[0] == 0
    assert front.get("/ready").status_code == 503
    assert front.stop() == (0, front.ready_line)


def test_a_host_that_is_killed_in_the_middle(bridge: Start, serve: Callable[..., ServeProcess]) -> None:
    front = bridge()
    for stream in (False, True):
        host = serve("echo")
        with front.begin("/chat/completions", ask(BIG, stream=stream)) as sock:
            if stream:
                assert b"200 OK" in sock.recv(1 << 10)
            else:
                eventually(lambda: 'in_progress{endpoint="/v1/chat/completions"} 1.0' in front.get("/metrics").text)
            host.process.kill()
            data = receive(sock, b"0\r\n\r\n" if stream else b'"}')
        assert b'"code":"backend_unavailable"' in data
        assert b"[DONE]" not in data


def test_a_key_from_the_environment_is_asked_for_and_never_shown(
    bridge: Start, serve: Callable[..., ServeProcess]
) -> None:
    serve("echo")
    front = bridge("--api-key-env", "A_KEY", A_KEY="s3cret-key")
    assert [model.id for model in front.openai("s3cret-key").models.list()] == ["echo"]
    with pytest.raises(openai.AuthenticationError):
        front.openai("s3cret-kex").models.list()
    front.get("/v1/models", Authorization="Bearer s3cret-key-x")
    status, said = front.stop()
    assert status == 0
    assert "s3cret" not in said


def test_ctrl_c_ends_it_and_a_service_manager_is_told_of_its_start(bridge: Start, directory: str) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(f"{directory}/notify.sock")
        manager.settimeout(PATIENCE)
        front = bridge(NOTIFY_SOCKET=f"{directory}/notify.sock")
        assert manager.recv(100) == b"READY=1"
    assert front.stop(signal.SIGINT)[0] == 0


def test_a_stream_under_way_is_finished_on_sigterm(bridge: Start, serve: Callable[..., ServeProcess]) -> None:
    serve("echo")
    front = bridge()
    with front.begin("/chat/completions", ask(BIG, stream=True)) as sock:
        data = bytearray(sock.recv(1 << 10))
        front.process.send_signal(signal.SIGTERM)
        while piece := sock.recv(1 << 20):
            data += piece
    assert data.endswith(b"data: [DONE]\n\n\r\n0\r\n\r\n")
    assert front.process.wait(PATIENCE) == 0


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        (("--listen", "0.0.0.0:0"), 2, "set an API key"),
        (("--listen", "127.0.0.1:{taken}"), 1, "choose another port"),
        (("--socket", "/" + "x" * 200), 2, "socket path is 201 bytes long"),
    ],
    ids=lambda value: " ".join(value)[:30] if isinstance(value, tuple) else "",
)
def test_wrong_use_in_one_line(options: tuple[str, ...], status: int, said: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = run(*(option.format(taken=port) for option in options))
    assert result.returncode == status
    assert said in result.stderr
    assert result.stderr.startswith("warmwire: ")
    assert result.stderr.count("\n") == 1


def test_what_is_missing_is_named() -> None:
    code = "import sys; sys.modules['uvicorn'] = None; from warmwire.cli import main; sys.argv[1:] = ['bridge']; main()"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 2
    assert "warmwire[bridge]" in result.stderr
    assert "uvicorn" in result.stderr
