"""Characters are joined to pieces in runs; one by one they would give the same pieces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from unittest import mock

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from warmwire.documents.input.pdf import pieces as pdf_pieces
from warmwire.documents.input.pdf.chars import Characters, CharStyle
from warmwire.documents.input.pdf.pieces import Piece, pieces_of

STYLES = [CharStyle(True, False, size, 0.0, False, False, False, order) for order, size in enumerate((10.0, 10.0, 6.0))]

Letter = tuple[str, float, float, int, int]
letters = st.lists(
    st.tuples(
        st.sampled_from("abf字語אב.2"),
        st.sampled_from([-20.0, -4.0, -0.5, 0.0, 0.4, 2.0, 9.0, 12.0, 30.0]),  # the gap before it
        st.sampled_from([0.0, 0.0, 0.0, 0.0, -3.0, 12.0, 200.0]),  # how far down
        st.sampled_from([0, 0, 0, 1, 2]),
        st.sampled_from([0, 0, 0, 1, 2]),
    ),
    max_size=30,
)


def _page(letters: Sequence[Letter]) -> tuple[Characters, NDArray[np.float64]]:
    x = y = 100.0
    places = []
    for _, gap, down, look, _ in letters:
        x, y, width = x + gap, y + down, STYLES[look].size / 2
        places.append((x, y, x + width, y + STYLES[look].size))
        x += width
    chars = Characters(
        [text for text, *_ in letters],
        looks=STYLES,
        look_of=np.array([look for *_, look, _ in letters], dtype=np.intp),
        spaces=np.array([space for *_, space in letters], dtype=np.int8),
    )
    return chars, np.array(places, dtype=np.float64).reshape(-1, 4)


def _one_by_one(
    chars: Characters, members: NDArray[np.intp], places: NDArray[np.float64]
) -> Iterator[pdf_pieces.LetterRun]:
    return (
        pdf_pieces.LetterRun([at], [place], [], [], place)
        for at in members.tolist()
        for place in [tuple(places[at].tolist())]
    )


def _shown(pieces: Sequence[Piece]) -> list[tuple[object, ...]]:
    return [(piece.chars, piece.at, piece.last, piece.left, piece.top, piece.right, piece.bottom) for piece in pieces]


@given(letters)
@settings(max_examples=300, deadline=None)
def test_runs_change_nothing(letters: list[Letter]) -> None:
    chars, places = _page(letters)
    members = range(len(letters))
    with mock.patch.object(pdf_pieces, "_WORTHWHILE", 1):
        found = pieces_of(chars, members, places)
    with mock.patch.object(pdf_pieces, "letter_runs", _one_by_one):
        assert _shown(found) == _shown(pieces_of(chars, members, places))
