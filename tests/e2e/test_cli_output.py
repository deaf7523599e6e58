"""Output that cannot be written and names that no file can have: one sentence, whatever the verb."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.support import COMMAND

DATA = Path(__file__).parents[1] / "data"
LONG = "x" * 300
CHAIN = "grall/rep_d8.gril"
PAGE = "documents/digital.pdf"

VERBS = [
    ["--help"],
    ["--version"],
    ["doctor"],
    ["ask", "--help"],
    ["inspect", CHAIN],
    ["run", CHAIN],
    ["yaml", CHAIN, "-"],
    ["ocr", PAGE],
    ["ocr", PAGE, PAGE],
    ["ocr", PAGE, "--dry-run"],
]


def run(*arguments: str, stdout: int, unbuffered: bool = False) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*COMMAND, *arguments],
        stdout=stdout,
        stderr=subprocess.PIPE,
        cwd=DATA,
        env=os.environ | {"PYTHONUNBUFFERED": "1" if unbuffered else ""},
        timeout=240,
    )


def news(done: subprocess.CompletedProcess[bytes]) -> list[str]:
    """What stderr says, the pages that were read aside."""
    return [line for line in done.stderr.decode().splitlines() if ": page " not in line]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_a_full_disk_is_said_in_one_sentence(verb: list[str]) -> None:
    for unbuffered in (False, True):
        full = os.open("/dev/full", os.O_WRONLY)
        try:
            done = run(*verb, stdout=full, unbuffered=unbuffered)
        finally:
            os.close(full)
        assert done.returncode == 1
        assert news(done) == ["warmwire: standard output cannot be written (No space left on device)"]


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_a_reader_that_has_left_gets_no_words(verb: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = run(*verb, stdout=writing)
    finally:
        os.close(writing)
    assert done.returncode == 1
    assert news(done) == []


def test_a_name_too_long_costs_that_file_only() -> None:
    done = run("ocr", f"{LONG}.pdf", PAGE, stdout=subprocess.PIPE)
    assert done.returncode == 1
    assert done.stdout.startswith(b"# Log Books of the Harbour\n")
    said, summary = news(done)
    assert said == f"warmwire: {LONG}.pdf: cannot be read (File name too long)"
    assert summary.startswith("warmwire: 1 of 2 files read, 1 failed")


@pytest.mark.parametrize(
    ("verb", "words"),
    [
        (["ocr", PAGE, "-o", LONG], "cannot be written (File name too long)"),
        (["ocr", PAGE, CHAIN, "-o", LONG], "cannot be written (File name too long)"),
        (["ocr", PAGE, "-o", f"{LONG}/"], "cannot be written (File name too long)"),
        (["ocr", PAGE, "--model", f"{LONG}.gguf"], "cannot be read (File name too long)"),
        (["serve", f"{LONG}.gguf"], "cannot be read (File name too long)"),
        (["serve", f"{LONG}.gril"], "cannot be read (File name too long)"),
        (["ask", "--image", f"{LONG}.png", "What is it?"], "cannot be read (File name too long)"),
        (["train", LONG, "3", "grall/words.txt"], "cannot write"),
        (["yaml", CHAIN, LONG], "cannot write"),
    ],
)
def test_a_name_too_long_is_said_in_one_sentence(verb: list[str], words: str) -> None:
    done = run(*verb, stdout=subprocess.PIPE)
    assert done.returncode == 1
    (line,) = [line for line in news(done) if not line.endswith("...")]
    assert LONG in line
    assert words in line
    assert done.stdout == b""
