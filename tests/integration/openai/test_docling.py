"""A model of the docling family behind HTTP reads pages."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.model_support import read_page, run
from tests.openai_server import Exchange, FakeServer, chunk, usage
from tests.support import PATIENCE
from warmwire.errors import InputError
from warmwire.media.images import image_attachment
from warmwire.models.docling import PageChatModel
from warmwire.models.registry import load_model, load_page_handler
from warmwire.wire.generation.messages import Message, Request, Usage, image_block, text_block

pytest.importorskip("httpx")


def _docling(server: FakeServer, pieces: list[str]) -> str:
    server.answers["/v1/models"] = lambda x: x.json({"data": [{"id": "ibm-granite/granite-docling-258M"}]})
    server.chat(lambda x: x.events([*(chunk({"content": piece}) for piece in pieces), chunk({}, "stop"), usage(9, 5)]))
    return f"openai:{server.url}#ibm-granite/granite-docling-258M"


def test_docling_over_http(server: FakeServer) -> None:
    name = _docling(server, ["<doc", "tag><text>", "Words</text></doct", "ag><|end_of_", "text|>"])
    assert read_page(load_page_handler(name)) == "<doctag><text>Words</text></doctag>"
    body = server.last.body
    assert [part["type"] for part in body["messages"][0]["content"]] == ["image_url", "text"]
    assert body["messages"][0]["content"][1]["text"] == "Convert this page to docling."
    assert (body["temperature"], body["max_tokens"], body["skip_special_tokens"]) == (0, 8192, False)
    model = load_model(name)
    assert isinstance(model, PageChatModel)
    content = [image_block("p"), text_block("Convert table to OTSL.")]
    request = Request(
        messages=[Message("user", content)], attachments=[image_attachment("p", np.zeros((8, 8, 3), np.uint8))]
    )
    finish = run(model, request)[1]
    assert finish.usage == Usage(9, 5)
    assert server.last.body["messages"][0]["content"][1]["text"] == "Convert table to OTSL."


def test_docling_is_recognised_as_the_only_model(server: FakeServer) -> None:
    name = _docling(server, ["<doctag><text>Words</text></doctag>"])
    assert isinstance(load_model(name.partition("#")[0]), PageChatModel)
    assert server.last.body["skip_special_tokens"] is False


@pytest.mark.parametrize("pieces", [["Words run ", "together"], ["<loc_1><loc_2>", "Words"], []])
def test_docling_without_its_tags_is_refused_at_the_start(server: FakeServer, pieces: list[str]) -> None:
    with pytest.raises(InputError, match="special tokens"):
        load_page_handler(_docling(server, pieces))


def test_docling_that_goes_on_after_its_end_is_stopped(server: FakeServer) -> None:
    name = _docling(server, ["<doctag><text>Words</text></doctag>"])
    handler = load_page_handler(name)

    def answer(exchange: Exchange) -> None:
        exchange.begin()
        exchange.write(b"data: " + json.dumps(chunk({"content": "<doctag></doctag>"})).encode() + b"\n\n")
        _endless_after(exchange)

    def _endless_after(exchange: Exchange) -> None:
        while True:
            exchange.write(b"data: " + json.dumps(chunk({"content": "more "})).encode() + b"\n\n")

    server.chat(answer)
    assert read_page(handler) == "<doctag></doctag>"
    assert server.last.closed.wait(PATIENCE)
