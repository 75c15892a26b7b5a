"""
How data moves between global memory and the memories of a core, and between these. What an
accumulator's elements become on their way out stands in `interpreters/fixpipe.py`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.ir import Operation

from pypto_xdsl.dialects import pto
from pypto_xdsl.dialects.pto import AddressSpace
from pypto_xdsl.dialects.pto import enumerations as words
from pypto_xdsl.interpreters.elements import Array, Element, number_of
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.fixpipe import scaled, unscaled
from pypto_xdsl.interpreters.machine import machine_of
from pypto_xdsl.interpreters.op_tables import Run, implements
from pypto_xdsl.interpreters.pto.globals import GlobalView
from pypto_xdsl.interpreters.pto.memory import LocalTile
from pypto_xdsl.interpreters.pto.operands import named


def _moved(
    interpreter: Interpreter,
    op: Any,
    operands: dict[str, Any],
    source: LocalTile,
    stored: Array,
    target: Element,
) -> Array:
    """What is stored of what a tile holds: the same, or what the fixpipe makes of it."""
    element = source.element
    if source.type.space is not AddressSpace.ACC:
        # A transfer takes bytes as they are: only widths must agree.
        return stored if element is target else np.ascontiguousarray(stored).view(target.storage)
    relu = _relu(op)
    if "fp" in operands:
        scales: LocalTile = operands["fp"]
        row, defined = scales.read((1, stored.shape[1]))
        machine_of(interpreter).require_defined(op, defined)
        return scaled(stored, element, target, row.astype(np.uint64), by_column=True, relu=relu)
    if "pre_quant_scalar" in operands:
        number = int(number_of(operands["pre_quant_scalar"])) & (1 << 64) - 1
        scale = np.array(number, np.uint64)
        return scaled(stored, element, target, scale, by_column=False, relu=relu)
    return unscaled(stored, element, target, relu=relu)


def _relu(op: Any) -> bool:
    mode: Any = op.properties.get("reluPreMode")
    if mode is None or mode.data is words.ReluPreMode.NO_RELU:
        return False
    if mode.data is not words.ReluPreMode.NORMAL_RELU:
        raise ProgramError(f"asks for {mode.data}, whose slopes no operand gives")
    return True


def _window(tile: LocalTile, operands: dict[str, Any], region: tuple[int, int]) -> LocalTile:
    """The window of a tile that an extract or an insert works on."""
    shape = tile.type.get_shape()
    place = operands["index_row"].value.data, operands["index_col"].value.data
    for start, extent, size in zip(place, region, shape, strict=True):
        if start < 0 or start + extent > size:
            raise ProgramError(
                f"a window of {list(region)} at {list(place)} lies outside a tile of {list(shape)}"
            )
    # No tile of its own: its rows need not fill boxes.
    row, column = tile.origin
    return replace(
        tile, valid=region, pitch=tile.pitch or shape, origin=(row + place[0], column + place[1])
    )


def _move(op_class: type[Operation], _: None) -> Run:
    def run(interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        source: LocalTile = operands["src"]
        destination: LocalTile = operands["dst"]
        stored, defined = source.read(destination.valid)
        element = destination.element
        stored = _moved(interpreter, op, operands, source, stored, element)
        destination.write(stored, defined)
        return ()

    return run


def _extract(op_class: type[Operation], _: None) -> Run:
    def run(interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        source: LocalTile = operands["src"]
        destination: LocalTile = operands["dst"]
        stored, defined = _window(source, operands, destination.valid).read()
        element = destination.element
        stored = _moved(interpreter, op, operands, source, stored, element)
        destination.write(stored, defined)
        return ()

    return run


def _insert(op_class: type[Operation], _: None) -> Run:
    def run(interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        source: LocalTile = operands["src"]
        destination: LocalTile = operands["dst"]
        stored, defined = source.read()
        window = _window(destination, operands, source.valid)
        stored = _moved(interpreter, op, operands, source, stored, destination.element)
        window.write(stored, defined)
        return ()

    return run


def _store(op_class: type[Operation], _: None) -> Run:
    def run(interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        source: LocalTile = operands["src"]
        destination: GlobalView = operands["dst"]
        machine = machine_of(interpreter)
        stored, defined = source.read()
        machine.require_defined(op, defined, "stores undefined elements")
        element = destination.pointer.element
        stored = _moved(interpreter, op, operands, source, stored, element)
        if isinstance(op, pto.TStoreOp) and op.is_atomic:
            before, held = destination.read(source.valid)
            machine.require_defined(op, held, "adds to undefined elements")
            stored = element.narrow(element.widen(before) + element.widen(stored))
        destination.write(stored, defined)
        return ()

    return run


@register_impls
@implements(dict.fromkeys((pto.TMovOp, pto.TMovFPOp)), _move)
@implements(dict.fromkeys((pto.TExtractOp, pto.TExtractFPOp)), _extract)
@implements(dict.fromkeys((pto.TInsertOp, pto.TInsertFPOp)), _insert)
@implements(dict.fromkeys((pto.TStoreOp, pto.TStoreFPOp)), _store)
class PtoMovementFunctions(InterpreterFunctions):
    @impl(pto.TLoadOp)
    def run_tload(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        if set(operands) != {"src", "dst"} or {"pad_mode", "init_out_buffer"} & set(op.properties):
            raise ProgramError(
                "pads what it loads, which the assembler leaves out: pad with pto.tfillpad"
            )
        source: GlobalView = operands["src"]
        destination: LocalTile = operands["dst"]
        stored, defined = source.read(destination.valid)
        held = destination.element
        if source.pointer.element is not held:
            stored = np.ascontiguousarray(stored).view(held.storage)
        destination.write(stored, defined)
        return ()
