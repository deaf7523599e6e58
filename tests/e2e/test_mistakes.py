"""What newcomers are likely to type, and the sentence that each of them gets.

A sentence names what is wrong and what to type instead. Everything runs in one folder that holds the files named here.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from tests.cli_support import failure, run
from warmwire.cli.console import reach

DATA = Path(__file__).parents[1] / "data"
DOCX = b"PK\x03\x04\x14\x00\x06\x00\x08\x00\x00\x00!\x00" + b"A" * 16 + b"[Content_Types].xml"
HEIC = b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic"


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copy(DATA / "documents" / "words.pdf", tmp_path / "scan.pdf")
    shutil.copy(DATA / "documents" / "encrypted.pdf", tmp_path / "locked.pdf")
    for name, data in {
        "letter.docx": DOCX,
        "photo.heic": HEIC,
        "notes.txt": b"buy milk\n",
        "-dash.pdf": b"%PDF",
        "page.html": b"<!doctype html><p>x",
        "empty.pdf": b"",
        "bad.gguf": b"garbage",
        "old.zip": b"PK\x03\x04 and more",
    }.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "nothing").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setattr(reach, "DIAL_WAIT", 0)
    return tmp_path


@pytest.mark.parametrize(
    ("call", "status", "sentence"),
    [
        # verbs
        ("orc scan.pdf", 2, "there is no verb 'orc'; did you mean: warmwire ocr"),
        ("convert scan.pdf", 2, "there is no verb 'convert'; did you mean: warmwire ocr"),
        ("scan.pdf", 2, "scan.pdf is no verb; to read it: warmwire ocr scan.pdf"),
        ("notes.txt", 2, "notes.txt is no verb; to read it: warmwire ocr notes.txt"),
        ("gemma.gguf", 2, "gemma.gguf is no verb; to serve it: warmwire serve gemma.gguf"),
        ("version", 2, "did you mean: warmwire --version"),
        ("qqq", 2, "there is no verb 'qqq'; there are ocr, "),
        ("help orc", 2, "there is no verb 'orc'; did you mean: warmwire ocr"),
        # options
        ("ocr scan.pdf --language de", 2, "--lang is for scripts other than Latin, Chinese and Japanese"),
        ("ocr scan.pdf --lang xx", 2, "lang xx: "),
        ("ocr --input scan.pdf", 2, "ocr has no option --input: files are given without an option"),
        ("ocr scan.pdf --ouput x.md", 2, "ocr has no option --ouput; did you mean --output?"),
        ("ocr scan.pdf -o", 2, "option '-o' requires an argument"),
        ("ocr scan.pdf --jobs 0", 2, "0 is not in the range 1<=x<=4096"),
        ("ocr scan.pdf --quality high", 2, "'high' is not one of 'fast', 'auto', 'best'"),
        ("ocr scan.pdf --pages two", 2, "'two' is not like 3, 4-9 or 20-"),
        ("ocr scan.pdf --pages 99", 1, "has no page 99; it has"),
        ("ocr scan.pdf -f markdown", 2, "there is no format 'markdown'; there are md, html,"),
        ("serve --model pages", 2, "serve has no option --model: the model is given without an option"),
        ("serve pages --port 80", 2, "`warmwire bridge --listen HOST:PORT` puts HTTP before it"),
        ("status --sokcet x", 2, "status has no option --sokcet; did you mean --socket?"),
        ("ocr -dash.pdf", 2, "the file of that name is given as ./-dash.pdf"),
        (
            "ocr scan.pdf --images notes.txt -o x.md",
            2,
            "--images notes.txt is a file; figures are written into a folder",
        ),
        # words
        ("ask hello there", 2, 'put the question in quotes, as in: warmwire ask "What is this?"'),
        ("chat hello", 2, "chat takes no words; to ask one question: warmwire ask 'hello'"),
        ("train m.gril", 2, "missing argument 'DEPTH'; usage: warmwire train [OPTIONS] MODEL DEPTH FILES..."),
        ("train m.gril notes.txt 8", 2, "invalid value for 'DEPTH': 'notes.txt' is not a valid integer"),
        # files
        ("ocr nowhere.pdf", 1, "nowhere.pdf: no such file"),
        ("ocr empty.pdf", 1, "empty.pdf: the file is empty"),
        ("ocr nothing", 1, "nothing: no document in it; those taken from a folder end in .pdf,"),
        ("ocr letter.docx", 1, "an Office file; save it as PDF, or convert it: soffice --headless"),
        ("ocr old.zip", 1, "an archive; unpack it and give the files or the folder"),
        ("ocr notes.txt", 1, "notes.txt: plain text, which needs no reading"),
        ("ocr page.html", 1, "a web page; print it to PDF, or use pandoc"),
        ("ocr locked.pdf", 1, "--password"),
        ("ocr https://example.org/a.pdf", 1, "download it first: curl -LO 'https://example.org/a.pdf'"),
        ("ocr *.tiff", 1, "*.tiff: no document matches"),
        # results
        ("ocr scan.pdf out.md", 2, "out.md does not exist; if the result is to go there, put -o before it: -o out.md"),
        ("ocr scan.pdf -o out.docx", 2, "there is no format with the suffix .docx; there are .md,"),
        # models and hosts
        ("serve page", 2, "unknown model 'page'; models are: pages, x.gguf,"),
        ("serve gemma.gguf", 1, "gemma.gguf: no such file"),
        ("serve bad.gguf", 1, "bad.gguf is not a whole GGUF model"),
        ("run notes.txt", 1, "notes.txt: not a model (a .gril file starts with GRIL)"),
        ("watch", 1, "start one with: warmwire serve MODEL"),
        ("ask hello", 1, "start one with: warmwire serve MODEL"),
        ("embed", 2, "there is nothing to embed; give texts, or - and lines on standard input"),
        ("bridge --listen 8080", 2, "write 127.0.0.1:8080 or [::1]:8080"),
    ],
)
def test_each_mistake_gets_the_sentence_that_helps(desk: Path, call: str, status: int, sentence: str) -> None:
    line = failure(run(*call.split(" ")), status)
    assert line.startswith("warmwire: ")
    assert sentence in line


@pytest.mark.parametrize(
    ("call", "package", "sentence"),
    [
        ("ocr photo.heic", "pi_heif", "pip install 'warmwire[heic]'"),
        ("ocr scan.pdf", "pypdfium2", "pip install 'warmwire[pages]'"),
        ("bridge", "starlette", "pip install 'warmwire[bridge]'"),
    ],
)
def test_a_missing_extra_is_named(
    desk: Path, monkeypatch: pytest.MonkeyPatch, call: str, package: str, sentence: str
) -> None:
    for name in [n for n in sys.modules if n == package or n.startswith(("warmwire.bridge", f"{package}."))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)  # as the import system notes what is not there
    done = run(*call.split())
    assert done.returncode in (1, 2)
    assert sentence in done.stderr


def test_what_was_asked_for_and_is_not_there_is_said(desk: Path) -> None:
    done = run("ocr", "scan.pdf", "-f", "md,csv", "--images", "fig", "-o", "x.md", "--threshold", "0")
    assert "scan.pdf: no tables were found, so there is no csv" in done.stderr
    assert "scan.pdf: no figures were found to be cut out into fig" in done.stderr
    assert not any((desk / name).exists() for name in ("x.csv", "fig"))
    assert "no host runs in" in run("ps").stderr


def test_help_works_as_a_verb(desk: Path) -> None:
    done = run("help", "ocr")
    assert (done.returncode, done.stdout) == (0, run("ocr", "--help").stdout)
