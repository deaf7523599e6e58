"""What clients of the OpenAI format send, as far as it means something here.

Unknown keys are ignored, as every such server does. What would change the shape of an answer and cannot be had is
refused in `convert`; what only tunes the sampling and has no place on the wire (seed, penalties, logit_bias) is not
read.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

import msgspec

from warmwire.errors import InvalidRequestError

_T = TypeVar("_T")

Positive = Annotated[int, msgspec.Meta(ge=1, le=(1 << 32) - 1)]
Natural = Annotated[int, msgspec.Meta(ge=0, le=(1 << 32) - 1)]


class ImageUrl(msgspec.Struct):
    url: str


class InputAudio(msgspec.Struct):
    data: str
    format: str = "wav"


class MessagePart(msgspec.Struct):
    """One piece of a message: text, image_url or input_audio (or a refusal, in what an assistant said)."""

    type: str
    text: str | None = None
    refusal: str | None = None
    image_url: ImageUrl | str | None = None
    input_audio: InputAudio | None = None


class CalledFunction(msgspec.Struct):
    name: str
    arguments: str = ""


class ToolCall(msgspec.Struct):
    id: str
    function: CalledFunction


class ChatMessage(msgspec.Struct):
    role: str
    content: str | list[MessagePart] | None = None
    tool_calls: list[ToolCall] | None = None
    tool_call_id: str | None = None


class Function(msgspec.Struct):
    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None


class ToolSpec(msgspec.Struct):
    type: str
    function: Function | None = None


class ChosenFunction(msgspec.Struct):
    name: str


class ToolChoice(msgspec.Struct):
    """The choice of one function by name."""

    function: ChosenFunction


class JsonSchema(msgspec.Struct):
    schema: dict[str, Any]


class ResponseFormat(msgspec.Struct):
    type: str
    json_schema: JsonSchema | None = None


class StreamOptions(msgspec.Struct):
    include_usage: bool | None = None


class TemplateOptions(msgspec.Struct):
    """What servers pass to a model's chat template; thinking is switched by it."""

    enable_thinking: bool | None = None


class Sampling(msgspec.Struct, kw_only=True):
    """What chat completions and plain ones have in common."""

    model: str | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    max_tokens: Positive | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: Natural | None = None
    stop: str | list[str] | None = None
    n: int | None = None

    @property
    def wants_usage(self) -> bool:
        """Whether the stream ends with a chunk of usage; an answer in one piece always has it."""
        return not self.stream or bool(self.stream_options and self.stream_options.include_usage)


class ChatBody(Sampling, kw_only=True):
    messages: list[ChatMessage]
    max_completion_tokens: Positive | None = None
    tools: list[ToolSpec] | None = None
    tool_choice: str | ToolChoice | None = None
    response_format: ResponseFormat | None = None
    reasoning_effort: str | None = None
    chat_template_kwargs: TemplateOptions | None = None
    logprobs: bool | None = None
    modalities: list[str] | None = None
    functions: list[Any] | None = None


class TextBody(Sampling, kw_only=True):
    prompt: str | list[Any]
    suffix: str | None = None
    echo: bool | None = None
    best_of: int | None = None
    logprobs: int | None = None


class EmbeddingsBody(msgspec.Struct):
    input: str | list[Any]
    model: str | None = None
    encoding_format: str | None = None
    dimensions: Natural | None = None
    task: str | None = None


class RerankDocument(msgspec.Struct):
    text: str


class RerankBody(msgspec.Struct):
    query: str
    documents: list[str | RerankDocument]
    model: str | None = None
    top_n: Natural | None = None
    return_documents: bool | None = None


def read(body: bytes, kind: type[_T]) -> _T:
    """A body as `kind`. Raises InvalidRequestError that says where it is something else."""
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidRequestError(f"the body is not what this endpoint takes: {error}") from None
