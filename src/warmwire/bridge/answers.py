"""Answers of the wire in the OpenAI format.

An answer is a list of chunks, whoever wants it in which form: streamed they are sent as they come, and the answer in
one piece is folded from the same ones.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from typing import Any, Final, Protocol

import msgspec

from warmwire.bridge.bodies import Sampling
from warmwire.client import Answer, OutBlock, StopReason, StopStrings, Usage

Chunk = dict[str, Any]

ANY_MODEL: Final = "warmwire"
"""What a model is called that nobody has named."""

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

    def fold(self, chunks: Sequence[Chunk]) -> dict[str, Any]:
        """The answer in one piece."""


class _Shape:
    """What both shapes share: the head of every chunk, stop strings, the end."""

    kind: str
    chunk_kind: str
    prefix: str

    def __init__(self, body: Sampling) -> None:
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

    def _folded(self, chunks: Sequence[Chunk], content: Chunk) -> dict[str, Any]:
        """The answer around its content, which is what differs."""
        reason = next((c["finish_reason"] for chunk in chunks for c in chunk["choices"] if c["finish_reason"]), "stop")
        choice = {"index": 0, **content, "logprobs": None, "finish_reason": reason}
        whole = self._head | {"object": self.kind, "choices": [choice]}
        for chunk in chunks:
            for key in ("usage", "tool_choice_unsatisfied"):
                if key in chunk:
                    whole[key] = chunk[key]
        return whole


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

    def fold(self, chunks: Sequence[Chunk]) -> dict[str, Any]:
        deltas = [choice["delta"] for chunk in chunks for choice in chunk["choices"]]
        text = "".join(delta.get("content") or "" for delta in deltas)
        calls = [call for delta in deltas for call in delta.get("tool_calls", ())]
        message: dict[str, Any] = {"role": "assistant", "content": text if text or not calls else None, "refusal": None}
        if thought := "".join(delta.get("reasoning_content", "") for delta in deltas):
            message["reasoning_content"] = thought
        if calls:
            message["tool_calls"] = [{k: v for k, v in call.items() if k != "index"} for call in calls]
        return self._folded(chunks, {"message": message})

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

    def fold(self, chunks: Sequence[Chunk]) -> dict[str, Any]:
        return self._folded(chunks, {"text": "".join(c["text"] for chunk in chunks for c in chunk["choices"])})

    def _text(self, text: str) -> Chunk:
        return {"text": text}

    def _nothing(self) -> Chunk:
        return self._text("")


def usage(counted: Usage) -> dict[str, int]:
    """Tokens as the model counts them."""
    read, written = counted.input_tokens, counted.output_tokens
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
