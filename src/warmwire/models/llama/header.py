"""What a GGUF file says of itself, read before llama.cpp gets it.

Only the few values that decide how to load it are kept; a vocabulary of a quarter million words is stepped over. The
file is hostile until proven otherwise: every length is checked against what is left of the file.

Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

import mmap
import re
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from warmwire.errors import InputError
from warmwire.system.text import printable

_MAGIC: Final = b"GGUF"
_VERSIONS: Final = (2, 3)
_SCALARS: Final = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_STRING, _ARRAY = 8, 9
_MAX_VALUES: Final = 1 << 16
_MAX_TEXT: Final = 1 << 20
"""Longest text value that is kept; templates are the longest there are, some tens of thousands."""

_MAX_NAME: Final = 100

_ENCODERS: Final = re.compile(r"(nomic-|modern-|neo-|jina-|euro)?bert(-moe|-v\d)?|gemma-embedding")
_POOLING_NONE, _POOLING_RANK = 0, 4


@dataclass(frozen=True)
class GgufHeader:
    """The metadata of a GGUF file: scalars and texts by key, arrays left out."""

    path: Path
    values: dict[str, Any] = field(repr=False)

    @property
    def architecture(self) -> str:
        return str(self.values.get("general.architecture", ""))

    @property
    def name(self) -> str:
        """What its makers call it, else the file's name; fit to be printed."""
        return printable(str(self.values.get("general.name", "")), _MAX_NAME) or self.path.stem

    @property
    def context(self) -> int:
        """Tokens it was trained for; 0: not said."""
        return self._number("context_length")

    @property
    def dimensions(self) -> int:
        return self._number("embedding_length")

    @property
    def is_projector(self) -> bool:
        """Whether this is the eye or ear of a model, not a model."""
        return self.architecture == "clip" or self.values.get("general.type") == "mmproj"

    @property
    def reranks(self) -> bool:
        return self._number("pooling_type") == _POOLING_RANK

    @property
    def embeds(self) -> bool:
        """Whether its output is one vector for a text."""
        if self.reranks:
            return False
        return _ENCODERS.fullmatch(self.architecture) is not None or self._number("pooling_type") != _POOLING_NONE

    @property
    def template(self) -> str:
        """Its chat template, in Jinja."""
        return str(self.values.get("tokenizer.chat_template", ""))

    @property
    def window(self) -> int:
        """Tokens that most of its layers look back; 0: all layers see all of them."""
        return self._number("attention.sliding_window")

    def cache_bytes(self, tokens: int) -> int:
        """What all layers keep of so many tokens, keys and values of two bytes each; 0: not said."""
        heads = self._number("attention.head_count")
        each = self._number("attention.key_length") or self.dimensions // max(1, heads)
        kept = self._number("attention.head_count_kv") or heads
        return 2 * 2 * each * kept * self._number("block_count") * tokens

    def _number(self, key: str) -> int:
        value = self.values.get(f"{self.architecture}.{key}", 0)
        return value if isinstance(value, int) and value > 0 else 0


def read_header(path: Path) -> GgufHeader:
    """Read the metadata of a GGUF file. Raises InputError that says what is wrong with it."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return GgufHeader(path, _Reader(data).read())
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    except (ValueError, struct.error) as error:
        raise InputError(f"{path} is not a whole GGUF model: {error}") from None


class _Reader:
    """Walks the metadata. Raises ValueError or struct.error where the file ends or lies."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._at = 0

    def read(self) -> dict[str, Any]:
        if self._data[:4] != _MAGIC:
            raise ValueError("it does not begin with GGUF")
        self._at = 4
        version = self._scalar("<I")
        if version not in _VERSIONS:
            raise ValueError(f"version {version} is not {' or '.join(map(str, _VERSIONS))}")
        self._scalar("<Q")  # tensors
        count = self._scalar("<Q")
        if count > _MAX_VALUES:
            raise ValueError(f"it declares {count} values")
        values = {}
        for _ in range(count):
            key = self._text()
            kind = self._scalar("<I")
            value = self._value(kind)
            if value is not None:
                values[key] = value
        return values

    def _value(self, kind: int) -> Any:
        """A scalar or text; None for an array, which is stepped over."""
        if kind in _SCALARS:
            return self._scalar(_SCALARS[kind])
        if kind == _STRING:
            return self._text()
        if kind == _ARRAY:
            self._skip_array()
            return None
        raise ValueError(f"it has a value of unknown type {kind}")

    def _skip_array(self) -> None:
        kind, count = self._scalar("<I"), self._scalar("<Q")
        if kind in _SCALARS:
            self._step(struct.calcsize(_SCALARS[kind]) * count)
        elif kind == _STRING:
            if count > len(self._data) // 8:
                raise ValueError(f"it declares an array of {count} texts")
            for _ in range(count):
                self._step(self._scalar("<Q"))
        else:
            raise ValueError(f"it has an array of unknown type {kind}")

    def _scalar(self, code: str) -> Any:
        (value,) = struct.unpack_from(code, self._data, self._at)
        self._at += struct.calcsize(code)
        return value

    def _text(self) -> str:
        size = self._scalar("<Q")
        start = self._at
        self._step(size)
        return self._data[start : start + min(size, _MAX_TEXT)].decode("utf-8", "replace")

    def _step(self, size: int) -> None:
        if size > len(self._data) - self._at:
            raise ValueError("it ends in the middle of its metadata")
        self._at += size
