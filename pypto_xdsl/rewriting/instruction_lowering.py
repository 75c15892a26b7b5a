"""
Lowers ops on tiles that are one instruction each, as the backend declares them.

The results get buffers, their operands have them; scalars are converted to what the instruction
takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BoolAttr,
    DenseIntOrFPElementsAttr,
    VectorType,
    i16,
)
from xdsl.ir import Attribute, SSAValue

from pypto_xdsl.analysis.tile_storage import updated_operand
from pypto_xdsl.backend.backend import Backend
from pypto_xdsl.backend.instruction import Instruction
from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects import pto, tile
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.pto.syntax import build
from pypto_xdsl.dialects.tile import MemorySpace, TileLayout, TileType
from pypto_xdsl.rewriting.control_flow_lowering import ControlFlowLowering

_RESULT_SCALARS = ("value", "start")
"""Scalars that become elements of the result, not operands beside a tile."""

_COUNTS = DenseIntOrFPElementsAttr.from_list(VectorType(i16, [4]), [0])
"""Where a merge of lists notes how much of each list it took."""


def may_write_over(op: DeclaredOp, index: int, backend: Backend) -> bool:
    """Whether the instruction may write over an operand, by the op and by itself."""
    instruction = backend.instructions.get(type(op))
    if instruction is None or not op.may_share_storage(op.operands[index]):
        return False
    names = instruction.in_place_operands
    if names.issuperset(instruction.named_operands.values()):
        return True
    for place, (name, _, _) in enumerate(op.declared_operands()):
        if place == index:
            return name in names
    return False


def lower_instruction(op: DeclaredOp, into: ControlFlowLowering, backend: Backend) -> None:
    """Lower an op to its instruction; raises `OpError` where there is none."""
    buffers, builder = into.buffers, into.builder
    instruction = backend.instructions.get(op.__class__)
    if instruction is None and op.TAKEN_APART_BY:
        raise OpError(op, f"is composed of simpler ops: run '{op.TAKEN_APART_BY}' first")
    if instruction is None:
        raise OpError(op, f"is no instruction of {backend.name}, and not lowered to pto")
    _expect_all_used(op, instruction)
    outputs: list[SSAValue] = []
    updated: dict[int, SSAValue] = {}
    for result in op.results:
        index = updated_operand(result)
        if index is None:
            buffers.infer_extents(op, result)
            outputs.append(buffers.allocate(result))
        else:
            outputs.append(buffers.updated(op, result))
            updated[index] = outputs[-1]
    in_rows = _is_column_work(op)
    values: dict[str, SSAValue | Sequence[SSAValue]] = {}
    places = {name: i for i, (name, _, _) in enumerate(op.declared_operands())}
    operands = {name: value for name, value, _ in op.declared_operands()}
    for name, own in instruction.named_operands.items():
        value = operands.get(own)
        if value is None:
            continue
        if isinstance(value.type, TileType):
            buffer = updated.get(places[own]) or buffers.buffer(value)
            if own == "vector" and isinstance(op, tile.RowExpandOp | tile.ColumnExpandOp):
                buffer = _as_long_as_target(op, buffer, into)
            values[name] = buffers.row(buffer) if in_rows else buffer
        else:
            elements = cast(pto.TileBufType, outputs[0].type).element_type
            if own not in _RESULT_SCALARS:
                elements = _scalar_type(op, elements)
            wanted = instruction.scalar or elements
            number = builder.convert(into.value(value), wanted)
            values[name] = builder.reinterpret(number, instruction.stand_ins.get(wanted, wanted))
    if in_rows:
        outputs = [buffers.row(output) for output in outputs]
    outputs = [_filled(output, instruction, into) for output in outputs]
    outs = instruction.op_type.DECLARATION.outs
    values.update(zip(outs, outputs, strict=False))
    builder.insert_op(build(instruction.op_type, values, {}, (), instruction.properties(op)))


def pad_in_place(op: tile.FillpadInplaceOp, into: ControlFlowLowering) -> None:
    """
    Pad a tile where it is. One that is still needed is padded into another, which takes no copy
    before; L1 is padded in place alone, and the tile is seen as wholly valid after it.
    """
    buffers = into.buffers
    is_needed = buffers.is_copied(op, 0)
    source, destination = buffers.buffer(op.source), buffers.allocate(op.result)
    kind = pto.TFillPadOp if is_needed else pto.TFillPadInplaceOp
    if TileType.of(op.source.type).memory_space is MemorySpace.MAT:
        if is_needed:
            raise OpError(op, "pads a tile in mat that is needed as it was; load it once more")
        # What is padded is of the type that it is padded in.
        kind, source = pto.TFillPadOp, buffers.padded_like(source, destination)
        destination = source
    values: dict[str, SSAValue | Sequence[SSAValue]] = {"src": source, "dst": destination}
    into.builder.insert_op(build(kind, values))


def merge_lists(op: tile.MrgsortFormat2Op, into: ControlFlowLowering) -> None:
    """Two to four lists make one instruction, which also notes how much it took of each."""
    buffers = into.buffers
    values: dict[str, SSAValue | Sequence[SSAValue]] = {
        "srcs": [buffers.buffer(source) for source in op.sources],
        "tmp": buffers.buffer(op.tmp),
        "excuted": into.builder.hoist(arith.ConstantOp(_COUNTS), "counts"),
        "dsts": buffers.allocate(op.result),
    }
    properties: dict[str, Attribute] = {}
    if op.exhausted.value.data:
        properties["exhausted"] = BoolAttr.from_bool(True)
    into.builder.insert_op(build(pto.TMrgSortOp, values, {}, (), properties))


def _filled(buffer: SSAValue, instruction: Instruction, into: ControlFlowLowering) -> SSAValue:
    """The buffer that an instruction writes, as one of elements that it makes."""
    elements = cast(pto.TileBufType, buffer.type).element_type
    made = instruction.stand_ins.get(elements)
    return buffer if made is None else into.buffers.reinterpreted(buffer, made)


def _as_long_as_target(
    op: tile.RowExpandOp | tile.ColumnExpandOp, buffer: SSAValue, into: ControlFlowLowering
) -> SSAValue:
    """The vector of an expansion, valid as far as what it is stretched over."""
    target, vector = (into.buffers.valid(value) for value in (op.target, op.vector))
    axis = -2 if isinstance(op, tile.RowExpandOp) else -1
    wanted = target[axis]
    if len(target) != 2 or not isinstance(wanted, int) or vector[axis] in (wanted, DYNAMIC_INDEX):
        return buffer
    if not isinstance(vector[axis], int):
        return buffer
    row, column = (wanted, vector[1]) if axis == -2 else (vector[0], wanted)
    shape = TileType.of(op.vector.type).get_shape()
    return into.buffers.part(buffer, (0, 0), (shape[0], shape[1]), (row, column))


def _scalar_type(op: DeclaredOp, default: Attribute) -> Attribute:
    """What the elements are that a scalar operand goes with: those of the first tile."""
    for operand in op.operands:
        if isinstance(operand.type, TileType):
            return operand.type.element_type
    return default


def _expect_all_used(op: DeclaredOp, instruction: Instruction) -> None:
    used = {*instruction.named_operands.values(), *instruction.ignored}
    for name, _, _ in op.declared_operands():
        if name not in used:
            raise OpError(op, f"is given '{name}', which '{instruction.op_type.name}' lacks")


def _is_column_work(op: DeclaredOp) -> bool:
    """
    Whether an op works element by element on columns alone. The bytes of a column are those of a
    row, which the vector unit takes everywhere.
    """
    types = [v.type for v in (*op.operands, *op.results) if isinstance(v.type, TileType)]
    return op.ELEMENTWISE and all(
        type.is_column
        and type.layout.slayout is TileLayout.NONE_BOX
        and type.get_shape() == types[0].get_shape()
        for type in types
    )
