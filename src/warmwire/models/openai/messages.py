"""A request of the wire as the body of an OpenAI chat completion.

Every engine of this house that is not our own code speaks that format: llama.cpp in this process, a `llama-server`,
and any server behind a URL. What the format cannot carry is refused here, before anything runs.
"""

from __future__ import annotations

import base64
import io
import json
import math
import wave
from typing import Any, Final

import msgspec
import numpy as np

from warmwire.errors import AttachmentError, InvalidRequestError
from warmwire.media.images import decode_image
from warmwire.models.interface import Capabilities
from warmwire.wire.generation.messages import Attachment, Block, Message, Request

Body = dict[str, Any]


def chat_body(request: Request, capabilities: Capabilities) -> Body:
    """The body that asks for the same answer, streamed, with usage.

    Raises InvalidRequestError, and AttachmentError for media that the model cannot take.
    """
    if not capabilities.generate:
        raise InvalidRequestError("this model makes no text; it only embeds or reranks")
    body: Body = {
        "messages": _Messages(request, capabilities).convert(),
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    for key in ("temperature", "top_p", "top_k"):
        if (value := getattr(request, key)) is not None:
            if not math.isfinite(value) or value < 0:
                raise InvalidRequestError(f"{key} must be a number from 0 up, not {value}")
            body[key] = value
    if request.max_tokens:
        body["max_tokens"] = request.max_tokens
    _add_tools(body, request, capabilities)
    _add_format(body, request, capabilities)
    if request.thinking is not None and capabilities.thinking:
        body["chat_template_kwargs"] = {"enable_thinking": request.thinking}
    return body


def _add_tools(body: Body, request: Request, capabilities: Capabilities) -> None:
    if not request.tools:
        return
    if not capabilities.tools:
        raise InvalidRequestError("this model's chat template takes no tools")
    for tool in request.tools:
        if not isinstance(tool.input_schema, dict):
            raise InvalidRequestError(f"tool {tool.name!r}: input_schema must be an object")
    body["tools"] = [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.input_schema},
        }
        for tool in request.tools
    ]
    body["tool_choice"] = request.tool_choice or "auto"


