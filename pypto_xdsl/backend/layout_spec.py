"""
What an instruction demands of the order in which its tiles are stored.

    LayoutSpec.throughout(tile.AddOp, TileLayout.ROW_MAJOR)
    LayoutSpec(operands={"lhs": TileLayout.ROW_MAJOR}, results={"result": TileLayout.ROW_MAJOR})

Operands and results go by the names of the op's definition. What is not named may be stored in
any order, and a scalar or a tensor has no order to demand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from xdsl.ir import OpResult, SSAValue

from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.tile import TileLayout, TileType


@dataclass(frozen=True)
class LayoutSpec:
    """The block layout that each operand and result of an op must have."""

    operands: Mapping[str, TileLayout] = field(default_factory=dict[str, TileLayout])
    results: Mapping[str, TileLayout] = field(default_factory=dict[str, TileLayout])

    @staticmethod
    def throughout(op_type: type[DeclaredOp], layout: TileLayout) -> LayoutSpec:
        """One layout for all operands and results."""
        declared = op_type.declaration()
        return LayoutSpec(
            {name: layout for name, _ in declared.operands},
            {name: layout for name, _ in declared.results},
        )

    def misplaced_operands(self, op: DeclaredOp) -> Iterator[MisplacedOperand]:
        """The tile operands of `op` that are stored otherwise, in the order of the operands."""
        for index, (name, operand, _) in enumerate(op.declared_operands()):
            layout = self.operands.get(name)
            if layout is not None and _is_misplaced(operand, layout):
                yield MisplacedOperand(name, index, layout)

    def misplaced_results(self, op: DeclaredOp) -> Iterator[MisplacedResult]:
        """The tile results of `op` that are stored otherwise."""
        for name, result, _ in op.declared_results():
            layout = self.results.get(name)
            if layout is not None and _is_misplaced(result, layout):
                yield MisplacedResult(name, result, layout)


@dataclass(frozen=True)
class MisplacedOperand:
    """An operand that is not stored as the target wants it."""

    name: str
    index: int
    """Among the operands of the op."""
    wanted: TileLayout


@dataclass(frozen=True)
class MisplacedResult:
    """A result that is not stored as the target wants it."""

    name: str
    result: OpResult
    wanted: TileLayout


def _is_misplaced(value: SSAValue, layout: TileLayout) -> bool:
    return isinstance(value.type, TileType) and value.type.layout.blayout is not layout
