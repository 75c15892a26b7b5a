"""Tasks in C++: what is submitted, with which arguments, after which tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX, i1
from xdsl.ir import Operation, OpResult, SSAValue

from pypto_xdsl.analysis.control_flow import constant_integer
from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects import orch
from pypto_xdsl.dialects.element_types import bit_width, is_float, is_integer, is_signed
from pypto_xdsl.dialects.orch import ArgDirection, Comparison, DispatchOp
from pypto_xdsl.dialects.orch.chip import AvailableAivCountOp, AvailableClusterCountOp
from pypto_xdsl.dialects.orch.launch import Predicate
from pypto_xdsl.dialects.ptensor.types import is_tensor_type, tensor_of
from pypto_xdsl.targets.orchestration.body import NO_TASK, TASK, TENSOR, Body, Writers
from pypto_xdsl.targets.orchestration.kernels import Argument, Launch
from pypto_xdsl.targets.orchestration.names import base_name
from pypto_xdsl.targets.orchestration.scalars import constant, is_half, scalar_type
from pypto_xdsl.targets.orchestration.tensors import MOST_DIMENSIONS, create_info

MOST_TENSORS = 32
MOST_SCALARS = 16
"""So many arguments a task has."""
MOST_BLOCKS = (1 << 15) - 1
"""On so many cores the runtime counts."""

_ADDS = {
    ArgDirection.INPUT: "add_input",
    ArgDirection.OUTPUT: "add_output",
    ArgDirection.OUTPUT_EXISTING: "add_output",
    ArgDirection.INOUT: "add_inout",
    ArgDirection.NO_DEP: "add_no_dep",
}


@dataclass(frozen=True)
class _Fresh:
    """A buffer that a task itself creates."""

    info: str
    index: int
    """Its number among those of the task."""


def _dispatch(body: Body, op: Operation) -> None:
    assert isinstance(op, DispatchOp)
    launch = body.kernels.launch(op)
    _compute(body, op, launch)
    number = body.tasks
    body.tasks += 1
    params = body.declare(f"params_t{number}")
    fresh = _created(body, op, launch, params)
    body.line()
    kind, numbered, name = launch.comment.partition("Task #")
    body.comment(launch.comment if kind or not numbered else f"Task {number}{name}")
    body.line(f"CoreTaskArgs {params};")
    _arguments(body, op, launch, params, fresh)
    kernels = _kernels(body, launch, number, op)
    if not launch.is_wrapped:
        _dependencies(body, params, op.deps)
    _width(body, op, launch, params)
    if op.early_resolve is not None:
        body.line(f"{params}.set_allow_early_resolve(true);")
    if op.predicate is not None:
        _predicate(body, op, op.predicate, params)
    if launch.is_wrapped:
        _dependencies(body, params, op.deps)
    call = f"{kernels}, {params});"
    needs_task = op.task is not None and body.liveness.is_needed(op.task)
    created = [r for r in op.callee_results if body.liveness.is_needed(r)]
    created = [r for r in created if not _name_result(body, op, r, fresh)]
    if not needs_task and not created:
        body.line(call)
        return
    outputs = body.declare(f"task_{number}_outs")
    body.line(f"TaskOutputTensors {outputs} = {call}")
    for result in created:
        position = _created_parameter(body, op, result)
        name = body.declare(base_name(result))
        index = fresh[position].index
        body.line(f"const {TENSOR}& {name} = {outputs}.get_ref({index});")
        body.bind(result, name)
    if op.task is not None and needs_task:
        _name_task(body, op.task, outputs)


def _compute(body: Body, op: DispatchOp, launch: Launch) -> None:
    """What a wrapper computes of its scalars before it launches, the caller does."""
    if not launch.computations:
        return
    for parameter, argument in launch.parameters:
        if argument.scalar is not None:
            body.alias(parameter, argument.scalar)
        elif argument.position is not None and argument.position < len(op.arguments):
            body.alias(parameter, op.arguments[argument.position])
    for computation in launch.computations:
        body.write(body, computation)


def _name_task(body: Body, task: SSAValue, outputs: str) -> None:
    """The identity of a task that was just submitted: a variable, if anyone asks for it."""
    place = body.place()

    def declare() -> str:
        name = body.declare(base_name(task), place)
        place.text.line(f"{TASK} {name} = {outputs}.task_id();")
        return name

    body.bind_lazily(task, declare)


# Results.


def _returned_parameter(body: Body, op: DispatchOp, result: OpResult) -> int | None:
    lineage = body.kernels.lineage.of_result(op, result)
    return None if lineage is None else lineage.parameter


def _created_parameter(body: Body, op: DispatchOp, result: OpResult) -> int:
    """The parameter, left out by a submit, that a result is."""
    position = _returned_parameter(body, op, result)
    assert position is not None
    return position


def _name_result(body: Body, op: DispatchOp, result: OpResult, fresh: dict[int, _Fresh]) -> bool:
    """Let a result be the argument that it is; False if the task creates it."""
    if not is_tensor_type(result.type):
        raise OpError(
            op, f"returns {result.type} as result {result.index}: a task returns tensors only"
        )
    position = _returned_parameter(body, op, result)
    if position is not None and position < len(op.arguments):
        body.alias(result, op.arguments[position])
        return True
    if position is None or position not in fresh:
        raise OpError(
            op, f"returns as result {result.index} a tensor that is none of its arguments"
        )
    return False


# Arguments.


def _created(body: Body, op: DispatchOp, launch: Launch, params: str) -> dict[int, _Fresh]:
    """Describe the buffers that the task creates for parameters left out, by position."""
    fresh: dict[int, _Fresh] = {}
    callee = body.kernels.lineage.calls.callee(op)
    assert callee is not None
    for argument in launch.arguments:
        position = argument.position
        if position is None or position < len(op.arguments) or position in fresh:
            continue
        type = tensor_of(callee.function_type.inputs.data[position])
        if DYNAMIC_INDEX in type.get_shape():
            raise OpError(
                op, f"leaves out argument {position}, whose extents are known only at run time"
            )
        base = f"{params}_synth_out_{position}"
        info, lines = create_info(body, op, base, type)
        body.lines(lines)
        fresh[position] = _Fresh(info, len(fresh))
    return fresh


def _arguments(
    body: Body, op: DispatchOp, launch: Launch, params: str, fresh: dict[int, _Fresh]
) -> None:
    tensors: list[str] = []
    scalars: list[str] = []
    directions = op.directions or ()
    for argument in launch.arguments:
        if argument.scalar is not None:
            scalars.append(_scalar(body, op, argument.scalar))
            continue
        assert argument.position is not None
        if argument.position in fresh:
            tensors.append(f"{params}.add_output({fresh[argument.position].info});")
            continue
        value = op.arguments[argument.position]
        if not is_tensor_type(value.type):
            scalars.append(_scalar(body, op, value))
            continue
        rank = value.type.get_num_dims()
        if rank > MOST_DIMENSIONS:
            raise OpError(
                op,
                f"passes a tensor of {rank} dimensions; one of the runtime has at most "
                f"{MOST_DIMENSIONS}",
            )
        add = _ADDS[directions[argument.position]]
        tensors.append(f"{params}.{add}({body.of(value)});")
    for what, given, most in (
        ("tensors", tensors, MOST_TENSORS),
        ("scalars", scalars, MOST_SCALARS),
    ):
        if len(given) > most:
            raise OpError(op, f"passes {len(given)} {what} to a task, which takes at most {most}")
    body.lines(tensors)
    body.lines([f"{params}.add_scalar({scalar});" for scalar in scalars])
    if op.dump is not None:
        dumped = [body.of(op.arguments[place]) for place in op.dump.get_values()]
        body.line(f"{params}.dump({', '.join(dumped)});")


def _scalar(body: Body, op: DispatchOp, value: SSAValue) -> str:
    """A scalar as the 64 bits that a task gets."""
    type = value.type
    if scalar_type(type) is None:
        raise OpError(op, f"passes a value of type {type}, which a task does not get")
    if isinstance(value.owner, arith.ConstantOp):
        return _scalar_constant(value.owner)
    return f"to_u64({body.of(value)})" if is_float(type) and not is_half(type) else body.of(value)


def _scalar_constant(op: arith.ConstantOp) -> str:
    type = op.result.type
    text = constant(op)
    if is_float(type) and not is_half(type):
        return f"to_u64({text})"
    if type == i1:
        return f"(uint64_t){int(text == 'true')}"
    if is_half(type) or bit_width(type) == 64:
        return f"(uint64_t){text}"
    return f"(uint64_t)static_cast<{scalar_type(type)}>({text})"


# What else a task has.


def _kernels(body: Body, launch: Launch, number: int, op: DispatchOp) -> str:
    """The beginning of the call that submits the kernels."""
    names = [
        "INVALID_KERNEL_ID" if kernel is None else str(body.kernels.number(kernel))
        for kernel in (launch.aic, launch.aiv)
    ]
    if (launch.aic is not None and launch.aiv is not None) or launch.is_dual:
        names.append(names[1] if launch.is_dual else "INVALID_KERNEL_ID")
        mixed = body.declare(f"mixed_{number}")
        body.line(f"MixedKernels {mixed} = {{{', '.join(names)}}};")
        return f"rt_submit_task({mixed}"
    if launch.aic is not None:
        return f"rt_submit_aic_task({names[0]}"
    return f"rt_submit_aiv_task({names[1]}"


def _width(body: Body, op: DispatchOp, launch: Launch, params: str) -> None:
    if launch.width is None:
        return
    width = launch.width
    if isinstance(width, Argument):
        inner = width.scalar if width.position is None else op.arguments[width.position]
        assert inner is not None
        width = inner
    known, text = constant_integer(width), body.of(width)
    if known is not None and not 0 < known <= MOST_BLOCKS:
        raise OpError(op, f"is launched on {known} cores; expected 1 to {MOST_BLOCKS}")
    body.line(f"{params}.launch_spec.set_block_num({text});")
    if launch.sync_start:
        body.line(f"{params}.launch_spec.set_require_sync_start(true);")


def _predicate(body: Body, op: DispatchOp, predicate: Predicate, params: str) -> None:
    tensor = tensor_of(predicate.tensor.type)
    type = tensor.element_type
    if not is_integer(type) or not is_signed(type) or bit_width(type) not in (8, 16, 32, 64):
        raise OpError(
            op, f"has a predicate on {type}; the scheduler compares signed integers of 8 to 64 bits"
        )
    rank = tensor.get_num_dims()
    if rank > MOST_DIMENSIONS:
        raise OpError(op, f"has a predicate on a tensor of {rank} dimensions, one has at most 5")
    name = body.declare(f"{params}_pred")
    body.line(f"CoreTaskPredicate {name};")
    body.line(f"{name}.operand.tensor = &{body.of(predicate.tensor)};")
    body.line(f"{name}.operand.ndims = {rank};")
    for place, index in enumerate(predicate.indices):
        text = str(index) if isinstance(index, int) else f"static_cast<uint32_t>({body.of(index)})"
        body.line(f"{name}.operand.indices[{place}] = {text};")
    comparison: Comparison = predicate.comparison
    body.line(f"{name}.op = PredicateOp::{comparison.name};")
    body.line(f"{name}.target = {predicate.value};")
    body.line(f"{params}.set_predicate({name});")


def _dependencies(body: Body, params: str, deps: Sequence[SSAValue]) -> tuple[str, bool]:
    """
    Say which tasks must end first; the name of how many these are, and whether there is one for
    certain.
    """
    parts = list(dict.fromkeys(part for dep in deps for part in body.parts(dep)))
    parts = [part for part in parts if part.text != NO_TASK]
    if not parts:
        return "", False
    names, count = body.declare(f"{params}_deps"), body.declare(f"{params}_deps_count")
    body.line(f"{TASK} {names}[{sum(part.extent or 1 for part in parts)}];")
    body.line(f"uint32_t {count} = 0;")
    for part in parts:
        if part.extent is not None:
            k = body.names.fresh("k")
            body.line(f"for (int64_t {k} = 0; {k} < {part.extent}; ++{k}) {{")
            with body.block():
                slot = f"{part.text}[{k}]"
                body.line(f"if ({slot}.is_valid()) {names}[{count}++] = {slot};")
            body.line("}")
        else:
            guard = "" if part.is_submitted else f"if ({part.text}.is_valid()) "
            body.line(f"{guard}{names}[{count}++] = {part.text};")
    body.line(f"{params}.set_dependencies({names}, {count});")
    return count, any(part.is_submitted for part in parts)


def _dummy(body: Body, op: Operation) -> None:
    assert isinstance(op, orch.TaskDummyOp)
    number = body.barriers
    body.barriers += 1
    params = body.declare(f"params_phase_fence_barrier_{number}")
    body.line()
    body.line(f"// Phase-fence barrier {number}: dependency-only dummy task")
    body.line(f"CoreTaskArgs {params};")
    count, is_certain = _dependencies(body, params, op.deps)
    outputs = body.declare(f"phase_fence_barrier_{number}_outs")
    call = f"rt_submit_dummy_task({params});"
    if not count or is_certain:
        if body.liveness.is_needed(op.task):
            body.line(f"TaskOutputTensors {outputs} = {call}")
            _name_task(body, op.task, outputs)
        else:
            body.line(call)
        return
    name = body.declare(base_name(op.task))
    body.bind(op.task, name)
    if body.liveness.is_needed(op.task):
        body.line(f"{TASK} {name} = {NO_TASK};")
    body.line(f"if ({count} > 0) {{")
    with body.block():
        if body.liveness.is_needed(op.task):
            body.line(f"TaskOutputTensors {outputs} = {call}")
            body.line(f"{name} = {outputs}.task_id();")
        else:
            body.line(call)
    body.line("}")


def _invalid(body: Body, op: Operation) -> None:
    assert isinstance(op, orch.TaskInvalidOp)
    body.bind(op.task, NO_TASK)


def _is_valid(body: Body, op: Operation) -> None:
    assert isinstance(op, orch.TaskIsValidOp)
    name = body.declare(base_name(op.result))
    body.line(f"bool {name} = {body.of_task(op.task, op)}.is_valid();")
    body.bind(op.result, name)


def _core_count(body: Body, op: Operation) -> None:
    what = "aiv" if isinstance(op, AvailableAivCountOp) else "cluster"
    name = body.declare(base_name(op.results[0]))
    body.line(f"int32_t {name} = rt_available_{what}_count();")
    body.bind(op.results[0], name)


WRITERS: Writers = {
    orch.CallOp: _dispatch,
    orch.SubmitOp: _dispatch,
    orch.TaskDummyOp: _dummy,
    orch.TaskInvalidOp: _invalid,
    orch.TaskIsValidOp: _is_valid,
    AvailableAivCountOp: _core_count,
    AvailableClusterCountOp: _core_count,
}
