"""Real llama.cpp on models made here: what it says is known, token for token."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from tests import tiny_gguf
from warmwire.models.base import Finish
from warmwire.models.images import image_attachment
from warmwire.models.load import check_model, load_model, load_page_handler
from warmwire.models.openai.model import ChatModel
from warmwire.wire.errors import (
    AttachmentError,
    CancelledError,
    InputError,
    InvalidRequestError,
    UsageError,
    WarmwireError,
)
from warmwire.wire.messages import (
    Attachment,
    Block,
    Message,
    OutBlock,
    Request,
    StopReason,
    Tool,
    image_block,
    text_block,
)

pytest.importorskip("xllamacpp")

ADD = Tool(
    "add",
    "Adds two numbers.",
    {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"]},
)
EMOJI = "😀世界é!"
"""No byte in it twice, so that a chain can be cut at each one."""


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory for models; each test names its own file."""
    return tmp_path_factory.mktemp("gguf")


def load(path: Path, options: str = "") -> ChatModel:
    model = load_model(f"{path}{options}", threads=1)
    assert isinstance(model, ChatModel)
    return model


@pytest.fixture(scope="session")
def chain(made: Path) -> ChatModel:
    return load(tiny_gguf.text_model(made / "chain.gguf", ["Hello", ", ", "world", "!"]))


@pytest.fixture(scope="session")
def seeing(made: Path) -> ChatModel:
    directory = made / "seeing"
    directory.mkdir()
    model = tiny_gguf.text_model(directory / "seeing-Q8_0.gguf", ["I ", "see"])
    tiny_gguf.projector(directory / "mmproj-seeing-F16.gguf", model)
    return load(model)


@pytest.fixture(scope="session")
def calling(made: Path) -> ChatModel:
    pieces = ["<tool_call>\n", '{"name": "add", "arguments": {"a": 1, "b": ', "2}}\n", "</tool_call>"]
    return load(tiny_gguf.text_model(made / "calling.gguf", pieces, template=tiny_gguf.TOOLS))


@pytest.fixture(scope="session")
def endless(made: Path) -> ChatModel:
    path = tiny_gguf.text_model(
        made / "endless.gguf", ["round ", "and "], loop=True, layers=4, hidden=512, context=8192
    )
    return load(path)


@pytest.fixture(scope="session")
def embedder(made: Path) -> ChatModel:
    return load(tiny_gguf.encoder(made / "embedder.gguf"))


@pytest.fixture(scope="session")
def ranker(made: Path) -> ChatModel:
    return load(tiny_gguf.encoder(made / "ranker.gguf", rank=True))


def ask(text: str = "hi", **fields: Any) -> Request:
    fields.setdefault("temperature", 0)
    return Request(messages=[Message("user", [text_block(text)])], **fields)


def run(model: ChatModel, request: Request) -> tuple[list[OutBlock], Finish]:
    blocks: list[OutBlock] = []
    finish = model.generate(request, blocks.append, threading.Event())
    return blocks, finish


def text_of(blocks: list[OutBlock], kind: str = "text") -> str:
    return "".join(block.delta for block in blocks if block.type == kind)


# ---------------------------------------------------------------------- text


def test_streams_text_with_usage_and_reason(chain: ChatModel) -> None:
    blocks, finish = run(chain, ask())
    assert [block.delta for block in blocks] == ["Hello", ", ", "world", "!"]
    assert finish.stop_reason == StopReason.END_TURN
    # <|im_start|> user \n h i <|im_end|> \n <|im_start|> assistant \n, one token a byte; four pieces and the end.
    assert finish.usage.input_tokens == 1 + 5 + 2 + 1 + 1 + 1 + 10
    assert finish.usage.output_tokens == 5


def test_usage_is_the_same_when_the_prompt_is_cached(chain: ChatModel) -> None:
    first, second = run(chain, ask("twice"))[1].usage, run(chain, ask("twice"))[1].usage
    assert first == second


