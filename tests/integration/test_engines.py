"""The page engines: `Local` against `dial`."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import warmwire
from tests.client_support import DELTA, DONE, saying, scripted_server
from tests.reader_support import PAGE, Reader, listening
from tests.support import PATIENCE, Peer, Script, Start, blob_pair, image_body, json_frame
from warmwire.client import CancelledError, InternalError, InvalidRequestError, OutBlock, StopReason, TruncatedError
from warmwire.models.interface import Finish, Hearing

SUM = int(PAGE.astype(np.int64).sum())
START = f"<doctag>20x30 sum={SUM} "


@pytest.fixture(params=["local", "dial"])
def engine(request: pytest.FixtureRequest, path: str) -> Iterator[tuple[Any, Reader]]:
    """The same handler behind both engines: what they give must be the same."""
    reader = Reader()
    if request.param == "local":
        with warmwire.Local(reader) as local:
            yield local, reader
    else:
        with listening(reader, path), warmwire.dial(path) as remote:
            yield remote, reader


class TestEngine:
    def test_what_it_is(self, engine: tuple[Any, Reader]) -> None:
        assert isinstance(engine[0], warmwire.Engine)
        assert isinstance(engine[0], warmwire.Closer)
        assert isinstance(engine[1], warmwire.Handler)

    def test_a_page(self, engine: tuple[Any, Reader]) -> None:
        deltas: list[str] = []
        text = engine[0].recognize(PAGE, on_delta=deltas.append)
        assert text == f"{START}{warmwire.PROMPT_PAGE} Noneé😀</doctag>"
        assert deltas == [
            "<doctag>",
            f"20x30 sum={SUM} ",
            f"{warmwire.PROMPT_PAGE} None",
            "é😀</doctag>",
        ]

    def test_what_is_known_besides_the_text(self, engine: tuple[Any, Reader]) -> None:
        recognition = engine[0].read(PAGE, prompt="p", max_tokens=50)
        assert recognition.text == f"{START}p 50é😀</doctag>"
        assert recognition.backend == "reader"
        assert recognition.usage == warmwire.Usage(0, 4)
        assert recognition.report == {"confidence": 0.9, "turn": 90}

    def test_many_pages_and_many_deltas(self, engine: tuple[Any, Reader]) -> None:
        count = 0

        def on_delta(delta: str) -> None:
            nonlocal count
            count += 1

        for _ in range(3):
            text = engine[0].recognize(PAGE, prompt="many", on_delta=on_delta)
            assert text.startswith(START + "w0000000 w0000001 ")
            assert text.endswith("w0019999 many Noneé😀</doctag>")
        assert count == 3 * 20_004
        assert len(engine[1].pages) == 3

    def test_an_empty_prompt(self, engine: tuple[Any, Reader]) -> None:
        assert engine[0].recognize(PAGE, prompt="") == f"{START} Noneé😀</doctag>"

    @pytest.mark.parametrize(
        "image", [PAGE[::-1], PAGE[:, :, 0], np.dstack([PAGE, PAGE[:, :, 0]])], ids=["turned", "grey", "alpha"]
    )
    def test_images_of_any_kind(self, engine: tuple[Any, Reader], image: np.ndarray) -> None:
        rgb = np.dstack([image] * 3) if image.ndim == 2 else image[:, :, :3]
        engine[0].recognize(image)
        assert np.array_equal(engine[1].pages[0], rgb)

    def test_max_tokens_cut_the_answer(self, engine: tuple[Any, Reader]) -> None:
        with pytest.raises(TruncatedError, match="cut at max_tokens 2") as caught:
            engine[0].recognize(PAGE, max_tokens=2)
        assert caught.value.partial == START
        with pytest.raises(TruncatedError) as caught:
            engine[0].recognize(PAGE, prompt="swallow", max_tokens=5)
        assert caught.value.partial == START + "word " * 3
        assert engine[0].recognize(PAGE, max_tokens=4).endswith("</doctag>")

    def test_a_handlers_failure_keeps_the_text(self, engine: tuple[Any, Reader]) -> None:
        with pytest.raises(InternalError, match="ValueError: asked to fail") as caught:
            engine[0].recognize(PAGE, prompt="fail")
        assert caught.value.partial == START
        with pytest.raises(InvalidRequestError, match="not this page") as refused:
            engine[0].recognize(PAGE, prompt="refuse")
        assert refused.value.partial == START
        assert engine[0].recognize(PAGE, prompt="p").endswith("</doctag>")

    @pytest.mark.parametrize(
        "image", [np.zeros((2, 2), np.float32), np.zeros((0, 5, 3), np.uint8), np.zeros(3, np.uint8)]
    )
    def test_no_image(self, engine: tuple[Any, Reader], image: np.ndarray) -> None:
        with pytest.raises(InvalidRequestError):
            engine[0].recognize(image)
        assert engine[0].recognize(PAGE, prompt="p").endswith("</doctag>")

    @pytest.mark.parametrize("prompt", ["wait", "wait and return"])
    def test_cancel_from_another_thread(self, engine: tuple[Any, Reader], prompt: str) -> None:
        arrived = threading.Event()

        def cancel() -> None:
            assert engine[1].running.wait(PATIENCE)
            assert arrived.wait(PATIENCE)
            engine[0].cancel()

        threading.Thread(target=cancel, daemon=True).start()
        with pytest.raises(CancelledError) as caught:
            engine[0].recognize(PAGE, prompt=prompt, on_delta=lambda _: arrived.set())
        assert START.startswith(caught.value.partial)
        assert caught.value.partial
        assert engine[1].cancelled.wait(PATIENCE)
        assert engine[0].recognize(PAGE, prompt="p").endswith("</doctag>")

    def test_what_on_delta_raises_is_the_callers(self, engine: tuple[Any, Reader]) -> None:
        def on_delta(delta: str) -> None:
            raise KeyError("mine")

        with pytest.raises(KeyError, match="mine"):
            engine[0].recognize(PAGE, on_delta=on_delta)
        assert engine[0].recognize(PAGE, prompt="p").endswith("</doctag>")

    def test_close_twice(self, engine: tuple[Any, Reader]) -> None:
        engine[0].close()
        engine[0].close()


class Counting(Reader):
    """A page handler that tells how many of its lines it has read."""

    def generate(self, image: Any, prompt: str, max_tokens: int | None, emit: Any, cancelled: Any) -> Any:
        if isinstance(emit, Hearing):
            for line in range(1, 4):
                emit.progress(line, 3)
        return super().generate(image, prompt, max_tokens, emit, cancelled)


class TestProgress:
    @pytest.mark.parametrize("dialled", [False, True], ids=["local", "dial"])
    def test_an_engine_hears_how_far_a_page_is(self, path: str, dialled: bool) -> None:
        reader, heard = Counting(), list[tuple[int, int]]()
        with contextlib.ExitStack() as stack:
            if dialled:
                stack.enter_context(listening(reader, path))
            engine = stack.enter_context(warmwire.dial(path) if dialled else warmwire.Local(reader))
            plain = engine.read(PAGE)
            assert heard == []
            engine.progress = lambda done, total: heard.append((done, total))
            assert engine.read(PAGE) == plain
            assert heard == [(1, 3), (2, 3), (3, 3)]
            engine.progress = None
            engine.read(PAGE)
            assert len(heard) == 3

    def test_only_who_asks_is_told(self, path: str) -> None:
        told = {"id": "r", "type": "frame", "block": {"type": "progress", "done": 1, "total": 3}}
        answers = []
        with listening(Counting(), path), Peer(path) as peer:
            for more in ({}, {"progress": True}):
                peer.send(json_frame(image_body("i", **more)), blob_pair("i", bytes(6)))
                frames = [peer.receive()]
                while frames[-1]["type"] == "frame":
                    frames.append(peer.receive())
                answers.append(frames)
        plain, asked = answers
        assert asked[0] == told
        assert asked[3:] == plain

    def test_a_handler_that_does_not_tell_is_not_asked(self, path: str) -> None:
        with listening(Reader(), path), warmwire.dial(path) as engine:
            engine.progress = lambda done, total: pytest.fail("there is nothing to tell")
            assert engine.recognize(PAGE).endswith("</doctag>")

    def test_what_is_no_progress_is_passed_over(self, path: str) -> None:
        blocks = ({"done": "one", "total": 3}, {"done": -1, "total": 3}, {"done": 1}, {"done": 1, "total": 0}, {})
        odd = [json_frame({"type": "frame", "block": {"type": "progress", **block}}) for block in blocks]
        with scripted_server(path, saying(*odd, DELTA, DONE)), warmwire.dial(path) as engine:
            engine.progress = lambda done, total: pytest.fail("none of it can be meant")
            assert engine.recognize(PAGE) == "half "


def test_a_page_that_its_host_has_given_up_is_no_page(start: Start) -> None:
    def play(request: object, emit: Callable[[OutBlock], None], cancelled: threading.Event) -> Finish:
        emit(OutBlock("text", "half a pa"))
        return Finish(StopReason.ERROR)

    with (
        warmwire.dial(start(Script(play)).path) as engine,
        pytest.raises(InternalError, match="early: error") as caught,
    ):
        engine.recognize(PAGE)
    assert caught.value.partial == "half a pa"
