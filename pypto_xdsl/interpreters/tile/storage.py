"""Where tiles are kept: it says nothing about their values, but slots have to exist."""

from __future__ import annotations

from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls

from pypto_xdsl.dialects.tile.storage import AllocOp, PlaceOp
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.indices import take_indices


@register_impls
class TileStorageFunctions(InterpreterFunctions):
    @impl(AllocOp)
    def run_alloc(self, interpreter: Interpreter, op: AllocOp, args: PythonValues) -> PythonValues:
        return (op.slots.value.data,)

    @impl(PlaceOp)
    def run_place(self, interpreter: Interpreter, op: PlaceOp, args: PythonValues) -> PythonValues:
        source, slots = args[:2]
        (place,), _ = take_indices(op.static_offset, args[2:])
        if place < 0:
            raise ProgramError(f"an offset of {place} lies outside the buffer")
        if op.by_slot is not None and place >= slots:
            raise ProgramError(f"slot {place} of a buffer of {slots}")
        return (source,)
