"""grall's words on our command line, in processes of their own."""

from __future__ import annotations

import gzip
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.markov_support import GRALL, MODELS
from tests.support import COMMAND, PATIENCE
from warmwire.client import Client, GrallClient
from warmwire.markov import load


def warmwire(*words: object, **options: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*COMMAND, *map(str, words)], capture_output=True, timeout=PATIENCE, **options)


def test_train_inspect_run_yaml_merge(tmp_path: Path) -> None:
    model = tmp_path / "m.gril"
    [golden] = [m for m in MODELS if m["name"] == "words_d3"]
    made = warmwire("train", model, 3, GRALL / "words.txt")
    assert made.returncode == 0, made.stderr
    assert made.stdout == b""
    assert b"1,056 contexts" in made.stderr
    assert model.read_bytes() == (GRALL / "words_d3.gril").read_bytes()

    seen = warmwire("inspect", model)
    assert seen.stdout == f"depth: 3\nnodes: {golden['nodes']}\nweights: {golden['weights']}\n".encode()
    more = warmwire("inspect", model, "--verbose").stdout
    assert more.startswith(seen.stdout)
    assert b"training bytes: 200000\n" in more

    text = warmwire("run", model, "--limit", 200, "--rng-seed", 4, "--seed", "sha").stdout
    assert len(text) == 200
    assert warmwire("run", model, "--limit", 200, "--rng-seed", 4, "--seed", "sha").stdout == text
    assert warmwire("run", model, "--style", "line").stdout.count(b"\n") == 1
    assert len(warmwire("run", model, "--style", "line", "--forever", "--limit", 999).stdout) == 999
    assert len(warmwire("run", model, "infinite", 1, "--limit", 9).stdout) == 9

    assert warmwire("merge", tmp_path / "both.gril", model, model, "--weights", "1,2").returncode == 0
    counts = dict(load(model).records())
    merged = {c: [(b, n // 3) for b, n in w] for c, w in load(tmp_path / "both.gril").records()}
    assert merged == counts


def test_yaml_is_yaml(tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    assert warmwire("yaml", GRALL / "utf8_d6.gril", tmp_path / "m.yaml").returncode == 0
    text = (tmp_path / "m.yaml").read_text()
    assert warmwire("yaml", GRALL / "utf8_d6.gril", "-").stdout.decode() == text
    read = yaml.safe_load(text)
    model = load(GRALL / "utf8_d6.gril")
    assert (read["depth"], read["node_count"], read["weights_count"]) == (6, model.header.nodes, model.header.weights)
    nodes = [(n["seq"].encode("latin-1"), [(w["char"], w["weight"]) for w in n["weights"]]) for n in read["nodes"]]
    assert nodes == list(model.records())


def test_training_from_a_pipe_a_directory_and_gzip(tmp_path: Path) -> None:
    text = (GRALL / "words.txt").read_bytes()
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "words.gz").write_bytes(gzip.compress(text))
    for words, options in (((tmp_path / "texts",), {}), (("-",), {"input": text})):
        made = warmwire("train", tmp_path / "m.gril", 3, *words, "--jobs", 2, "--memory", "1M", **options)
        assert made.returncode == 0, made.stderr
        assert (tmp_path / "m.gril").read_bytes() == (GRALL / "words_d3.gril").read_bytes()


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["train", "{dir}/m.gril", 0, GRALL / "one.txt"], 2, "depth 0 is outside 1 to 255"),
        (["train", "{dir}/m.gril", 256, GRALL / "one.txt"], 2, "depth 256 is outside 1 to 255"),
        (["train", "{dir}/m.gril", 4, GRALL / "empty.txt"], 1, "the training text is empty"),
        (["train", "{dir}/m.gril", 4, "{dir}"], 1, "holds no files"),
        (["train", "{dir}/m.gril", 4, "{dir}/none"], 1, "No such file"),
        (["train", "{dir}/none/m.gril", 4, GRALL / "one.txt"], 1, "No such file"),
        (["train", "/dev/full", 4, GRALL / "one.txt"], 2, "not a regular file"),
        (["train", "{dir}/m.gril", 4, GRALL / "one.txt", "--memory", "lots"], 2, "no size"),
        (["run", GRALL / "empty_d4.gril"], 1, "the model is empty"),
        (["run", GRALL / "words.txt"], 1, "not a model"),
        (["run", "{dir}"], 1, "Is a directory"),
        (["run", GRALL / "rep_d8.gril", "--temperature", "nan"], 2, "temperature"),
        (["inspect", "{dir}/none.gril"], 1, "No such file"),
        (["yaml", GRALL / "rep_d8.gril", "{dir}/none/x"], 1, "No such file"),
        (["merge", "{dir}/m.gril", GRALL / "rep_d8.gril", GRALL / "utf8_d6.gril"], 2, "different depth"),
        (["merge", "{dir}/m.gril", GRALL / "rep_d8.gril", "--weights", "x"], 2, "--weights takes numbers"),
        (["ipc", GRALL / "rep_d8.gril", "{dir}/" + "x" * 120], 2, "the system's limit"),
        (["ipc", GRALL / "rep_d8.gril", GRALL / "one.txt"], 1, "is not a socket"),
        (["ipc", GRALL / "empty_d4.gril", "{dir}/s.sock"], 1, "the model is empty"),
        (["ipc", GRALL / "rep_d8.gril", "{dir}/s.sock", "--temperature", "nan"], 2, "temperature"),
    ],
)
def test_one_clear_line(words: list[object], status: int, message: str, directory: str) -> None:
    ended = warmwire(*(str(word).replace("{dir}", directory) for word in words))
    assert ended.returncode == status, ended.stderr
    assert message in ended.stderr.decode()
    assert "Traceback" not in ended.stderr.decode()
    assert ended.stderr.decode().strip().splitlines()[-1].startswith(("warmwire: ", "Error", "╰", "│"))
    assert os.listdir(directory) == []


