"""Names, options and the files beside a model, without llama.cpp."""

from __future__ import annotations

from pathlib import Path

import gguf
import pytest

from warmwire.errors import InputError, UsageError
from warmwire.models.llama.header import read_header
from warmwire.models.llama.options import GgufOptions, find_projector, parse_gguf_name, settings_of
from warmwire.models.registry import check_model, with_options


def model(path: Path, architecture: str = "llama", **numbers: int) -> Path:
    """A GGUF of a header only."""
    writer = gguf.GGUFWriter(str(path), architecture)
    for key, value in numbers.items():
        writer.add_uint32(f"{architecture}.{key}", value)
    writer.add_array("some.words", ["a", "bc", ""])
    writer.add_array("some.numbers", [1, 2, 3])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path


@pytest.mark.parametrize(
    "options",
    [
        GgufOptions(),
        GgufOptions(ctx=4096),
        GgufOptions(ctx=1, gpu_layers=0, mmproj="dir/a b&c=d.gguf", llama_server="/opt/llama server"),
        GgufOptions(mmproj="none"),
    ],
)
def test_a_name_says_everything(options: GgufOptions) -> None:
    assert parse_gguf_name(f"/models/x.gguf{options}") == (Path("/models/x.gguf"), options)


def test_a_question_mark_in_a_directory_is_none_of_ours() -> None:
    assert parse_gguf_name("what?/x.gguf") == (Path("what?/x.gguf"), GgufOptions())


def test_options_are_put_behind_a_name() -> None:
    assert with_options("x.gguf") == "x.gguf"
    assert with_options("openai:http://h#m") == "openai:http://h#m"
    name = with_options("dir/x.gguf?ctx=512&gpu_layers=3", ctx=1024, llama_server="/opt/llama-server")
    assert parse_gguf_name(name) == (Path("dir/x.gguf"), GgufOptions(1024, 3, None, "/opt/llama-server"))
    with pytest.raises(UsageError, match="pages takes no --ctx, --llama-server"):
        with_options("pages", ctx=1, llama_server="x")


def test_check_model_finds_files_in_odd_places(tmp_path: Path) -> None:
    (tmp_path / "what?").mkdir()
    path = model(tmp_path / "what?" / "x.gguf")
    check_model(str(path))
    check_model(f"{path}?ctx=512")


NINES = "ctx=" + "9" * 5000
"""A number that Python does not read."""


@pytest.mark.parametrize("query", ["", "ctx", "ctx=-1", "ctx=1.5", "ctx=99999999999", NINES, "speed=9", "mmproj="])
def test_options_there_are_none_of(query: str) -> None:
    with pytest.raises(UsageError, match=r"x\.gguf"):
        parse_gguf_name(f"x.gguf?{query}")


@pytest.mark.parametrize(
    ("architecture", "numbers", "embeds", "reranks"),
    [
        ("llama", {}, False, False),
        ("gemma3", {"context_length": 32768}, False, False),
        ("qwen3", {"pooling_type": 3}, True, False),
        ("qwen3", {"pooling_type": 4}, False, True),
        ("bert", {}, True, False),
        ("bert", {"pooling_type": 4}, False, True),
        ("gemma-embedding", {"pooling_type": 1}, True, False),
        ("nomic-bert-moe", {}, True, False),
        ("jina-bert-v2", {}, True, False),
        ("robertacious", {}, False, False),
    ],
)
def test_what_a_model_is_for(
    tmp_path: Path, architecture: str, numbers: dict[str, int], embeds: bool, reranks: bool
) -> None:
    header = read_header(model(tmp_path / "x.gguf", architecture, **numbers))
    assert (header.architecture, header.embeds, header.reranks) == (architecture, embeds, reranks)
    assert header.name == "x"


