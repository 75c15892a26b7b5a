"""
Running a lowered kernel: the function that a declaration of orchestration points to.

A kernel runs on a core of its own, whose memories nobody has written. Its arguments are those of
the declaration in another order: pointers to tensors, numbers, the run-time extents of the
tensors, the place in the grid (`rewriting/kernel_lowering.py` makes the signature).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any

from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, TensorType, i32
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
from xdsl.ir import Operation

from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.backend.registry import ARCHITECTURES, BACKENDS
from pypto_xdsl.dialects import orch, pto, tile
from pypto_xdsl.dialects.ascend910b import CORE
from pypto_xdsl.dialects.orch import FunctionKind
from pypto_xdsl.dialects.orch.function_marks import runs_on_both
from pypto_xdsl.dialects.ptensor.types import (
    is_tensor_type,
    strides_of,
    symbolic_shape_of,
    tensor_of,
)
from pypto_xdsl.dialects.pto import AddressSpace
from pypto_xdsl.dialects.pto.cross_core_sync import CrossCoreOp
from pypto_xdsl.dialects.pto.unit_attributes import TARGET_ARCH
from pypto_xdsl.interpreters.elements import integer_value
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.indices import index_value
from pypto_xdsl.interpreters.machine import GroupCall, Machine, machine_of
from pypto_xdsl.interpreters.op_tables import Run, implements
from pypto_xdsl.interpreters.pto.globals import Pointer
from pypto_xdsl.interpreters.pto.memory import Core
from pypto_xdsl.interpreters.signature import implementation_in
from pypto_xdsl.interpreters.values import Tensor
from pypto_xdsl.rewriting.kernel_lowering import GRID

_CORE = "core"
_DEFAULT_BACKEND = "ascend910b"
_PARTS = (FunctionKind.AIC, FunctionKind.AIV)
"""The kinds of the kernels that a group runs at the same time."""


def core_of(machine: Machine) -> Core:
    """The core that the kernel at work runs on."""
    core = machine.get_data(PtoKernelFunctions, _CORE, list[Core])
    if not core:
        raise ProgramError("runs on no core: it is in no kernel")
    return core[-1]


def call_implementation(
    machine: Machine, declaration: Operation, arguments: PythonValues
) -> PythonValues:
    """Run the lowered kernel that a declaration names, on the arguments of the declaration."""
    assert isinstance(declaration, orch.FuncOp)
    kernel = _kernel_of(machine, declaration)
    if machine.group_calls is not None and declaration.kind.data in _PARTS:
        machine.group_calls.append(GroupCall(declaration, arguments))
    else:
        run_kernel(machine, kernel, _values(machine, declaration, arguments, kernel))
    assert declaration.returns is not None
    return tuple(arguments[place] for place in declaration.returns.get_values())


def run_group(machine: Machine, calls: Sequence[GroupCall]) -> None:
    """
    Run the kernels of a group: those of its cube core and of its vector cores at the same time,
    several of one core one after the other.
    """
    from pypto_xdsl.interpreters.ascend910b import Part, run_together
    from pypto_xdsl.interpreters.pto import PTO_FUNCTIONS

    parts: list[Part] = []
    is_for_both = False
    for found in calls:
        declaration = found.function
        kernel = _kernel_of(machine, declaration)

        def values(
            subblock: int, call: GroupCall = found, kernel: func.FuncOp = kernel
        ) -> PythonValues:
            before = machine.grid
            machine.grid = replace(before, subblock_index=subblock)
            try:
                return _values(machine, call.function, call.arguments, kernel)
            finally:
                machine.grid = before

        is_cube = declaration.kind.data is FunctionKind.AIC
        parts.append(Part(kernel, is_cube, values))
        is_for_both = is_for_both or runs_on_both(declaration)
    if not any(part.is_cube for part in parts) or all(part.is_cube for part in parts):
        for found, part in zip(calls, parts, strict=True):
            cores = range(2) if runs_on_both(found.function) else (machine.grid.subblock_index,)
            for core in cores:
                _run_on_core(machine, core, part.kernel, part.arguments(core))
        return
    sizes = _memory_sizes(parts[0].kernel)
    run_together(machine, parts, sizes, PTO_FUNCTIONS, vector_cores=2 if is_for_both else 1)


@lru_cache(maxsize=64)
def waits_for_blocks(module: ModuleOp, declaration: orch.FuncOp) -> bool:
    """Whether a lowered kernel waits for the other blocks of its launch."""
    kernel = implementation_in(module, declaration)
    if kernel is None:
        return False
    from pypto_xdsl.interpreters.ascend910b import core_barriers

    return core_barriers.waits_for_blocks(kernel)


@lru_cache(maxsize=64)
def _is_about_other_cores(kernel: func.FuncOp) -> bool:
    """Whether a kernel sets flags for other cores, or waits for them."""
    return any(isinstance(op, CrossCoreOp | pto.SyncAllOp) for op in walk(kernel))


def _run_on_core(machine: Machine, core: int, kernel: func.FuncOp, arguments: PythonValues) -> None:
    before = machine.grid
    machine.grid = replace(before, subblock_index=core)
    try:
        run_kernel(machine, kernel, arguments)
    finally:
        machine.grid = before


def _kernel_of(machine: Machine, declaration: orch.FuncOp) -> func.FuncOp:
    """The lowered kernel that a declaration names."""
    name = declaration.sym_name.data
    kernel = implementation_in(machine.module, declaration)
    if kernel is None:
        raise ProgramError(f"'{name}' is a declaration, there is no body to run")
    if declaration.returns is None:
        raise ProgramError(f"'{name}' does not say what its results are")
    return kernel


def _values(
    machine: Machine, declaration: orch.FuncOp, arguments: PythonValues, kernel: func.FuncOp
) -> PythonValues:
    """What a kernel is given, for the arguments of its declaration."""
    values = tuple(_kernel_arguments(machine, declaration, arguments, kernel))
    if len(values) != len(kernel.function_type.inputs.data):
        raise ProgramError(
            f"'{declaration.sym_name.data}' gives {len(values)} arguments to a kernel of "
            f"{len(kernel.function_type.inputs.data)}"
        )
    return values


def run_kernel(machine: Machine, kernel: func.FuncOp, arguments: PythonValues) -> None:
    """
    Run a `pto` function on a new core; pointers are `Pointer`s, numbers as in `arith`. One that
    says which core runs it has pipes and events too, and one that other cores wait for has pipes.
    """
    if CORE in kernel.attributes or _is_about_other_cores(kernel):
        # What instructions compute is said here, in which order there.
        from pypto_xdsl.interpreters.ascend910b import run_program
        from pypto_xdsl.interpreters.pto import PTO_FUNCTIONS

        run_program(machine, kernel, arguments, _memory_sizes(kernel), PTO_FUNCTIONS)
        return
    cores = machine.get_data(PtoKernelFunctions, _CORE, list[Core])
    cores.append(Core(_memory_sizes(kernel)))
    try:
        machine.run_ssacfg_region(kernel.body, arguments, kernel.sym_name.data)
    finally:
        cores.pop()


def _memory_sizes(kernel: func.FuncOp) -> dict[AddressSpace, int]:
    """How large the memories are, by the target that the innermost module names."""
    parent = kernel.parent_op()
    name = _DEFAULT_BACKEND
    while parent is not None:
        arch: Any = parent.attributes.get(TARGET_ARCH)
        if arch is not None and arch.data in ARCHITECTURES:
            name = ARCHITECTURES[arch.data]
            break
        parent = parent.parent_op()
    return _sizes_on(name)


@cache
def _sizes_on(backend: str) -> dict[AddressSpace, int]:
    return {space: memory.size for space, memory in BACKENDS[backend]().on_chip.items()}


def _kernel_arguments(
    machine: Machine, declaration: orch.FuncOp, arguments: PythonValues, kernel: func.FuncOp
) -> Iterator[Any]:
    types = declaration.function_type.inputs.data
    tensors = [
        (tensor_of(type), value)
        for type, value in zip(types, arguments, strict=True)
        if is_tensor_type(type)
    ]
    for type, value in tensors:
        _expect_strides(type, value)
        yield Pointer.to(value)
    for type, value in zip(types, arguments, strict=True):
        if not isinstance(type, TensorType):
            yield value
    seen: set[str] = set()
    for type, value in tensors:
        for extent, have in zip(symbolic_shape_of(type), value.shape, strict=True):
            if extent == DYNAMIC_INDEX or (isinstance(extent, str) and extent not in seen):
                yield index_value(have)
                if isinstance(extent, str):
                    seen.add(extent)
    grid = {
        GRID[tile.GetBlockIdxOp]: machine.grid.block_index,
        GRID[tile.GetBlockNumOp]: machine.grid.block_count,
        GRID[tile.GetSubblockIdxOp]: machine.grid.subblock_index,
    }
    for argument in kernel.body.block.args:
        if argument.type == i32 and argument.name_hint in grid:
            yield integer_value(grid[argument.name_hint], i32)


def _expect_strides(type: TensorType[Any], value: Tensor) -> None:
    """Raise unless the elements lie where the kernel, which sees the type alone, expects them."""
    itemsize = value.array.itemsize
    for axis, (wanted, stride) in enumerate(
        zip(strides_of(type), value.array.strides, strict=True)
    ):
        if wanted == DYNAMIC_INDEX or value.shape[axis] == 1:
            continue
        if stride != wanted * itemsize:
            raise ProgramError(
                f"passes a window whose dimension {axis} has steps of {stride // itemsize} "
                f"elements, where the kernel expects {wanted}"
            )


def _run_section(op_class: type[Operation], _: None) -> Run:
    """Without pipes and cores apart, the part of one core is run where it stands."""

    def run(interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        interpreter.run_ssacfg_region(op.body, (), "section")
        return ()

    return run


@register_impls
@implements({pto.SectionCubeOp: None, pto.SectionVectorOp: None}, _run_section)
class PtoKernelFunctions(InterpreterFunctions):
    @impl_terminator(func.ReturnOp)
    def run_return(
        self, interpreter: Interpreter, op: func.ReturnOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(args), ()

    @impl(func.CallOp)
    def run_call(
        self, interpreter: Interpreter, op: func.CallOp, args: PythonValues
    ) -> PythonValues:
        module = op.parent_op()
        while module is not None and not isinstance(module, ModuleOp):
            module = module.parent_op()
        name = op.callee.root_reference.data
        for found in () if module is None else module.body.block.ops:
            if isinstance(found, func.FuncOp) and found.sym_name.data == name:
                machine = machine_of(interpreter)
                return machine.run_ssacfg_region(found.body, args, name)
        raise ProgramError(f"there is no function '{name}'")
