"""
TileMemoryInferred: every tile of a kernel has a memory space, and one that its uses allow.

Where an operand may live is declared on the op, see `dialects/declared_op.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from pypto_xdsl.analysis.kernels import with_functions
from pypto_xdsl.analysis.walk import blocks_inside
from pypto_xdsl.diagnostics import Diagnostic, diagnose, note
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.tile import TileType
from pypto_xdsl.properties.registry import Property


def _misplaced_tiles(module: ModuleOp) -> Iterable[Diagnostic]:
    for op, function in with_functions(module):
        if function is None or not function.kind.data.is_in_core:
            continue
        for result in op.results:
            yield from _unplaced(op, f"result {result.index}", result)
        for block in blocks_inside(op):
            for argument in block.args:
                yield from _unplaced(op, f"argument {argument.index} of the region", argument)
        if isinstance(op, DeclaredOp):
            yield from _forbidden_operands(op)


def _unplaced(op: Operation, what: str, value: SSAValue) -> Iterator[Diagnostic]:
    if isinstance(value.type, TileType) and value.type.memory_space is None:
        name = f" (%{value.name_hint})" if value.name_hint else ""
        yield diagnose(op, f"{what}{name} is a tile without a memory space")


def _forbidden_operands(op: DeclaredOp) -> Iterator[Diagnostic]:
    for name, operand, declared in op.declared_operands():
        if not declared.spaces or not isinstance(operand.type, TileType):
            continue
        space = operand.type.memory_space
        if space is not None and space not in declared.spaces:
            allowed = " or ".join(str(allowed) for allowed in declared.spaces)
            yield diagnose(
                op,
                f"operand '{name}' may live in {allowed}, but lives in {space}",
                [note(operand, "the tile is defined here")],
            )


PROPERTY = Property(
    "TileMemoryInferred",
    "every tile of a kernel has a memory space that its uses allow",
    _misplaced_tiles,
)