def test_max_tokens_ends_the_answer(chain: ChatModel) -> None:
    blocks, finish = run(chain, ask(max_tokens=2))
    assert text_of(blocks) == "Hello, "
    assert (finish.stop_reason, finish.usage.output_tokens) == (StopReason.MAX_TOKENS, 2)


def test_the_context_ends_an_endless_answer(made: Path) -> None:
    model = load(tiny_gguf.text_model(made / "short.gguf", ["a", "b"], loop=True), "?ctx=300")
    assert model.capabilities.context == 512  # llama.cpp rounds up
    blocks, finish = run(model, ask())
    assert finish.stop_reason == StopReason.MAX_TOKENS
    assert finish.usage.input_tokens + finish.usage.output_tokens in (512, 513)
    assert set(text_of(blocks)) == {"a", "b"}


def test_a_prompt_over_the_context_is_invalid(chain: ChatModel) -> None:
    with pytest.raises(InvalidRequestError, match="context"):
        run(chain, ask("x" * 5000))
    assert text_of(run(chain, ask())[0]) == "Hello, world!"


def _splits() -> list[list[bytes]]:
    data = EMOJI.encode()
    pairs = [[data[:a], data[a:]] for a in range(1, len(data))]
    return [[bytes([byte]) for byte in data], *pairs[:: max(1, len(pairs) // 5)]]


@pytest.mark.parametrize("pieces", _splits(), ids=lambda pieces: str(len(pieces[0])) + "of" + str(len(pieces)))
def test_text_is_whole_however_tokens_cut_it(made: Path, pieces: list[bytes]) -> None:
    model = load(tiny_gguf.text_model(made / "cut.gguf", pieces))
    blocks, finish = run(model, ask())
    assert text_of(blocks) == EMOJI
    for block in blocks:
        assert "\ufffd" not in block.delta
    assert finish.usage.output_tokens == len(pieces) + 1


def test_bytes_that_are_no_text_do_not_stall(made: Path) -> None:
    model = load(tiny_gguf.text_model(made / "broken.gguf", [b"ok ", b"\xf0\x9f", b" then", b"\xe4"]))
    text = text_of(run(model, ask())[0])
    assert text.startswith("ok ")
    assert " then" in text
    text.encode()


def test_system_and_earlier_turns_reach_the_template(chain: ChatModel) -> None:
    turns = [
        Message("system", [text_block("sys")]),
        Message("user", [text_block("one")]),
        Message("assistant", [text_block("two")]),
        Message("user", [text_block("th"), text_block("ree")]),
    ]
    _, finish = run(chain, Request(messages=turns, temperature=0))
    letters = len("systemsys" + "userone" + "assistanttwo" + "userthree" + "assistant")
    assert finish.usage.input_tokens == letters + 3 * 4 + 4 + 2  # three marks a turn and a newline, two for ours


# ---------------------------------------------------------------------- cancel


def cancel_after(model: ChatModel, request: Request, when: Callable[[list[OutBlock]], bool]) -> tuple[float, int]:
    """Seconds from cancel to the model being idle, and deltas seen."""
    cancelled = threading.Event()
    blocks: list[OutBlock] = []
    at: list[float] = []

    def wait() -> None:
        while not when(blocks):
            time.sleep(0.001)
        at.append(time.monotonic())
        cancelled.set()

    watcher = threading.Thread(target=wait)
    watcher.start()
    with pytest.raises(CancelledError):
        model.generate(request, blocks.append, cancelled)
    watcher.join()
    return time.monotonic() - at[0], len(blocks)


def test_cancel_in_decode(endless: ChatModel) -> None:
    took, deltas = cancel_after(endless, ask(), lambda blocks: len(blocks) > 5)
    assert deltas < 3000
    assert took < 5
    assert_idle(endless)


def test_cancel_in_prefill(endless: ChatModel) -> None:
    start = time.monotonic()
    run(endless, ask("y" * 4000, max_tokens=1))
    whole = time.monotonic() - start
    began = time.monotonic()
    took, deltas = cancel_after(endless, ask("z" * 4000), lambda _: time.monotonic() - began > whole / 8)
    assert deltas == 0
    assert took < max(0.2, whole / 3)
    assert_idle(endless)


def test_cancel_before_it_begins(chain: ChatModel) -> None:
    cancelled = threading.Event()
    cancelled.set()
    blocks: list[OutBlock] = []
    with pytest.raises(CancelledError):
        chain.generate(ask(), blocks.append, cancelled)
    assert blocks == []


def test_an_error_in_emit_ends_the_request_and_comes_back(endless: ChatModel) -> None:
    class Full(Exception):
        pass

    def emit(block: OutBlock) -> None:
        raise Full

    with pytest.raises(Full):
        endless.generate(ask(), emit, threading.Event())
    assert_idle(endless)


def assert_idle(model: ChatModel) -> None:
    """The engine has no work left: the next short request is answered at once."""
    start = time.monotonic()
    assert text_of(run(model, ask(max_tokens=2))[0]) == "round and "
    assert time.monotonic() - start < 10


# ---------------------------------------------------------------------- images and audio


def page(width: int = 50, height: int = 40) -> Attachment:
    return image_attachment("p", np.full((height, width, 3), 200, np.uint8))


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

    def hear(rate: int) -> tuple[list[OutBlock], Finish]:
        sound = Attachment("audio", "s", sample_rate=rate, data=tone)
        content = [Block("audio", attachment_id="s"), text_block("what?")]
        return run(model, Request(messages=[Message("user", content)], attachments=[sound], temperature=0))

    blocks, finish = hear(16000)
    assert text_of(blocks) == "I hear"
    assert finish.usage.input_tokens > run(model, ask("what?"))[1].usage.input_tokens
    with pytest.raises(InvalidRequestError, match=r"44100 Hz.*16000 Hz"):
        hear(44100)


def test_a_model_without_a_template_continues_what_was_said(made: Path) -> None:
    model = load(tiny_gguf.text_model(made / "base.gguf", ["and ", "so on"], template=None))
    assert not model.capabilities.tools
    blocks, finish = run(model, ask("It begins\n"))
    assert text_of(blocks) == "and so on"
    assert finish.usage.input_tokens == len("It begins\n")


# ---------------------------------------------------------------------- tools


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


# ---------------------------------------------------------------------- embeddings and rerank


def test_embeddings_have_length_one(embedder: ChatModel) -> None:
    assert embedder.capabilities == msgspec.structs.replace(
        embedder.capabilities, generate=False, embed=True, rerank=False, dimensions=32
    )
    result = embedder.embed(["abc", "hello there", "abc"], threading.Event())
    assert (len(result.vectors), result.dimensions, result.model) == (3, 32, "encoder")
    assert np.allclose(np.linalg.norm(result.vectors, axis=1), 1)
    assert np.allclose(result.vectors[0], result.vectors[2], atol=1e-5)
    assert not np.allclose(result.vectors[0], result.vectors[1], atol=1e-3)
    assert result.input_tokens > 3


def test_dimensions_cut_and_normalise_again(embedder: ChatModel) -> None:
    whole = np.array(embedder.embed(["hello"], threading.Event()).vectors[0])
    short = embedder.embed(["hello"], threading.Event(), dimensions=8)
    assert short.dimensions == 8
    assert np.allclose(short.vectors[0], whole[:8] / np.linalg.norm(whole[:8]), atol=1e-5)
    for wrong in (0, 33):
        with pytest.raises(InvalidRequestError, match="1 to 32"):
            embedder.embed(["hello"], threading.Event(), dimensions=wrong)


def test_many_texts_keep_their_order(embedder: ChatModel) -> None:
    texts = [f"text {i}" for i in range(70)]
    result = embedder.embed(texts, threading.Event())
    assert len(result.vectors) == 70
    alone = embedder.embed([texts[40]], threading.Event()).vectors[0]
    assert np.allclose(result.vectors[40], alone, atol=1e-5)


def test_a_text_over_the_context_is_invalid(embedder: ChatModel) -> None:
    with pytest.raises(InvalidRequestError, match="too large"):
        embedder.embed(["a b c " * 100], threading.Event())


def test_gemma_prefixes_go_before_the_text(embedder: ChatModel) -> None:
    from warmwire.models.openai.vectors import GEMMA_PREFIXES

    gemma = ChatModel("g", embedder.capabilities, embedder._upstream, prefixes=GEMMA_PREFIXES)
    never = threading.Event()
    query = gemma.embed(["abc"], never, task="retrieval_query").vectors[0]
    assert np.allclose(query, embedder.embed(["task: search result | query: abc"], never).vectors[0], atol=1e-5)
    assert np.allclose(gemma.embed(["abc"], never).vectors[0], embedder.embed(["abc"], never).vectors[0], atol=1e-5)


def test_ranking_is_sorted_stable_and_raw(ranker: ChatModel) -> None:
    assert ranker.capabilities.rerank
    never = threading.Event()
    documents = ["hello", "abc", "zzz", "hello", *(f"document {i}" for i in range(40))]
    ranking = ranker.rerank("abc", documents, never)
    scores = [result.score for result in ranking.results]
    assert scores == sorted(scores, reverse=True)
    assert sorted(result.index for result in ranking.results) == list(range(44))
    place = {result.index: i for i, result in enumerate(ranking.results)}
    assert place[3] == place[0] + 1  # the same document twice: the first comes first
    best = ranker.rerank("abc", documents, never, top_n=2).results
    assert [result.index for result in best] == [result.index for result in ranking.results[:2]]
    assert ranking.input_tokens > 44


def test_models_refuse_what_they_are_not_for(chain: ChatModel, embedder: ChatModel, ranker: ChatModel) -> None:
    never = threading.Event()
    for model in (embedder, ranker):
        with pytest.raises(InvalidRequestError, match="no text"):
            run(model, ask())
    with pytest.raises(InvalidRequestError):
        chain.embed(["a"], never)
    with pytest.raises(InvalidRequestError):
        embedder.rerank("a", ["b"], never)


# ---------------------------------------------------------------------- loading


def test_nothing_listens_and_nothing_is_left(chain: ChatModel) -> None:
    sockets = Path("/proc/self/net/unix").read_text()
    assert "warmwire-" not in "".join(line for line in sockets.splitlines() if os.path.exists(line.split()[-1]))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not a whole GGUF"),
        (b"GGUF", "not a whole GGUF"),
        (b"nonsense" * 100, "does not begin with GGUF"),
        (b"GGUF\x09\x00\x00\x00" + b"\0" * 64, "version 9"),
        (b"GGUF\x03\0\0\0" + b"\0" * 8 + b"\xff" * 8, "declares"),
        (b"GGUF\x03\0\0\0" + b"\0" * 8 + b"\x01" + b"\0" * 7 + b"\xff" * 8, "ends in the middle"),
    ],
)
def test_files_that_are_no_models(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "x.gguf"
    path.write_bytes(content)
    with pytest.raises(InputError, match=reason):
        load_model(str(path), threads=1)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_a_file_cut_short_says_so(made: Path, tmp_path: Path, share: float) -> None:
    whole = tiny_gguf.text_model(tmp_path / "whole.gguf").read_bytes()
    path = tmp_path / "cut.gguf"
    path.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(InputError, match=r"cut\.gguf"):
        load_model(str(path), threads=1)


def test_a_projector_is_no_model(seeing: ChatModel, made: Path) -> None:
    with pytest.raises(InputError, match="projector"):
        load_model(str(made / "seeing" / "mmproj-seeing-F16.gguf"), threads=1)
    with pytest.raises(InputError, match="not a projector"):
        load(made / "seeing" / "seeing-Q8_0.gguf", f"?mmproj={made / 'seeing' / 'seeing-Q8_0.gguf'}")


@pytest.mark.parametrize("name", ["x.gguf?", "x.gguf?ctx=many", "x.gguf?nothing=1", "x.gguf?mmproj=", "x.ggml"])
def test_names_that_mean_nothing(name: str) -> None:
    with pytest.raises(UsageError):
        check_model(name)


def test_a_missing_file_is_named_before_a_worker_starts() -> None:
    with pytest.raises(InputError, match=r"gone\.gguf: no such file"):
        check_model("gone.gguf?ctx=512")


def test_a_text_model_reads_no_pages(chain: ChatModel, made: Path) -> None:
    with pytest.raises(InputError, match="cannot see"):
        load_page_handler(str(made / "chain.gguf"), threads=1)
    with pytest.raises(UsageError, match="reads no pages"):
        load_page_handler("echo")


# ---------------------------------------------------------------------- granite-docling

PAGE_TAGS = ["<doctag>", "</doctag>", "<text>", "</text>"]


def docling(directory: Path, pieces: list[str], **options: Any) -> Path:
    directory.mkdir(exist_ok=True)
    path = tiny_gguf.text_model(
        directory / "granite-docling-258M-Q8_0.gguf", pieces, name="Granite Docling 258M", tokens=PAGE_TAGS, **options
    )
    tiny_gguf.projector(directory / "mmproj-granite-docling-258M-F16.gguf", path)
    return path


def read_page(handler: Any, prompt: str = "", max_tokens: int | None = None) -> str:
    parts: list[str] = []
    try:
        handler.generate(np.full((60, 40, 3), 255, np.uint8), prompt, max_tokens, parts.append, threading.Event())
    except WarmwireError as error:
        error.partial = "".join(parts)
        raise
    return "".join(parts)


def test_docling_writes_its_tags_and_ends_at_the_last(tmp_path: Path) -> None:
    path = docling(tmp_path, ["<doctag>", "<text>", "Words", "</text>", "</doctag>"])
    handler = load_page_handler(str(path), threads=1)
    assert read_page(handler) == "<doctag><text>Words</text></doctag>"


def test_docling_is_served_like_the_page_reader(tmp_path: Path) -> None:
    path = docling(tmp_path, ["<doctag>", "<text>", "Words", "</text>", "</doctag>"])
    model = load_model(str(path), threads=1)
    blocks: list[OutBlock] = []
    content = [image_block("p"), text_block("Convert this page to docling.")]
    request = Request(messages=[Message("user", content)], attachments=[page()])
    finish = model.generate(request, blocks.append, threading.Event())
    assert text_of(blocks) == "<doctag><text>Words</text></doctag>"
    assert (finish.stop_reason, finish.usage.output_tokens) == (StopReason.END_TURN, 6)
    assert finish.usage.input_tokens > 10
    with pytest.raises(InvalidRequestError, match="page model"):
        model.generate(ask(), blocks.append, threading.Event())


def test_docling_in_a_loop_is_cut_off(tmp_path: Path) -> None:
    from warmwire.wire.errors import TruncatedError

    path = docling(tmp_path, ["over ", "and "], loop=True, context=8192)
    handler = load_page_handler(str(path), threads=1)
    with pytest.raises(TruncatedError, match="repeat") as caught:
        read_page(handler)
    assert 2500 < len(caught.value.partial) < 5000
    model = load_model(str(path), threads=1)
    request = Request(messages=[Message("user", [image_block("p")])], attachments=[page()])
    finish = model.generate(request, lambda block: None, threading.Event())
    assert finish.stop_reason == StopReason.MAX_TOKENS
    assert finish.report == {"repetition": True}


def test_docling_says_when_the_bound_cut_it(tmp_path: Path) -> None:
    from warmwire.wire.errors import TruncatedError

    path = docling(tmp_path, ["<doctag>", "<text>", "Words", "</text>", "</doctag>"])
    with pytest.raises(TruncatedError, match="bound") as caught:
        read_page(load_page_handler(str(path), threads=1), max_tokens=3)
    assert caught.value.partial == "<doctag><text>Words"


def test_docling_that_says_nothing_is_an_error(tmp_path: Path) -> None:
    path = docling(tmp_path, [])
    with pytest.raises(WarmwireError, match="nothing"):
        read_page(load_page_handler(str(path), threads=1))


@pytest.fixture(autouse=True)
def _one_engine_at_a_time() -> Iterator[None]:
    """Engines of a test's own end with it, so that their threads do not slow the next one."""
    yield
    import gc

    gc.collect()
