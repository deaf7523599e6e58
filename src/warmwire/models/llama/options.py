"""How a GGUF file is to be loaded: what its name asks for, what its header says, what lies beside it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

from warmwire.errors import InputError, UsageError
from warmwire.models.llama.header import GgufHeader, read_header
from warmwire.models.names import split_name
from warmwire.system.cpus import cores

SUFFIX: Final = ".gguf"
_DEFAULT_CONTEXT: Final = 8192
_DEFAULT_EMBED_CONTEXT: Final = 2048
_BATCH: Final = 32
"""Tokens of a prompt between two looks at the cancel flag; on a processor larger batches gain next to nothing, and 64
kept a model of 270 million parameters busy for more than 100 ms after its client had gone."""

_LARGE_BATCH: Final = 512
"""The same on a GPU, where they do, and with images: some models must have all of one image in a batch."""

OPTIONS: Final = {
    "ctx": "tokens of prompt and answer together",
    "gpu_layers": "layers on the GPU",
    "parallel": "requests answered at once by one copy of the model, each with a context of its own",
    "mmproj": "the projector's file, which sees or hears; none for neither",
    "llama_server": "the llama-server program to run it with",
}
_NUMBER: Final = re.compile(r"[0-9]{1,9}")
_NUMBERS: Final = {"ctx": 1 << 24, "gpu_layers": 1 << 16, "parallel": 64}


@dataclass(frozen=True)
class GgufOptions:
    """What follows the `?` in `x.gguf?ctx=4096&mmproj=y.gguf`.

    `ctx` is tokens of prompt and answer together, `mmproj` the projector's file (`none`: do without), `gpu_layers` how
    many layers go to the GPU, `parallel` how many requests are answered at once, `llama_server` the program to run the
    model with instead of the library.
    """

    ctx: int | None = None
    gpu_layers: int | None = None
    mmproj: str | None = None
    llama_server: str | None = None
    parallel: int | None = None

    def __str__(self) -> str:
        """The part from the `?` on; empty where nothing is asked for."""
        given = {key: value for key, value in vars(self).items() if value is not None}
        return f"?{urlencode(given, safe='/')}" if given else ""


PLAIN_TEMPLATE: Final = r"""
{%- for m in messages %}
    {%- if m.content is string %}{{- m.content }}
    {%- else %}{%- for part in m.content %}{{- part.text }}{%- endfor %}{%- endif %}
    {%- if not loop.last %}{{- '\n\n' }}{%- endif %}
{%- endfor %}"""
"""For a file without a chat template: what was said, to be continued. Such a model was never taught to chat; the
template that llama.cpp would take instead puts words before it that it does not know."""


@dataclass(frozen=True)
class LlamaSettings:
    """Everything a llama.cpp needs to be told."""

    path: Path
    header: GgufHeader
    mmproj: Path | None
    context: int
    threads: int
    gpu_layers: int | None
    parallel: int
    """Requests answered at once. Each has a context of `context` tokens."""

    special: bool
    """Write control tokens out: a page model's tags are such."""

    def batch(self, gpu: bool) -> int:
        """Tokens of a prompt computed at once. An encoder takes a text in one batch or not at all."""
        if self.embeds or self.reranks:
            return self.context
        return min(_LARGE_BATCH if gpu or self.mmproj else _BATCH, self.context)

    @property
    def embeds(self) -> bool:
        return self.header.embeds

    @property
    def reranks(self) -> bool:
        return self.header.reranks

    @property
    def template(self) -> str | None:
        """The chat template to use instead of the file's own."""
        return None if self.header.template or self.embeds or self.reranks else PLAIN_TEMPLATE

    @property
    def keeps_all(self) -> bool:
        """Whether layers with a window keep what is behind it, too.

        Without that, a prompt that shares a beginning with the one before, and no more, is read anew from its first
        token. It costs memory for the whole context, so it is done where that is less than the weights take.
        """
        if not self.header.window:
            return False
        return self.header.cache_bytes(self.context * self.parallel) <= self.path.stat().st_size

    @property
    def mean_pooling(self) -> bool:
        """Whether the file leaves open how its vectors become one."""
        return self.embeds and f"{self.header.architecture}.pooling_type" not in self.header.values


def parse_gguf_name(name: str) -> tuple[Path, GgufOptions]:
    """Path and options of a model's name. Raises UsageError for options that there are not."""
    path, given = split_name(name, OPTIONS, suffix=SUFFIX)
    values: dict[str, str | int] = {}
    for key, value in given.items():
        if key in _NUMBERS:
            if not _NUMBER.fullmatch(value) or int(value) > _NUMBERS[key]:
                raise UsageError(f"{name!r}: {key} is a number from 0 to {_NUMBERS[key]}, not {value!r}")
            values[key] = int(value)
        elif value:
            values[key] = value
        else:
            raise UsageError(f"{name!r}: {key} is a file, and none is named")
    return Path(path), GgufOptions(**values)  # type: ignore[arg-type]


def settings_of(path: Path, options: GgufOptions, threads: int | None, *, special: bool) -> LlamaSettings:
    """All that is to be told. Raises InputError for a file that is no model, and for a projector that is none."""
    header = read_header(path)
    if header.is_projector:
        raise InputError(f"{path} is a projector (mmproj), not a model; serve the model that lies beside it")
    if not header.architecture:
        raise InputError(f"{path}: the file does not say which kind of model it is")
    encodes = header.embeds or header.reranks
    trained = header.context or _DEFAULT_CONTEXT
    context = options.ctx or min(trained, _DEFAULT_EMBED_CONTEXT if encodes else _DEFAULT_CONTEXT)
    return LlamaSettings(
        path,
        header,
        None if encodes else _projector(path, options.mmproj),
        context,
        threads or cores(),
        options.gpu_layers,
        options.parallel or 1,
        special,
    )


def _projector(path: Path, given: str | None) -> Path | None:
    """The projector to use: the given one, or the one that lies beside the model. Raises InputError."""
    if given == "none":
        return None
    found = Path(given) if given else find_projector(path)
    if found is not None and not read_header(found).is_projector:
        raise InputError(f"{found} is not a projector (mmproj) but a {read_header(found).architecture} model")
    return found


def find_projector(path: Path) -> Path | None:
    """The one `*mmproj*.gguf` that belongs to a model: beside it, with the most words of its name.

    One that shares no word is taken only where no model of another name could be its owner. Raises InputError where
    two share as many: guessing wrong would make a model blind without a word.
    """
    beside = sorted(file for file in path.parent.glob("*.[gG][gG][uU][fF]") if file.name != path.name)
    projectors = [file for file in beside if "mmproj" in file.name.lower()]
    if not projectors:
        return None
    shared = {file: len(_words(path) & _words(file)) for file in projectors}
    most = max(shared.values())
    if not most and any(not _words(path) & _words(file) for file in beside if file not in projectors):
        return None
    best = [file for file in projectors if shared[file] == most]
    if len(best) > 1:
        names = ", ".join(file.name for file in best)
        raise InputError(f"several projectors lie beside {path.name}: {names}; give one, as {path.name}?mmproj=FILE")
    return best[0]


_COMMON_WORDS: Final = re.compile(r"mmproj|model|gguf|it|instruct|chat|[bf]*f?(16|32)|i?q\d+|[km]|[sml]|xs|xl|\d")


def _words(path: Path) -> set[str]:
    """The words of a file's name that tell one model from another: no kinds of quantisation."""
    words = re.split(r"[-_. ]+", path.stem.lower())
    return {word for word in words if word and not _COMMON_WORDS.fullmatch(word)}
