"""Answers of the wire in the OpenAI format.

An answer is a list of chunks, whoever wants it in which form: streamed they are sent as they come, and the answer in
one piece is made of the same ones, up to a bound.
"""

from __future__ import annotations

import time
import uuid
from io import StringIO
from typing import Any, Final, Protocol

import msgspec

from warmwire.bridge.bodies import Sampling
from warmwire.bridge.router import ANY_MODEL
from warmwire.client import Answer, OutBlock, StopReason, Usage
from warmwire.errors import InvalidRequestError
from warmwire.wire.generation.text import StopStrings

Chunk = dict[str, Any]

MAX_WHOLE: Final = 16 << 20
"""Most characters of an answer in one piece: a hundred times what models of today write in one go."""

_REASONS: Final[dict[str | None, str]] = {
    StopReason.END_TURN: "stop",
    StopReason.STOP_SEQUENCE: "stop",
    StopReason.MAX_TOKENS: "length",
    StopReason.TOOL_USE: "tool_calls",
}


class Shape(Protocol):
    """Makes the chunks of one answer, and one answer of its chunks."""

    stopped: bool
    """A stop string has come: the answer is complete, whatever the host still has to say."""

    def take(self, block: OutBlock) -> list[Chunk]:
        """The chunks of one block, often one and sometimes none."""

    def end(self, answer: Answer) -> list[Chunk]:
        """The last chunks. Raises InternalError for an answer that did not end well."""

    def keep(self, chunk: Chunk) -> None:
        """Take a chunk into the answer in one piece. Raises InvalidRequestError for one that grows without end."""

    def whole(self) -> dict[str, Any]:
        """The answer in one piece."""


class _Shape:
    """What both shapes share: the head of every chunk, stop strings, the end."""

    kind: str
    chunk_kind: str
    prefix: str

    def __init__(self, body: Sampling, most: int = MAX_WHOLE) -> None:
        """`most` characters are kept for the answer in one piece."""
        self._most = most
        self._head = {
            "id": f"{self.prefix}-{uuid.uuid4().hex}",
            "object": self.chunk_kind,
            "created": int(time.time()),
            "model": body.model or ANY_MODEL,
        }
        self._wants_usage = body.wants_usage
        stops = [body.stop] if isinstance(body.stop, str) else body.stop or []
        self._stops = StopStrings(stop for stop in stops if stop)
        self.stopped = False
        self._text_kept, self._thought_kept = StringIO(), StringIO()
        self._calls_kept: list[dict[str, Any]] = []
        self._kept = 0
        self._reason = "stop"
        self._more: dict[str, Any] = {}

    def keep(self, chunk: Chunk) -> None:
        for choice in chunk["choices"]:
            self._reason = choice["finish_reason"] or self._reason
            content = choice.get("delta", choice)
            for kept, text in (
                (self._text_kept, content.get("content") or content.get("text")),
                (self._thought_kept, content.get("reasoning_content")),
            ):
                if text:
                    self._kept += kept.write(text)
            if self._kept > self._most:
                raise InvalidRequestError(
                    f"the answer is longer than the {self._most} characters of one piece; set stream, or max_tokens"
                )
            self._calls_kept += content.get("tool_calls", ())
        self._more.update((key, chunk[key]) for key in ("usage", "tool_choice_unsatisfied") if key in chunk)

    def end(self, answer: Answer) -> list[Chunk]:
        if not self.stopped:
            answer.check()
        chunks = []
        if not self.stopped and (held := self._stops.end()):
            chunks.append(self._chunk(self._text(held)))
        reason = "stop" if self.stopped else _REASONS.get(answer.stop_reason, "stop")
        chunks.append(self._chunk(self._nothing(), reason))
        if answer.tool_choice_unsatisfied:
            chunks[-1]["tool_choice_unsatisfied"] = True  # not of the format; the wire says it and clients may ask
        if self._wants_usage and not self.stopped:  # a host counts at the end, which a stop string does not wait for
            chunks.append(self._head | {"choices": [], "usage": usage(answer.usage)})
        return chunks

    def _say(self, text: str) -> list[Chunk]:
        text = self._stops.feed(text)
        self.stopped = bool(self._stops.found)
        return [self._chunk(self._text(text))] if text else []

    def _chunk(self, content: Chunk, reason: str | None = None) -> Chunk:
        return self._head | {"choices": [{"index": 0, **content, "logprobs": None, "finish_reason": reason}]}

    def _text(self, text: str) -> Chunk:
        raise NotImplementedError

    def _nothing(self) -> Chunk:
        raise NotImplementedError

    def _around(self, content: Chunk) -> dict[str, Any]:
        """The answer around its content, which is what differs."""
        choice = {"index": 0, **content, "logprobs": None, "finish_reason": self._reason}
        return self._head | {"object": self.kind, "choices": [choice]} | self._more


class ChatShape(_Shape):
    """A chat completion."""

    kind, chunk_kind, prefix = "chat.completion", "chat.completion.chunk", "chatcmpl"

    def __init__(self, body: Sampling) -> None:
        super().__init__(body)
        self._calls = 0
        self._begun = False

    def take(self, block: OutBlock) -> list[Chunk]:
        if block.type == "text":
            return self._say(block.delta)
        if block.type == "thinking":
            return [self._chunk(self._delta({"reasoning_content": block.delta}))]
        if block.type == "tool_use":
            return [self._chunk(self._delta({"tool_calls": [self._call(block)]}))]
        return []

    def whole(self) -> dict[str, Any]:
        text, calls = self._text_kept.getvalue(), self._calls_kept
        message: dict[str, Any] = {"role": "assistant", "content": text if text or not calls else None, "refusal": None}
        if thought := self._thought_kept.getvalue():
            message["reasoning_content"] = thought
        if calls:
            message["tool_calls"] = [{k: v for k, v in call.items() if k != "index"} for call in calls]
        return self._around({"message": message})

    def _text(self, text: str) -> Chunk:
        return self._delta({"content": text})

    def _nothing(self) -> Chunk:
        return self._delta({})

    def _delta(self, delta: dict[str, Any]) -> Chunk:
        if not self._begun:
            self._begun = True
            delta = {"role": "assistant"} | delta
        return {"delta": delta}

    def _call(self, block: OutBlock) -> dict[str, Any]:
        arguments = {} if block.input is msgspec.UNSET else block.input
        function = {"name": block.name or "", "arguments": msgspec.json.encode(arguments).decode()}
        index, self._calls = self._calls, self._calls + 1
        return {
            "index": index,
            "id": block.tool_call_id or f"call-{index + 1}",
            "type": "function",
            "function": function,
        }


class TextShape(_Shape):
    """A plain completion: text alone."""

    kind, chunk_kind, prefix = "text_completion", "text_completion", "cmpl"

    def take(self, block: OutBlock) -> list[Chunk]:
        return self._say(block.delta) if block.type == "text" else []

    def whole(self) -> dict[str, Any]:
        return self._around({"text": self._text_kept.getvalue()})

    def _text(self, text: str) -> Chunk:
        return {"text": text}

    def _nothing(self) -> Chunk:
        return self._text("")


def usage(counted: Usage) -> dict[str, Any]:
    """Tokens as the model counts them."""
    read, written = counted.input_tokens, counted.output_tokens
    tokens: dict[str, Any] = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
    if counted.cached_tokens is not msgspec.UNSET:
        tokens["prompt_tokens_details"] = {"cached_tokens": counted.cached_tokens}
    return tokens
