"""
How the scalar unit's own ops run: arrays and structures on its stack, pointers, the place of a
core among others, the extents of tiles; and ops that order or bring nearer what here is in order
and near.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    ReturnedValues,
    TerminatorValue,
    impl,
    impl_terminator,
    register_impls,
)
from xdsl.ir import Attribute, Operation

from pypto_xdsl.dialects import pto
from pypto_xdsl.dialects.pto.handle_types import EventIdArrayType, StructType
from pypto_xdsl.dialects.pto.shaped_types import LocalArrayType, PtrType
from pypto_xdsl.interpreters.elements import Scalar, element_of, integer_value
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.indices import index_value
from pypto_xdsl.interpreters.machine import Grid, machine_of
from pypto_xdsl.interpreters.op_tables import Run, implements
from pypto_xdsl.interpreters.pto.globals import Pointer
from pypto_xdsl.interpreters.pto.operands import named, numbers


class Cells:
    """Numbers on the stack of the scalar unit; None is one that nobody wrote."""

    def __init__(self, shape: Sequence[int]) -> None:
        self.shape = tuple(shape)
        self.values: dict[tuple[int, ...], Scalar] = {}

    def _place(self, indices: Sequence[int]) -> tuple[int, ...]:
        inside = all(0 <= i < n for i, n in zip(indices, self.shape, strict=True))
        if not inside:
            raise ProgramError(
                f"element {list(indices)} lies outside an array of {list(self.shape)}"
            )
        return tuple(indices)

    def get(self, indices: Sequence[int]) -> Scalar:
        """One element. Raises `ProgramError` outside, or where nobody wrote one."""
        place = self._place(indices)
        if place not in self.values:
            raise ProgramError(f"reads element {list(indices)}, which nobody wrote")
        return self.values[place]

    def set(self, indices: Sequence[int], value: Scalar) -> None:
        """Overwrite one element."""
        self.values[self._place(indices)] = value


def _fields(type: StructType, before: tuple[int, ...] = ()) -> Mapping[tuple[int, ...], Attribute]:
    """The type of each number in a structure, by its path."""
    found: dict[tuple[int, ...], Attribute] = {}
    for place, field in enumerate(type.fields.data):
        path = (*before, place)
        found.update(_fields(field, path) if isinstance(field, StructType) else {path: field})
    return found


def _in_order(op_class: type[Operation], _: None) -> Run:
    """What it orders is in order, what it brings near is near."""

    def run(interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        return tuple(None for _ in op.results)

    return run


_IN_ORDER: Mapping[type[Operation], None] = dict.fromkeys(
    (
        pto.FenceBarrierAllOp,
        pto.CmoCacheInvalidOp,
        pto.MakePrefetchAsyncContextOp,
        pto.TPrefetchAsyncOp,
        pto.GetPrefetchAsyncSessionOp,
        pto.SetFftsOp,
    )
)


def _is_over(op_class: type[Operation], _: None) -> Run:
    """What is brought near is there at once; nothing else that is waited for is run."""

    def run(interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        return (integer_value(1, op.results[0].type),)

    return run


_GRID: Mapping[type[Operation], Callable[[Grid], int]] = {
    pto.GetBlockIdxOp: lambda grid: grid.block_index,
    pto.GetBlockNumOp: lambda grid: grid.block_count,
    pto.GetSubBlockIdxOp: lambda grid: grid.subblock_index,
    pto.GetSubBlockNumOp: lambda grid: 1,
}


def _place_in_grid(op_class: type[Operation], of: Callable[[Grid], int]) -> Run:
    def run(interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        grid: Grid = machine_of(interpreter).grid
        return (integer_value(of(grid), op.results[0].type),)

    return run


def _valid_extent(op_class: type[Operation], axis: int) -> Run:
    def run(interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        return (index_value(args[0].valid[axis]),)

    return run


@register_impls
@implements(_IN_ORDER, _in_order)
@implements({pto.WaitAsyncEventOp: None, pto.TestAsyncEventOp: None}, _is_over)
@implements(_GRID, _place_in_grid)
@implements({pto.TileValidRowsOp: 0, pto.TileValidColsOp: 1}, _valid_extent)
class PtoScalarFunctions(InterpreterFunctions):
    @impl(pto.DeclareLocalArrayOp)
    def run_declare_array(
        self, interpreter: Interpreter, op: Any, args: PythonValues
    ) -> PythonValues:
        type = op.results[0].type
        assert isinstance(type, LocalArrayType)
        return (Cells(type.get_shape()),)

    @impl(pto.LocalArrayGetOp)
    def run_array_get(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        return (operands["array"].get(numbers(operands["indices"])),)

    @impl(pto.LocalArraySetOp)
    def run_array_set(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        operands["array"].set(numbers(operands["indices"]), operands["value"])
        return ()

    @impl(pto.DeclareStructOp)
    def run_declare_struct(
        self, interpreter: Interpreter, op: Any, args: PythonValues
    ) -> PythonValues:
        type = op.results[0].type
        assert isinstance(type, StructType)
        return (dict.fromkeys(_fields(type)),)

    @impl(pto.StructGetOp)
    def run_struct_get(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        value = args[0][op.field_path]
        if value is None:
            raise ProgramError(f"reads field {list(op.field_path)}, which nobody wrote")
        return (value,)

    @impl(pto.StructSetOp)
    def run_struct_set(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        operands["s"][op.field_path] = operands["value"]
        return ()

    @impl(pto.DeclareEventIdArrayOp)
    def run_declare_events(
        self, interpreter: Interpreter, op: Any, args: PythonValues
    ) -> PythonValues:
        type = op.results[0].type
        assert isinstance(type, EventIdArrayType)
        return (Cells((type.size.data,)),)

    @impl(pto.EventIdArrayGetOp)
    def run_event_get(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        return (args[0].get(numbers(args[1:2])),)

    @impl(pto.EventIdArraySetOp)
    def run_event_set(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        args[0].set(numbers(args[1:2]), args[2])
        return ()

    @impl(pto.CastPtrOp)
    def run_castptr(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        pointer, type = args[0], op.results[0].type
        if not isinstance(pointer, Pointer) or not isinstance(type, PtrType):
            raise ProgramError("makes a number of a pointer, or the reverse: no address is known")
        element = element_of(type.element_type)
        octets = pointer.offset * pointer.element.storage.itemsize
        size = element.storage.itemsize
        if octets % size:
            raise ProgramError(f"points to byte {octets}, which is no multiple of {size}")
        return (replace(pointer, element=element, offset=octets // size),)

    @impl(pto.FusionRegionOp)
    def run_fusion(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        return interpreter.run_ssacfg_region(op.body, (), "fusion_region")

    @impl_terminator(pto.YieldOp)
    def run_yield(
        self, interpreter: Interpreter, op: Any, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(args), ()
