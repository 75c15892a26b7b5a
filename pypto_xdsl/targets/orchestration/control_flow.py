"""Loops, branches and scopes in C++, and the variables by which they hand on values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, OpResult, SSAValue

from pypto_xdsl.analysis.buffer_roots import allocating_op
from pypto_xdsl.analysis.control_flow import constant_integer, constant_trip_count
from pypto_xdsl.diagnostics import OpError, note, warn
from pypto_xdsl.dialects.orch import (
    TASK_ID,
    ScopeMode,
    TaskScopeOp,
    is_array,
    is_sequential,
    rebound_carries,
    task_slots,
)
from pypto_xdsl.targets.orchestration import arrays, tensors
from pypto_xdsl.targets.orchestration.body import (
    NO_TASK,
    Body,
    Part,
    Place,
    Variable,
    Writers,
    extent_of,
)
from pypto_xdsl.targets.orchestration.names import base_name
from pypto_xdsl.targets.orchestration.text import Text


@dataclass
class _Carry:
    """What a loop carries in a variable."""

    argument: SSAValue
    index: int
    """Of the value in what the body yields."""
    variable: Variable
    extent: int | None
    """Of the array that the variable is."""
    slot: str = ""
    """The slot of this iteration, where each has one of its own."""


def _ops(body: Body, op: Operation, region_index: int, place: Place | None = None) -> Operation:
    """Write the ops of a region; its buffers are created in a place, else at its start."""
    block = op.regions[region_index].block
    tensors.allocate_early(body, block, place or body.place())
    return body.ops(block)


# What is handed on.


def _hand_on(
    body: Body, text: Text, carries: Sequence[tuple[_Carry, Sequence[Part]]], op: Operation
) -> None:
    """Assign all carried values at once: what is assigned first may be needed for another."""
    names = {carry.variable.name for carry, _ in carries}
    ready: list[tuple[_Carry, Sequence[Part]]] = []
    for carry, parts in carries:
        own = carry.variable.name
        if any(part.text in names and part.text != own for part in parts):
            extent = extent_of(parts)
            name = body.names.fresh(f"next_{own}")
            body.declaration(text, carry.variable.type, name, extent)
            body.assign(text, name, extent, parts)
            parts = (Part(name, extent),)
        ready.append((carry, parts))
    for carry, parts in ready:
        if carry.slot:
            if len(parts) != 1 or parts[0].extent is not None:
                raise OpError(
                    op,
                    "hands on the tasks of a loop as one task of an iteration of a parallel loop; "
                    "wait for them with orch.task_dummy and hand on that",
                )
            text.line(f"{carry.variable.name}[{carry.slot}] = {parts[0].text};")
        else:
            _assign(body, text, carry.variable.name, carry.extent, parts, op)


def _assign(
    body: Body,
    text: Text,
    name: str,
    extent: int | None,
    parts: Sequence[Part],
    op: Operation,
) -> None:
    needed = extent_of(parts)
    if needed is not None and (extent is None or needed > extent):
        raise OpError(
            op,
            f"hands on {needed} tasks where {extent or 1} was expected: the tasks of a parallel "
            "loop in a manual scope; wait for them with orch.task_dummy and hand on that",
        )
    body.assign(text, name, extent, parts)


def _may_share(body: Body, value: SSAValue, op: Operation) -> bool:
    """Whether what `op` hands on may have the name of `value`: an array used further may not."""
    return not is_array(value.type) or arrays.is_last_use(body, value, op)


def _aim(body: Body, end: Operation, operand: SSAValue, variable: Variable) -> None:
    """Let a scope at the end of a block assign what it hands out to a variable directly."""
    if isinstance(operand.owner, TaskScopeOp) and operand.owner.next_op is end:
        body.targets.setdefault(operand, variable)


# Loops.


def _for(body: Body, loop: Operation) -> None:
    assert isinstance(loop, scf.ForOp)
    rebound = rebound_carries(loop) or (False,) * len(loop.results)
    slots = task_slots(loop)
    counter, *arguments = loop.body.block.args
    bounds = [body.of(bound) for bound in (loop.lb, loop.ub, loop.step)]
    step = constant_integer(loop.step)
    if step is not None and step <= 0:
        raise OpError(loop, f"has step {step}; expected a positive one")
    i = body.names.fresh(base_name(counter))
    carries: list[_Carry] = []
    handed_out: list[tuple[SSAValue, tuple[Part, ...] | None]] = []
    end = loop.body.block.last_op
    assert end is not None
    for index, (argument, init, result) in enumerate(
        zip(arguments, loop.iter_args, loop.results, strict=True)
    ):
        if not body.liveness.is_needed(argument) and not body.liveness.is_needed(result):
            continue
        if not rebound[index] and not is_array(argument.type):
            # Only another name of what the loop starts from.
            body.alias(argument, init)
            handed_out.append((result, body.parts(init)))
            continue
        carry = _carry(body, loop, argument, result, init, index, slots[index], i)
        carries.append(carry)
        part = Part(carry.variable.name, carry.extent)
        handed_out.append((result, (part,)))
        if carry.slot:
            # An iteration sees what the loop started from and the iterations before it.
            body.bind(argument, *body.parts(init), part)
        else:
            body.bind(argument, part)
    _aim_carries(body, loop, end, carries)
    type = body.type_of(counter)
    body.bind(counter, i)
    body.line(f"for ({type} {i} = {bounds[0]}; {i} < {bounds[1]}; {i} += {bounds[2]}) {{")
    with body.block():
        _ops(body, loop, 0)
        yielded = [(c, body.parts(end.operands[c.index])) for c in carries]
        _hand_on(body, body.text, yielded, end)
    body.line("}")
    for result, parts in handed_out:
        assert parts is not None
        body.bind(result, *parts)


def _carry(
    body: Body,
    loop: scf.ForOp,
    argument: SSAValue,
    result: SSAValue,
    init: SSAValue,
    index: int,
    slots: int,
    i: str,
) -> _Carry:
    """Declare the variable of a carried value, with what the loop starts from."""
    base = base_name(argument if argument.name_hint or not result.name_hint else result)
    type = body.type_of(argument)
    parts = body.parts(init)
    variable = Variable(body, body.place(), base, type)
    if is_array(argument.type):
        variable.name = arrays.own_copy(body, init, loop, base)
        return _Carry(argument, index, variable, arrays.extent(argument))
    if slots > 0 and not is_sequential(loop):
        variable.declare(slots)
        step = constant_integer(loop.step)
        lower = constant_integer(loop.lb)
        offset = f"({i} - {body.of(loop.lb)})" if lower != 0 else i
        slot = offset if step == 1 else f"{offset} / {body.of(loop.step)}"
        return _Carry(argument, index, variable, slots, slot)
    if slots < 0 and argument.type == TASK_ID and constant_trip_count(loop) is None:
        raise OpError(loop, "carries as many tasks as nobody knows: give the loop constant bounds")
    extent = extent_of(parts)
    if slots > 0:
        extent = max(extent or 1, slots)
    if extent is None:
        variable.name = body.declare(base)
        body.line(f"{type} {variable.name} = {parts[0].text};")
        return _Carry(argument, index, variable, None)
    name = variable.declare(extent)
    body.assign(body.text, name, extent, [p for p in parts if p.text != NO_TASK])
    return _Carry(argument, index, variable, extent)


def _aim_carries(body: Body, loop: scf.ForOp, end: Operation, carries: Sequence[_Carry]) -> None:
    """Let a scope that is all of a body assign what is carried on itself."""
    for carry in carries:
        operand = end.operands[carry.index]
        comes_from_scope = isinstance(operand.owner, TaskScopeOp) and operand.owner.next_op is end
        if not comes_from_scope and _is_inside(operand, loop) and operand is not carry.argument:
            # It may be a name that the scope would assign.
            return
    for carry in carries:
        if carry.extent is None and not carry.slot:
            _aim(body, end, end.operands[carry.index], carry.variable)


def _is_inside(value: SSAValue, loop: scf.ForOp) -> bool:
    """Whether a value, used at the end of the body of a loop, is defined there."""
    block = value.owner if isinstance(value.owner, Block) else value.owner.parent
    return block is loop.body.block


def _while(body: Body, loop: Operation) -> None:
    assert isinstance(loop, scf.WhileOp)
    before, after = loop.before_region.block, loop.after_region.block
    condition, end = before.last_op, after.last_op
    assert isinstance(condition, scf.ConditionOp)
    assert end is not None
    place = body.place()
    carries: list[_Carry] = []
    for index, (argument, init) in enumerate(zip(before.args, loop.arguments, strict=True)):
        if body.liveness.is_needed(argument):
            carry = _while_carry(body, argument, init, index)
            carries.append(carry)
            body.bind(argument, Part(carry.variable.name, carry.extent))
    header = body.text.place()
    with body.block():
        inside = body.text
        body.text = deciding = inside.place()
        _ops(body, loop, 0)
        body.text = inside
        decided = body.of(condition.operands[0])
        sources: list[tuple[OpResult, tuple[Part, ...]]] = []
        leave = inside.place()
        for operand, argument, result in zip(
            condition.operands[1:], after.args, loop.results, strict=True
        ):
            if body.liveness.is_needed(argument) or body.liveness.is_needed(result):
                parts = body.parts(operand)
                if not _may_share(body, operand, condition):
                    copied = arrays.own_copy(body, operand, condition, base_name(operand))
                    parts = (Part(copied, arrays.extent(operand)),)
                body.bind(argument, *parts)
                sources.append((result, parts))
        _ops(body, loop, 1)
        yielded = [(c, body.parts(end.operands[c.index])) for c in carries]
        _hand_on(body, body.text, yielded, end)
    exits = Text(leave.depth + 1)
    for result, parts in sources:
        if not body.liveness.is_needed(result):
            continue
        if body.is_visible(parts):
            body.bind(result, *parts)
            continue
        extent = extent_of(parts)
        name = body.variable(result, place).declare(extent)
        body.assign(exits, name, extent, parts)
        body.bind(result, Part(name, extent))
    if deciding.is_empty and exits.is_empty:
        header.line(f"while ({_bare(decided)}) {{")
    else:
        header.line("while (true) {")
        leave.line(f"if (!{decided}) {{")
        leave.insert(exits)
        leave.place(leave.depth + 1).line("break;")
        leave.line("}")
    body.line("}")


def _while_carry(body: Body, argument: SSAValue, init: SSAValue, index: int) -> _Carry:
    """Declare the variable of what a while carries, with what it starts from."""
    parts = body.parts(init)
    base = base_name(argument)
    variable = Variable(body, body.place(), base, body.type_of(argument))
    extent = arrays.extent(argument) if is_array(argument.type) else extent_of(parts)
    if extent is None:
        variable.name = body.declare(base)
        body.line(f"{variable.type} {variable.name} = {parts[0].text};")
    else:
        body.assign(body.text, variable.declare(extent), extent, parts)
    return _Carry(argument, index, variable, extent)


def _bare(text: str) -> str:
    return text[1:-1] if text.startswith("(") else text


# Branches and scopes.


def _if(body: Body, branch: Operation) -> None:
    assert isinstance(branch, scf.IfOp)
    place = body.place()
    results = [result for result in branch.results if body.liveness.is_needed(result)]
    variables = {result: body.variable(result, place) for result in results}
    body.line(f"if ({_bare(body.of(branch.cond))}) {{")
    arms: list[tuple[Text, Operation, list[tuple[Part, ...]]]] = []
    for index, region in enumerate(branch.regions):
        block = region.first_block
        if block is None or (index and block.first_op is block.last_op and not results):
            continue
        if index:
            body.line("} else {")
        end = block.last_op
        assert end is not None
        for result, variable in variables.items():
            operand = end.operands[result.index]
            if not is_array(result.type) and result.type != TASK_ID:
                _aim(body, end, operand, variable)
        with body.block():
            _ops(body, branch, index)
            sources = [body.parts(end.operands[result.index]) for result in results]
            arms.append((body.text.place(), end, sources))
    body.line("}")
    for position, result in enumerate(results):
        alternatives = [sources[position] for _, _, sources in arms]
        same = all(_texts(parts) == _texts(alternatives[0]) for parts in alternatives)
        ends = [(end.operands[result.index], end) for _, end, _ in arms]
        may_share = all(_may_share(body, operand, end) for operand, end in ends)
        if same and may_share and body.is_visible(alternatives[0]):
            body.bind(result, *alternatives[0])
            continue
        extent = extent_of(*alternatives)
        name = variables[result].declare(extent)
        for (text, end, _), parts in zip(arms, alternatives, strict=True):
            _assign(body, text, name, extent, parts, end)
        body.bind(result, Part(name, extent))


def _texts(parts: Sequence[Part]) -> list[str]:
    return [part.text for part in parts]


def _scope(body: Body, scope: Operation) -> None:
    assert isinstance(scope, TaskScopeOp)
    is_manual = scope.mode.data is ScopeMode.MANUAL
    outer = body.manual_scope
    if outer is not None and not is_manual:
        raise OpError(
            scope,
            "is an auto scope in a manual one, which the runtime does not nest",
            [note(outer, "the manual scope is here")],
        )
    place = body.place()
    end = scope.yield_op
    mode = "PTO2ScopeMode::MANUAL" if is_manual else ""
    body.line(f"PTO2_SCOPE({mode}) {{")
    body.manual_scope = scope if is_manual else outer
    with body.block():
        # What a manual scope creates lives as long as what is around it.
        _ops(body, scope, 0, place if is_manual else None)
        outputs = [o for o in scope.outputs if body.liveness.is_needed(o)]
        handed_out = [end.operands[output.index] for output in outputs]
        sources = [body.parts(value) for value in handed_out]
        tail = body.text.place()
    body.manual_scope = outer
    body.line("}")
    kept = {part.text for parts in sources if body.is_visible(parts) for part in parts}
    aimed = {output: body.targets[output] for output in outputs if output in body.targets}
    if any(variable.name in kept for variable in aimed.values()):
        # What the scope would assign, something that it hands out still stands for.
        aimed = {}
    for output, value, parts in zip(outputs, handed_out, sources, strict=True):
        if body.is_visible(parts) and _may_share(body, value, end):
            body.bind(output, *parts)
            continue
        _warn_of_lost_buffer(body, scope, value)
        extent = extent_of(parts)
        variable = aimed.get(output) or body.variable(output, place)
        name = variable.declare(extent)
        body.assign(tail, name, extent, parts)
        submitted = extent is None and parts[0].is_submitted
        body.bind(output, Part(name, extent, submitted))


def _warn_of_lost_buffer(body: Body, scope: TaskScopeOp, value: SSAValue) -> None:
    """The runtime keeps what a scope creates no longer than its tasks: not for those after it."""
    for root in body.roots.of(value).roots:
        creation = allocating_op(root)
        if creation is not None and scope.is_ancestor(creation):
            name = f"%{root.name_hint}" if root.name_hint else "a buffer"
            warn(
                scope,
                f"hands out {name}, which is created in it: once its tasks are done, the runtime "
                "may give the memory to others, also while tasks after the scope use it",
                [note(creation, "create it before the scope")],
            )


WRITERS: Writers = {
    scf.ForOp: _for,
    scf.WhileOp: _while,
    scf.IfOp: _if,
    TaskScopeOp: _scope,
}
