"""Programs that run one at a time, and wait for each other."""

from __future__ import annotations

import random
import warnings
from collections.abc import Sequence
from functools import partial

import numpy as np
import pytest

from pypto_xdsl.diagnostics import Diagnostic, collecting, report
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.turns import Deadlock, Turns


def stuck() -> Sequence[Diagnostic]:
    return [Diagnostic("nobody goes on", "here")]


def test_each_goes_on_until_it_waits():
    turns, order = Turns(stuck), list[str]()

    def first() -> None:
        order.append("first begins")
        turns.wait(0, lambda: "second waits" in order)
        order.append("first ends")

    def second() -> None:
        order.append("second waits")
        turns.wait(1, lambda: "first ends" in order)
        order.append("second ends")

    turns.run([first, second])
    assert order == ["first begins", "second waits", "first ends", "second ends"]
    assert turns.is_done(0)
    assert turns.is_done(1)


def test_chance_decides_who_goes_on():
    orders = set[tuple[int, ...]]()
    for seed in range(20):
        order = list[int]()
        turns = Turns(stuck, chance=random.Random(seed))

        def program(place: int, turns: Turns = turns, order: list[int] = order) -> None:
            for _ in range(2):
                turns.offer(place)
                order.append(place)

        turns.run([partial(program, place) for place in range(2)])
        assert sorted(order) == [0, 0, 1, 1]
        orders.add(tuple(order))
    assert len(orders) > 3


def test_one_program_waits_for_what_goes_on_beside_it():
    steps: list[int] = []
    turns = Turns(stuck, lambda: steps.append(0))
    turns.run([lambda: turns.wait(0, lambda: bool(steps))])
    assert steps


@pytest.mark.parametrize("count", [1, 2, 9])
def test_when_none_goes_on_it_is_an_error(count: int):
    turns = Turns(stuck)
    programs = [lambda place=place: turns.wait(place, lambda: False) for place in range(count)]
    with pytest.raises(Deadlock, match="nobody goes on"):
        turns.run(programs)


def test_one_that_waits_for_one_that_ended():
    turns = Turns(stuck)
    with pytest.raises(Deadlock):
        turns.run([lambda: turns.wait(0, lambda: False), lambda: None])


def test_the_error_of_one_ends_all():
    turns = Turns(stuck)

    def fails() -> None:
        raise ProgramError("wrong")

    with pytest.raises(ProgramError, match="wrong"):
        turns.run([lambda: turns.wait(0, lambda: False), fails])


def test_warnings_are_told_where_programs_were_started():
    turns = Turns(stuck)
    warning = Diagnostic("odd", "here", severity="warning")
    with collecting() as found:
        turns.run([lambda: report(warning), lambda: None])
    assert found == [warning]


def test_floats_are_quiet_in_each():
    def overflow() -> None:
        assert np.isinf(np.full(4, 3e38, np.float32) * np.float32(10)).all()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Turns(stuck).run([overflow, overflow])
