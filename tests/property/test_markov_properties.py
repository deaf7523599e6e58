"""The Markov model: training equals counting; a file that was tampered with never does more than be refused."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.markov_support import interpreted
from warmwire.errors import InputError
from warmwire.markov import Chain, Generation, Style, chain, kernel, load, merge, train

texts = st.binary(min_size=1, max_size=300) | st.text("ab", min_size=1, max_size=300).map(str.encode)


def counted(text: bytes, depth: int) -> dict[bytes, list[tuple[int, int]]]:
    """The model of a text, the obvious way, in file order."""
    counts: dict[bytes, dict[int, int]] = {}
    padded = bytes(depth) + text
    for i, byte in enumerate(text):
        node = counts.setdefault(padded[i : i + depth], {})
        node[byte] = node.get(byte, 0) + 1
    return {context: sorted(counts[context].items()) for context in sorted(counts, key=lambda c: c[::-1])}


def trained(text: bytes, depth: int) -> Chain:
    with tempfile.NamedTemporaryFile() as file:
        file.write(text)
        file.flush()
        return train([file.name], depth, jobs=1)


@settings(deadline=None)
@given(texts, st.integers(1, 255) | st.integers(1, 18))
def test_training_is_counting(text: bytes, depth: int) -> None:
    model = trained(text, depth)
    assert dict(model.records()) == counted(text, depth)
    assert list(dict(model.records())) == list(counted(text, depth))


@settings(deadline=None)
@given(texts, texts, st.integers(1, 12))
def test_merging_is_adding(first: bytes, second: bytes, depth: int) -> None:
    both: dict[bytes, dict[int, int]] = {}
    for text in (first, second):
        for context, weights in counted(text, depth).items():
            for byte, count in weights:
                node = both.setdefault(context, {})
                node[byte] = node.get(byte, 0) + count
    made = {
        context: dict(weights) for context, weights in merge([trained(first, depth), trained(second, depth)]).records()
    }
    assert made == both


@settings(deadline=None)
@given(texts, st.integers(1, 12), st.integers(0, 99), st.sampled_from(Style))
def test_every_step_is_one_the_model_knows(text: bytes, depth: int, seed: int, style: Style) -> None:
    model = trained(text, depth)
    model.prepare()
    known = dict(model.records())
    out = bytes(Generation(model, style=style, rng_seed=seed).take(200))
    plain = bytes(Generation(trained(text, depth), style=style, rng_seed=seed).take(200))
    assert out == plain
    state = bytes(depth)
    for byte in out:
        if state in known:
            assert byte in dict(known[state])
        else:
            assert style is not Style.NONE
        state = (state + bytes([byte]))[-depth:]


@st.composite
def tampered(draw: st.DrawFn) -> bytes:
    """A sound model with some bytes changed, cut out or put in."""
    data = bytearray(trained(draw(texts), draw(st.integers(1, 9))).data.tobytes())
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data) - 1))
        match draw(st.integers(0, 2)):
            case 0:
                data[at] = draw(st.integers(0, 255))
            case 1:
                del data[at : at + draw(st.integers(1, 9))]
            case _:
                data[at:at] = draw(st.binary(max_size=9))
        if not data:
            break
    return bytes(data)


@settings(deadline=None, max_examples=300)
@given(tampered() | st.binary(max_size=99))
def test_a_tampered_file_is_refused_or_sound(data: bytes) -> None:
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        path = Path(file.name)
        answers: list[str] = []
        for module in (kernel, interpreted()):
            chain.kernel, before = module, chain.kernel
            try:
                model = load(path)
                model.prepare()
                answers.append("sound")
            except InputError as error:
                answers.append(str(error))
            finally:
                chain.kernel = before
        assert answers[0] == answers[1]
        if answers[0] == "sound":
            assert len(bytes(Generation(load(path), rng_seed=1).take(300))) <= 300
