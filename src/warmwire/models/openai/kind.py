"""Servers of the OpenAI format as a kind of model. Importing this loads no HTTP client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmwire.models.interface import Model
from warmwire.models.kind import Kind

if TYPE_CHECKING:
    from warmwire.models.docling import PageChat
    from warmwire.models.openai.model import ChatModel


class OpenaiKind(Kind):
    """`openai:URL#MODEL`. A model that is known to read pages becomes a page model."""

    word = "openai"
    usage = "openai:URL#MODEL"
    summary = "a model behind a server of the OpenAI format"
    needs = ("httpx",)
    install = "warmwire[bridge]"
    capabilities = ("chat", "pages", "vision", "audio", "tools", "embeddings", "rerank")

    def matches(self, name: str) -> bool:
        return name.startswith(f"{self.word}:")

    def check(self, name: str) -> None:
        from warmwire.models.openai.load import parse_name

        parse_name(name)

    def load(self, name: str, threads: int | None) -> Model:
        from warmwire.models.docling import PageChatModel, is_docling
        from warmwire.models.openai.load import load_openai

        model = load_openai(name)
        return PageChatModel(_reader(model)) if is_docling(model.name) else model

    def page_name(self, name: str) -> str:
        return f"page:{name}"

    def load_pages(self, name: str, threads: int | None) -> PageChat:
        from warmwire.models.openai.load import load_openai

        return _reader(load_openai(name))


def _reader(model: ChatModel) -> PageChat:
    from warmwire.models.docling import PageChat, check_tags, is_docling

    doctags = is_docling(model.name)
    reader = PageChat(model, doctags=doctags)
    if doctags:
        check_tags(reader)
    return reader
