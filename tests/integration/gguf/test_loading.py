"""Files that are no models, and names that mean nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests import tiny_gguf
from tests.gguf_support import ask, load
from tests.model_support import run, text_of
from warmwire.errors import InputError, UsageError
from warmwire.models.openai.model import ChatModel
from warmwire.models.registry import check_model, load_model, load_page_handler

pytest.importorskip("xllamacpp")


def test_nothing_listens_and_nothing_is_left(made: Path, directory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", directory)
    model = load(tiny_gguf.text_model(made / "quiet.gguf", ["still here"]))
    assert os.listdir(directory) == []  # a socket whose path has gone is out of everybody's reach
    assert text_of(run(model, ask())[0]) == "still here"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not a whole GGUF"),
        (b"GGUF", "not a whole GGUF"),
        (b"nonsense" * 100, "does not begin with GGUF"),
        (b"GGUF\x09\x00\x00\x00" + b"\0" * 64, "version 9"),
        (b"GGUF\x03\0\0\0" + b"\0" * 8 + b"\xff" * 8, "declares"),
        (b"GGUF\x03\0\0\0" + b"\0" * 8 + b"\x01" + b"\0" * 7 + b"\xff" * 8, "ends in the middle"),
    ],
)
def test_files_that_are_no_models(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "x.gguf"
    path.write_bytes(content)
    with pytest.raises(InputError, match=reason):
        load_model(str(path), threads=1)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_a_file_cut_short_says_so(made: Path, tmp_path: Path, share: float) -> None:
    whole = tiny_gguf.text_model(tmp_path / "whole.gguf").read_bytes()
    path = tmp_path / "cut.gguf"
    path.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(InputError, match=r"cut\.gguf"):
        load_model(str(path), threads=1)


def test_a_projector_is_no_model(seeing: ChatModel, made: Path) -> None:
    with pytest.raises(InputError, match="projector"):
        load_model(str(made / "seeing" / "mmproj-seeing-F16.gguf"), threads=1)
    with pytest.raises(InputError, match="not a projector"):
        load(made / "seeing" / "seeing-Q8_0.gguf", f"?mmproj={made / 'seeing' / 'seeing-Q8_0.gguf'}")


@pytest.mark.parametrize("name", ["x.gguf?", "x.gguf?ctx=many", "x.gguf?nothing=1", "x.gguf?mmproj=", "x.ggml"])
def test_names_that_mean_nothing(name: str) -> None:
    with pytest.raises(UsageError):
        check_model(name)


def test_a_missing_file_is_named_before_a_worker_starts() -> None:
    with pytest.raises(InputError, match=r"gone\.gguf: no such file"):
        check_model("gone.gguf?ctx=512")


def test_a_text_model_reads_no_pages(chain: ChatModel, made: Path) -> None:
    with pytest.raises(InputError, match="cannot see"):
        load_page_handler(str(made / "chain.gguf"), threads=1)
    with pytest.raises(UsageError, match="reads no pages"):
        load_page_handler("echo")
