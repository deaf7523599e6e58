"""HTML by docling-core's serializers, with figures that have files shown, their captions as alternative text."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from docling_core.transforms.serializer.base import BasePictureSerializer, SerializationResult
from docling_core.transforms.serializer.html import HTMLDocSerializer, HTMLParams, HTMLPictureSerializer
from docling_core.types.doc import PictureItem
from pydantic import Field

if TYPE_CHECKING:
    from docling_core.types.doc import DoclingDocument


class _PictureSerializer(HTMLPictureSerializer):
    def serialize(
        self, *, item: PictureItem, doc_serializer: Any, doc: DoclingDocument, **kwargs: Any
    ) -> SerializationResult:
        result = super().serialize(item=item, doc_serializer=doc_serializer, doc=doc, **kwargs)
        if found := doc_serializer.figures.get(item.self_ref):
            link, words = (html.escape(part) for part in found)
            inner = result.text.removeprefix("<figure>").removesuffix("</figure>")
            result.text = f'<figure><img src="{link}" alt="{words}">{inner}</figure>'
        return result


class _DocSerializer(HTMLDocSerializer):
    picture_serializer: BasePictureSerializer = _PictureSerializer()
    figures: dict[str, tuple[str, str]] = Field(default_factory=dict)
    """Of pictures that have a file: the link to it and what it shows, by the item's reference."""


def to_html(doc: DoclingDocument, figures: Mapping[str, tuple[str, str]]) -> str:
    """The document as HTML, without running heads and feet; `figures` as `_DocSerializer` has them."""
    params = HTMLParams(traverse_pictures=True)
    return _DocSerializer(doc=doc, params=params, figures=dict(figures)).serialize().text