def test_context_and_batch(tmp_path: Path) -> None:
    chat = model(tmp_path / "chat.gguf", context_length=131072)
    assert settings_of(chat, GgufOptions(), 1, special=False).context == 8192
    assert settings_of(chat, GgufOptions(ctx=20000), 1, special=False).context == 20000
    settings = settings_of(chat, GgufOptions(), 1, special=False)
    assert settings.batch(gpu=False) < settings.batch(gpu=True)
    short = model(tmp_path / "short.gguf", context_length=512)
    assert settings_of(short, GgufOptions(), 1, special=False).context == 512
    encoder = settings_of(model(tmp_path / "e.gguf", "bert", context_length=8192), GgufOptions(), 1, special=False)
    assert (encoder.context, encoder.batch(False), encoder.mean_pooling) == (2048, 2048, True)


def test_layers_with_a_window_keep_all_where_that_is_less_than_the_weights(tmp_path: Path) -> None:
    shape = {"block_count": 10, "embedding_length": 64, "attention.head_count": 4, "attention.head_count_kv": 2}
    plain = model(tmp_path / "plain.gguf", "llama", **shape)
    path = model(tmp_path / "x.gguf", "gemma3", **shape, **{"attention.sliding_window": 512})
    with path.open("ab") as file:
        file.truncate(4 << 20)  # weights
    assert read_header(path).cache_bytes(1) == 10 * 2 * 16 * 2 * 2

    def keeps(path: Path, **options: int) -> bool:
        return settings_of(path, GgufOptions(**options), 1, special=False).keeps_all

    assert keeps(path, ctx=2048)
    assert not keeps(path, ctx=4096)
    assert not keeps(path, ctx=2048, parallel=2)
    assert not keeps(plain, ctx=1)


def test_a_template_for_those_that_have_none(tmp_path: Path) -> None:
    path = model(tmp_path / "base.gguf")
    assert "messages" in (settings_of(path, GgufOptions(), 1, special=False).template or "")
    assert settings_of(model(tmp_path / "e.gguf", "bert"), GgufOptions(), 1, special=False).template is None


@pytest.mark.parametrize(
    ("name", "beside", "found"),
    [
        ("a.gguf", [], None),
        ("granite-docling-Q8_0.gguf", ["mmproj-granite-docling-F16.gguf"], "mmproj-granite-docling-F16.gguf"),
        ("gemma-3-4b-it-Q4_K_M.gguf", ["mmproj-model-f16.gguf"], "mmproj-model-f16.gguf"),
        ("gemma-3-4b-it-Q4_K_M.gguf", ["mmproj-model-f16.gguf", "gemma-3-4b-it-Q8_0.gguf"], "mmproj-model-f16.gguf"),
        ("qwen-7b.gguf", ["mmproj-model-f16.gguf", "gemma-3-4b-it-Q8_0.gguf"], None),
        ("qwen-7b.gguf", ["mmproj-gemma-3-4b-f16.gguf", "gemma-3-4b-it-Q8_0.gguf"], None),
        ("SmolVLM-Q8_0.gguf", ["mmproj-SmolVLM-f16.GGUF", "mmproj-gemma.gguf"], "mmproj-SmolVLM-f16.GGUF"),
    ],
)  # fmt: skip
def test_the_projector_that_belongs(tmp_path: Path, name: str, beside: list[str], found: str | None) -> None:
    path = model(tmp_path / name)
    for file in beside:
        model(tmp_path / file, "clip" if "mmproj" in file else "llama")
    assert find_projector(path) == (tmp_path / found if found else None)


def test_two_that_belong_as_well_are_a_question(tmp_path: Path) -> None:
    path = model(tmp_path / "a-1b.gguf")
    for file in ("mmproj-a-1b-f16.gguf", "mmproj-a-1b-q8_0.gguf"):
        model(tmp_path / file, "clip")
    with pytest.raises(InputError, match=r"mmproj-a-1b-f16\.gguf, mmproj-a-1b-q8_0\.gguf.*\?mmproj=FILE"):
        find_projector(path)


@pytest.mark.parametrize("size", [0, 3, 4, 8, 20, 24, 30, 40, 60, 100, 140])
def test_a_header_cut_anywhere_is_no_model(tmp_path: Path, size: int) -> None:
    path = model(tmp_path / "x.gguf")
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(InputError, match="not a whole GGUF model"):
        read_header(path)


def test_a_directory_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        read_header(tmp_path)
