"""
The ops of the `ascend910b` dialect, and the instructions, as a core runs them.

An instruction is given to its pipe; what it computes is what the `pto` interpreter says. The
functions find the core in the interpreter's data, so any xDSL interpreter can run them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.ir import Operation

from pypto_xdsl.dialects import ascend910b, pto
from pypto_xdsl.dialects.pto import DYNAMIC, PtoOp, TileBufType
from pypto_xdsl.interpreters.ascend910b.core import Core
from pypto_xdsl.interpreters.ascend910b.globals import CoreView, touch_element
from pypto_xdsl.interpreters.ascend910b.memory import CoreTile
from pypto_xdsl.interpreters.ascend910b.rules import instruction_problem
from pypto_xdsl.interpreters.elements import integer_value, number_of
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.execution import Prepared, by_preparing, prepare_of
from pypto_xdsl.interpreters.machine import Grid, Machine
from pypto_xdsl.interpreters.op_tables import Run, implements
from pypto_xdsl.interpreters.pto.array_forms import form_of, with_form
from pypto_xdsl.interpreters.pto.globals import Pointer, axes_of
from pypto_xdsl.interpreters.pto.memory import valid_extents
from pypto_xdsl.interpreters.pto.operands import (
    named,
    numbers,
    operand_place,
    operand_range,
)

_CORE = "core"


def core_of(interpreter: Interpreter) -> Core:
    """The core that the interpreter is."""
    core = interpreter.get_data(CoreFunctions, _CORE, lambda: None)
    if core is None:
        raise ProgramError("runs on no core: it is in no program of one")
    return core


def set_core(interpreter: Interpreter, core: Core) -> None:
    """Make an interpreter a core."""
    interpreter.set_data(CoreFunctions, _CORE, core)


def instruction_functions(
    implementations: tuple[type[InterpreterFunctions], ...],
) -> type[InterpreterFunctions]:
    """What runs each instruction of `pto` on its pipe, by what these say that it computes."""
    table: dict[type[Operation], Any] = {
        op_class: (functions(), run)
        for functions in implementations
        for op_class, run in functions._impls()  # pyright: ignore[reportPrivateUsage]
        if issubclass(op_class, PtoOp) and op_class.DECLARATION.pipe is not None
    }

    @register_impls
    @implements(table, _on_its_pipe)
    class InstructionFunctions(InterpreterFunctions):
        """Instructions of `pto`, given to the pipes of a core."""

    return InstructionFunctions


def _on_its_pipe(op_class: type[Operation], computing: Any) -> Run:
    functions, computation = computing

    def prepare(interpreter: Interpreter, op: Any) -> Prepared:
        core = core_of(interpreter)
        lane = core.lane_of(op.pipe)
        prepare = prepare_of(computation)

        def compute_any(args: PythonValues) -> PythonValues:
            return computation(functions, interpreter, op, args).values

        compute = compute_any if prepare is None else prepare(interpreter, op)

        def run_scalar(args: PythonValues) -> PythonValues:
            core.check_instruction(op)
            return core.run_scalar(op, lambda: compute(args))

        def run(args: PythonValues) -> PythonValues:
            if is_unchecked:
                core.check_instruction(op)
            if core.starts(lane, op):
                compute(args)
                return ()
            # The valid region is that of now, not of when the instruction runs.
            args = tuple(replace(a) if isinstance(a, CoreTile) else a for a in args)
            core.issue(lane, op, lambda: compute(args))
            return ()

        is_unchecked = instruction_problem(op) is not None
        if lane is core.scalar:
            return run_scalar
        form = form_of(compute)
        return run if form is None else with_form(run, form)

    return by_preparing(prepare)


def _grid(interpreter: Interpreter) -> Grid:
    """Which of the cores that run one kernel it is, where the interpreter knows."""
    return interpreter.grid if isinstance(interpreter, Machine) else Grid()


def _known(values: Iterator[Any], extent: int) -> int | None:
    return next(values).value.data if extent == DYNAMIC else None


def _of_event(op_class: type[Operation], make: Any) -> Run:
    """Sets an event or waits for it; `make` is the method of the core that says how."""

    def prepare(interpreter: Interpreter, op: Any) -> Prepared:
        core, known = core_of(interpreter), op.known_event
        if known is not None:
            return make(core, op, op.source, op.destination, known)
        return lambda args: make(core, op, op.source, op.destination, _event(op, args))(())

    return by_preparing(prepare)


def _view(interpreter: Interpreter, op: ascend910b.ViewOp) -> Prepared:
    """Bytes of a memory as a tile."""
    core, address = core_of(interpreter), op.known_address
    type, within = op.result.type, op.within
    assert isinstance(type, TileBufType)

    def run(args: PythonValues) -> PythonValues:
        start, rest = (args[0].value.data, args[1:]) if address is None else (address, args)
        if within is not None and not within[0] <= start <= within[1] - type.size_in_bytes:
            raise ProgramError(
                f"lies at {start}, outside of what has room for it: {within[0]} to {within[1]}"
            )
        extents = iter(rest)
        rows, columns = (_known(extents, extent) for extent in type.valid_shape)
        core.op = op
        return (core.view(type, start, valid_extents(type, (rows, columns))),)

    if op.operands:
        return run
    found: list[CoreTile] = []
    valid = type.valid_shape

    def run_known(args: PythonValues) -> PythonValues:
        if not found:
            found.extend(run(args))
        tile = found[0]
        # A tile of its own, since its valid region may be set.
        return (CoreTile(tile.memory, tile.address, tile.type, valid),)

    return run_known


def _tensor_view(interpreter: Interpreter, op: Any) -> Prepared:
    """A tensor in global memory."""
    core, place = core_of(interpreter), operand_place(op, "ptr")
    extents, steps = operand_range(op, "shape"), operand_range(op, "strides")
    axes = axes_of(op, len(op.operands[extents]))

    def run(args: PythonValues) -> PythonValues:
        shape, strides = numbers(args[extents]), numbers(args[steps])
        return (CoreView(args[place], shape, strides, core, axes=axes),)

    return run


@register_impls
@implements(
    {ascend910b.ViewOp: _view, pto.MakeTensorViewOp: _tensor_view},
    lambda _, prepare: by_preparing(prepare),
)
@implements({ascend910b.SetFlagOp: Core.setting, ascend910b.WaitFlagOp: Core.waiting}, _of_event)
class CoreFunctions(InterpreterFunctions):
    """Views, events, barriers, flags, and how the scalar unit touches memory."""

    @impl(ascend910b.BarrierOp)
    def run_barrier(
        self, interpreter: Interpreter, op: ascend910b.BarrierOp, args: PythonValues
    ) -> PythonValues:
        if op.is_of_all:
            core_of(interpreter).barrier(op)
        return ()

    @impl(ascend910b.SetCrossFlagOp)
    def run_set_cross_flag(
        self, interpreter: Interpreter, op: ascend910b.SetCrossFlagOp, args: PythonValues
    ) -> PythonValues:
        core = core_of(interpreter)
        number = _flag(op, args)
        lane = core.lane_of(op.pipe.data)
        core.give(
            op.pipe.data,
            op,
            lambda: core.group.raise_flag(core, op, lane, number, mode=op.flag_mode),
        )
        return ()

    @impl(ascend910b.WaitCrossFlagOp)
    def run_wait_cross_flag(
        self, interpreter: Interpreter, op: ascend910b.WaitCrossFlagOp, args: PythonValues
    ) -> PythonValues:
        core = core_of(interpreter)
        number = _flag(op, args)
        lane = core.lane_of(op.pipe.data)
        core.give(
            op.pipe.data,
            op,
            lambda: core.group.take_flag(core, lane, number),
            lambda: core.group.is_raised(core, number),
        )
        return ()

    @impl(pto.SectionCubeOp)
    def run_cube(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        if core_of(interpreter).is_cube:
            interpreter.run_ssacfg_region(op.body, (), "section")
        return ()

    @impl(pto.SectionVectorOp)
    def run_vector(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        if not core_of(interpreter).is_cube:
            interpreter.run_ssacfg_region(op.body, (), "section")
        return ()

    @impl(func.CallOp)
    def run_call(
        self, interpreter: Interpreter, op: func.CallOp, args: PythonValues
    ) -> PythonValues:
        core = core_of(interpreter)
        module = op.parent_op()
        while module is not None and not isinstance(module, ModuleOp):
            module = module.parent_op()
        name = op.callee.root_reference.data
        for found in () if module is None else module.body.block.ops:
            if isinstance(found, func.FuncOp) and found.sym_name.data == name:
                kind: Any = found.attributes.get(ascend910b.CORE)
                other = ascend910b.Core.AIV if core.is_cube else ascend910b.Core.AIC
                if kind is not None and kind.data is other:
                    return ()
                return interpreter.run_ssacfg_region(found.body, args, name)
        raise ProgramError(f"there is no function '{name}'")

    @impl(pto.GetBlockIdxOp)
    def run_block_idx(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        return (integer_value(_grid(interpreter).block_index, op.results[0].type),)

    @impl(pto.GetBlockNumOp)
    def run_block_num(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        return (integer_value(_grid(interpreter).block_count, op.results[0].type),)

    @impl(pto.GetSubBlockIdxOp)
    def run_subblock_idx(
        self, interpreter: Interpreter, op: Any, args: PythonValues
    ) -> PythonValues:
        return (integer_value(core_of(interpreter).subblock, op.results[0].type),)

    @impl(pto.GetSubBlockNumOp)
    def run_subblock_num(
        self, interpreter: Interpreter, op: Any, args: PythonValues
    ) -> PythonValues:
        count = sum(not core.is_cube for core in core_of(interpreter).group.cores)
        return (integer_value(count, op.results[0].type),)

    # How the scalar unit touches memory.

    @impl(pto.TGetValOp)
    def run_tgetval(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        core = core_of(interpreter)
        element = operands["src"].at(operands["offset"].value.data)
        values, _ = core.run_scalar(op, element.read)
        return (element.element.scalar(values[0, 0]),)

    @impl(pto.TSetValOp)
    def run_tsetval(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        core = core_of(interpreter)
        element = operands["dst"].at(operands["offset"].value.data)
        held = element.element
        value = np.asarray(held.narrow(held.number(number_of(operands["val"])))).reshape(1, 1)
        core.run_scalar(op, lambda: element.write(value))
        return ()

    @impl(pto.LoadScalarOp)
    def run_load_scalar(
        self, interpreter: Interpreter, op: Any, args: PythonValues
    ) -> PythonValues:
        core = core_of(interpreter)
        pointer = _moved(op, args)

        def run() -> Any:
            touch_element(core, pointer, is_write=False)
            stored, defined = pointer.tensor("the access", (1,), (1,)).read()
            if defined is not None:
                raise ProgramError("reads an undefined element of global memory")
            return stored[0]

        return (pointer.element.scalar(core.run_scalar(op, run)),)

    @impl(pto.StoreScalarOp)
    def run_store_scalar(
        self, interpreter: Interpreter, op: Any, args: PythonValues
    ) -> PythonValues:
        core = core_of(interpreter)
        pointer = _moved(op, args)
        element = pointer.element
        value = element.narrow(element.number(number_of(named(op, args)["value"])))

        def run() -> None:
            touch_element(core, pointer, is_write=True)
            pointer.tensor("the access", (1,), (1,)).write((), np.asarray(value).reshape(1))

        core.run_scalar(op, run)
        return ()


def _moved(op: Any, args: PythonValues) -> Pointer:
    operands = named(op, args)
    return operands["ptr"].moved(operands["offset"].value.data)


def _event(op: ascend910b.EventOp, args: PythonValues) -> int:
    number: int = args[0].value.data
    if not 0 <= number < ascend910b.EVENT_COUNT:
        raise ProgramError(f"names event {number}; there are {ascend910b.EVENT_COUNT}")
    return number


def _flag(op: ascend910b.CrossFlagOp, args: PythonValues) -> int:
    number = op.known_flag
    if number is None:
        number = args[0].value.data
        if not 0 <= number < ascend910b.FLAG_COUNT:
            raise ProgramError(f"names flag {number}; there are {ascend910b.FLAG_COUNT}")
    return number
