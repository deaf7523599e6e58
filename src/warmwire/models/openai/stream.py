"""The chunks of a streamed chat completion as blocks of the wire.

The chunks come from somebody else's server: they are checked as they are read, a tool call is passed on only when it
is whole, and an answer counts as complete only when it has said why it ended.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

import msgspec

from warmwire.errors import BackendUnavailableError, ToolCallError
from warmwire.models.interface import Finish
from warmwire.models.openai.errors import upstream_error
from warmwire.wire.generation.messages import OutBlock, StopReason, Usage
from warmwire.wire.generation.text import WholeCharacters

_MAX_ARGUMENTS: Final = 8 << 20
"""Most characters of one tool call's arguments: what a runaway model may cost."""

_MAX_COUNT: Final = (1 << 32) - 1

_FAILURES: Final = ("error", "abort")
"""Reasons that some servers give for an answer that has failed."""

_MAX_CALLS: Final = 1024
"""Most tool calls of one answer."""


class _Function(msgspec.Struct):
    name: str | None = None
    arguments: str | dict[str, Any] | None = None


class _Call(msgspec.Struct):
    index: int | None = None
    id: str | None = None
    function: _Function | None = None


class _Delta(msgspec.Struct):
    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(msgspec.Struct):
    delta: _Delta | None = None
    message: _Delta | None = None  # of a server that does not stream: the whole answer is one chunk
    finish_reason: str | None = None


class _Details(msgspec.Struct):
    cached_tokens: int | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _Details | None = None

    def counted(self) -> Usage:
        """In the words of the wire."""
        usage = Usage(_count(self.prompt_tokens), _count(self.completion_tokens))
        if self.prompt_tokens_details is not None and self.prompt_tokens_details.cached_tokens is not None:
            usage.cached_tokens = _count(self.prompt_tokens_details.cached_tokens)
        return usage


class _Chunk(msgspec.Struct):
    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    error: Any = None


_decode = msgspec.json.Decoder(_Chunk).decode


class AnswerStream:
    """Takes the chunks of one answer and emits its blocks; `finish` says how it ended."""

    def __init__(self, emit: Callable[[OutBlock], None]) -> None:
        self._emit = emit
        self._text, self._thinking = WholeCharacters(), WholeCharacters()
        self._call: _Call | None = None  # the one that is coming in
        self._name = ""
        self._arguments: list[str] = []
        self._arguments_size = 0
        self._calls = 0
        self._reason: str | None = None
        self._usage = Usage()
        self._deltas = 0

    def take(self, data: bytes) -> None:
        """Read one chunk. Raises RequestError for an error in the stream, for garbage and for a broken tool call."""
        try:
            chunk = _decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            chunk = _decode_loosely(data)
        if chunk.error is not None:
            raise upstream_error(chunk.error)
        if chunk.usage is not None:
            self._usage = chunk.usage.counted()
        for choice in (chunk.choices or ())[:1]:
            if (delta := choice.delta or choice.message) is not None:
                self._take_delta(delta)
            if choice.finish_reason is not None:
                self._reason = choice.finish_reason

    def finish(self) -> Finish:
        """How the answer ended. Raises BackendUnavailableError where it has not said so."""
        if self._reason is None:
            raise BackendUnavailableError("the model's server ended the stream before the answer was complete")
        if self._reason in _FAILURES:
            raise BackendUnavailableError(f"the model's server gave the answer up ({self._reason})")
        self._say("thinking", self._thinking.end())
        self._say("text", self._text.end())
        if self._reason == "length":
            if self._call is not None and _arguments("".join(self._arguments)) is not None:
                self._end_call()
            reason = StopReason.MAX_TOKENS
        else:
            self._end_call()
            reason = StopReason.TOOL_USE if self._calls else StopReason.END_TURN
        usage = self._usage
        if not usage.output_tokens:  # a server that counts nothing: a delta is a token, or nearly
            usage.output_tokens = self._deltas
        return Finish(reason, usage)

    def _take_delta(self, delta: _Delta) -> None:
        if thought := delta.reasoning_content or delta.reasoning:
            self._deltas += 1
            self._say("thinking", self._thinking.feed(thought))
        if delta.content:
            self._deltas += 1
            self._say("text", self._text.feed(delta.content))
        for call in delta.tool_calls or ():
            self._take_call(call)

    def _say(self, kind: str, text: str) -> None:
        if text:
            self._emit(OutBlock(kind, text))

    # ------------------------------------------------------------------ tool calls

    def _take_call(self, piece: _Call) -> None:
        """A piece of a call: the first one names it, the others bring more of its arguments."""
        function = piece.function or _Function()
        if self._call is None or self._begins_another(piece, self._call):
            self._end_call()
            self._call, self._name = piece, ""
        self._name = self._name or function.name or ""
        arguments = function.arguments
        text = json.dumps(arguments) if isinstance(arguments, dict) else arguments or ""
        self._arguments.append(text)
        self._arguments_size += len(text)
        if self._arguments_size > _MAX_ARGUMENTS:
            raise ToolCallError(f"the model's tool call has more than {_MAX_ARGUMENTS} characters of arguments")

    def _begins_another(self, piece: _Call, current: _Call) -> bool:
        """Whether a piece is of the next call. Servers number calls, or name them, or send each one whole."""
        if piece.index is not None and current.index is not None and piece.index != current.index:
            return True
        if piece.id and current.id:
            return piece.id != current.id
        whole = self._arguments_size > 0 and _arguments("".join(self._arguments)) is not None
        return piece.index is None and bool(piece.function and piece.function.name and self._name) and whole

    def _end_call(self) -> None:
        """Emit the call that is complete now. Raises ToolCallError where it is not one."""
        call, text = self._call, "".join(self._arguments)
        if call is None:
            return
        self._call, self._arguments, self._arguments_size = None, [], 0
        name, arguments = self._name, _arguments(text)
        if not name:
            raise ToolCallError("the model made a tool call without a name")
        if arguments is None:
            raise ToolCallError(f"the model called {name!r} with arguments that are no JSON object: {text[:200]!r}")
        self._calls += 1
        if self._calls > _MAX_CALLS:
            raise ToolCallError(f"the model made more than {_MAX_CALLS} tool calls in one answer")
        self._emit(OutBlock("tool_use", tool_call_id=call.id or f"tc-{self._calls}", name=name, input=arguments))


def _arguments(text: str) -> dict[str, Any] | None:
    """The arguments of a call; nothing at all means none. None where the text is no JSON object."""
    if not text.strip():
        return {}
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    try:
        value = msgspec.json.decode(whole.encode())
    except (msgspec.DecodeError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _count(tokens: int | None) -> int:
    return min(max(0, tokens or 0), _MAX_COUNT)


def _decode_loosely(data: bytes) -> _Chunk:
    """A chunk with surrogate escapes, which only Python's own reader takes. Raises BackendUnavailableError."""
    try:
        return msgspec.convert(json.loads(data), _Chunk)
    except (ValueError, RecursionError) as error:
        raise BackendUnavailableError(
            f"the model's server sent a chunk that is no chat completion: {bytes(data[:120])!r} ({error})"
        ) from None
