"""Pictures and sound in llama.cpp: what a projector lets a model take."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests import tiny_gguf
from tests.gguf_support import ask, load, page
from tests.model_support import run, text_of
from warmwire.errors import AttachmentError, InvalidRequestError
from warmwire.models.interface import Finish
from warmwire.models.openai.model import ChatModel
from warmwire.wire.generation.messages import Attachment, Block, Message, OutBlock, Request, image_block, text_block

pytest.importorskip("xllamacpp")


def test_sees_an_image(seeing: ChatModel) -> None:
    assert seeing.capabilities.vision
    assert not seeing.capabilities.audio
    content = [image_block("p"), text_block("what?")]
    blocks, finish = run(seeing, Request(messages=[Message("user", content)], attachments=[page()], temperature=0))
    assert text_of(blocks) == "I see"
    words = run(seeing, ask("what?"))[1].usage.input_tokens
    assert finish.usage.input_tokens > words  # the image costs tokens, and they are counted


def test_an_image_without_a_projector_is_unsupported(chain: ChatModel) -> None:
    assert not chain.capabilities.vision
    request = Request(messages=[Message("user", [image_block("p")])], attachments=[page()])
    with pytest.raises(AttachmentError, match="mmproj"):
        run(chain, request)


def test_mmproj_none_leaves_the_eye_closed(seeing: ChatModel, made: Path) -> None:
    assert not load(made / "seeing" / "seeing-Q8_0.gguf", "?mmproj=none").capabilities.vision


@pytest.mark.parametrize("kind", ["video", "audio"])
def test_media_it_cannot_take(seeing: ChatModel, kind: str) -> None:
    attachment = Attachment(kind, "m", sample_rate=16000, data=b"\0" * 16)
    request = Request(messages=[Message("user", [Block(kind, attachment_id="m")])], attachments=[attachment])
    with pytest.raises(AttachmentError, match="'m'"):
        run(seeing, request)


def test_hears_at_one_rate(made: Path) -> None:
    directory = made / "hearing"
    directory.mkdir()
    path = tiny_gguf.text_model(directory / "hearing.gguf", ["I ", "hear"])
    tiny_gguf.ear(directory / "mmproj-hearing.gguf", path)
    model = load(path)
    assert (model.capabilities.audio, model.capabilities.audio_sample_rate) == (True, 16000)
    assert not model.capabilities.vision
    tone = np.sin(np.arange(16000, dtype="<f4") / 8).tobytes()

    def hear(rate: int, tone: bytes = tone) -> tuple[list[OutBlock], Finish]:
        sound = Attachment("audio", "s", sample_rate=rate, data=tone)
        content = [Block("audio", attachment_id="s"), text_block("what?")]
        return run(model, Request(messages=[Message("user", content)], attachments=[sound], temperature=0))

    blocks, finish = hear(16000)
    assert text_of(blocks) == "I hear"
    assert finish.usage.input_tokens > run(model, ask("what?"))[1].usage.input_tokens
    with pytest.raises(InvalidRequestError, match=r"44100 Hz.*16000 Hz"):
        hear(44100)
    assert text_of(hear(16000, tone[4:8])[0]) == "I hear"  # of one sample, over which llama.cpp would abort
    with pytest.raises(InvalidRequestError, match="no sound"):
        hear(16000, b"")


def test_a_model_without_a_template_continues_what_was_said(made: Path) -> None:
    model = load(tiny_gguf.text_model(made / "base.gguf", ["and ", "so on"], template=None))
    assert not model.capabilities.tools
    blocks, finish = run(model, ask("It begins\n"))
    assert text_of(blocks) == "and so on"
    assert finish.usage.input_tokens == len("It begins\n")
