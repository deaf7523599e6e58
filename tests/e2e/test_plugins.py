"""A package with a model of its own, made from the tutorial, installed into a venv, served and asked."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.cli_support import failure, run, venv_with
from tests.conftest import Serve

TUTORIAL = Path(__file__).parents[2] / "docs" / "plugins.md"


def block(language: str) -> str:
    """The tutorial's block of code in a language."""
    found = re.search(rf"```{language}\n(.*?)```", TUTORIAL.read_text(), re.DOTALL)
    assert found, language
    return found[1]


def wheel(folder: Path, module: str, code: str, entry: str) -> Path:
    """A wheel of one module that registers a kind of model."""
    path = folder / f"warmwire_{module}-1.0-py3-none-any.whl"
    info = f"warmwire_{module}-1.0.dist-info"
    files = {
        f"{module}.py": code,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: warmwire-{module}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": f"[warmwire.models]\n{module} = {entry}\n",
    }
    record = ""
    for name, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(text.encode())}\n"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
        archive.writestr(f"{info}/RECORD", f"{record}{info}/RECORD,,\n")
    return path


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A venv that sees what this one has, with the tutorial's package installed, and one that is broken."""
    folder = tmp_path_factory.mktemp("plugins")
    entry = tomllib.loads(block("toml"))["project"]["entry-points"]["warmwire.models"]["shout"]
    wheels = [
        wheel(folder, "shout", block("python"), entry),
        wheel(folder, "broken", "import nothing_of_that_name\n", "broken:Kind"),
    ]
    return str(venv_with(folder / "venv", *wheels, source=True) / "bin" / "python")


def warmwire(python: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([python, "-m", "warmwire", *arguments], capture_output=True, text=True, timeout=120)


def test_the_tutorial_is_served_and_asked(python: str, serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(block("python").splitlines()) <= 35
    process = serve("shout?mark=?!", python=python)
    done = run("ask", "is anybody there", "--socket", process.path)
    assert (done.returncode, done.stdout) == (0, "IS?! ANYBODY?! THERE?! \n")


def test_a_broken_plugin_is_named_and_passed_over(python: str) -> None:
    done = warmwire(python, "models", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 1
    assert {"echo", "pages", "shout"} <= {kind["name"] for kind in found["kinds"]}
    assert "No module named 'nothing_of_that_name'" in found["broken"]["broken"]
    done = warmwire(python, "serve", "nonsense")
    assert done.returncode == 2
    assert "unknown model 'nonsense'; models are: pages, x.gguf" in done.stderr
    assert "shout; the plug-in broken cannot be loaded (ModuleNotFoundError" in done.stderr
    assert "no option volume=9; the options are mark" in warmwire(python, "serve", "shout?volume=9").stderr


def test_models_lists_kinds_and_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    (tmp_path / "here" / "a.gril").write_bytes(bytes(1_500_000))
    (tmp_path / "there" / "B.GGUF").write_bytes(b"x")
    (tmp_path / "there" / "notes.txt").write_bytes(b"x")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("WARMWIRE_MODELS", f"{tmp_path}/there:{tmp_path}/nowhere")
    done = run("models")
    assert done.returncode == 0
    assert re.search(r"^pages +the page reader.*\n +\?quality= ", done.stdout, re.MULTILINE)
    assert re.search(r"^ +1\.5 MB  a\.gril$", done.stdout, re.MULTILINE)
    assert f"{tmp_path}/there/B.GGUF" in done.stdout
    assert "notes.txt" not in done.stdout
    files = json.loads(run("models", tmp_path / "here", "--json").stdout)["files"]
    assert files == [{"name": f"{tmp_path}/here/a.gril", "bytes": 1_500_000}]


def test_what_no_kind_takes_is_said() -> None:
    assert "echo takes no --ctx; that is for x.gguf" in failure(run("serve", "echo", "--ctx", "10"), 2)
