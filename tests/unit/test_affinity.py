"""Which worker knows the beginning of a request."""

from __future__ import annotations

from warmwire.host.workers.affinity import Known, beginnings
from warmwire.wire.generation.messages import Attachment, Message, Request, image_block, text_block
from warmwire.wire.tasks import EmbedRequest


def said(*texts: str) -> Request:
    return Request(messages=[Message("user", [text_block(text)]) for text in texts])


def test_as_many_messages_as_begin_alike() -> None:
    known = Known()
    assert known.common(beginnings(said("a"))) == 0
    known.add(beginnings(said("a", "b", "c")))
    known.add(beginnings(said("x")))
    assert known.common(beginnings(said("a", "b", "c", "d"))) == 3
    assert known.common(beginnings(said("a", "b", "other", "c"))) == 2
    assert known.common(beginnings(said("b", "c"))) == 0
    assert known.common(beginnings(said("x", "b"))) == 1
    system = Request(messages=[Message("system", [text_block("a")])])
    assert known.common(beginnings(system)) == 0


def test_only_the_last_requests_count() -> None:
    known = Known()
    for i in range(20):
        known.add(beginnings(said(str(i))))
    assert known.common(beginnings(said("0"))) == 0
    assert known.common(beginnings(said("19"))) == 1


def test_media_and_lines_have_no_beginnings() -> None:
    page = Request(messages=[Message("user", [image_block("p")])], attachments=[Attachment("image", "p")])
    assert beginnings(page) == beginnings(EmbedRequest("", ["a"])) == []
