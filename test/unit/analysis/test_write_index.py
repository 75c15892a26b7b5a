"""The index of writes finds what a look at each of them would."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from pypto_xdsl.analysis.buffer_roots import Window
from pypto_xdsl.analysis.write_index import WriteIndex

INTERVALS = st.tuples(st.integers(0, 60), st.integers(1, 64)).map(lambda x: (x[0], x[0] + x[1]))
BOUNDS = st.one_of(st.tuples(INTERVALS, INTERVALS), st.tuples(INTERVALS), st.just(()))
WINDOWS = st.one_of(st.none(), BOUNDS.map(lambda b: Window(b, (True,) * len(b))))
STEPS = st.lists(st.one_of(st.none(), st.tuples(st.integers(0, 3), WINDOWS)), max_size=120)
"""A write, with which of several names it is through; or None: the last one is taken back."""


def _meet(one: Window | None, other: Window | None) -> bool:
    return one is None or other is None or one.overlaps(other)


@settings(max_examples=200)
@given(STEPS, st.integers(0, 100), WINDOWS)
def test_it_finds_what_may_overlap(
    steps: list[tuple[int, Window | None] | None], since: int, window: Window | None
) -> None:
    index = WriteIndex[int]()
    there: list[tuple[int, int, Window | None]] = []
    for moment, step in enumerate(steps, 1):
        if step is not None:
            name, where = step
            there.append((moment, name, where))
            index.add(moment, where, step, moment)
        elif there:
            assert index.pop() == there.pop()[0]
    assert bool(index) == bool(there)
    assert index.last == (there[-1][0] if there else 0)
    found = list(index.after(since, window))
    # Of writes with one key the last one stands for all.
    wanted = {
        (name, where): moment
        for moment, name, where in there
        if moment > since and _meet(where, window)
    }
    assert set(wanted.values()) <= set(found)
    assert set(found) <= {m for m, _, where in there if m > since and _meet(where, window)}


def test_few_are_found_latest_first() -> None:
    index = WriteIndex[int]()
    for moment in range(1, 11):
        index.add(moment, None, moment, moment)
    assert list(index.after(4, None)) == [10, 9, 8, 7, 6, 5]


def test_windows_elsewhere_are_not_looked_at() -> None:
    """Nor where one write was to all of the buffer."""
    looked: list[Window] = []

    class Counted(Window):
        def overlaps(self, other: Window) -> bool:
            looked.append(self)
            return super().overlaps(other)

    index = WriteIndex[int]()
    index.add(1, Counted(((0, 10**6), (0, 16)), (True, True)), "all", 1)
    for row in range(1000):
        box = (16 * row, 16 * row + 16), (0, 16)
        index.add(row + 2, Counted(box, (True, True)), row, row + 2)
    assert sorted(index.after(0, Window(((32, 48), (0, 16)), (True, True)))) == [1, 4]
    assert len(looked) < 50
