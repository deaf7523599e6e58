"""grall's verbs in this process: what they print where. The e2e tests run them as users do."""

from __future__ import annotations

import sys
import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.markov_support import GRALL
from tests.support import PATIENCE
from warmwire.cli import main
from warmwire.cli.verbs.train import parse_size, progress
from warmwire.client import GrallClient
from warmwire.errors import UsageError
from warmwire.host.grall import server as host
from warmwire.markov import load


def warmwire(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    """The exit status."""
    monkeypatch.setattr(sys, "argv", ["warmwire", *map(str, words)])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def test_train_and_inspect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "m.gril"
    assert warmwire(monkeypatch, "train", model, 3, GRALL / "words.txt") == 0
    assert model.read_bytes() == (GRALL / "words_d3.gril").read_bytes()
    assert capsys.readouterr().err.startswith("reading...\nsorting...\n")
    assert warmwire(monkeypatch, "inspect", "-v", model) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["depth: 3", "nodes: 1056", "weights: 3501"]
    assert lines[3:5] == ["file bytes: 21750", "training bytes: 200000"]
    single = sum(len(weights) == 1 for _, weights in load(model).records())
    assert lines[5].startswith(f"nodes with one continuation: {single} (")
    assert 0 < float(lines[-1].split()[1]) < 8


def test_entropy_of_what_is_certain(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert warmwire(monkeypatch, "inspect", "-v", GRALL / "rep_d8.gril") == 0
    assert capsys.readouterr().out.endswith("entropy: 0.000 bits per byte\n")


def test_run(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert warmwire(monkeypatch, "run", GRALL / "rep_d8.gril", "--limit", 9, "--delay", 1) == 0
    sys.stdout.flush()
    assert capfdbinary.readouterr().out.endswith(b"ababababa")
    assert warmwire(monkeypatch, "run", GRALL / "words_d3.gril", "infinite", "--style", "word", "--limit", 50) == 0
    sys.stdout.flush()
    assert len(capfdbinary.readouterr().out) == 50
    assert warmwire(monkeypatch, "run", GRALL / "rep_d8.gril", "finite") == 2
    assert warmwire(monkeypatch, "run", GRALL / "rep_d8.gril", "--seed", "zzzzzzzz", "--forever") == 0
    assert b"can follow that seed" in capfdbinary.readouterr().err


def test_yaml_and_merge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    rep = GRALL / "rep_d8.gril"
    assert warmwire(monkeypatch, "yaml", rep, "-") == 0
    shown = capsys.readouterr().out
    assert warmwire(monkeypatch, "yaml", rep, tmp_path / "m.yaml") == 0
    assert (tmp_path / "m.yaml").read_text() == shown
    assert shown.count("  - seq: ") == 10
    assert '  - seq: "babababa"\n    weights:\n      - char: 98\n        weight: 496\n' in shown
    assert warmwire(monkeypatch, "merge", tmp_path / "two.gril", rep, rep, "--weights", "1,1.5") == 0
    assert dict(load(tmp_path / "two.gril").records())[b"babababa"] == [(98, 496 + 744)]
    assert warmwire(monkeypatch, "merge", tmp_path / "two.gril", rep, "--weights", "a") == 2


def test_ipc(path: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The real host, but told to stop by its client instead of a signal, which only a main thread can take."""
    texts: list[str] = []

    def client() -> None:
        with GrallClient(path, wait=PATIENCE) as grall, grall.generate("ab", limit=8) as stream:
            texts.append(stream.text())
        signals[0]()

    signals: list[Any] = []
    monkeypatch.setattr(
        host.asyncio.SelectorEventLoop,
        "add_signal_handler",
        lambda loop, number, stop: signals.append(partial(loop.call_soon_threadsafe, stop)),
    )
    thread = threading.Thread(target=client)
    thread.start()
    assert warmwire(monkeypatch, "ipc", GRALL / "rep_d8.gril", path, "--rng-seed", 1) == 0
    thread.join(PATIENCE)
    assert texts == ["abababab"]
    assert capsys.readouterr().err == f"warmwire: {GRALL / 'rep_d8.gril'} is ready at {path}\n"


@pytest.mark.parametrize(
    ("text", "size"), [("1", 1), ("4G", 4 << 30), ("512m", 512 << 20), ("1.5KiB", 1536), (" 2 TB ", 2 << 40)]
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "G", "-1", "4X", "1e9"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(UsageError, match="is no size"):
        parse_size(text)


def test_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress() as report:
        report("reading", 1, None)
        report("reading", 2, 2)
        report("sorting", 1, 2)
    assert "..." not in capsys.readouterr().err
