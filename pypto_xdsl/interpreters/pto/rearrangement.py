"""Transposes, concatenation, padding and sequences of tiles in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.ir import Operation

from pypto_xdsl.dialects import pto
from pypto_xdsl.dialects.ptensor.attributes import PadValue
from pypto_xdsl.dialects.pto import BLayout
from pypto_xdsl.interpreters.blocks import full_mask
from pypto_xdsl.interpreters.elements import Array, Mask, number_of
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.machine import machine_of
from pypto_xdsl.interpreters.op_tables import Run, implements
from pypto_xdsl.interpreters.pto.memory import LocalTile, pad_element
from pypto_xdsl.interpreters.pto.operands import named


def _padded_region(tile: LocalTile) -> tuple[int, int]:
    """
    How far padding goes: to the end of the valid rows, valid columns or not; in L1 to the end of
    the tile.
    """
    shape = tile.type.get_shape()
    by_row = tile.type.blayout is BLayout.ROW_MAJOR and not tile.type.is_boxed
    return (tile.valid[0], shape[1]) if by_row else shape


def _fill_pad(op_class: type[Operation], _: None) -> Run:
    def run(interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        source: LocalTile = operands["src"]
        destination: LocalTile = operands["dst"]
        stored, defined = source.read()
        element, region = destination.element, _padded_region(destination)
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

    @impl(pto.TConcatIdxOp)
    def run_tconcatidx(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        destination: LocalTile = operands["dst"]
        (left, left_mask), (right, right_mask) = operands["src0"].read(), operands["src1"].read()
        rows, columns = destination.valid
        counts = [
            _counted(interpreter, op, operands[f"{name}_idx"], rows) for name in ("src0", "src1")
        ]
        firsts = np.minimum(counts[0], columns)
        seconds = np.minimum(counts[1], columns - firsts)
        for name, wanted, have in (("src0", firsts, left), ("src1", seconds, right)):
            if wanted.max(initial=0) > have.shape[1]:
                raise ProgramError(
                    f"takes {int(wanted.max())} columns of {name}, which has {have.shape[1]}"
                )
        result = np.zeros((rows, columns), destination.element.storage)
        known = np.zeros((rows, columns), np.bool_)
        masks = (full_mask(left_mask, left.shape), full_mask(right_mask, right.shape))
        for row, (first, second) in enumerate(zip(firsts, seconds, strict=True)):
            result[row, :first] = left[row, :first]
            known[row, :first] = masks[0][row, :first]
            result[row, first : first + second] = right[row, :second]
            known[row, first : first + second] = masks[1][row, :second]
        _write_known(destination, result, known)
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


def _counted(
    interpreter: Interpreter, op: Any, indices: LocalTile, rows: int
) -> npt.NDArray[np.int64]:
    """How many columns of each row are taken; what is held is that times the index's bytes."""
    stored, defined = indices.read((rows, 1))
    machine_of(interpreter).require_defined(op, defined)
    counts = stored[:, 0].astype(np.int64)
    if counts.min(initial=0) < 0:
        raise ProgramError(f"takes {int(counts.min())} bytes of a row")
    return counts // indices.element.storage.itemsize


def _write_known(tile: LocalTile, stored: Array, known: Mask) -> None:
    """Write what is known of each row; the rest of the row stays as it was."""
    rows, columns = stored.shape
    chosen = tile.places((rows, columns))[known]
    tile.put(chosen[None, :], stored[known][None, :])
