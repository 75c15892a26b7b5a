"""
How tiles of the vector unit are quantised to bytes and back, with a scale and an offset a row.

Source: the order of the steps and their rounding are those of PTO's A2/A3 instructions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.dialects.builtin import f16, i32
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls

from pypto_xdsl.dialects import pto
from pypto_xdsl.dialects.ptensor.attributes import RoundMode
from pypto_xdsl.interpreters.arithmetic import Partial
from pypto_xdsl.interpreters.casts import cast
from pypto_xdsl.interpreters.elements import Array, Element, element_of
from pypto_xdsl.interpreters.pto.instructions import both_defined, finish, operand_values
from pypto_xdsl.interpreters.pto.memory import LocalTile
from pypto_xdsl.interpreters.pto.operands import named


def _step(values: Array, source: Element, target: Element) -> Array:
    """One of the conversions, to nearest even and clamped; the result is stored."""
    result = cast(values, source, target, RoundMode.RINT, saturates=True)
    assert not isinstance(result, Partial)
    return np.asarray(target.narrow(result))


def quantized(values: Array, source: Element, target: Element) -> Array:
    """Scaled f32 numbers as bytes: by way of i32 and f16, as there is no direct way."""
    whole, half = element_of(i32), element_of(f16)
    return _step(_step(_step(values, source, whole), whole, half), half, target)


@register_impls
class PtoQuantizationFunctions(InterpreterFunctions):
    @impl(pto.TQuantOp)
    def run_tquant(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        source: LocalTile = operands["src"]
        destination: LocalTile = operands["dst"]
        element, region = source.element, destination.valid
        values, defined = operand_values(source, region, element)
        scale, scale_defined = operand_values(operands["fp"], region, element, 1)
        masks = [defined, scale_defined]
        values = values * scale
        if "offset" in operands:
            offset, offset_defined = operand_values(operands["offset"], region, element, 1)
            masks.append(offset_defined)
            values = values + offset
        result = quantized(values, element, destination.element)
        # The steps are kept where the numbers were.
        source.spoil()
        if "tmp" in operands:
            operands["tmp"].spoil()
        destination.write(result, both_defined(masks))
        return ()

    @impl(pto.TDequantOp)
    def run_tdequant(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        destination: LocalTile = operands["dst"]
        element, region = destination.element, destination.valid
        values, defined = operand_values(operands["src"], region, element)
        offset, offset_defined = _first_column(operands["offset"], region)
        scale, scale_defined = _first_column(operands["scale"], region)
        masks = [defined, offset_defined, scale_defined]
        finish(destination, (values - offset) * scale, both_defined(masks))
        return ()


def _first_column(tile: LocalTile, region: tuple[int, int]) -> tuple[Array, Any]:
    """The first number of each row, which the scalar unit reads."""
    stored, defined = tile.read((region[0], 1))
    mask = None if defined is None else np.broadcast_to(defined, region)
    return np.broadcast_to(tile.element.widen(stored), region), mask
