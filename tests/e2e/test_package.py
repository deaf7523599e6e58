"""What is published is whole: the source distribution, and a wheel made from it where nothing can be compiled any more.

The chain is short, as the way of a package is: this tree, the sdist, a wheel with the kernel compiled, a venv without a
compiler. Nothing is fetched: the builds use the packages of this venv, and the new venv sees them as well.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.cli_support import venv_with

pytest.importorskip("build")
ROOT = Path(__file__).parents[2]


def called(*command: str | Path, **variables: str) -> str:
    """The standard output of a program that must succeed, with these variables set as well."""
    environment = {**os.environ, **variables}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run([*map(str, command)], env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def built(kind: str, tree: Path, folder: Path, **variables: str) -> Path:
    """An sdist or a wheel of a tree."""
    called(sys.executable, "-m", "build", "--no-isolation", f"--{kind}", "--outdir", folder, tree, **variables)
    [made] = folder.iterdir()
    return made


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution of a copy of what git has, so that nothing else can be in it; unpacked."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("this tree is no clone")
    folder = tmp_path_factory.mktemp("package")
    for name in tracked():
        (folder / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / "tree" / name)
    with tarfile.open(built("sdist", folder / "tree", folder / "sdist")) as archive:
        archive.extractall(folder, filter="data")
    [unpacked] = folder.glob("warmwire-*")
    return unpacked


def tracked() -> set[str]:
    """The files that git has, and that are there."""
    listed = called("git", "-C", ROOT, "ls-files", "-z").split("\0")
    return {name for name in listed if (ROOT / name).is_file()}


def test_the_sdist_has_what_git_has(sdist: Path) -> None:
    """And besides that only what setuptools adds."""
    found = {str(path.relative_to(sdist)) for path in sdist.rglob("*") if path.is_file()}
    made = {"PKG-INFO", "setup.cfg", *(name for name in found if name.startswith("src/warmwire.egg-info/"))}
    assert found - made == tracked()


@pytest.fixture(scope="module")
def bin(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Programs of a venv with the wheel in it. The kernel is compiled for speed of compiling."""
    folder = tmp_path_factory.mktemp("wheel")
    wheel = built("wheel", sdist, folder / "dist", CFLAGS="-O0 -g0")
    return venv_with(folder / "venv", wheel) / "bin"


def test_the_wheel_trains_and_runs_without_a_compiler(bin: Path, tmp_path: Path) -> None:
    """Also its manual page and completions are where programs look for them."""
    bare = {"PATH": str(tmp_path), "CC": "false"}
    code = "from warmwire.markov import kernel as k; print(k.COMPILED, k.__file__)"
    compiled, place = called(bin / "python", "-c", code, **bare).split()
    assert compiled == "True"
    assert Path(place).is_relative_to(bin.parent)
    assert called(bin / "warmwire", "--version", **bare).startswith("warmwire ")
    (tmp_path / "text").write_text("the harbour is open and the harbour is wide\n" * 50)
    called(bin / "warmwire", "train", tmp_path / "model.gril", "6", tmp_path / "text", **bare)
    said = called(bin / "warmwire", "run", tmp_path / "model.gril", "--limit", "40", "--seed", "the har", **bare)
    assert "harbour is" in said
    share = bin.parent / "share"
    for name in (
        "man/man1/warmwire.1",
        "bash-completion/completions/warmwire",
        "zsh/site-functions/_warmwire",
        "fish/vendor_completions.d/warmwire.fish",
    ):
        assert (share / name).stat().st_size > 100, name
    reply = f'. "{share}/bash-completion/completions/warmwire"; COMP_WORDS=(warmwire oc) COMP_CWORD=1'
    reply += '; _warmwire_completion warmwire; echo "${COMPREPLY[@]}"'
    assert called("bash", "-c", reply, PATH=f"{bin}:{os.environ['PATH']}").split() == ["ocr"]
