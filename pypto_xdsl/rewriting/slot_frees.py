"""
Gives the slots of popped tiles back.

A ring hands its slots out in turn, so that they come back in the order of the pops. A slot is
freed after the last use of its tile, or after that of an earlier one that lasts longer. A tile
that outlives tiles which are popped later further inside, or that is handed on by a loop or a
branch, is copied, and its slot freed at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects import tile
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.tile import MemorySpace, TileType
from pypto_xdsl.rewriting.locating import locate

Pop: TypeAlias = tile.TpopFromAicOp | tile.TpopFromAivOp


def free_slots(pops: Sequence[Pop]) -> int:
    """
    Free the slots of all pops of one direction in a function; the number of slots that are taken
    at once.

    Raises `OpError` for a tile in L1 that would have to be copied.
    """
    blocks: dict[Block, list[Pop]] = {}
    inside: dict[Operation, int] = {}
    for pop in pops:
        block = pop.parent_block()
        assert block is not None
        blocks.setdefault(block, []).append(pop)
        around = block.parent_op()
        while around is not None:
            inside[around] = inside.get(around, 0) + 1
            around = around.parent_op()
    return max((_free_in_block(block, found, inside) for block, found in blocks.items()), default=0)


def _free_in_block(block: Block, pops: Sequence[Pop], inside: dict[Operation, int]) -> int:
    places = {op: place for place, op in enumerate(block.ops)}
    ops = list(places)
    nested = [place for op, place in places.items() if op in inside]
    ends: list[int] = []
    for pop in pops:
        end = _last_use(pop, block, places)
        start = places[pop]
        if end is None or any(start < place <= end for place in nested):
            _copy(pop)
            end = start
        ends.append(max([end, *ends[-1:]]))
    taken = most = 0
    events = sorted([(places[pop], 0) for pop in pops] + [(end, 1) for end in ends])
    for _, is_free in events:
        taken += -1 if is_free else 1
        most = max(most, taken)
    for pop, end in zip(pops, ends, strict=True):
        free_type = tile.TfreeToAicOp if isinstance(pop, tile.TpopFromAicOp) else tile.TfreeToAivOp
        free = free_type(pop.result, pop.split.data)
        after = ops[end]
        if after is pop and pop.next_op is not None and isinstance(pop.next_op, tile.MoveOp):
            after = pop.next_op
        while isinstance(after.next_op, tile.TfreeToAicOp | tile.TfreeToAivOp):
            after = after.next_op
        locate(pop.location, free)
        block.insert_op_after(free, after)
    return most


def _last_use(pop: Pop, block: Block, places: dict[Operation, int]) -> int | None:
    """The place of the last op that uses the bytes of a popped tile; None if it is handed on."""
    end = places[pop]
    waiting: list[SSAValue] = [pop.result]
    seen: set[SSAValue] = set()
    while waiting:
        value = waiting.pop()
        if value in seen:
            continue
        seen.add(value)
        for use in value.uses:
            user = use.operation
            if user.has_trait(IsTerminator, value_if_unregistered=False) or user.regions:
                return None
            waiting += [
                result
                for result in user.results
                if isinstance(user, DeclaredOp) and user.named_operand(result) is value
            ]
            while user.parent_block() is not block:
                around = user.parent_op()
                assert around is not None
                user = around
            end = max(end, places[user])
    return end


def _copy(pop: Pop) -> None:
    """Use a copy of a popped tile instead of it."""
    type = TileType.of(pop.result.type)
    if type.memory_space is not MemorySpace.VEC:
        raise OpError(
            pop,
            "brings a tile to L1 that lasts longer than tiles which come after it, or is handed "
            "on by control flow: nothing copies it there",
        )
    move = tile.MoveOp(pop.result, type)
    locate(pop.location, move)
    move.result.name_hint = pop.result.name_hint
    pop.result.replace_uses_with_if(move.result, lambda use: use.operation is not move)
    block = pop.parent_block()
    assert block is not None
    block.insert_op_after(move, pop)