def _add_format(body: Body, request: Request, capabilities: Capabilities) -> None:
    wanted = request.response_format
    if wanted is None:
        return
    if request.tool_choice is not None:
        raise InvalidRequestError("response_format and tool_choice exclude each other")
    if not isinstance(wanted, dict) or wanted.get("type") != "json_schema":
        raise InvalidRequestError('response_format must be {"type": "json_schema", "schema": {...}}')
    if not isinstance(wanted.get("schema"), dict):
        raise InvalidRequestError("response_format.schema must be a JSON schema object")
    if capabilities.structured_output:
        schema = {"name": "answer", "schema": wanted["schema"], "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}


class _Messages:
    """Converts the turns of one request."""

    def __init__(self, request: Request, capabilities: Capabilities) -> None:
        self._request = request
        self._capabilities = capabilities
        self._attachments = {attachment.id: attachment for attachment in request.attachments}
        self._calls: set[str] = set()

    def convert(self) -> list[Body]:
        """One or more messages of the other format for each of ours."""
        return [
            turn
            for i, message in enumerate(self._request.messages)
            for turn in (
                self._assistant(message, f"messages[{i}]")
                if message.role == "assistant"
                else self._person(message, f"messages[{i}]")
            )
        ]

    def _assistant(self, message: Message, where: str) -> list[Body]:
        turn: Body = {"role": "assistant", "content": _text(message.content)}
        calls = []
        for j, block in enumerate(message.content):
            if block.type == "tool_use":
                if not block.tool_call_id or not block.name:
                    raise InvalidRequestError(f"{where}.content[{j}]: tool_use needs a tool_call_id and a name")
                self._calls.add(block.tool_call_id)
                arguments = {} if block.input is msgspec.UNSET else block.input
                call = {"name": block.name, "arguments": json.dumps(arguments, ensure_ascii=False)}
                calls.append({"id": block.tool_call_id, "type": "function", "function": call})
            elif block.type != "text":
                raise InvalidRequestError(f"{where}.content[{j}]: an assistant message takes no {block.type} block")
        if calls:
            turn["tool_calls"] = calls
            turn["content"] = turn["content"] or None
        return [turn]

    def _person(self, message: Message, where: str) -> list[Body]:
        """A system or user message: tool results become messages of their own, before what is said with them."""
        turns: list[Body] = []
        rest: list[Block] = []
        for j, block in enumerate(message.content):
            at = f"{where}.content[{j}]"
            if block.type == "tool_use":
                raise InvalidRequestError(f"{at}: only an assistant message carries tool_use")
            if block.type != "tool_result":
                rest.append(block)
                continue
            if block.tool_call_id not in self._calls:
                raise InvalidRequestError(
                    f"{at}: tool_result references tool_call_id {json.dumps(block.tool_call_id)},"
                    " which matches no tool_use in this request"
                )
            inner = block.content or []
            turns.append({"role": "tool", "tool_call_id": block.tool_call_id, "content": _text(inner)})
            rest += [part for part in inner if part.type != "text"]  # a tool message is text only
        if rest:
            turns.append({"role": message.role, "content": self._content(rest, where)})
        return turns

    def _content(self, blocks: list[Block], where: str) -> str | list[Body]:
        if all(block.type == "text" for block in blocks):
            return _text(blocks)
        return [self._part(block, where) for block in blocks]

    def _part(self, block: Block, where: str) -> Body:
        if block.type == "text":
            return {"type": "text", "text": block.text or ""}
        if block.type not in ("image", "audio", "video"):
            raise InvalidRequestError(f"{where}: a {block.type} block cannot be here")
        attachment = self._attachments[block.attachment_id or ""]
        if block.type == "image":
            if not self._capabilities.vision:
                raise AttachmentError(
                    f"attachment {attachment.id!r}: this model has no vision"
                    " (a GGUF model gets it from its mmproj file, which lies beside it or is given)"
                )
            return {"type": "image_url", "image_url": {"url": image_uri(attachment)}}
        if block.type == "audio":
            self._check_audio(attachment)
            return {"type": "input_audio", "input_audio": {"data": _wav(attachment), "format": "wav"}}
        raise AttachmentError(f"attachment {attachment.id!r}: video is not supported")

    def _check_audio(self, attachment: Attachment) -> None:
        if not self._capabilities.audio:
            raise AttachmentError(f"attachment {attachment.id!r}: this model does not hear")
        rate = self._capabilities.audio_sample_rate
        if not memoryview(attachment.data).nbytes:
            raise InvalidRequestError(f"attachment {attachment.id!r}: there is no sound in it")
        if not attachment.sample_rate:
            raise InvalidRequestError(f"attachment {attachment.id!r}: sample_rate is missing")
        if rate is not None and attachment.sample_rate != rate:
            raise InvalidRequestError(
                f"attachment {attachment.id!r}: sample_rate is {attachment.sample_rate} Hz,"
                f" but this model takes {rate} Hz"
            )


def image_uri(attachment: Attachment) -> str:
    """An image as a PNG data URI. Lossless, and packed fast: the bytes only go to a neighbour."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(decode_image(attachment)).save(buffer, "png", compress_level=1)
    return "data:image/png;base64," + base64.b64encode(buffer.getbuffer()).decode()


_PCM_PEAK: Final = 32767


def _wav(attachment: Attachment) -> str:
    """Float samples as a 16-bit WAV file in base64: over full scale is clipped, what is no number is silence."""
    samples = np.nan_to_num(np.frombuffer(attachment.data, "<f4"), nan=0.0, posinf=1.0, neginf=-1.0)
    if len(samples) == 1:  # llama.cpp mirrors a sound at its ends; with nothing to mirror its process ends
        samples = np.repeat(samples, 2)
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(attachment.sample_rate or 0)
        file.writeframes((np.clip(samples, -1, 1) * _PCM_PEAK).astype("<i2").tobytes())
    return base64.b64encode(buffer.getbuffer()).decode()


def _text(blocks: list[Block]) -> str:
    return "".join(block.text or "" for block in blocks if block.type == "text")
