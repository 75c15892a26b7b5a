"""Ops taken out of programs, each alone in a program of its own."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, ModuleOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from pypto_xdsl.dialects import orch, tile
from pypto_xdsl.dialects.orch.attributes import Direction, FunctionKind
from pypto_xdsl.dialects.tile.storage import AllocOp, BufferType


def single_op(op: Operation) -> ModuleOp:
    """
    A program with an op in it: tensors and scalars are parameters, constants are the same
    constants, tiles are made with the types they have. What the op calls is not there.
    """
    parameters: list[Attribute] = []
    block = Block()
    values: dict[SSAValue, SSAValue] = {}
    for operand in op.operands:
        if operand not in values:
            values[operand] = _operand(operand, block, parameters)
    block.add_op(op.clone(value_mapper=values))
    block.add_op(orch.ReturnOp())
    on_host = op.name.startswith("orch.")
    function = orch.FuncOp(
        "main",
        FunctionKind.ORCHESTRATION if on_host else FunctionKind.INCORE,
        [(Direction.IN, type) for type in parameters],
        [],
        Region(block),
    )
    return ModuleOp([function])


def _operand(operand: SSAValue, block: Block, parameters: list[Attribute]) -> SSAValue:
    """A value that stands for an operand of the op."""
    owner = operand.owner
    type = operand.type
    if isinstance(owner, arith.ConstantOp):
        return _add(block, owner.clone())
    match type:
        case tile.TileType():
            return _tile(type, block, parameters)
        case orch.TaskIdType():
            return _add(block, orch.TaskInvalidOp())
        case orch.ArrayType():
            return _add(block, orch.ArrayCreateOp(type))
        case BufferType():
            assert isinstance(owner, AllocOp)
            return _add(block, owner.clone())
        case _:
            return _parameter(type, block, parameters)


def _tile(type: tile.TileType, block: Block, parameters: list[Attribute]) -> SSAValue:
    valid = type.valid_shape
    if DYNAMIC_INDEX not in valid:
        return _add(block, tile.CreateOp(type))
    made = _add(block, tile.CreateOp(type.with_valid(type.get_shape())))
    extents = [
        _parameter(IndexType(), block, parameters) if extent == DYNAMIC_INDEX else extent
        for extent in valid
    ]
    return _add(block, tile.SetValidShapeOp(made, extents))


def _parameter(type: Attribute, block: Block, parameters: list[Attribute]) -> SSAValue:
    parameters.append(type)
    return block.insert_arg(type, len(block.args))


def _add(block: Block, op: Operation) -> SSAValue:
    block.add_op(op)
    return op.results[0]


def alone(module: ModuleOp, *dialects: str) -> Iterator[Operation]:
    """The ops of these dialects in a module that make sense alone: no regions, no callees."""
    for op in module.walk():
        if op.name.partition(".")[0] not in dialects or op.regions:
            continue
        if not isinstance(op, orch.DispatchOp | orch.ReturnOp | orch.YieldOp):
            yield op
