"""Generation: the exact distribution, the two ways of walking, ends, and the model of the generation wire."""

from __future__ import annotations

import math
import threading
from collections import Counter
from pathlib import Path
from typing import ClassVar

import pytest

from tests.markov_support import GRALL, interpreted
from tests.unit.test_markov_loading import gril, record
from warmwire.errors import AttachmentError, InvalidRequestError, UsageError
from warmwire.markov import (
    Chain,
    Generation,
    Style,
    chain,
    generate,
    generation,
    kernel,
    load,
    train,
)
from warmwire.models.markov_model import MarkovModel, parse_gril_name
from warmwire.wire.generation.messages import (
    Attachment,
    Message,
    OutBlock,
    Request,
    StopReason,
    image_block,
    text_block,
)


@pytest.fixture(params=["compiled", "interpreted"])
def any_kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both kernels, one after the other."""
    if request.param == "interpreted":
        for user in (chain, generation):
            monkeypatch.setattr(user, "kernel", interpreted())
    elif not kernel.COMPILED:
        pytest.skip("no compiled kernel")
    return str(request.param)


@pytest.fixture(scope="module")
def words() -> Chain:
    """A chain with its graph prepared."""
    model = train([GRALL / "words.txt"], 6)
    model.prepare()
    return model


def made_of(data: bytes, tmp_path: Path) -> Chain:
    path = tmp_path / "m.gril"
    path.write_bytes(data)
    return load(path)


def chi_square(observed: Counter[int], expected: dict[int, float]) -> float:
    """The probability of a deviation as large or larger (Wilson and Hilferty)."""
    assert set(observed) <= set(expected)
    x = sum((observed[key] - mean) ** 2 / mean for key, mean in expected.items())
    k = len(expected) - 1
    z = ((x / k) ** (1 / 3) - (1 - 2 / (9 * k))) / math.sqrt(2 / (9 * k))
    return 0.5 * math.erfc(z / math.sqrt(2))


class TestDistribution:
    COUNTS: ClassVar = {10: 1, 20: 2, 30: 3, 40: 50, 50: 400, 60: 7, 70: 90, 80: 1000, 90: 33}

    def star(self, tmp_path: Path) -> Chain:
        """Every byte leads back to the same nine choices, by their counts."""
        records = [record(bytes([byte]), *self.COUNTS.items()) for byte in (0, *self.COUNTS)]
        return made_of(gril(1, *records), tmp_path)

    @pytest.mark.parametrize("prepared", [True, False])
    def test_it_is_exact(self, tmp_path: Path, any_kernel: str, prepared: bool) -> None:
        model = self.star(tmp_path)
        if prepared:
            model.prepare()
        draws = 200_000 if any_kernel == "compiled" and prepared else 20_000
        total = sum(self.COUNTS.values())
        expected = {byte: draws * count / total for byte, count in self.COUNTS.items()}
        text = b"".join(bytes(Generation(model, rng_seed=seed).take(5000)) for seed in range(draws // 5000))
        assert 1e-4 < chi_square(Counter(text), expected) < 1 - 1e-4

    def test_every_context_is_exact(self, words: Chain) -> None:
        follows: dict[bytes, Counter[int]] = {}
        text = generate(words, 600_000, rng_seed=5)
        for i in range(6, len(text)):
            follows.setdefault(text[i - 6 : i], Counter())[text[i]] += 1
        tested = 0
        smallest = 1.0
        for context, weights in words.records():
            seen = follows.get(context, Counter())
            total = sum(count for _, count in weights)
            expected = {byte: seen.total() * count / total for byte, count in weights}
            if len(weights) > 1 and min(expected.values()) >= 5:
                tested += 1
                smallest = min(smallest, chi_square(seen, expected))
        assert tested > 300
        assert smallest > 1e-3 / tested

    @pytest.mark.parametrize("prepared", [True, False])
    @pytest.mark.parametrize("temperature", [0.5, 2.0])
    def test_temperature(self, tmp_path: Path, any_kernel: str, temperature: float, prepared: bool) -> None:
        model = self.star(tmp_path)
        if prepared:
            model.prepare()
        draws = 20_000
        masses = {byte: count ** (1 / temperature) for byte, count in self.COUNTS.items()}
        expected = {byte: draws * mass / sum(masses.values()) for byte, mass in masses.items()}
        text = generate(model, draws, temperature=temperature, rng_seed=1)
        common = {byte: mean for byte, mean in expected.items() if mean >= 5}
        observed = Counter({byte: n for byte, n in Counter(text).items() if byte in common})
        assert chi_square(observed, common) > 1e-4

    def test_temperature_zero_takes_the_most_frequent(self, tmp_path: Path, any_kernel: str) -> None:
        model = self.star(tmp_path)
        assert generate(model, 50, temperature=0) == bytes([80]) * 50
        model.prepare()
        assert generate(model, 50, temperature=0) == bytes([80]) * 50

    def test_counts_near_the_top_of_32_bits(self, tmp_path: Path, any_kernel: str) -> None:
        half = (1 << 31) - 1
        model = made_of(gril(1, *(record(bytes([b]), (1, half), (2, half)) for b in (0, 1, 2))), tmp_path)
        text = generate(model, 10_000, rng_seed=2)
        assert chi_square(Counter(text), {1: 5000, 2: 5000}) > 1e-4


class TestWalking:
    @pytest.mark.parametrize("temperature", [1, 0, 0.6, 3])
    def test_the_graph_changes_nothing(self, any_kernel: str, temperature: float) -> None:
        plain, prepared = load(GRALL / "words_d3.gril"), load(GRALL / "words_d3.gril")
        prepared.prepare()
        for seed in range(5):
            texts = [generate(m, 3000, temperature=temperature, rng_seed=seed) for m in (plain, prepared)]
            assert texts[0] == texts[1]

    @pytest.mark.parametrize("temperature", [1, 0.8])
    def test_much_text_is_made_from_the_graph(self, temperature: float) -> None:
        model = load(GRALL / "words_d3.gril")
        generate(model, generation.PREPARE_FROM - 1, temperature=temperature)
        assert model.graph is None
        generate(model, generation.PREPARE_FROM, temperature=temperature)
        assert model.graph is not None

    def test_both_kernels_agree(self, words: Chain, monkeypatch: pytest.MonkeyPatch) -> None:
        fast = generate(words, 5000, rng_seed=9), generate(words, 500, temperature=0.7, rng_seed=9)
        monkeypatch.setattr(generation, "kernel", interpreted())
        assert (generate(words, 5000, rng_seed=9), generate(words, 500, temperature=0.7, rng_seed=9)) == fast

    @pytest.mark.parametrize("sizes", [[1], [4], [3, 1, 200, 7], [5000]])
    def test_pieces_make_the_same_text(self, words: Chain, sizes: list[int]) -> None:
        source = Generation(words, b"sha", limit=4001, rng_seed=3)
        text, i = b"", 0
        while not source.ended:
            piece = source.take(sizes[i % len(sizes)])
            assert len(piece) == min(sizes[i % len(sizes)], 4001 - len(text))
            text += piece
            i += 1
        assert text == generate(words, 4001, seed=b"sha", rng_seed=3)

    def test_a_ring_without_choices(self, any_kernel: str) -> None:
        for prepared in (False, True):
            model = load(GRALL / "rep_d8.gril")
            if prepared:
                model.prepare()
            assert generate(model, 1003) == (b"ab" * 502)[:1003]
            assert generate(model, 20, seed=b"abab") == b"ab" * 10

    def test_text_that_ends(self, tmp_path: Path, any_kernel: str) -> None:
        (tmp_path / "t").write_bytes(b"once upon a time there was 1 end?")
        for prepared in (False, True):
            model = train([tmp_path / "t"], 4)
            if prepared:
                model.prepare()
            assert generate(model, 1000) == b"once upon a time there was 1 end?"
            assert generate(model, 1000, seed=b"once") == b" upon a time there was 1 end?"
            assert generate(model, 1000, seed=b"xyz") == b""

    def test_the_nearest_context(self, tmp_path: Path, any_kernel: str) -> None:
        (tmp_path / "t").write_bytes(b"strawberry is red")
        model = train([tmp_path / "t"], 8)
        for seed, text in {b"blackberry": b" is red", b"tzawberry": b"", b"bbberry": b" is red"}.items():
            assert generate(model, 100, seed=seed) == text
            assert generate(model, 100, seed=seed, style=Style.NONE) == b""

    def test_a_seed_after_every_context(self, any_kernel: str) -> None:
        assert generate(load(GRALL / "rep_d8.gril"), 10, seed=b"zzzzzzzz") == b""

    def test_random_seeds(self, words: Chain) -> None:
        assert generate(words, 500) != generate(words, 500)
        assert generate(words, 500, rng_seed=1) == generate(words, 500, rng_seed=1)
        assert generate(words, 500, rng_seed=1) != generate(words, 500, rng_seed=2)

    def test_threads_share_a_chain(self, words: Chain) -> None:
        texts: list[bytes] = [b""] * 8
        fresh = train([GRALL / "words.txt"], 6)

        def work(i: int) -> None:
            texts[i] = generate(fresh, 300_000, rng_seed=i)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert texts == [generate(words, 300_000, rng_seed=i) for i in range(8)]


class TestStyles:
    def test_line(self, words: Chain) -> None:
        for seed in range(20):
            source = Generation(words, style=Style.LINE, rng_seed=seed)
            text = bytes(source.take(1 << 16))
            assert text.endswith(b"\n")
            assert text.count(b"\n") == 1
            assert source.ended
            assert source.stopped
            assert generate(words, 10_000, rng_seed=seed).startswith(text)

    @pytest.mark.parametrize("size", [1, 3, 4096])
    def test_word(self, words: Chain, size: int) -> None:
        for seed in range(20):
            source = Generation(words, b"orein", style=Style.WORD, rng_seed=seed)
            text = b""
            while not source.ended:
                text += source.take(size)
            assert text.strip(b" .,\n").isalpha()
            assert text[-1:].isalpha()

    def test_restarting(self, words: Chain) -> None:
        source = Generation(words, style=Style.LINE, rng_seed=1)
        lines = []
        for _ in range(3):
            lines.append(bytes(source.take(1 << 16)))
            source.restart()
        assert len(set(lines)) == 3
        assert all(line.endswith(b"\n") for line in lines)

    @pytest.mark.parametrize("bad", [{"temperature": -1}, {"temperature": math.nan}, {"limit": -1}])
    def test_refused(self, words: Chain, bad: dict[str, float]) -> None:
        with pytest.raises(UsageError):
            Generation(words, **bad)  # type: ignore[arg-type]


def ask(model: MarkovModel, text: str, **options: int | float) -> tuple[list[str], object]:
    """The deltas and the finish of a request with one user text."""
    deltas: list[str] = []

    def emit(block: OutBlock) -> None:
        deltas.append(block.delta)

    request = Request(messages=[Message("user", [text_block(text)])], **options)  # type: ignore[arg-type]
    return deltas, model.generate(request, emit, threading.Event())


class TestOnTheGenerationWire:
    def test_tokens_are_four_bytes(self) -> None:
        deltas, finish = ask(MarkovModel.open(f"{GRALL / 'rep_d8.gril'}"), "ab", max_tokens=100)
        assert "".join(deltas) == "ab" * 200
        assert finish.stop_reason is StopReason.MAX_TOKENS  # type: ignore[attr-defined]
        assert finish.usage.output_tokens == 100  # type: ignore[attr-defined]

    def test_characters_stay_whole(self) -> None:
        model = MarkovModel.open(f"{GRALL / 'utf8_d6.gril'}?rng_seed=4")
        for tokens in range(1, 40):
            deltas, _ = ask(model, "hr", max_tokens=tokens)
            assert "�" not in "".join(deltas)
            assert 4 * tokens - 3 <= len("".join(deltas).encode()) <= 4 * tokens

    def test_why_it_ended(self) -> None:
        model = MarkovModel.open(str(GRALL / "rep_d8.gril"))
        _, finish = ask(model, "zzzzzzzz")
        assert finish.stop_reason is StopReason.END_TURN  # type: ignore[attr-defined]
        assert finish.report == {"ended": "unknown_context"}  # type: ignore[attr-defined]
        (deltas, finish) = ask(MarkovModel.open(f"{GRALL / 'words_d3.gril'}?style=line"), "sha")
        assert "".join(deltas).endswith("\n")
        assert finish.report == {"ended": "style"}  # type: ignore[attr-defined]

    def test_cancelled(self) -> None:
        cancelled = threading.Event()
        model = MarkovModel.open(str(GRALL / "rep_d8.gril"))
        request = Request(messages=[Message("user", [text_block("ab")])], max_tokens=1 << 31)
        finish = model.generate(request, lambda block: cancelled.set(), cancelled)
        assert finish.stop_reason is StopReason.CANCELLED

    def test_refused(self) -> None:
        model = MarkovModel.open(str(GRALL / "rep_d8.gril"))
        image = Request(
            messages=[Message("user", [image_block("i")])], attachments=[Attachment("image", "i", width=1, height=1)]
        )
        with pytest.raises(AttachmentError):
            model.check(image)
        with pytest.raises(InvalidRequestError, match="temperature"):
            ask(model, "ab", temperature=1000.0)

    def test_names(self) -> None:
        path, options = parse_gril_name("a/b.gril?style=word&temperature=0.5&rng_seed=7")
        assert (path, options.style, options.temperature, options.rng_seed) == (Path("a/b.gril"), Style.WORD, 0.5, 7)
        for query in ("styl=word", "style=never-ever", "rng_seed=x", "style", "temperature=-3", "temperature=nan"):
            with pytest.raises(UsageError):
                parse_gril_name(f"b.gril?{query}")
