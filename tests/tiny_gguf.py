"""Tiny GGUF files, made in a moment, that real llama.cpp loads and runs.

The text model is a chain: its attention and feed-forward weights are zero, its embeddings are one-hot and its output
matrix sends each token to one successor. So what it says is known beforehand, byte for byte, token for token, while
tokenizer, template, sampler, grammar and cache are the real ones. Encoders (embeddings, rerank, vision) have random
weights from a fixed seed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from pathlib import Path

import gguf
import numpy as np
from numpy.typing import NDArray

TURN, END, TEXT_END, IMAGE = "<|im_start|>", "<|im_end|>", "<|endoftext|>", "<image>"
CONTROL = (TURN, END, TEXT_END, IMAGE, "<fake_token_around_image>", "<global-img>")
TILES = tuple(f"<row_{row}_col_{column}>" for row in (1, 2) for column in (1, 2))

CHATML = r"""
{%- for m in messages %}
    {{- '<|im_start|>' + m.role + '\n' }}
    {%- if m.content is string %}{{- m.content }}
    {%- else %}{%- for c in m.content %}{{- c.text }}{%- endfor %}{%- endif %}
    {{- '<|im_end|>\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}"""

TOOLS = r"""
{%- if tools %}
    {{- '<|im_start|>system\nTools:\n<tools>' }}
    {%- for tool in tools %}{{- '\n' }}{{- tool | tojson }}{%- endfor %}
    {{- '\n</tools>\nCall one with <tool_call>\n{"name": <name>, "arguments": <object>}\n</tool_call><|im_end|>\n' }}
{%- endif %}
{%- for m in messages %}
    {%- if m.role == 'tool' %}
        {{- '<|im_start|>user\n<tool_response>\n' + m.content + '\n</tool_response><|im_end|>\n' }}
    {%- else %}
        {{- '<|im_start|>' + m.role + '\n' + m.content }}
        {%- for call in m.tool_calls or [] %}
            {{- '<tool_call>\n{"name": "' + call.function.name + '", "arguments": ' }}
            {{- call.function.arguments | tojson }}{{- '}\n</tool_call>' }}
        {%- endfor %}
        {{- '<|im_end|>\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}"""

THINKING = r"""
{%- for m in messages %}
    {{- '<|im_start|>' + m.role + '\n' }}
    {%- if m.reasoning_content %}{{- '<think>\n' + m.reasoning_content + '\n</think>\n\n' }}{%- endif %}
    {{- m.content + '<|im_end|>\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\n\n</think>\n\n' }}{%- endif %}
{%- endif %}"""


def text_model(
    path: Path,
    answer: Iterable[str | bytes] = ("Hello", ", ", "world", "!"),
    *,
    template: str | None = CHATML,
    name: str = "chain",
    loop: bool = False,
    layers: int = 1,
    context: int = 4096,
    hidden: int = 32,
    tokens: Iterable[str] = (),
) -> Path:
    """A model that answers any prompt that ends in a newline with `answer`, one piece a token.

    Pieces are bytes or text, all different, and may cut characters anywhere. `loop` repeats them for ever. `layers` and
    `hidden` only make it slower. `tokens` are further control tokens, such as the tags of DocTags.
    """
    pieces = [piece.encode() if isinstance(piece, str) else piece for piece in answer]
    words = [*(_byte_name(bytes([i])) for i in range(256)), _byte_name(b"\n\n")]
    control = [*CONTROL, *TILES, *tokens]
    ids = {word: i for i, word in enumerate([*words, *control])}
    for piece in pieces:
        if (text := piece.decode(errors="replace")) not in control:
            ids.setdefault(_byte_name(piece), len(ids))
    chain = [ids["\u010a"]]  # the newline that ends the generation prompt
    for piece in pieces:
        text = piece.decode(errors="replace")
        chain.append(ids[text] if text in control else ids[_byte_name(piece)])
    assert len(set(chain)) == len(chain), "a chain visits each token once"
    chain.append(chain[1] if loop else ids[END])

    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_name(name)
    width = -(-len(ids) // 64) * 64
    writer.add_context_length(context)
    writer.add_embedding_length(width)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(hidden)
    writer.add_head_count(2)
    writer.add_head_count_kv(2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(ids))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(list(ids))
    writer.add_token_types([gguf.TokenType.CONTROL if word in control else gguf.TokenType.NORMAL for word in ids])
    writer.add_token_merges(["\u0120 \u0120"])  # one is asked for; two spaces
    writer.add_bos_token_id(ids[TEXT_END])
    writer.add_eos_token_id(ids[END])
    writer.add_add_bos_token(False)
    if template is not None:
        writer.add_chat_template(template)

    one_hot = np.eye(len(ids), width, dtype=np.float16)
    output = np.zeros((len(ids), width), np.float16)
    for here, there in itertools.pairwise(chain):
        output[there, here] = 2.0
    writer.add_tensor("token_embd.weight", one_hot)
    writer.add_tensor("output.weight", output)
    writer.add_tensor("output_norm.weight", np.ones(width, np.float32))
    for i in range(layers):
        for part in ("q", "k", "v", "output"):
            writer.add_tensor(f"blk.{i}.attn_{part}.weight", np.zeros((width, width), np.float16))
        for part in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"blk.{i}.{part}.weight", np.ones(width, np.float32))
        writer.add_tensor(f"blk.{i}.ffn_gate.weight", np.zeros((hidden, width), np.float16))
        writer.add_tensor(f"blk.{i}.ffn_up.weight", np.zeros((hidden, width), np.float16))
        writer.add_tensor(f"blk.{i}.ffn_down.weight", np.zeros((width, hidden), np.float16))
    return _write(writer, path)


def projector(path: Path, model: Path) -> Path:
    """A vision projector for `model`, of the kind that granite-docling and SmolVLM have; random weights."""
    width, heads, hidden, patch, side, merge = 32, 2, 64, 8, 32, 2
    out = _embedding_length(model)
    rng = np.random.default_rng(1)
    writer = gguf.GGUFWriter(str(path), "clip")
    writer.add_string("general.type", "mmproj")
    writer.add_bool("clip.has_vision_encoder", True)
    writer.add_string("clip.projector_type", "idefics3")
    writer.add_bool("clip.use_gelu", True)
    for key, value in {
        "image_size": side,
        "patch_size": patch,
        "embedding_length": width,
        "feed_forward_length": hidden,
        "block_count": 1,
        "attention.head_count": heads,
        "projection_dim": out,
        "projector.scale_factor": merge,
        "preproc_image_size": 2 * side,
    }.items():
        writer.add_uint32(f"clip.vision.{key}", value)
    writer.add_float32("clip.vision.attention.layer_norm_epsilon", 1e-6)
    writer.add_array("clip.vision.image_mean", [0.5, 0.5, 0.5])
    writer.add_array("clip.vision.image_std", [0.5, 0.5, 0.5])

    def tensor(name: str, *shape: int, kind: type = np.float32) -> None:
        writer.add_tensor(name, (rng.standard_normal(shape) * 0.02).astype(kind))

    tensor("v.patch_embd.weight", width, 3, patch, patch)
    tensor("v.patch_embd.bias", width)
    tensor("v.position_embd.weight", (side // patch) ** 2, width)
    for part in ("attn_q", "attn_k", "attn_v", "attn_out"):
        tensor(f"v.blk.0.{part}.weight", width, width)
        tensor(f"v.blk.0.{part}.bias", width)
    for part in ("ln1", "ln2"):
        writer.add_tensor(f"v.blk.0.{part}.weight", np.ones(width, np.float32))
        writer.add_tensor(f"v.blk.0.{part}.bias", np.zeros(width, np.float32))
    tensor("v.blk.0.ffn_up.weight", hidden, width)
    tensor("v.blk.0.ffn_up.bias", hidden)
    tensor("v.blk.0.ffn_down.weight", width, hidden)
    tensor("v.blk.0.ffn_down.bias", width)
    writer.add_tensor("v.post_ln.weight", np.ones(width, np.float32))
    writer.add_tensor("v.post_ln.bias", np.zeros(width, np.float32))
    tensor("mm.model.fc.weight", out, width * merge * merge)
    return _write(writer, path)


def ear(path: Path, model: Path) -> Path:
    """An audio projector for `model`, of the kind that Qwen2-Audio has; random weights."""
    width, hidden, bins, frames = 32, 64, 16, 1500
    out = _embedding_length(model)
    rng = np.random.default_rng(3)
    writer = gguf.GGUFWriter(str(path), "clip")
    writer.add_string("general.type", "mmproj")
    writer.add_bool("clip.has_audio_encoder", True)
    writer.add_string("clip.projector_type", "qwen2a")
    for key, value in {
        "num_mel_bins": bins,
        "embedding_length": width,
        "feed_forward_length": hidden,
        "block_count": 1,
        "attention.head_count": 2,
        "projection_dim": out,
    }.items():
        writer.add_uint32(f"clip.audio.{key}", value)
    writer.add_float32("clip.audio.attention.layer_norm_epsilon", 1e-5)

    def tensor(name: str, *shape: int, kind: type = np.float32) -> None:
        writer.add_tensor(name, (rng.standard_normal(shape) * 0.02).astype(kind))

    tensor("a.conv1d.1.weight", width, bins, 3, kind=np.float16)
    tensor("a.conv1d.1.bias", width, 1)
    tensor("a.conv1d.2.weight", width, width, 3, kind=np.float16)
    tensor("a.conv1d.2.bias", width, 1)
    tensor("a.position_embd.weight", frames, width)
    for part in ("attn_q", "attn_k", "attn_v", "attn_out"):
        tensor(f"a.blk.0.{part}.weight", width, width)
        if part != "attn_k":
            tensor(f"a.blk.0.{part}.bias", width)
    for part in ("ln1", "ln2"):
        writer.add_tensor(f"a.blk.0.{part}.weight", np.ones(width, np.float32))
        writer.add_tensor(f"a.blk.0.{part}.bias", np.zeros(width, np.float32))
    tensor("a.blk.0.ffn_up.weight", hidden, width)
    tensor("a.blk.0.ffn_up.bias", hidden)
    tensor("a.blk.0.ffn_down.weight", width, hidden)
    tensor("a.blk.0.ffn_down.bias", width)
    writer.add_tensor("a.post_ln.weight", np.ones(width, np.float32))
    writer.add_tensor("a.post_ln.bias", np.zeros(width, np.float32))
    tensor("mm.a.fc.weight", out, width)
    tensor("mm.a.fc.bias", out)
    return _write(writer, path)


def encoder(path: Path, *, rank: bool = False, name: str = "encoder", context: int = 128) -> Path:
    """A BERT of one layer with random weights: 32 numbers a text, or with `rank` one score for a query and a text."""
    width, hidden = 32, 64
    rng = np.random.default_rng(2)
    letters = "abcdefghijklmnopqrstuvwxyz0123456789:|,.?!'"
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *("\u2581" + c for c in letters), *letters]
    writer = gguf.GGUFWriter(str(path), "bert")
    writer.add_name(name)
    writer.add_context_length(context)
    writer.add_embedding_length(width)
    writer.add_block_count(1)
    writer.add_feed_forward_length(hidden)
    writer.add_head_count(2)
    writer.add_layer_norm_eps(1e-12)
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.RANK if rank else gguf.PoolingType.MEAN)
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(words)
    writer.add_token_types([gguf.TokenType.CONTROL] * 5 + [gguf.TokenType.NORMAL] * (len(words) - 5))
    writer.add_token_type_count(2)
    for role, index in {"pad": 0, "unk": 1, "sep": 3, "mask": 4, "bos": 2}.items():
        getattr(writer, f"add_{role}_token_id")(index)

    def tensor(name: str, *shape: int) -> None:
        writer.add_tensor(name, rng.standard_normal(shape).astype(np.float32) / shape[-1] ** 0.5)

    def norm(name: str) -> None:
        writer.add_tensor(f"{name}.weight", np.ones(width, np.float32))
        writer.add_tensor(f"{name}.bias", np.zeros(width, np.float32))

    tensor("token_embd.weight", len(words), width)
    tensor("token_types.weight", 2, width)
    tensor("position_embd.weight", context, width)
    norm("token_embd_norm")
    for part in ("q", "k", "v", "output"):
        tensor(f"blk.0.attn_{part}.weight", width, width)
        tensor(f"blk.0.attn_{part}.bias", width)
    norm("blk.0.attn_output_norm")
    tensor("blk.0.ffn_up.weight", hidden, width)
    tensor("blk.0.ffn_up.bias", hidden)
    tensor("blk.0.ffn_down.weight", width, hidden)
    tensor("blk.0.ffn_down.bias", width)
    norm("blk.0.layer_output_norm")
    if rank:
        tensor("cls.weight", width, width)
        tensor("cls.bias", width)
        tensor("cls.output.weight", 1, width)
        tensor("cls.output.bias", 1)
    return _write(writer, path)


def _byte_name(data: bytes) -> str:
    """Bytes as GPT-2's vocabulary writes them: printable ones as themselves, the others from U+0100 on."""
    return "".join(_BYTE_NAMES[byte] for byte in data)


def _byte_names() -> list[str]:
    plain = {*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    spare = iter(range(0x100, 0x200))
    return [chr(i) if i in plain else chr(next(spare)) for i in range(256)]


_BYTE_NAMES = _byte_names()


def _embedding_length(model: Path) -> int:
    field = gguf.GGUFReader(str(model)).fields["llama.embedding_length"]
    value: NDArray[np.uint32] = field.parts[field.data[0]]
    return int(value[0])


def _write(writer: gguf.GGUFWriter, path: Path) -> Path:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
