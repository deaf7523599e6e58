"""Tools, schemas and thoughts of a GGUF model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests import tiny_gguf
from tests.gguf_support import ask, load
from tests.model_support import run, text_of
from warmwire.errors import InvalidRequestError
from warmwire.models.openai.model import ChatModel
from warmwire.wire.generation.messages import Block, Message, Request, StopReason, Tool, text_block

pytest.importorskip("xllamacpp")


ADD = Tool(
    "add",
    "Adds two numbers.",
    {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"]},
)


def test_a_tool_call_comes_whole(calling: ChatModel) -> None:
    assert calling.capabilities.tools
    blocks, finish = run(calling, ask(tools=[ADD]))
    (call,) = blocks
    assert (call.type, call.name, call.input) == ("tool_use", "add", {"a": 1, "b": 2})
    assert call.tool_call_id
    assert finish.stop_reason == StopReason.TOOL_USE
    assert finish.usage.output_tokens == 5


def test_required_does_not_let_an_answer_end_without_a_call(made: Path) -> None:
    talker = load(tiny_gguf.text_model(made / "talker.gguf", ["Just ", "words"], template=tiny_gguf.TOOLS))
    blocks, finish = run(talker, ask(tools=[ADD]))
    assert (text_of(blocks), finish.stop_reason) == ("Just words", StopReason.END_TURN)
    blocks, finish = run(talker, ask(tools=[ADD], tool_choice="required", max_tokens=20))
    assert text_of(blocks).startswith("Just words")
    assert (finish.stop_reason, finish.usage.output_tokens) == (StopReason.MAX_TOKENS, 20)


def test_the_arguments_of_a_call_are_held_to_its_schema(made: Path) -> None:
    babbler = load(
        tiny_gguf.text_model(made / "babbler.gguf", ["<tool_call>\n", "no ", "json"], template=tiny_gguf.TOOLS)
    )
    switch = Tool("switch", "", {"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"]})
    blocks, finish = run(babbler, ask(tools=[switch], tool_choice="required", max_tokens=400))
    calls = [block for block in blocks if block.type == "tool_use"]
    assert [(call.name, type(call.input["on"])) for call in calls[:1]] == [("switch", bool)]
    assert finish.stop_reason in (StopReason.TOOL_USE, StopReason.MAX_TOKENS)


def test_none_keeps_a_call_as_text(calling: ChatModel) -> None:
    blocks, finish = run(calling, ask(tools=[ADD], tool_choice="none"))
    assert "tool_use" not in {block.type for block in blocks}
    assert finish.stop_reason == StopReason.END_TURN


def test_a_call_cut_by_max_tokens_is_not_passed_on(calling: ChatModel) -> None:
    blocks, finish = run(calling, ask(tools=[ADD], max_tokens=2))
    assert "tool_use" not in {block.type for block in blocks}
    assert finish.stop_reason == StopReason.MAX_TOKENS


def test_tool_results_reach_the_template(calling: ChatModel) -> None:
    use = Block("tool_use", tool_call_id="c1", name="add", input={"a": 1})
    result = Block("tool_result", tool_call_id="c1", content=[text_block("three")])
    turns = [Message("user", [text_block("q")]), Message("assistant", [use]), Message("user", [result])]
    with_result = run(calling, Request(messages=turns, tools=[ADD], temperature=0))[1].usage.input_tokens
    result.content = [text_block("three and four")]
    longer = run(calling, Request(messages=turns, tools=[ADD], temperature=0))[1].usage.input_tokens
    assert longer - with_result == len(" and four")


def test_a_result_without_its_call_is_named(calling: ChatModel) -> None:
    result = Block("tool_result", tool_call_id="nope", content=[text_block("x")])
    with pytest.raises(InvalidRequestError, match=r'messages\[0\].content\[0\]: tool_result references .* "nope"'):
        run(calling, Request(messages=[Message("user", [result])]))


def test_tools_need_a_template_that_takes_them(chain: ChatModel) -> None:
    assert not chain.capabilities.tools
    with pytest.raises(InvalidRequestError, match="no tools"):
        run(chain, ask(tools=[ADD]))


# ---------------------------------------------------------------------- structured output and thinking


def test_json_schema_is_held_to(chain: ChatModel) -> None:
    schema = {
        "type": "object",
        "properties": {"ok": {"type": "boolean"}, "kind": {"enum": ["x", "y"]}},
        "required": ["ok", "kind"],
        "additionalProperties": False,
    }
    blocks, finish = run(chain, ask(response_format={"type": "json_schema", "schema": schema}, max_tokens=400))
    value = msgspec.json.decode(text_of(blocks))
    assert set(value) == {"ok", "kind"}
    assert isinstance(value["ok"], bool)
    assert value["kind"] in ("x", "y")
    assert finish.stop_reason == StopReason.END_TURN


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"response_format": {"type": "json_object"}}, "json_schema"),
        ({"response_format": {"type": "json_schema"}}, "schema"),
        ({"response_format": "json"}, "json_schema"),
        ({"response_format": {"type": "json_schema", "schema": {}}, "tools": [ADD], "tool_choice": "auto"}, "exclude"),
        ({"response_format": {"type": "json_schema", "schema": {"type": "nonsense"}}}, "schema"),
        ({"temperature": -1}, "temperature"),
        ({"temperature": float("nan")}, "temperature"),
    ],
)
def test_what_cannot_be_meant_is_refused(calling: ChatModel, fields: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidRequestError, match=reason):
        run(calling, ask(**fields))
    run(calling, ask())  # and costs nothing but itself


def test_thinking_is_told_apart(made: Path) -> None:
    pieces = ["<think>", "I ", "muse", "</think>", "Yes"]
    model = load(tiny_gguf.text_model(made / "thinking.gguf", pieces, template=tiny_gguf.THINKING))
    assert model.capabilities.thinking
    blocks, finish = run(model, ask())
    assert (text_of(blocks, "thinking"), text_of(blocks)) == ("I muse", "Yes")
    assert finish.usage.output_tokens == 6
    longer = run(model, ask(thinking=False))[1].usage.input_tokens
    assert longer == finish.usage.input_tokens + len("<think>") + len("</think>") + 4  # an empty thought is put before
