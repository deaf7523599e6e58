"""Whatever a structure tree says, every word of its page is in one element."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.unit.layout_support import HEIGHT, WIDTH, line, words_of
from warmwire.layout.page import Line
from warmwire.layout.told.elements import Role, Told, ToldPage, fault_of
from warmwire.layout.told.retold import retold

places = st.tuples(st.integers(0, 500), st.integers(0, 780))
texts = st.sampled_from(["one", "• two", "3. three", "(a) four", "five ☐", "6", "Table 7.", "8 ..... 9", "x = 10", "-"])
roles = st.sampled_from([role for role in Role if role not in (Role.GROUP, Role.TABLE, Role.ROW)])
spans = st.sampled_from([1, 1, 1, 2, 7, 10**9])


@st.composite
def lines(draw: st.DrawFn) -> Line:
    (x, y), text = draw(places), draw(texts)
    return line(x, y, text, draw(st.sampled_from([8.0, 10.0, 10.0, 16.0])), draw(st.booleans()))


@st.composite
def leaves(draw: st.DrawFn) -> Told:
    own = draw(st.lists(lines(), max_size=3))
    return Told(draw(roles), own, level=draw(st.integers(0, 6)), rowspan=draw(spans), colspan=draw(spans))


trees = st.recursive(
    leaves(),
    lambda kids: st.builds(
        lambda role, own, inner, down, across: Told(role, own, inner, 1, down, across),
        st.sampled_from(list(Role)),
        st.lists(lines(), max_size=1),
        st.lists(kids, max_size=4),
        spans,
        spans,
    ),
    max_leaves=14,
)


def _all(page: ToldPage) -> Iterator[Line]:
    yield from page.root.all_lines()
    yield from page.untold
    yield from page.artifacts


@given(st.lists(trees, max_size=4), st.lists(lines(), max_size=3), st.lists(lines(), max_size=2))
@example([Told(Role.NOTE, [line(0, 0, "a note")], [Told(Role.CAPTION)])], [], [])
@settings(max_examples=120, deadline=None)
def test_every_word_is_in_one_element(kids: list[Told], untold: list[Line], artifacts: list[Line]) -> None:
    page = ToldPage(Told(Role.GROUP, kids=kids), artifacts, untold)
    wanted = sorted(char for one in _all(page) for char in one.text if char.isalnum())
    fault_of(page)
    skipped: list[str] = []
    found = retold(page, WIDTH, HEIGHT, skipped=skipped)
    assert sorted(char for word in words_of(found) for char in word if char.isalnum()) == wanted
    assert skipped == []
