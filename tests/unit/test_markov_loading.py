"""Loading trusts nothing: the table of damaged files, each with its sentence, on both kernels."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest

from tests.markov_support import GRALL, interpreted
from warmwire.errors import InputError
from warmwire.markov import chain, kernel, load


def gril(
    depth: int, *records: bytes, nodes: int | None = None, weights: int | None = None, tail: bytes = b"LIRG"
) -> bytes:
    """A file of records; the counts are right unless given."""
    count = sum(record[0] + 1 for record in records) if weights is None else weights
    head = struct.pack("<4sB3I", b"GRIL", 1, depth, len(records) if nodes is None else nodes, count)
    return head + b"".join(records) + tail


def record(context: bytes, *weights: tuple[int, int]) -> bytes:
    return bytes([len(weights) - 1]) + context + b"".join(struct.pack("<BI", *weight) for weight in weights)


AB = record(b"ab", (1, 1))
GOOD = gril(2, record(b"ba", (1, 2), (9, 3)), AB)

DAMAGED = {
    "empty file": (b"", "not a model"),
    "short": (GOOD[:10], "not a model"),
    "magic": (b"GRIM" + GOOD[4:], "not a model"),
    "version": (GOOD[:4] + b"\2" + GOOD[5:], "version 2"),
    "depth 0": (gril(0, record(b"", (1, 1))), "depth 0"),
    "depth 256": (gril(256, record(bytes(256), (1, 1))), "depth 256"),
    "empty": (gril(2), "empty"),
    "truncated": (GOOD[:-1], "truncated"),
    "cut in the middle": (GOOD[:25], "truncated"),
    "too long": (GOOD + b"x", "too long"),
    "huge counts": (gril(2, AB, nodes=2**32 - 1, weights=2**32 - 1), "truncated"),
    "too few weights": (gril(2, AB, AB, nodes=2, weights=1) + bytes(5), "too long"),
    "impossible weights": (struct.pack("<4sB3I", b"GRIL", 1, 4, 2, 1) + bytes(15) + b"LIRG", "cannot have"),
    "trailer": (GOOD[:-4] + b"LIRX", "does not end with LIRG"),
    "order": (gril(2, AB, record(b"ba", (1, 1))), "context 1 is not in ascending order"),
    "equal": (gril(2, AB, AB), "context 1 is not in ascending order"),
    "weight order": (gril(2, record(b"ab", (2, 1), (1, 1))), "context 0 has bytes that do not ascend"),
    "weight twice": (gril(2, record(b"ab", (2, 1), (2, 1))), "context 0 has bytes that do not ascend"),
    "zero weight": (gril(2, record(b"ab", (2, 0))), "context 0 has a count of zero"),
    "zero second weight": (gril(2, record(b"ab", (2, 1), (3, 0))), "context 0 has a count of zero"),
    "overflow": (gril(2, record(b"ab", (2, 2**32 - 1), (3, 1))), "context 0 has counts that overflow"),
    "runs over": (gril(2, b"\x05ab\1\1" + bytes(3), weights=1), "context 0 runs past the end"),
    "left over": (gril(2, AB, record(b"bc", (1, 1)), nodes=1, weights=1), "too long"),
}  # fmt: skip


@pytest.fixture(params=["compiled", "interpreted"], autouse=True)
def _kernels(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "interpreted":
        monkeypatch.setattr(chain, "kernel", interpreted())
    elif not kernel.COMPILED:
        pytest.skip("no compiled kernel")


def test_a_sound_file(tmp_path: Path) -> None:
    (tmp_path / "m").write_bytes(GOOD)
    assert dict(load(tmp_path / "m").records()) == {b"ba": [(1, 2), (9, 3)], b"ab": [(1, 1)]}


@pytest.mark.parametrize("name", ["words_d3", "utf8_d6", "rep_d8"])
@pytest.mark.parametrize("block", [1, 100, 1290])
def test_verified_as_it_arrives(name: str, block: int) -> None:
    whole = load(GRALL / f"{name}.gril")
    pieces = load(GRALL / f"{name}.gril", block=block)
    assert (pieces.data == whole.data).all()
    assert (pieces.index == whole.index).all()


@pytest.mark.parametrize("block", [1, 1 << 20])
@pytest.mark.parametrize(("data", "words"), DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_file(data: bytes, words: str, block: int, tmp_path: Path) -> None:
    path = tmp_path / "m.gril"
    path.write_bytes(data)
    with pytest.raises(InputError, match=words) as caught:
        load(path, block=block)
    assert str(path) in str(caught.value)


def test_the_reference_model_without_text() -> None:
    with pytest.raises(InputError, match="the model is empty"):
        load(GRALL / "empty_d4.gril")


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Is a directory"):
        load(tmp_path)
    with pytest.raises(InputError, match="No such file"):
        load(tmp_path / "none")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="a pipe"):
        load(tmp_path / "pipe")


@pytest.mark.skipif(not os.path.exists("/proc/self/io"), reason="the system does not count what is read")
def test_damage_is_found_before_the_rest_is_read(tmp_path: Path) -> None:
    def bytes_read() -> int:
        [line] = [line for line in Path("/proc/self/io").read_text().splitlines() if line.startswith("rchar")]
        return int(line.split()[1])

    nodes = 1 << 26  # half a gigabyte with a hole from the second record on
    path = tmp_path / "m.gril"
    path.write_bytes(struct.pack("<4sB3I", b"GRIL", 1, 2, nodes, nodes) + record(b"ab", (1, 1)))
    os.truncate(path, 17 + nodes * 3 + nodes * 5 + 4)
    before = bytes_read()
    with pytest.raises(InputError, match="context 1 is not in ascending order"):
        load(path)
    assert bytes_read() - before < 8 << 20


def test_a_model_beyond_the_machine(tmp_path: Path) -> None:
    nodes = 2**32 - 1  # a terabyte with a hole in the middle, as honest a header as its size allows
    path = tmp_path / "m.gril"
    path.write_bytes(struct.pack("<4sB3I", b"GRIL", 1, 255, nodes, nodes))
    try:
        os.truncate(path, 17 + nodes * 256 + nodes * 5 + 4)
    except OSError:
        pytest.skip("the file system has no such files")
    with pytest.raises(InputError, match="bytes of memory, this machine has"):
        load(path)


def test_a_loaded_model_saves_as_it_was(tmp_path: Path) -> None:
    load(GRALL / "words_d3.gril").save(tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == (GRALL / "words_d3.gril").read_bytes()
