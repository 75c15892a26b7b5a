"""Windows, transposes, concatenation, padding, sequences and gathers of tiles in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.ir import Operation

from pypto_xdsl.dialects import pto
from pypto_xdsl.dialects.ptensor.attributes import CompareMode, PadValue
from pypto_xdsl.interpreters.blocks import full_mask
from pypto_xdsl.interpreters.elements import Mask, number_of
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.machine import machine_of
from pypto_xdsl.interpreters.op_tables import Run, implements
from pypto_xdsl.interpreters.pto.memory import LocalTile, pad_element
from pypto_xdsl.interpreters.pto.operands import named
from pypto_xdsl.interpreters.selection import COMPARISONS, compacted_columns


def _fill_pad(op_class: type[Operation], _: None) -> Run:
    def run(interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        source: LocalTile = operands["src"]
        destination: LocalTile = operands["dst"]
        stored, defined = source.read()
        element, region = destination.element, destination.valid
        given = op.properties.get("padValue")
        pad = pad_element(element, destination.type.pad)
        if given is not None:
            pad = element.pad(PadValue(given.data.value))
        rows, columns = (min(a, b) for a, b in zip(stored.shape, region, strict=True))
        array = np.full(region, pad, element.storage)
        array[:rows, :columns] = stored[:rows, :columns]
        mask: Mask = np.ones(region, np.bool_)
        mask[:rows, :columns] = full_mask(defined, stored.shape)[:rows, :columns]
        destination.write(array, mask)
        return ()

    return run


@register_impls
@implements(dict.fromkeys((pto.TFillPadOp, pto.TFillPadExpandOp, pto.TFillPadInplaceOp)), _fill_pad)
class PtoRearrangementFunctions(InterpreterFunctions):
    @impl(pto.TTransOp)
    def run_ttrans(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        source: LocalTile = operands["src"]
        destination: LocalTile = operands["dst"]
        stored, defined = source.read()
        if "tmp" in operands:
            operands["tmp"].spoil()
        destination.write(stored.T, None if defined is None else defined.T)
        return ()

    @impl(pto.TConcatOp)
    def run_tconcat(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        (left, left_mask), (right, right_mask) = operands["src0"].read(), operands["src1"].read()
        if len(left) != len(right):
            raise ProgramError(f"puts {len(left)} rows beside {len(right)}")
        masks = (full_mask(left_mask, left.shape), full_mask(right_mask, right.shape))
        operands["dst"].write(np.hstack((left, right)), np.hstack(masks))
        return ()

    @impl(pto.TCIOp)
    def run_tci(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        destination: LocalTile = operands["dst"]
        rows, columns = destination.valid
        if rows != 1:
            raise ProgramError(f"fills {rows} rows, but a sequence is one row")
        steps = np.arange(columns, dtype=np.int64)
        start = int(number_of(operands["s"]))
        descending = op.properties.get("descending")
        numbers = (
            start - steps if descending is not None and descending.value.data else (start + steps)
        )
        destination.write(numbers.astype(destination.element.storage)[None, :])
        return ()

    @impl(pto.TTriOp)
    def run_ttri(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        destination: LocalTile = operands["dst"]
        row, column = np.indices(destination.valid)
        edge = row + int(number_of(operands["diagonal"]))
        upper = op.properties.get("upperOrLower")
        ones = column <= edge if upper is None or not upper.value.data else column >= edge
        element = destination.element
        destination.write(np.asarray(element.narrow(ones.astype(element.compute))))
        return ()

    @impl(pto.TGatherOp)
    def run_tgather(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        if op.is_mask:
            raise ProgramError("gathers by mask, which is not interpreted yet")
        if op.is_compare:
            _gather_compare(interpreter, op, operands)
        else:
            _gather_index(interpreter, op, operands)
        return ()


def _gather_compare(interpreter: Interpreter, op: Any, operands: dict[str, Any]) -> None:
    source: LocalTile = operands["src"]
    element = source.element
    stored, defined = source.read()
    machine_of(interpreter).require_defined(op, defined)
    mode = op.properties.get("cmpMode")
    comparison = CompareMode.EQ if mode is None else CompareMode(mode.data.value)
    threshold = element.number(number_of(operands["k_value"]))
    chosen = np.asarray(COMPARISONS[comparison](element.widen(stored), threshold))
    offset = op.properties.get("offset")
    operands["tmp"].spoil()
    places: LocalTile = operands["dst"]
    counted: LocalTile = operands["cdst"]
    indices, written, counts = compacted_columns(
        chosen, places.valid[1], 0 if offset is None else offset.value.data
    )
    places.write(np.asarray(places.element.narrow(indices)), written)
    counted.write(np.asarray(counted.element.narrow(counts[None, :])))


def _gather_index(interpreter: Interpreter, op: Any, operands: dict[str, Any]) -> None:
    """Indices count the elements of the source in the order of their addresses."""
    source: LocalTile = operands["src"]
    indices: LocalTile = operands["indices"]
    destination: LocalTile = operands["dst"]
    stored, defined = indices.read(destination.valid)
    machine_of(interpreter).require_defined(op, defined)
    places = stored.astype(np.int64)
    values, flags = source.flat()
    inside = (places >= 0) & (places < len(values))
    safe = np.where(inside, places, 0)
    taken, known = values[safe], flags[safe].all(axis=-1) & inside
    operands["tmp"].spoil()
    destination.write(taken, known)
