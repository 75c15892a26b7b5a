"""
What an op must meet to run on a target, beyond the dialect's own rules.

    Rule("element types", Holds((f16, f32)))

A rule has a name, by which an error speaks of it, and a check: what is wrong with an op, one
message each. The functions here make the checks that targets have in common.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, Operation, SSAValue

from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.tile import TileType

Check: TypeAlias = Callable[[Operation], Iterable[str]]
"""What is wrong with an op; each message completes `'tile.add' op ...: `."""
TileCheck: TypeAlias = Callable[[TileType], Iterable[str]]
"""What is wrong with a tile of some type, wherever it comes from."""


@dataclass(frozen=True)
class Rule:
    """A condition on the ops of a class."""

    name: str
    check: Check


@dataclass(frozen=True)
class TileRule:
    """A condition on every tile."""

    name: str
    check: TileCheck


def tiles_of(op: DeclaredOp) -> Iterator[tuple[str, TileType]]:
    """The tile operands and results of an op but its scratch, each with its name."""
    for name, operand, declared in op.declared_operands():
        if isinstance(operand.type, TileType) and not declared.workspace:
            yield f"operand '{name}'", operand.type
    for name, result, _ in op.declared_results():
        if isinstance(result.type, TileType):
            yield f"result '{name}'", result.type


def words(types: Sequence[Attribute]) -> str:
    """`f16, f32 or i32`."""
    shown = [str(type) for type in types]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"


@dataclass(frozen=True)
class Holds:
    """
    A check that tiles hold one of some element types; `at` names the operands and results meant,
    else the first tile is (the families have one element type throughout).
    """

    types: tuple[Attribute, ...]
    at: tuple[str, ...] | None = None

    def __call__(self, op: Operation) -> Iterator[str]:
        assert isinstance(op, DeclaredOp)
        tiles = list(tiles_of(op))
        if self.at is None:
            tiles = tiles[:1]
        else:
            tiles = [(name, tile) for name, tile in tiles if name.split("'")[1] in self.at]
        for name, tile in tiles:
            if tile.element_type not in self.types:
                yield f"{name} holds {tile.element_type}, expected {words(self.types)}"


def one_element_type(op: Operation) -> Iterator[str]:
    """All tiles hold the same elements."""
    assert isinstance(op, DeclaredOp)
    (first_name, first), *others = tiles_of(op)
    for name, tile in others:
        if tile.element_type != first.element_type:
            yield f"{name} holds {tile.element_type}, {first_name} {first.element_type}"


def one_valid_region(op: Operation) -> Iterator[str]:
    """
    All tiles have the same valid region: the instruction does not stretch an operand. Extents known
    only at run time agree with every other.
    """
    assert isinstance(op, DeclaredOp)
    (first_name, first), *others = tiles_of(op)
    for name, tile in others:
        if not agree(tile.valid_shape, first.valid_shape):
            yield (
                f"{name} has the valid region {shown(tile.valid_shape)}, "
                f"{first_name} {shown(first.valid_shape)}"
            )


def agree(left: Sequence[int], right: Sequence[int]) -> bool:
    """Whether two lists of extents may be equal at run time."""
    return len(left) == len(right) and all(
        a == b or DYNAMIC_INDEX in (a, b) for a, b in zip(left, right, strict=True)
    )


def shown(extents: Sequence[int]) -> str:
    """`[16, ?]`."""
    return f"[{', '.join('?' if e == DYNAMIC_INDEX else str(e) for e in extents)}]"


def never(reason: str) -> Check:
    """The target has no such instruction."""

    def check(op: Operation) -> Iterator[str]:
        yield reason

    return check


def tile_type(value: SSAValue) -> TileType | None:
    """The type of a value that is a tile."""
    return value.type if isinstance(value.type, TileType) else None