def test_a_seed_that_nothing_follows() -> None:
    ended = warmwire("run", GRALL / "rep_d8.gril", "--seed", "zzzzzzzz")
    assert (ended.returncode, ended.stdout) == (0, b"")
    assert b"nothing in this model can follow that seed" in ended.stderr


def test_a_full_disk_leaves_the_old_model(tmp_path: Path) -> None:
    import resource

    model = tmp_path / "m.gril"
    model.write_bytes(b"old")
    ended = warmwire(
        "train", model, 8, GRALL / "words.txt",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)),
    )  # fmt: skip
    assert ended.returncode == 1
    assert b"what was there before is unchanged" in ended.stderr
    assert model.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["m.gril"]


def test_a_reader_that_has_enough() -> None:
    with subprocess.Popen([*COMMAND, "run", str(GRALL / "words_d3.gril")], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert len(process.stdout.read(100_000)) == 100_000
        process.stdout.close()
        assert process.wait(PATIENCE) in (0, 1)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_training_leaves_nothing_behind(tmp_path: Path, number: int, status: int) -> None:
    (tmp_path / "m.gril").write_bytes(b"old")
    command = [*COMMAND, "train", str(tmp_path / "m.gril"), "8", "-", "--memory", "1M"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write((GRALL / "words.txt").read_bytes())
    process.stdin.flush()
    deadline = time.monotonic() + PATIENCE
    while len(os.listdir(tmp_path)) == 1 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(os.listdir(tmp_path)) == 2  # what is being written
    process.send_signal(number)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == status
    assert os.listdir(tmp_path) == ["m.gril"]
    assert (tmp_path / "m.gril").read_bytes() == b"old"


class TestHosts:
    def ipc(self, path: str, *words: object) -> subprocess.Popen[bytes]:
        command = [*COMMAND, "ipc", str(GRALL / "rep_d8.gril"), path, *map(str, words)]
        process = subprocess.Popen(command, stderr=subprocess.PIPE)
        assert process.stderr is not None
        assert b"is ready at" in process.stderr.readline()
        return process

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
    def test_ipc(self, path: str, number: int) -> None:
        process = self.ipc(path)
        assert os.stat(path).st_mode & 0o777 == 0o600
        with GrallClient(path) as client, client.generate("ab", limit=10) as stream:
            assert stream.text() == "ababababab"
            second = warmwire("ipc", GRALL / "rep_d8.gril", path)
            assert second.returncode == 1
            assert f"already served by pid {process.pid}" in second.stderr.decode()
            assert client.ping() < 1
            process.send_signal(number)
            assert process.wait(PATIENCE) == 0
        assert not os.path.exists(path)
        process.communicate()

    def test_status_watch_and_log(self, path: str, tmp_path: Path) -> None:
        process = self.ipc(path, "--log-dir", tmp_path)
        with GrallClient(path) as client, client.generate("ab", delay=3_600_000) as stream:
            assert next(stream)
            said = warmwire("status", "--socket", path).stdout.decode()
            assert "ready     yes: it takes requests" in said
            assert "model     rep_d8.gril (cpu)" in said
            assert "requests  1 running, 0 waiting" in said
            watching = subprocess.Popen([*COMMAND, "watch", "--socket", path], stdout=subprocess.PIPE)
            assert watching.stdout is not None
            while b"1 running" not in (line := watching.stdout.readline()):
                assert b"ready: it takes requests" in line
            process.terminate()
            assert process.wait(PATIENCE) == 0  # what never ends is not waited for
            assert watching.wait(PATIENCE) == 0
            watching.communicate()
        process.communicate()
        (log,) = tmp_path.glob("*.ndjson")
        assert [json.loads(line)["msg"] for line in log.read_text().splitlines()] == [
            "ready",
            "connection_accepted",
            "draining",
            "request_cancelled",
            "stopped",
        ]

    def test_a_dead_socket_is_replaced(self, path: str) -> None:
        process = self.ipc(path)
        process.kill()
        process.communicate(timeout=PATIENCE)
        assert os.path.exists(path)
        process = self.ipc(path)
        with GrallClient(path) as client:
            assert client.ping() < 1
        process.terminate()
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0

    def test_thousands_of_connections(self, path: str) -> None:
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        many = min(2000, hard - 100)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        process = self.ipc(path)
        sockets = []
        try:
            for _ in range(many):
                sockets.append(socket.socket(socket.AF_UNIX))
                sockets[-1].connect(path)
            for sock in sockets:
                sock.settimeout(PATIENCE)
                assert sock.recv(1) == b"\x01"
            before = _cpu_seconds(process.pid)
            time.sleep(1)
            assert _cpu_seconds(process.pid) - before <= 0.02
            for sock in sockets[:: many // 20]:
                sock.sendall(b"\x01")
                assert sock.recv(1) == b"\x01"
            for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
                if line.startswith("VmRSS"):
                    assert int(line.split()[1]) < 100_000
        finally:
            for sock in sockets:
                sock.close()
            process.terminate()
            process.communicate(timeout=PATIENCE)
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    def test_serve(self, serve: Any, path: str) -> None:
        serve(f"{GRALL / 'rep_d8.gril'}")
        with Client(path) as client:
            stream = client.ask("ab", max_tokens=3)
            assert stream.text() == "ab" * 6
            assert stream.answer.stop_reason == "max_tokens"
            assert stream.answer.usage.output_tokens == 3


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_the_bot_of_the_manual(path: str) -> None:
    manual = (Path(__file__).parents[2] / "docs" / "markov.md").read_text()
    program = manual.partition("A bot in ten lines")[2].partition("```python\n")[2].partition("```")[0]
    assert len(program.strip().splitlines()) <= 10
    host = TestHosts().ipc(path)
    try:
        script = program.replace("/tmp/warm/book.sock", path)
        said = subprocess.run(
            [sys.executable, "-c", script], input=b"what about b\n\n", capture_output=True, timeout=60
        )
        assert said.returncode == 0, said.stderr
        assert said.stdout.count(b"\n") == 2
    finally:
        host.terminate()
        host.communicate(timeout=PATIENCE)
