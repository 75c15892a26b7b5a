"""
What the passes ask about a target. They never know: all that differs by target is data here.

A backend is a value of `Backend`, found by `registry.backend_of(module)`. Its tables are keyed
by op class, so that a fact about an op and a target is said once, and a test can make up a
target of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from xdsl.ir import Attribute, Operation

from pypto_xdsl.backend.instruction import Instruction
from pypto_xdsl.backend.layout_spec import LayoutSpec
from pypto_xdsl.backend.product_unit import ProductUnit
from pypto_xdsl.backend.rule import Rule, TileRule
from pypto_xdsl.dialects.pto import AddressSpace
from pypto_xdsl.dialects.tile import MemorySpace


@dataclass(frozen=True)
class Memory:
    """An on-chip memory of one core."""

    size: int
    """What programs may use, in bytes."""
    alignment: int
    """Of the address of an allocation, in bytes."""


@dataclass(frozen=True)
class Cores:
    """How many cores a chip has."""

    cube: int
    vector: int


@dataclass(frozen=True)
class Backend:
    """A target."""

    name: str
    """As the pass option spells it."""
    arch: str
    """As `pto.target_arch` spells it."""
    layouts: Mapping[type[Operation], LayoutSpec]
    memories: Mapping[MemorySpace, Memory]
    moves: frozenset[tuple[MemorySpace, MemorySpace]]
    """Between which memories `tile.move` is an instruction."""
    casts: frozenset[tuple[Attribute, Attribute]]
    """The pairs of element types that one conversion instruction handles."""
    cores: Cores
    product_unit: ProductUnit
    rules: Mapping[type[Operation], tuple[Rule, ...]] = field(
        default_factory=dict[type[Operation], tuple[Rule, ...]]
    )
    """What an op must meet beyond the dialect's own rules."""
    tile_rules: tuple[TileRule, ...] = ()
    """What every tile in a kernel must meet."""
    instructions: Mapping[type[Operation], Instruction] = field(
        default_factory=dict[type[Operation], Instruction]
    )
    """The `pto` instruction that an op on tiles is."""
    scale_buffer: Memory | None = None
    """Holds the scales of what leaves an accumulator; no tile of PyPTO's is there."""

    @cached_property
    def on_chip(self) -> Mapping[AddressSpace, Memory]:
        """All memories of its cores, as `pto` names them."""
        found = {AddressSpace(space.value): memory for space, memory in self.memories.items()}
        if self.scale_buffer is not None:
            found[AddressSpace.SCALING] = self.scale_buffer
        return found

    def layout_spec(self, op_type: type[Operation]) -> LayoutSpec | None:
        """What the target demands of the tiles of an op; None: nothing."""
        return self.layouts.get(op_type)
