"""Whatever a client sends, the bridge makes a request of the wire of it or says what is wrong."""

from __future__ import annotations

import base64
import io
import json
import wave
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.bridge_support import whole
from warmwire.bridge.answers import ChatShape
from warmwire.bridge.bodies import ChatBody, EmbeddingsBody, RerankBody, TextBody, read
from warmwire.bridge.convert import chat_request, text_request
from warmwire.bridge.media import Attachments
from warmwire.errors import InvalidRequestError
from warmwire.media.images import decode_image
from warmwire.wire.generation.messages import OutBlock
from warmwire.wire.generation.request import encode_request
from warmwire.wire.generation.response import Answer

Image = pytest.importorskip("PIL.Image")


def encoded(kind: str, **options: Any) -> bytes:
    picture = Image.fromarray(np.random.default_rng(1).integers(0, 256, (9, 7, 3), np.uint8))
    buffer = io.BytesIO()
    picture.save(buffer, kind, **options)
    return buffer.getvalue()


def sound() -> bytes:
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(bytes(range(200)) * 2)
    return buffer.getvalue()


FILES = [encoded("png"), encoded("jpeg"), encoded("gif"), encoded("webp"), encoded("png", bits=4)]
BODY: dict[str, Any] = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "s"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "t"},
                {
                    "type": "image_url",
                    "image_url": {"url": "data:image/png;base64," + base64.b64encode(FILES[0]).decode()},
                },
                {"type": "input_audio", "input_audio": {"data": base64.b64encode(sound()).decode(), "format": "wav"}},
            ],
        },
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "a", "content": "r"},
    ],
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
    "tool_choice": {"type": "function", "function": {"name": "f"}},
    "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {}}},
    "stream_options": {"include_usage": True},
    "stop": ["x"],
    "max_tokens": 3,
    "temperature": 0.5,
    "chat_template_kwargs": {"enable_thinking": True},
}

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=6)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path]
    children: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        found += places(child, (*path, key))
    return found


@given(st.sampled_from(places(BODY)[1:]), values, st.booleans())
def test_any_part_of_a_body_may_be_anything(place: tuple[Any, ...], value: Any, gone: bool) -> None:
    body = json.loads(json.dumps(BODY))
    parent = body
    for key in place[:-1]:
        parent = parent[key]
    if gone:
        del parent[place[-1]]
    else:
        parent[place[-1]] = value
    try:
        request = chat_request(read(json.dumps(body).encode(), ChatBody), 16000)
    except InvalidRequestError:
        pass
    else:
        assert b"".join(map(bytes, encode_request(request)))


@given(st.binary() | values.map(lambda value: json.dumps(value).encode()), st.integers(0, 3))
def test_any_body(body: bytes, kind: int) -> None:
    kinds: list[Any] = [ChatBody, TextBody, EmbeddingsBody, RerankBody]
    try:
        asked = read(body, kinds[kind])
        if kind == 0:
            chat_request(asked)
        elif kind == 1:
            text_request(asked)
    except InvalidRequestError:
        pass


@st.composite
def damaged(draw: st.DrawFn, files: list[bytes]) -> bytes:
    data = bytearray(draw(st.sampled_from(files)))
    for at, value in draw(st.lists(st.tuples(st.integers(0, len(data) - 1), st.integers(0, 255)), max_size=8)):
        data[at] = value
    return bytes(data[: draw(st.integers(0, len(data)) | st.just(len(data)))])


@settings(max_examples=300)
@given(damaged(FILES))
@pytest.mark.filterwarnings("ignore")
def test_damaged_images_are_images_or_refused(data: bytes) -> None:
    attachments = Attachments()
    try:
        attachments.add_image("data:;base64," + base64.b64encode(data).decode(), "here")
    except InvalidRequestError:
        assert attachments.found == []
    else:
        assert decode_image(attachments.found[0]).size


@settings(max_examples=300)
@given(damaged([sound()]), st.sampled_from([None, 8000, 16000]))
def test_damaged_sounds_are_sounds_or_refused(data: bytes, rate: int | None) -> None:
    attachments = Attachments(rate)
    try:
        attachments.add_audio(base64.b64encode(data).decode(), "wav", "here")
    except InvalidRequestError:
        assert attachments.found == []
    else:
        samples = np.frombuffer(attachments.found[0].data, "<f4")
        assert np.isfinite(samples).all()
        assert attachments.found[0].sample_rate == rate or rate is None


@given(st.lists(st.text()), st.lists(st.text(min_size=1), max_size=3))
def test_streamed_and_whole_are_the_same_text(deltas: list[str], stops: list[str]) -> None:
    shape = ChatShape(read(json.dumps({"messages": [], "stop": stops}).encode(), ChatBody))
    chunks = []
    for delta in deltas:
        chunks += shape.take(OutBlock("text", delta))
        if shape.stopped:
            break
    chunks += shape.end(Answer())
    text = "".join(deltas)
    cut = min((at for stop in stops if (at := text.find(stop)) >= 0), default=len(text))
    assert whole(shape, chunks)["choices"][0]["message"]["content"] == text[:cut]
