"""The file of declared models: what it may say, and that it is refused in one sentence otherwise."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmwire.bridge.fleet import config
from warmwire.bridge.fleet.config import KEEP_ALIVE, Settings, default_config, load_settings, read_settings
from warmwire.errors import InputError, UsageError, WarmwireError

FILE = Path("/etc/warm/models.toml")


@pytest.fixture(autouse=True)
def _runtime(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/me")
    monkeypatch.setenv("TMPDIR", "/run/me")


def test_a_whole_file() -> None:
    found = read_settings(
        """
        memory = "1.5GiB"
        [aliases]
        "gpt-4o mini" = "gemma"
        other = "a host that may run"
        [models.gemma]
        model = "gemma.gguf?ctx=4096"
        workers = 2
        parallel = 4
        keep_alive = "1.5h"
        [models."chain.v2"]
        model = "/models/x.gril"
        preload = true
        [models.plain]
        model = "~/y.gguf"
        """,
        FILE,
    )
    assert found.memory == 3 << 29
    assert found.aliases == {"gpt-4o mini": "gemma", "other": "a host that may run"}
    gemma, chain, plain = found.models.values()
    assert (gemma.model, gemma.folder, gemma.socket) == (
        "gemma.gguf?ctx=4096",
        Path("/etc/warm"),
        "/run/me/inferd/gemma.sock",
    )
    assert (gemma.workers, gemma.parallel, gemma.keep_alive, gemma.preload) == (2, 4, 5400, False)
    assert (chain.socket, chain.keep_alive, chain.preload) == ("/run/me/inferd/chain.v2.sock", None, True)
    assert (plain.model, plain.keep_alive) == (os.path.expanduser("~/y.gguf"), KEEP_ALIVE)
    assert read_settings("", FILE) == Settings()


@pytest.mark.parametrize(
    ("given", "seconds"),
    [("10m", 600), ("30s", 30), ("0", 0), ("2d", 172800), ('forever"#', None), (" 1.5 h ", 5400)],
)
def test_times(given: str, seconds: float | None) -> None:
    text = f'models.x = {{ model = "echo", keep_alive = "{given.rstrip("#")}{"" if given.endswith("#") else chr(34)} }}'
    assert read_settings(text, FILE).models["x"].keep_alive == seconds


def test_times_may_be_numbers() -> None:
    for number, seconds in (("0", 0), ("90", 90), ("0.5", 0.5)):
        text = f'models.x = {{ model = "echo", keep_alive = {number}, preload = true }}'
        assert read_settings(text, FILE).models["x"].keep_alive == seconds


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("models", "is no TOML"),
        ('a = "\\u0000"', "the file: object contains unknown field `a`"),
        ("a = " + "[" * 5000, "is no TOML"),
        ("models = 3", "models: expected `object`, got `int`"),
        ("models.x = 3", "models.x: expected `object`, got `int`"),
        ("[models.x]", "models.x: object missing required field `model`"),
        ('models.x = { model = "" }', "models.x.model: expected `str` of length >= 1"),
        ('models.x = { model = "a\\u0000b" }', "models.x.model: a name holds no NUL"),
        ('models.x = { model = "echo", worker = 2 }', "models.x: object contains unknown field `worker`"),
        ('models.x = { model = "echo", workers = 0 }', "models.x.workers: expected `int` >= 1"),
        ('models.x = { model = "echo", workers = true }', "models.x.workers: expected `int`, got `bool`"),
        ('models.x = { model = "echo", parallel = 1000000000 }', "models.x.parallel: expected `int` <= 64"),
        ('models.x = { model = "echo", preload = "yes" }', "models.x.preload: expected `bool`, got `str`"),
        ('models.x = { model = "echo", keep_alive = "soon" }', "models.x.keep_alive: 'soon' is no time"),
        ('models.x = { model = "echo", keep_alive = -1 }', "models.x.keep_alive: -1 is no time"),
        ('models.x = { model = "echo", keep_alive = nan }', "models.x.keep_alive: nan is no time"),
        ('models.x = { model = "echo", keep_alive = inf }', "models.x.keep_alive: inf is no time"),
        ('models.x = { model = "echo", keep_alive = "999999999d" }', "is no time"),
        ('models.x = { model = "echo", keep_alive = 2026-01-01 }', "models.x.keep_alive: expected"),
        ('models."../x" = { model = "echo" }', "models.../x: a name is up to 64 letters"),
        ('models."" = { model = "echo" }', "a name is up to 64 letters"),
        ('models."a\\u001b[31mb" = { model = "echo" }', "a name is up to 64 letters"),
        ('models.inferd = { model = "echo" }', "models.inferd: the socket of that name is another host's"),
        ('models."x.admin" = { model = "echo" }', "the socket of that name is another host's"),
        ('memory = "plenty"', "memory: 'plenty' is no size"),
        ('memory = "0GB"', "memory: '0GB' is no size"),
        ("memory = 12", "memory: expected `str | null`, got `int`"),
        ('aliases.x = ["a"]', "aliases[...]: expected `str`, got `array`"),
        ('aliases.x = ""', "aliases: a name and what it stands for are not empty"),
        ('aliases.x = "y"\naliases.y = "x"', "aliases.x: y is an alias itself"),
        ('aliases.x = "y"\nmodels.x = { model = "echo" }', "aliases.x: there is a model of that name"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_settings(text, FILE)
    message = str(caught.value)
    assert said in message
    assert message.startswith(str(FILE))
    assert message.isprintable()
    assert len(message) < 400


def test_a_runtime_directory_with_a_long_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/" + "r" * 100)
    monkeypatch.setenv("TMPDIR", "/" + "r" * 100)
    with pytest.raises(UsageError, match=r"models\.x: socket path is \d+ bytes long"):
        read_settings('models.x = { model = "echo" }', FILE)


def test_too_many_models() -> None:
    text = "\n".join(f'models.m{i} = {{ model = "echo" }}' for i in range(257))
    with pytest.raises(UsageError, match="models: 257 of them, at most 256"):
        read_settings(text, FILE)


VALUES = st.recursive(
    st.one_of(st.text(max_size=20), st.integers(), st.floats(), st.booleans(), st.sampled_from(["10m", "echo", "1GB"])),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
    max_leaves=8,
)
KEYS = st.sampled_from(["model", "workers", "parallel", "keep_alive", "preload"])
MODELS = st.dictionaries(KEYS, VALUES)


def refusal(text: str) -> str:
    try:
        read_settings(text, FILE)
    except WarmwireError as error:
        return str(error)
    return ""


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "models": st.one_of(
                VALUES, st.dictionaries(st.text(max_size=9), st.dictionaries(KEYS, VALUES), max_size=3)
            ),
            "aliases": st.one_of(VALUES, st.dictionaries(st.text(max_size=4), st.text(max_size=4))),
            "memory": VALUES,
        },
    )
)
def test_any_values_are_read_or_refused(table: dict[str, Any]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(config.tomllib, "loads", lambda text: table)
        assert refusal("").isprintable()


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    assert refusal(text).isprintable()


def test_where_the_file_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert default_config() == tmp_path / "warmwire" / "models.toml"
    assert load_settings() == Settings()
    for relative in ("", "relative"):
        monkeypatch.setenv("XDG_CONFIG_HOME", relative)
        monkeypatch.setenv("HOME", "/home/me")
        monkeypatch.setattr("sys.platform", "linux")
        assert default_config() == Path("/home/me/.config/warmwire/models.toml")
        monkeypatch.setattr("sys.platform", "darwin")
        assert default_config() == Path("/home/me/Library/Application Support/warmwire/models.toml")


def test_files_that_are_none(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "latin").write_bytes(b"# caf\xe9")
    (tmp_path / "large").write_bytes(b"#" * (1 << 21))
    for name, said in {
        "none": "cannot be read",
        ".": "cannot be read",
        "pipe": "is not a file",
        "latin": "is no UTF-8 text",
        "large": "is larger than 1 MiB",
    }.items():
        with pytest.raises(InputError, match=said):
            load_settings(tmp_path / name)
