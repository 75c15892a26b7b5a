"""
Instructions that combine two tiles where both are valid, and copy the one that is elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, register_impls
from xdsl.ir import Operation

from pypto_xdsl.dialects import pto
from pypto_xdsl.interpreters.arithmetic import (
    Meaning,
    Partial,
    add,
    maximum,
    minimum,
)
from pypto_xdsl.interpreters.arithmetic import multiply as times
from pypto_xdsl.interpreters.blocks import full_mask
from pypto_xdsl.interpreters.elements import Array, Mask
from pypto_xdsl.interpreters.op_tables import Run, implements
from pypto_xdsl.interpreters.pto.instructions import both_defined, finish, operand_values
from pypto_xdsl.interpreters.pto.memory import LocalTile
from pypto_xdsl.interpreters.pto.operands import named

_PARTIAL: Mapping[type[Operation], Meaning] = {
    pto.TPartAddOp: add,
    pto.TPartMulOp: times,
    pto.TPartMaxOp: maximum,
    pto.TPartMinOp: minimum,
}


def _shared(left: LocalTile, right: LocalTile) -> tuple[int, int]:
    """The rows and columns where both tiles are valid."""
    rows, columns = (min(a, b) for a, b in zip(left.valid, right.valid, strict=True))
    return rows, columns


def _part(op_class: type[Operation], meaning: Meaning) -> Run:
    def run(interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        destination: LocalTile = operands["dst"]
        element, region = destination.element, destination.valid
        result = element.widen(element.poison(region))
        defined = np.zeros(region, np.bool_)
        for name in ("src0", "src1"):
            source: LocalTile = operands[name]
            values, mask = operand_values(source, source.valid, element)
            rows, columns = source.valid
            result[:rows, :columns] = values
            defined[:rows, :columns] = True if mask is None else mask
        both = _shared(operands["src0"], operands["src1"])
        sources = [operand_values(operands[name], both, element) for name in ("src0", "src1")]
        combined = meaning(element, *(array for array, _ in sources))
        assert not isinstance(combined, Partial)
        result[: both[0], : both[1]] = combined
        mask = both_defined([m for _, m in sources])
        defined[: both[0], : both[1]] = True if mask is None else mask
        finish(destination, result, defined)
        return ()

    return run


def _part_arg(op_class: type[Operation], is_first: Any) -> Run:
    """Values with indices; where `is_first` does not hold, the second pair is taken."""

    def run(interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        destination: LocalTile = operands["dst"]
        region = destination.valid
        both = _shared(operands["src0"], operands["src1"])
        pairs = [
            [_over(operands[f"{name}{suffix}"], region) for suffix in ("", "_idx")]
            for name in ("src0", "src1")
        ]
        widen = destination.element.widen
        left, right = (widen(pair[0][0]) for pair in pairs)
        with np.errstate(invalid="ignore"):
            from_first = np.asarray(is_first(left, right))
        shared = np.zeros(region, np.bool_)
        shared[: both[0], : both[1]] = True
        rows, columns = operands["src0"].valid
        is_only = np.zeros(region, np.bool_)
        is_only[:rows, :columns] = True
        chosen = np.where(shared, from_first, is_only)
        compared = ~shared | (pairs[0][0][1] & pairs[1][0][1])
        for place, name in enumerate(("dst", "dst_idx")):
            (first, first_mask), (second, second_mask) = (pair[place] for pair in pairs)
            known = np.where(chosen, first_mask, second_mask) & compared
            operands[name].write(np.where(chosen, first, second), None if known.all() else known)
        return ()

    return run


def _over(tile: LocalTile, region: tuple[int, int]) -> tuple[Array, Mask]:
    """The valid elements of a tile in a larger region, and which of it they are."""
    stored, defined = tile.read()
    rows, columns = stored.shape
    values = np.zeros(region, stored.dtype)
    known = np.zeros(region, np.bool_)
    values[:rows, :columns] = stored
    known[:rows, :columns] = full_mask(defined, stored.shape)
    return values, known


@register_impls
@implements(_PARTIAL, _part)
@implements({pto.TPartArgMaxOp: np.greater, pto.TPartArgMinOp: np.less}, _part_arg)
class PtoPartialFunctions(InterpreterFunctions):
    """`tpartadd` and its kin."""
