"""GGUF files as a kind of model. Importing this loads no llama.cpp."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmwire.errors import InputError
from warmwire.models.interface import Model
from warmwire.models.kind import Kind
from warmwire.models.llama.options import OPTIONS, SUFFIX, parse_gguf_name

if TYPE_CHECKING:
    from warmwire.models.docling import PageChat


class GgufKind(Kind):
    """`x.gguf`. One that is known to read pages becomes a page model."""

    suffix = SUFFIX
    usage = "x.gguf"
    summary = "any GGUF file, run by llama.cpp"
    needs = ("xllamacpp",)
    install = "warmwire[llama]"
    options = OPTIONS
    capabilities = ("chat", "pages", "vision", "audio", "tools", "embeddings", "rerank")

    def check(self, name: str) -> None:
        parse_gguf_name(name)
        super().check(name)

    def parallel(self, name: str) -> int:
        return parse_gguf_name(name)[1].parallel or 1

    def load(self, name: str, threads: int | None) -> Model:
        from warmwire.models.docling import PageChatModel
        from warmwire.models.llama.load import load_llama

        if _answers_in_doctags(name):
            return PageChatModel(self.load_pages(name, threads))
        return load_llama(name, threads)

    def page_name(self, name: str) -> str:
        return f"page:{name}"

    def load_pages(self, name: str, threads: int | None) -> PageChat:
        from warmwire.models.docling import PageChat
        from warmwire.models.llama.load import load_llama

        doctags = _answers_in_doctags(name)
        model = load_llama(name, threads, special=doctags)
        if not model.capabilities.vision:
            raise InputError(f"{name} cannot see: put its mmproj file beside it, or give it as x.gguf?mmproj=FILE")
        return PageChat(model, doctags=doctags)


def _answers_in_doctags(name: str) -> bool:
    from warmwire.models.docling import is_docling
    from warmwire.models.llama.header import read_header

    path, _ = parse_gguf_name(name)
    return is_docling(path.name) or is_docling(read_header(path).name)
