"""Loops, branches and scopes as statements of the DSL."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import DenseArrayBase, IndexType, IntegerAttr
from xdsl.ir import Block, Operation, SSAValue

from pypto_xdsl.analysis.integer_ranges import IntegerRanges
from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects import orch
from pypto_xdsl.dialects.orch.attributes import LoopKind, ScopeMode
from pypto_xdsl.dialects.orch.loops import (
    LOOP_KIND,
    PIPELINE_STAGES,
    REBOUND_CARRIES,
    TASK_SLOTS,
    loop_kind,
    pipeline_stages,
)
from pypto_xdsl.frontend.pl.loops import POSITIVE_MARK, REBOUND_MARK, SLOTS_MARK
from pypto_xdsl.frontend.pl.scopes import AT_ARGUMENTS, CLUSTER_ARGUMENTS, SPMD_ARGUMENTS
from pypto_xdsl.frontend.pl.vocabulary import spell
from pypto_xdsl.targets.pl.dispatches import marks, predicate
from pypto_xdsl.targets.pl.parts import listed, quoted
from pypto_xdsl.targets.pl.scalars import Part
from pypto_xdsl.targets.pl.statements import BodyWriter, bare

_FORMS = {
    None: "range",
    LoopKind.PARALLEL: "parallel",
    LoopKind.PIPELINE: "pipeline",
    LoopKind.UNROLL: "unroll",
}


def write(writer: BodyWriter, op: Operation) -> None:
    """Write a loop or branch."""
    match op:
        case scf.ForOp():
            _for(writer, op)
        case scf.WhileOp():
            _while(writer, op)
        case scf.IfOp():
            _if(writer, op)
        case _:
            raise OpError(op, "has no spelling in the DSL")


def _tuple(names: Sequence[str]) -> str:
    return f"({', '.join(names)}{',' if len(names) == 1 else ''})"


def _for(writer: BodyWriter, op: scf.ForOp) -> None:
    kind = loop_kind(op)
    form = _FORMS[kind]
    if kind is LoopKind.UNROLL:
        _check_unrolled(op)
    if not isinstance(op.lb.type, IndexType):
        raise OpError(op, f"has no spelling in the DSL: it counts in {op.lb.type}, not in indices")
    parts: list[Part] = [op.lb, ", ", op.ub, ", ", op.step]
    if _is_constant(op.step, 1):
        parts = [op.lb, ", ", op.ub] if not _is_constant(op.lb, 0) else [op.ub]
    stages = pipeline_stages(op)
    if stages is not None:
        parts.append(f", stage={stages}")
    index, *arguments = op.body.block.args
    if arguments:
        parts.append(", init_values=(")
        for init in op.iter_args:
            parts += [init, ", "]
        parts.append(")")
    extra = [
        *marks(op, (LOOP_KIND, PIPELINE_STAGES, REBOUND_CARRIES, TASK_SLOTS)),
        *_carry_marks(op),
    ]
    if not _is_positive(op.step):
        # A step is positive, but nothing here tells the reader so.
        extra.append(f'"{POSITIVE_MARK}": True')
    if extra:
        parts.append(f", attrs={{{', '.join(extra)}}}")
    bounds = writer.render(parts).replace(", )", ",)")
    target = writer.names.name(index)
    if arguments:
        target += f", {_tuple([writer.names.name(argument) for argument in arguments])}"
    writer.line(f"for {target} in pl.{form}({bounds}):")
    _body(writer, op.body.block, op.results, op)


def _check_unrolled(op: scf.ForOp) -> None:
    """Raise `OpError` for a loop that cannot be a `pl.unroll`."""
    if op.iter_args:
        raise OpError(op, "has no spelling in the DSL: a loop to unroll carries nothing")
    for bound in (op.lb, op.ub, op.step):
        if not isinstance(bound.owner, ConstantOp):
            raise OpError(op, "has no spelling in the DSL: the bounds of pl.unroll are constants")


def _carry_marks(op: scf.ForOp) -> list[str]:
    """What is known of the values that a loop carries, as PyPTO writes it: a mark for each."""
    rebound, slots = op.attributes.get(REBOUND_CARRIES), op.attributes.get(TASK_SLOTS)
    found: list[str] = []
    if isinstance(rebound, DenseArrayBase):
        flags = rebound.get_values()
        found += [f'"{REBOUND_MARK}{place}": True' for place, flag in enumerate(flags) if flag]
        if flags and not found:
            # That none is needs a mark as well.
            found.append(f'"{REBOUND_MARK}0": False')
    if isinstance(slots, DenseArrayBase):
        counts = slots.get_values()
        found += [f'"{SLOTS_MARK}{place}": {count}' for place, count in enumerate(counts) if count]
    return found


def _is_positive(step: SSAValue) -> bool:
    low = IntegerRanges().of(step).low
    return low is not None and low > 0


def _is_constant(value: SSAValue, number: int) -> bool:
    owner = value.owner
    return (
        isinstance(owner, ConstantOp)
        and isinstance(owner.value, IntegerAttr)
        and owner.value.value.data == number
    )


def _body(writer: BodyWriter, block: Block, results: Sequence[SSAValue], op: Operation) -> None:
    """A block whose end yields to names of results."""
    writer.enter(op)
    start = len(writer.lines)
    writer.block_without_end(block)
    last = block.last_op
    if results and isinstance(last, scf.YieldOp):
        parts: list[Part] = []
        for place, value in enumerate(last.operands):
            parts += [", ", value] if place else [value]
        names = ", ".join(writer.names.name(result) for result in results)
        writer.line(f"{names} = pl.yield_({writer.render(parts)})")
    writer.flush()
    if len(writer.lines) == start:
        writer.line("pass")
    writer.indent -= 1


def _while(writer: BodyWriter, op: scf.WhileOp) -> None:
    before, after = op.before_region.block, op.after_region.block
    end = before.last_op
    if not isinstance(end, scf.ConditionOp) or tuple(end.args) != tuple(before.args):
        raise OpError(op, "has no spelling in the DSL: what it tests is not what it carries")
    inits: list[Part] = ["pl.while_(init_values=("]
    for init in op.arguments:
        inits += [init, ", "]
    text = writer.render([*inits, "))"]).replace(", ))", ",))")
    names = [writer.names.name(argument) for argument in after.args]
    for argument, name in zip(before.args, names, strict=True):
        writer.names.alias(argument, name)
    if not names:
        raise OpError(op, "has no spelling in the DSL: it carries nothing")
    writer.line(f"for {_tuple(names)} in {text}:")
    writer.enter(op)
    start = len(writer.lines)
    writer.inlines = True
    writer.block_without_end(before)
    condition = writer.render([end.condition])
    writer.inlines = False
    if len(writer.lines) != start:
        raise OpError(op, "has no spelling in the DSL: its condition is no expression")
    writer.line(f"pl.cond({condition})")
    writer.indent -= 1
    _body(writer, after, op.results, op)


def _if(writer: BodyWriter, op: scf.IfOp) -> None:
    writer.line(f"if {bare(writer.render([op.cond]))}:")
    _body(writer, op.true_region.block, op.results, op)
    block = op.false_region.blocks.first
    if block is not None and (op.results or any(not isinstance(o, scf.YieldOp) for o in block.ops)):
        writer.line("else:")
        _body(writer, block, op.results, op)


# Scopes


def write_scope(writer: BodyWriter, op: orch.ScopeOp) -> None:
    """Write a scope; its results have the names of what it yields."""
    match op:
        case orch.SplitAivOp():
            mode = spell("SplitMode", op.mode.data)
            writer.flush()
            writer.line(f"for {writer.names.name(op.core)} in pl.split_aiv(2, mode={mode}):")
        case orch.TaskScopeOp():
            writer.flush()
            if _is_in_manual_scope(op):
                raise OpError(op, "has no spelling in the DSL: a manual scope holds no other")
            if op.mode.data is ScopeMode.MANUAL:
                writer.line("with pl.manual_scope():")
            else:
                writer.line("with pl.scope():")
        case orch.OutlinableScopeOp():
            _header(writer, op)
        case _:
            raise OpError(op, "has no spelling in the DSL")
    writer.enter(op)
    start = len(writer.lines)
    if isinstance(op, orch.OutlinableScopeOp):
        for tensor, policy in op.policies:
            word = spell("CachePolicy", policy)
            writer.line(f"pl.set_cache_policy({writer.value(tensor)}, {word})")
    writer.block_without_end(op.body.block)
    writer.flush()
    end = op.yield_op
    for value, result in zip(end.values, op.outputs, strict=True):
        if writer.number(value) is not None:
            writer.spell_as(result, value)
        elif value.owner is op.body.block or getattr(value.owner, "parent", None) is op.body.block:
            writer.names.alias(result, writer.value(value))
        elif writer.is_used(result):
            writer.line(f"{writer.names.name(result)} = {writer.value(value)}")
    if len(writer.lines) == start:
        writer.line("pass")
    writer.indent -= 1


def _is_in_manual_scope(op: Operation) -> bool:
    around = op.parent_op()
    while around is not None:
        if isinstance(around, orch.TaskScopeOp) and around.mode.data is ScopeMode.MANUAL:
            return True
        around = around.parent_op()
    return False


def _header(writer: BodyWriter, op: orch.OutlinableScopeOp) -> None:
    """The line that opens a scope. Raises `OpError` for what scopes of its kind cannot say."""
    given: dict[str, list[Part]] = {}
    match op:
        case orch.IncoreOp():
            name, allowed = "at", AT_ARGUMENTS
            given["level"] = ["pl.Level.CORE_GROUP"]
            optimizations: list[str] = []
            if op.split is not None:
                optimizations.append(f"pl.split({spell('SplitMode', op.split.data)})")
            if op.slot_num is not None:
                slots = op.slot_num.value.data
                optimizations.append(f"pl.cross_core_slot(slot_num={slots})")
            if optimizations:
                given["optimizations"] = [f"[{', '.join(optimizations)}]"]
        case orch.HierarchyOp():
            name, allowed = "at", AT_ARGUMENTS
            given["level"] = [spell("Level", op.level.data)]
            if op.role is not None:
                given["role"] = [spell("Role", op.role.data)]
        case orch.ClusterOp():
            name, allowed = "cluster", CLUSTER_ARGUMENTS
        case _:
            name, allowed = "spmd", SPMD_ARGUMENTS
            assert op.launch is not None
            if op.deps and op.task is None:
                raise OpError(op, "has no spelling in the DSL: only a pl.spmd that is a task waits")
            given["core_num"] = [op.launch]
            if op.sync_start is not None:
                given["sync_start"] = ["True"]
    if op.hint is not None:
        if not op.hint.isidentifier():
            raise OpError(op, f"has no spelling in the DSL: '{op.hint}' is no name")
        given["name_hint"] = [quoted(op.hint)]
    for word, values in (("deps", op.deps), ("no_dep_args", op.no_dep), ("dumps", op.dump)):
        if values:
            given[word] = list(listed(list(values)))
    if op.predicate is not None:
        given["predicate"] = list(predicate(op.predicate))
    if op.early_resolve is not None:
        given["allow_early_resolve"] = ["True"]
    if isinstance(op, orch.IncoreOp) and op.windowize is not None:
        given["windowize"] = ["True"]
    parts: list[Part] = [f"pl.{name}("]
    for place, (word, argument) in enumerate(given.items()):
        if word not in allowed:
            raise OpError(op, f"has no spelling in the DSL: pl.{name} has no '{word}'")
        keyword = "" if word == "core_num" else f"{word}="
        parts += [", " if place else "", keyword, *argument]
    text = writer.render([*parts, ")"])
    task = "" if op.task is None else f" as {writer.names.name(op.task)}"
    writer.line(f"with {text}{task}:")
