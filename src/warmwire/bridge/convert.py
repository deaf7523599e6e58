"""Bodies of the OpenAI format as requests of the wire."""

from __future__ import annotations

from typing import Any

import msgspec

from warmwire.bridge.bodies import (
    ChatBody,
    ChatMessage,
    MessagePart,
    ResponseFormat,
    Sampling,
    TextBody,
    ToolChoice,
    ToolSpec,
)
from warmwire.bridge.media import Attachments
from warmwire.client import Block, Message, Request, Tool, image_block, text_block
from warmwire.errors import InvalidRequestError

_NO_PARAMETERS = {"type": "object", "properties": {}}


def chat_request(body: ChatBody, sample_rate: int | None = None) -> Request:
    """A chat completion. Images and sounds are decoded here, which takes its time.

    Raises InvalidRequestError for what the wire cannot carry.
    """
    _check(body)
    if not body.messages:
        raise InvalidRequestError("messages must not be empty")
    if body.logprobs:
        raise InvalidRequestError("logprobs: the host sends none")
    if body.functions:
        raise InvalidRequestError("functions: no longer; use tools")
    if body.modalities and body.modalities != ["text"]:
        raise InvalidRequestError("modalities: answers are text only")
    attachments = Attachments(sample_rate)
    request = _request(body, _Turns(attachments).convert(body.messages))
    request.attachments = attachments.found
    request.max_tokens = body.max_completion_tokens or body.max_tokens
    request.response_format = _format(body.response_format)
    request.thinking = _thinking(body)
    _add_tools(request, body.tools or [], body.tool_choice)
    return request


def media_in(body: ChatBody) -> set[str]:
    """The kinds of parts that have to be decoded: image_url, input_audio."""
    lists = (message.content for message in body.messages if isinstance(message.content, list))
    return {part.type for parts in lists for part in parts} & {"image_url", "input_audio"}


def text_request(body: TextBody) -> Request:
    """A plain completion: the prompt is what the user says. Raises InvalidRequestError."""
    _check(body)
    for key, refused in {
        "suffix": bool(body.suffix),
        "echo": bool(body.echo),
        "logprobs": body.logprobs is not None,
        "best_of": body.best_of not in (None, 1),
    }.items():
        if refused:
            raise InvalidRequestError(f"{key}: not supported here")
    prompt = body.prompt[0] if isinstance(body.prompt, list) and len(body.prompt) == 1 else body.prompt
    if not isinstance(prompt, str):
        raise InvalidRequestError("prompt: one text a request; send several prompts as several requests")
    request = _request(body, [Message("user", [text_block(prompt)])])
    request.max_tokens = body.max_tokens
    return request


def _check(body: Sampling) -> None:
    if body.n not in (None, 1):
        raise InvalidRequestError("n: one answer a request; send the request several times")


def _request(body: Sampling, messages: list[Message]) -> Request:
    return Request(messages=messages, temperature=body.temperature, top_p=body.top_p, top_k=body.top_k)


def _thinking(body: ChatBody) -> bool | None:
    if body.chat_template_kwargs is not None and body.chat_template_kwargs.enable_thinking is not None:
        return body.chat_template_kwargs.enable_thinking
    return None if body.reasoning_effort is None else body.reasoning_effort != "none"


def _format(wanted: ResponseFormat | None) -> dict[str, Any] | None:
    if wanted is None or wanted.type == "text":
        return None
    if wanted.type == "json_object":
        return {"type": "json_schema", "schema": {"type": "object"}}
    if wanted.type != "json_schema" or wanted.json_schema is None:
        raise InvalidRequestError(
            "response_format: one of text, json_object, and json_schema with its json_schema.schema"
        )
    return {"type": "json_schema", "schema": wanted.json_schema.schema}


def _add_tools(request: Request, specs: list[ToolSpec], choice: str | ToolChoice | None) -> None:
    """The wire cannot name the one function to call; offering no other and requiring a call is the same."""
    tools = [_tool(spec, f"tools[{i}]") for i, spec in enumerate(specs)]
    if isinstance(choice, ToolChoice):
        name = choice.function.name
        tools = [tool for tool in tools if tool.name == name]
        if not tools:
            raise InvalidRequestError(f"tool_choice: no tool is named {name!r}")
        choice = "required"
    request.tools = tools
    # auto is what a host does anyway, and saying so would exclude a response_format
    request.tool_choice = None if choice == "auto" else choice


def _tool(spec: ToolSpec, where: str) -> Tool:
    if spec.type != "function" or spec.function is None:
        raise InvalidRequestError(f"{where}: a tool is of type function, not {spec.type!r}")
    function = spec.function
    parameters = _NO_PARAMETERS if function.parameters is None else function.parameters
    return Tool(function.name, function.description or "", parameters)


class _Turns:
    """Converts the messages of one request."""

    def __init__(self, attachments: Attachments) -> None:
        self._attachments = attachments

    def convert(self, messages: list[ChatMessage]) -> list[Message]:
        """Tool messages in a row become the results of one user message."""
        turns: list[Message] = []
        results: list[Block] | None = None
        for i, message in enumerate(messages):
            where = f"messages[{i}]"
            if message.role == "tool":
                if results is None:
                    turns.append(Message("user", results := []))
                results.append(self._result(message, where))
                continue
            results = None
            if message.role == "assistant":
                turns.append(Message("assistant", self._said(message, where)))
            elif message.role in ("user", "system", "developer"):
                content = self._content(message, where)
                turns.append(Message("user" if message.role == "user" else "system", content))
            else:
                raise InvalidRequestError(f"{where}.role: {message.role!r} is none of system, user, assistant, tool")
        return turns

    def _result(self, message: ChatMessage, where: str) -> Block:
        if not message.tool_call_id:
            raise InvalidRequestError(f"{where}.tool_call_id: missing; a result says which call it is of")
        return Block("tool_result", tool_call_id=message.tool_call_id, content=self._content(message, where))

    def _said(self, message: ChatMessage, where: str) -> list[Block]:
        calls = [
            Block(
                "tool_use",
                tool_call_id=call.id,
                name=call.function.name,
                input=_arguments(call.function.arguments, f"{where}.tool_calls[{j}]"),
            )
            for j, call in enumerate(message.tool_calls or ())
        ]
        return ([] if calls and not message.content else self._content(message, where)) + calls

    def _content(self, message: ChatMessage, where: str) -> list[Block]:
        content = message.content
        if not isinstance(content, list):
            return [text_block(content or "")]
        if not content:
            raise InvalidRequestError(f"{where}.content: must not be an empty list")
        return [self._block(part, f"{where}.content[{j}]") for j, part in enumerate(content)]

    def _block(self, part: MessagePart, where: str) -> Block:
        if part.type == "text" and part.text is not None:
            return text_block(part.text)
        if part.type == "refusal" and part.refusal is not None:
            return text_block(part.refusal)
        if part.type == "image_url" and part.image_url is not None:
            uri = part.image_url if isinstance(part.image_url, str) else part.image_url.url
            return image_block(self._attachments.add_image(uri, where))
        if part.type == "input_audio" and part.input_audio is not None:
            audio = part.input_audio
            return Block("audio", attachment_id=self._attachments.add_audio(audio.data, audio.format, where))
        raise InvalidRequestError(
            f"{where}: {part.type!r} is none of text, image_url, input_audio, or lacks its content"
        )


def _arguments(text: str, where: str) -> Any:
    if not text.strip():
        return {}
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidRequestError(f"{where}.function.arguments: this is no JSON ({error})") from None
