"""A GGUF model of the docling family reads pages."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from tests import tiny_gguf
from tests.gguf_support import ask, page
from tests.model_support import read_page, text_of
from warmwire.errors import InvalidRequestError, TruncatedError, WarmwireError
from warmwire.models.registry import load_model, load_page_handler
from warmwire.wire.generation.messages import Message, OutBlock, Request, StopReason, image_block, text_block

pytest.importorskip("xllamacpp")


PAGE_TAGS = ["<doctag>", "</doctag>", "<text>", "</text>"]


def docling(directory: Path, pieces: list[str], **options: Any) -> Path:
    directory.mkdir(exist_ok=True)
    path = tiny_gguf.text_model(
        directory / "granite-docling-258M-Q8_0.gguf", pieces, name="Granite Docling 258M", tokens=PAGE_TAGS, **options
    )
    tiny_gguf.projector(directory / "mmproj-granite-docling-258M-F16.gguf", path)
    return path


def test_docling_writes_its_tags_and_ends_at_the_last(tmp_path: Path) -> None:
    path = docling(tmp_path, ["<doctag>", "<text>", "Words", "</text>", "</doctag>"])
    handler = load_page_handler(str(path), threads=1)
    assert read_page(handler) == "<doctag><text>Words</text></doctag>"


def test_docling_is_served_like_the_page_reader(tmp_path: Path) -> None:
    path = docling(tmp_path, ["<doctag>", "<text>", "Words", "</text>", "</doctag>"])
    model = load_model(str(path), threads=1)
    blocks: list[OutBlock] = []
    content = [image_block("p"), text_block("Convert this page to docling.")]
    request = Request(messages=[Message("user", content)], attachments=[page()])
    finish = model.generate(request, blocks.append, threading.Event())
    assert text_of(blocks) == "<doctag><text>Words</text></doctag>"
    assert (finish.stop_reason, finish.usage.output_tokens) == (StopReason.END_TURN, 6)
    assert finish.usage.input_tokens > 10
    with pytest.raises(InvalidRequestError, match="page model"):
        model.generate(ask(), blocks.append, threading.Event())


def test_docling_in_a_loop_is_cut_off(tmp_path: Path) -> None:
    path = docling(tmp_path, ["over ", "and "], loop=True, context=8192)
    handler = load_page_handler(str(path), threads=1)
    with pytest.raises(TruncatedError, match="repeat") as caught:
        read_page(handler)
    assert 2500 < len(caught.value.partial) < 5000
    model = load_model(str(path), threads=1)
    request = Request(messages=[Message("user", [image_block("p")])], attachments=[page()])
    finish = model.generate(request, lambda block: None, threading.Event())
    assert finish.stop_reason == StopReason.MAX_TOKENS
    assert finish.report == {"repetition": True}


def test_docling_says_when_the_bound_cut_it(tmp_path: Path) -> None:
    path = docling(tmp_path, ["<doctag>", "<text>", "Words", "</text>", "</doctag>"])
    with pytest.raises(TruncatedError, match="bound") as caught:
        read_page(load_page_handler(str(path), threads=1), max_tokens=3)
    assert caught.value.partial == "<doctag><text>Words"


def test_docling_that_says_nothing_is_an_error(tmp_path: Path) -> None:
    path = docling(tmp_path, [])
    with pytest.raises(WarmwireError, match="nothing"):
        read_page(load_page_handler(str(path), threads=1))
