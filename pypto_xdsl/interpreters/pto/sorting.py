"""
How lists of (value, index) pairs are sorted and merged, multiples added up, and what is
printed for whoever looks for a fault. What a pair is stands in `interpreters/sorting.py`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls

from pypto_xdsl.dialects import pto
from pypto_xdsl.dialects.ptensor.sort import PAIR_BYTES
from pypto_xdsl.interpreters.elements import Array, number_of
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.machine import machine_of
from pypto_xdsl.interpreters.pto.memory import LocalTile
from pypto_xdsl.interpreters.pto.operands import named
from pypto_xdsl.interpreters.sorting import (
    descending,
    pair_values,
    reordered,
    sorted_blocks,
    until_exhausted,
)


def _read(interpreter: Interpreter, op: Any, tile: LocalTile) -> Array:
    """All valid elements; they must be defined."""
    stored, defined = tile.read()
    machine_of(interpreter).require_defined(op, defined)
    return stored


def _spoil(operands: dict[str, Any]) -> None:
    if "tmp" in operands:
        operands["tmp"].spoil()


@register_impls
class PtoSortFunctions(InterpreterFunctions):
    @impl(pto.TSort32Op)
    def run_tsort32(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        source: LocalTile = operands["src"]
        values = _read(interpreter, op, source)
        labels = _read(interpreter, op, operands["idx"])
        labels = np.broadcast_to(labels[:, : values.shape[1]], values.shape)
        _spoil(operands)
        operands["dst"].write(sorted_blocks(source.element, values, labels))
        return ()

    @impl(pto.TMrgSortOp)
    def run_tmrgsort(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        sources: tuple[LocalTile, ...] = operands["srcs"]
        (destination,) = operands["dsts"]
        element = sources[0].element
        lists = [_read(interpreter, op, source) for source in sources]
        pairs = np.concatenate(lists, axis=-1)
        _spoil(operands)
        if "block_len" in operands:
            # Runs of so many elements, merged four by four.
            group = 4 * int(number_of(operands["block_len"]))
            if group <= 0 or pairs.shape[-1] % group:
                raise ProgramError(
                    f"{pairs.shape[-1]} columns are no whole number of groups of {group}"
                )
            pairs = pairs.reshape(*pairs.shape[:-1], -1, group)
        order = descending(pair_values(element, pairs))
        merged = reordered(element, pairs, order).reshape(lists[0].shape[0], -1)
        width = PAIR_BYTES // element.storage.itemsize
        if "exhausted" in op.properties:
            # What comes after the end of the first list that ends is left as it was.
            merged = merged[:, : width * until_exhausted(lists, order, width)]
        destination.write(np.ascontiguousarray(merged[:, : destination.valid[1]]))
        return ()

    @impl(pto.TAxpyOp)
    def run_taxpy(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        source: LocalTile = operands["src"]
        destination: LocalTile = operands["dst"]
        element = destination.element
        added = element.compute_from(source.read(destination.valid)[0], source.element)
        before, defined = destination.read()
        scale = element.number(number_of(operands["scalar"]))
        result = element.widen(before) + scale * added
        destination.write(np.asarray(element.narrow(result)), defined)
        return ()

    @impl(pto.TPrintOp)
    def run_tprint(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        source: Any = args[0]
        if isinstance(source, LocalTile):
            element = source.element
            stored, _ = source.read()
        else:
            element = source.pointer.element
            shape: tuple[int, ...] = source.shape
            stored, _ = source.read((math.prod(shape[:-1]), shape[-1]))
        print(np.array2string(element.widen(stored)), file=interpreter.file)
        return ()

    @impl(pto.PrintOp)
    def run_print(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        text: str = op.properties["format"].data
        number: Any = number_of(args[0])
        print(text.replace("\\n", "\n") % number, end="", file=interpreter.file)
        return ()

    @impl(pto.TrapOp)
    def run_trap(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        raise ProgramError("stops the kernel")
