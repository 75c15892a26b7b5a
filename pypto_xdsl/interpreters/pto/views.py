"""How views of global memory, allocations and views of tiles run."""

from __future__ import annotations

from typing import Any

from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.ir import Operation

from pypto_xdsl.dialects import pto
from pypto_xdsl.dialects.pto import MultiTileBufType, TileBufType
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.execution import Prepared, by_preparing
from pypto_xdsl.interpreters.indices import index_value
from pypto_xdsl.interpreters.machine import machine_of
from pypto_xdsl.interpreters.op_tables import Run, implements
from pypto_xdsl.interpreters.pto.globals import GlobalView, Pointer, axes_of
from pypto_xdsl.interpreters.pto.kernels import core_of
from pypto_xdsl.interpreters.pto.memory import LocalTile, valid_extents
from pypto_xdsl.interpreters.pto.operands import (
    constants_of,
    named,
    numbers,
    operand_place,
    operand_range,
)


def _tile_type(type: Any) -> TileBufType:
    assert isinstance(type, TileBufType)
    return type


def _given_extents(operands: dict[str, Any]) -> tuple[int | None, int | None]:
    row, column = operands.get("valid_row"), operands.get("valid_col")
    return (
        None if row is None else row.value.data,
        None if column is None else column.value.data,
    )


def _retype(op_class: type[Operation], _: None) -> Run:
    """The same bytes under another type."""

    def run(interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        source: LocalTile = args[0]
        type = _tile_type(op.result.type)
        whole = source.valid == source.type.get_shape()
        valid = type.get_shape() if whole else None
        given = (None, None) if valid is None else valid
        return (source.retyped(type, valid_extents(type, given)),)

    return run


def _partition(interpreter: Interpreter, op: Any) -> Prepared:
    """A window of a tensor in global memory."""
    place = operand_place(op, "source")
    offsets, sizes = operand_range(op, "offsets"), operand_range(op, "sizes")
    extents = constants_of(op.operands[sizes])

    def run(args: PythonValues) -> PythonValues:
        source: GlobalView = args[place]
        return (source.part(numbers(args[offsets]), extents or numbers(args[sizes])),)

    return run


@register_impls
@implements({pto.TReshapeOp: None, pto.BitcastOp: None}, _retype)
@implements({pto.PartitionViewOp: _partition}, lambda _, prepare: by_preparing(prepare))
class PtoViewFunctions(InterpreterFunctions):
    @impl(pto.MakeTensorViewOp)
    def run_make_tensor_view(
        self, interpreter: Interpreter, op: Any, args: PythonValues
    ) -> PythonValues:
        operands = named(op, args)
        pointer: Pointer = operands["ptr"]
        shape, strides = numbers(operands["shape"]), numbers(operands["strides"])
        return (GlobalView(pointer, shape, strides, axes=axes_of(op, len(shape))),)

    @impl(pto.GetTensorViewDimOp)
    def run_dim(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        return (index_value(args[0].shape[args[1].value.data]),)

    @impl(pto.GetTensorViewStrideOp)
    def run_stride(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        return (index_value(args[0].strides[args[1].value.data]),)

    @impl(pto.AllocTileOp)
    def run_alloc_tile(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        type = _tile_type(op.result.type)
        valid = valid_extents(type, _given_extents(operands))
        core = core_of(machine_of(interpreter))
        address = operands.get("addr")
        if address is None:
            return (core.allocate(type, valid),)
        return (core.place(type, address.value.data, valid),)

    @impl(pto.AllocMultiTileOp)
    def run_alloc_multi_tile(
        self, interpreter: Interpreter, op: Any, args: PythonValues
    ) -> PythonValues:
        operands = named(op, args)
        multi = op.result.type
        assert isinstance(multi, MultiTileBufType)
        type = multi.slot_type
        valid = valid_extents(type, _given_extents(operands))
        core = core_of(machine_of(interpreter))
        address = operands.get("addr")
        if address is None:
            return (tuple(core.allocate(type, valid) for _ in range(multi.count)),)
        base, size = address.value.data, type.size_in_bytes
        return (tuple(core.place(type, base + k * size, valid) for k in range(multi.count)),)

    @impl(pto.MultiTileGetOp)
    def run_multi_tile_get(
        self, interpreter: Interpreter, op: Any, args: PythonValues
    ) -> PythonValues:
        tiles, slot = args[0], args[1].value.data
        if not 0 <= slot < len(tiles):
            raise ProgramError(f"slot {slot} lies outside {len(tiles)} tiles")
        return (tiles[slot],)

    @impl(pto.TAssignOp)
    def run_tassign(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        core = core_of(machine_of(interpreter))
        return (core.place(_tile_type(op.result.type), args[1].value.data, args[0].valid),)

    @impl(pto.SubViewOp)
    def run_subview(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        source: LocalTile = operands["source"]
        row, column = numbers(operands["offsets"])
        type = _tile_type(op.result.type)
        valid = valid_extents(type, _given_extents(operands))
        return (source.window(type, (row, column), valid),)

    @impl(pto.SetValidShapeOp)
    def run_set_validshape(
        self, interpreter: Interpreter, op: Any, args: PythonValues
    ) -> PythonValues:
        tile: LocalTile = args[0]
        rows, columns = args[1].value.data, args[2].value.data
        tile.valid = valid_extents(
            tile.type.with_(valid_shape=(pto.DYNAMIC, pto.DYNAMIC)), (rows, columns)
        )
        return ()

    @impl(pto.GetValidShapeOp)
    def run_get_validshape(
        self, interpreter: Interpreter, op: Any, args: PythonValues
    ) -> PythonValues:
        rows, columns = args[0].valid
        return index_value(rows), index_value(columns)

    @impl(pto.AddPtrOp)
    def run_addptr(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        pointer: Pointer = args[0]
        return (pointer.moved(args[1].value.data),)
