"""Copies that happen at once, done one after the other, leave the same behind."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import i32
from xdsl.ir import Block, SSAValue

from pypto_xdsl.rewriting.parallel_copies import Copy, sequence_copies

PLACES = 6


@given(st.dictionaries(st.integers(0, PLACES - 1), st.integers(0, PLACES + 1), max_size=PLACES))
def test_each_destination_gets_what_its_source_held(moves: dict[int, int]) -> None:
    block = Block(arg_types=[i32] * (PLACES + 2))
    copies = [
        Copy(block.args[source], block.args[destination], source, destination)
        for destination, source in moves.items()
    ]
    temporaries: list[SSAValue] = []

    def temporary(like: SSAValue) -> SSAValue:
        temporaries.append(Block(arg_types=[like.type]).args[0])
        return temporaries[-1]

    held: dict[SSAValue, int] = {argument: place for place, argument in enumerate(block.args)}
    for source, destination in sequence_copies(copies, temporary):
        held[destination] = held[source]
    for place, argument in enumerate(block.args):
        assert held[argument] == moves.get(place, place)
    # A place is saved only for a cycle.
    assert len(temporaries) == cycles(moves)


def cycles(moves: dict[int, int]) -> int:
    found = 0
    seen: set[int] = set()
    for start in moves:
        path: list[int] = []
        place = start
        while place in moves and place not in seen and place not in path:
            path.append(place)
            place = moves[place]
        if place in path and moves[place] != place:
            found += 1
        seen.update(path)
    return found
