"""
How data moves between global memory and the memories of a core, and between these. What an
accumulator's elements become on their way out stands in `interpreters/fixpipe.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, register_impls
from xdsl.ir import Operation

from pypto_xdsl.dialects import pto
from pypto_xdsl.dialects.pto import AddressSpace
from pypto_xdsl.dialects.pto import enumerations as words
from pypto_xdsl.interpreters.elements import Array, Element, element_of, number_of
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.execution import Prepare, Prepared, by_preparing
from pypto_xdsl.interpreters.fixpipe import scaled, unscaled
from pypto_xdsl.interpreters.machine import machine_of
from pypto_xdsl.interpreters.op_tables import Run, implements
from pypto_xdsl.interpreters.pto.array_forms import ArrayForm, with_form
from pypto_xdsl.interpreters.pto.globals import GlobalView
from pypto_xdsl.interpreters.pto.memory import LocalTile
from pypto_xdsl.interpreters.pto.operands import named, operand_place, operand_places


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


def _move(interpreter: Interpreter, op: Any) -> Prepared:
    from_place, to_place = operand_place(op, "src"), operand_place(op, "dst")
    element = element_of(op.dst.type.element_type)
    is_same = _keeps_elements(op, element)

    def run(args: PythonValues) -> PythonValues:
        source: LocalTile = args[from_place]
        destination: LocalTile = args[to_place]
        stored, defined = source.read(destination.valid)
        if not is_same:
            stored = _moved(interpreter, op, named(op, args), source, stored, element)
        destination.write(stored, defined)
        return ()

    def form(args: PythonValues) -> ArrayForm | None:
        region = args[to_place].valid
        compute = None if is_same else _drained(op, element)
        if not is_same and compute is None:
            return None
        return ArrayForm(((from_place, region),), (to_place, region), compute)

    return with_form(run, form)


def _drained(op: Any, target: Element) -> Callable[[Array], Array] | None:
    """What an accumulator's elements become that nothing scales, None for all others."""
    type: Any = op.src.type
    if type.space is not AddressSpace.ACC or set(operand_places(op)) != {"src", "dst"}:
        return None
    element, relu = element_of(type.element_type), _relu(op)
    return lambda stored: unscaled(stored, element, target, relu=relu)


def _keeps_elements(op: Any, target: Element) -> bool:
    """Whether what is moved stays what it is."""
    type: Any = op.src.type
    return type.space is not AddressSpace.ACC and element_of(type.element_type) is target


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


def _store(interpreter: Interpreter, op: Any) -> Prepared:
    from_place, to_place = operand_place(op, "src"), operand_place(op, "dst")
    machine = machine_of(interpreter)
    own = element_of(op.src.type.element_type)
    is_atomic = isinstance(op, pto.TStoreOp) and op.is_atomic
    keeps = _keeps_elements(op, own)

    def run(args: PythonValues) -> PythonValues:
        source: LocalTile = args[from_place]
        destination: GlobalView = args[to_place]
        stored, defined = source.read()
        if defined is not None:
            machine.require_defined(op, defined, "stores undefined elements")
        element = destination.pointer.element
        if not keeps or element is not own:
            stored = _moved(interpreter, op, named(op, args), source, stored, element)
        if is_atomic:
            before, held = destination.read(source.valid)
            machine.require_defined(op, held, "adds to undefined elements")
            stored = element.narrow(element.widen(before) + element.widen(stored))
        destination.write(stored, defined)
        return ()

    def form(args: PythonValues) -> ArrayForm | None:
        element = args[to_place].pointer.element
        is_same = keeps and element is own
        compute = None if is_same else _drained(op, element)
        if is_atomic or (not is_same and compute is None):
            return None
        region = args[from_place].valid
        return ArrayForm(((from_place, region),), (to_place, region), compute)

    return with_form(run, form)


def _load(interpreter: Interpreter, op: Any) -> Prepared:
    pads = {"pad_mode", "init_out_buffer"} & set(op.properties)
    if set(operand_places(op)) != {"src", "dst"} or pads:
        raise ProgramError(
            "pads what it loads, which the assembler leaves out: pad with pto.tfillpad"
        )
    held = element_of(op.dst.type.element_type)

    def run(args: PythonValues) -> PythonValues:
        source: GlobalView = args[0]
        destination: LocalTile = args[1]
        stored, defined = source.read(destination.valid)
        if source.pointer.element is not held:
            stored = np.ascontiguousarray(stored).view(held.storage)
        destination.write(stored, defined)
        return ()

    def form(args: PythonValues) -> ArrayForm | None:
        region = args[1].valid
        return ArrayForm(((0, region),), (1, region)) if args[0].pointer.element is held else None

    return with_form(run, form)


_PREPARED: Mapping[type[Operation], Prepare] = {
    pto.TLoadOp: _load,
    pto.TMovOp: _move,
    pto.TMovFPOp: _move,
    pto.TStoreOp: _store,
    pto.TStoreFPOp: _store,
}


@register_impls
@implements(_PREPARED, lambda _, prepare: by_preparing(prepare))
@implements(dict.fromkeys((pto.TExtractOp, pto.TExtractFPOp)), _extract)
@implements(dict.fromkeys((pto.TInsertOp, pto.TInsertFPOp)), _insert)
class PtoMovementFunctions(InterpreterFunctions):
    pass
