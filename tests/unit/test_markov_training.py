"""Training, loading and merging against the reference's files, on both kernels.

Some tests set the module's bounds and its kernel: small texts would never meet the former, since training takes a
megabyte of memory at least, and the kernel is chosen once for a process.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import sys
import tracemalloc
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tests.markov_support import GRALL, MODELS, interpreted
from warmwire.errors import InputError, UsageError
from warmwire.markov import Chain, chain, generation, kernel, load, merge, merging, train, train_file, training

SMALL = [m for m in MODELS if m["name"] in ("utf8_d6", "one_d4", "rep_d8", "bin_d3")]


def inputs(model: dict[str, Any]) -> list[Path]:
    return [GRALL / name for name in model["inputs"]]


def digest(model: Chain) -> str:
    return hashlib.sha256(model.data.tobytes()).hexdigest()


@pytest.fixture
def slow_kernel(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Every module uses the interpreted kernel."""
    module = interpreted()
    for user in (training, chain, merging, generation):
        monkeypatch.setattr(user, "kernel", module)
    return module


def test_the_interpreted_kernel_is_another_one(slow_kernel: ModuleType) -> None:
    assert not slow_kernel.COMPILED
    assert slow_kernel is not kernel


class TestGoldenModels:
    @pytest.mark.parametrize("model", MODELS, ids=lambda m: m["name"])
    def test_byte_for_byte(self, model: dict[str, Any]) -> None:
        made = train(inputs(model), model["depth"], jobs=2)
        assert (made.header.nodes, made.header.weights) == (model["nodes"], model["weights"])
        assert digest(made) == model["sha256"]

    @pytest.mark.parametrize("model", MODELS, ids=lambda m: m["name"])
    def test_spilled_and_merged(self, model: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(training, "_SHALLOW_COST", 40)  # 1M then holds some 26 thousand bytes of text
        assert digest(train(inputs(model), model["depth"], memory=1 << 20)) == model["sha256"]

    @pytest.mark.parametrize("model", SMALL, ids=lambda m: m["name"])
    @pytest.mark.usefixtures("slow_kernel")
    def test_interpreted(self, model: dict[str, Any]) -> None:
        assert digest(train(inputs(model), model["depth"])) == model["sha256"]

    @pytest.mark.parametrize("depth", [9, 17, 40, 255])
    @pytest.mark.usefixtures("slow_kernel")
    def test_interpreted_deep(self, depth: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        text = tmp_path / "text"
        text.write_bytes((GRALL / "words.txt").read_bytes()[:2000])
        slow = digest(train([text], depth))
        monkeypatch.undo()
        assert digest(train([text], depth)) == slow

    @pytest.mark.parametrize("depth", [1, 6, 20])
    @pytest.mark.parametrize("slow", [False, True], ids=["as installed", "interpreted"])
    def test_many_runs_are_merged(
        self, depth: int, slow: bool, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        text = tmp_path / "text"
        text.write_bytes((GRALL / "words.txt").read_bytes()[:9000])
        whole = digest(train([text], depth))
        if slow:
            request.getfixturevalue("slow_kernel")
        monkeypatch.setattr(training, "_SHALLOW_COST", 12_000)
        monkeypatch.setattr(training, "_DEEP_COST", 12_000)
        assert digest(train([text], depth, memory=1 << 20)) == whole  # some hundred runs of 87 bytes

    @pytest.mark.parametrize("depth", [8, 64, 255])
    @pytest.mark.parametrize("kind", [2, 256])
    def test_memory(self, depth: int, kind: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """At most 40 bytes per byte of text, even where every context is new and few bytes make few buckets."""
        text, size = tmp_path / "text", 1 << 20
        text.write_bytes(np.random.default_rng(1).integers(0, kind, size, np.uint8).tobytes())
        monkeypatch.setattr(training, "_GROUP", 1 << 20)  # which small texts may exceed the bound by
        tracemalloc.start()
        try:
            train_file(tmp_path / "m.gril", [text], depth, jobs=2)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 40 * size

    def test_a_file_is_the_same_as_memory(self, tmp_path: Path) -> None:
        header = train_file(tmp_path / "m.gril", [GRALL / "words.txt"], 5)
        made = train([GRALL / "words.txt"], 5)
        assert (tmp_path / "m.gril").read_bytes() == made.data.tobytes()
        assert header == made.header
        assert os.listdir(tmp_path) == ["m.gril"]


@pytest.mark.parametrize("module", [kernel, interpreted()], ids=["as installed", "interpreted"])
@pytest.mark.parametrize("most", [1, 2, 1 << 9, 1 << 40, (1 << 64) - 1])
def test_sorting_by_bytes(module: ModuleType, most: int) -> None:
    keys = np.random.default_rng(1).integers(0, most, 3000, np.uint64, endpoint=True)
    wanted, zeros = np.sort(keys), np.zeros(2048, np.int64)
    module.sort(keys.data, np.empty(3000, np.uint64).data, zeros.data)
    assert (keys == wanted).all()
    assert not zeros.any()


def plain_model(texts: list[bytes], depth: int) -> dict[bytes, dict[int, int]]:
    """A dict of counts, the obvious way; each text starts afresh."""
    counts: dict[bytes, dict[int, int]] = {}
    for text in texts:
        padded = bytes(depth) + text
        for i, byte in enumerate(text):
            node = counts.setdefault(padded[i : i + depth], {})
            node[byte] = node.get(byte, 0) + 1
    return counts


def as_dict(model: Chain) -> dict[bytes, dict[int, int]]:
    return {context: dict(weights) for context, weights in model.records()}


class TestSources:
    @pytest.mark.parametrize("depth", [1, 3, 8, 9, 30])
    @pytest.mark.parametrize("memory", [1 << 30, 1 << 20])
    def test_separate(self, tmp_path: Path, depth: int, memory: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(training, "_SHALLOW_COST", 12_000)
        monkeypatch.setattr(training, "_DEEP_COST", 12_000)
        texts = [b"hello world " * 9, b"", b"x", b"help wanted\n" * 5, b"yz" * 40]
        for i, text in enumerate(texts):
            (tmp_path / str(i)).write_bytes(text)
        assert as_dict(train([tmp_path], depth, separate=True, memory=memory)) == plain_model(texts, depth)
        assert as_dict(train([tmp_path], depth, memory=memory)) == plain_model([b"".join(texts)], depth)

    def test_directories_gzip_and_stdin(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "b").mkdir()
        (tmp_path / "b" / "two.gz").write_bytes(gzip.compress(b"second"))
        (tmp_path / "a").write_bytes(b"first")
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"third")))
        assert as_dict(train([tmp_path, "-"], 2)) == plain_model([b"firstsecondthird"], 2)

    def test_the_model_in_a_directory_is_no_text(self, tmp_path: Path) -> None:
        (tmp_path / "a").write_bytes(b"text")
        for _ in range(2):
            train_file(tmp_path / "m.gril", [tmp_path], 2)
        assert as_dict(load(tmp_path / "m.gril")) == plain_model([b"text"], 2)

    @pytest.mark.parametrize(
        ("make", "error", "words"),
        [
            (lambda d: [d / "none"], InputError, "No such file"),
            (lambda d: [d], InputError, "holds no files"),
            (lambda d: [], UsageError, "nothing to train on"),
            (lambda d: [GRALL / "empty.txt"], InputError, "empty"),
            (lambda d: [_broken_gzip(d)], InputError, "cannot read"),
        ],
    )
    def test_refused(self, make: Any, error: type[Exception], words: str, tmp_path: Path) -> None:
        with pytest.raises(error, match=words):
            train(make(tmp_path), 4)

    @pytest.mark.parametrize("depth", [0, 256, -1])
    def test_depth(self, depth: int) -> None:
        with pytest.raises(UsageError, match="outside 1 to 255"):
            train([GRALL / "one.txt"], depth)

    def test_the_text_is_not_overwritten(self, tmp_path: Path) -> None:
        (tmp_path / "a").write_bytes(b"text")
        with pytest.raises(UsageError, match="both training text and the model"):
            train_file(tmp_path / "a", [tmp_path / "a"], 2)
        assert (tmp_path / "a").read_bytes() == b"text"


def _broken_gzip(directory: Path) -> Path:
    path = directory / "x.gz"
    path.write_bytes(gzip.compress(b"much text" * 1000)[:-20])
    return path


class TestSaving:
    def test_a_failure_leaves_the_old_model(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "m.gril"
        path.write_bytes(b"old")

        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(chain, "write_all", full)
        with pytest.raises(InputError, match=r"No space left on device; what was there before is unchanged"):
            train_file(path, [GRALL / "words.txt"], 3)
        assert path.read_bytes() == b"old"
        assert os.listdir(tmp_path) == ["m.gril"]

    def test_a_link_stays_a_link(self, tmp_path: Path) -> None:
        (tmp_path / "real").write_bytes(b"old")
        (tmp_path / "link").symlink_to("real")
        train_file(tmp_path / "link", [GRALL / "rep.txt"], 8)
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "real").read_bytes() == (GRALL / "rep_d8.gril").read_bytes()

    def test_devices_are_refused(self) -> None:
        with pytest.raises(UsageError, match="not a regular file"):
            load(GRALL / "rep_d8.gril").save("/dev/null")


class TestMerging:
    def test_counts_add_up(self, tmp_path: Path) -> None:
        names = ["words.txt", "words2.txt", "utf8.txt"]
        for depth in (3, 8, 12):
            together = train([GRALL / n for n in names], depth, separate=True)
            merged = merge([train([GRALL / n], depth) for n in names])
            assert digest(merged) == digest(together)

    @pytest.mark.usefixtures("slow_kernel")
    def test_weights(self, tmp_path: Path) -> None:
        (tmp_path / "a").write_bytes(b"aaab")
        (tmp_path / "b").write_bytes(b"aac")
        a, b = train([tmp_path / "a"], 1), train([tmp_path / "b"], 1)
        assert as_dict(merge([a, b], [2, 1])) == {b"\0": {97: 3}, b"a": {97: 5, 98: 2, 99: 1}}
        assert as_dict(merge([a, b], [0.1, 1])) == {b"\0": {97: 2}, b"a": {97: 2, 98: 1, 99: 1}}

    def test_counts_that_overflow_are_halved(self, tmp_path: Path) -> None:
        (tmp_path / "a").write_bytes(b"a" * 10_000 + b"b")
        model = train([tmp_path / "a"], 1)
        counts = as_dict(merge([model], [1e6]))[b"a"]
        assert counts[97] / counts[98] == pytest.approx(9_999, rel=1e-3)
        assert sum(counts.values()) < 1 << 32

    def test_refused(self) -> None:
        model = load(GRALL / "rep_d8.gril")
        with pytest.raises(UsageError, match="different depth"):
            merge([model, load(GRALL / "utf8_d6.gril")])
        for weights in ([1], [0, 1], [-1, 1], [float("nan"), 1], [1e9, 1]):
            with pytest.raises(UsageError, match="weights"):
                merge([model, model], weights)
        with pytest.raises(UsageError, match="nothing to merge"):
            merge([])
