"""
Marks: what an op says to later passes beside what it is, as discardable attributes `orch.*`.

Functions, loops and new tensors carry them: see `function_marks`, `loops` and `tasks`. Nothing
checks a discardable attribute when it is read, so a misspelt one would say nothing in silence.
`MARKS` holds for each where it may stand and what it may say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from xdsl.dialects import scf
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType, UnitAttr, i1, i64
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.orch import function_marks, loops, tasks
from pypto_xdsl.dialects.orch.attributes import LoopKind, LoopKindAttr
from pypto_xdsl.dialects.orch.functions import FuncOp
from pypto_xdsl.dialects.orch.scopes import ClusterOp
from pypto_xdsl.syntax.spelling import did_you_mean

PREFIX = "orch."

Fault = str | None
"""What is wrong with a mark; None if nothing."""


@dataclass(frozen=True)
class Mark:
    """One of the attributes that the dialect defines for ops of whatever dialect."""

    place: str
    """What it stands on, as messages say it: `a function`."""
    may_stand_on: Callable[[Operation], bool]
    fault: Callable[[Operation, Attribute], Fault]
    """What is wrong with the attribute on an op that it may stand on."""


def fault_of_mark(op: Operation, name: str, value: Attribute) -> Fault:
    """What is wrong with the discardable attribute `name` of an op; None for other dialects'."""
    if not name.startswith(PREFIX):
        return None
    mark = MARKS.get(name)
    if mark is None:
        return f"has an unknown attribute '{name}'{did_you_mean(name, MARKS)}"
    if not mark.may_stand_on(op):
        return f"has the attribute '{name}', which stands on {mark.place}"
    return mark.fault(op, value)


def _flag(name: str) -> Callable[[Operation, Attribute], Fault]:
    def fault(_: Operation, value: Attribute) -> Fault:
        if isinstance(value, UnitAttr):
            return None
        return f"{name} is there or not and has no value, got {value}"

    return fault


def _count(name: str) -> Callable[[Operation, Attribute], Fault]:
    def fault(_: Operation, value: Attribute) -> Fault:
        if isinstance(value, IntegerAttr) and value.value.data > 0:
            return None
        return f"{name} should be a positive integer, got {value}"

    return fault


def _fault_of_asking(ask: Callable[[], object]) -> Fault:
    try:
        ask()
    except VerifyException as e:
        return str(e)
    return None


def _split(op: Operation, _: Attribute) -> Fault:
    assert isinstance(op, FuncOp)
    return _fault_of_asking(lambda: function_marks.split_mode(op))


def _cache_policies(op: Operation, _: Attribute) -> Fault:
    assert isinstance(op, FuncOp)
    if (fault := _fault_of_asking(lambda: function_marks.cache_policies(op))) is not None:
        return fault
    count = len(op.function_type.inputs)
    for place in function_marks.cache_policies(op):
        if not 0 <= place < count:
            return f"{function_marks.CACHE_POLICY} names parameter {place} of {count}"
    return None


def _kind(op: Operation, _: Attribute) -> Fault:
    if (fault := _fault_of_asking(lambda: loops.loop_kind(op))) is not None:
        return fault
    is_pipelined = loops.loop_kind(op) is LoopKind.PIPELINE
    if is_pipelined and loops.PIPELINE_STAGES not in op.attributes:
        return f"is a pipelined loop, but {loops.PIPELINE_STAGES} does not say of how many stages"
    return None


def _stages(op: Operation, value: Attribute) -> Fault:
    kind = op.attributes.get(loops.LOOP_KIND)
    if not isinstance(kind, LoopKindAttr) or kind.data is not LoopKind.PIPELINE:
        return f"has {loops.PIPELINE_STAGES}, but is no pipelined loop"
    return _count(loops.PIPELINE_STAGES)(op, value)


def _array(name: str, element: IntegerType) -> Callable[[Operation, Attribute], Fault]:
    # Whether there is an entry for each carried value, and the right one, is a question of
    # IterArgCarryClassified.
    def fault(_: Operation, value: Attribute) -> Fault:
        if isinstance(value, DenseArrayBase) and value.get_element_type() == element:
            return None
        return f"{name} should be an array of {element}, got {value}"

    return fault


def _is_function(op: Operation) -> bool:
    return isinstance(op, FuncOp)


def _is_loop(op: Operation) -> bool:
    return isinstance(op, scf.ForOp)


def _function_mark(fault: Callable[[Operation, Attribute], Fault]) -> Mark:
    return Mark("a function", _is_function, fault)


def _loop_mark(fault: Callable[[Operation, Attribute], Fault]) -> Mark:
    return Mark("an 'scf.for'", _is_loop, fault)


MARKS: Mapping[str, Mark] = {
    function_marks.SPLIT: _function_mark(_split),
    function_marks.SLOT_NUM: _function_mark(_count(function_marks.SLOT_NUM)),
    function_marks.CACHE_POLICY: _function_mark(_cache_policies),
    **{
        name: _function_mark(_flag(name))
        for name in (
            function_marks.SPLIT_AIV,
            function_marks.DUAL_AIV_DISPATCH,
            function_marks.WINDOWIZE,
            function_marks.MANUAL_LAYER,
            function_marks.DEFERRED_COMPLETION_WAITER,
        )
    },
    function_marks.SPMD_UNWRAPPED: Mark(
        "a function or a cluster",
        lambda op: isinstance(op, FuncOp | ClusterOp),
        _flag(function_marks.SPMD_UNWRAPPED),
    ),
    loops.LOOP_KIND: _loop_mark(_kind),
    loops.PIPELINE_STAGES: _loop_mark(_stages),
    loops.REBOUND_CARRIES: _loop_mark(_array(loops.REBOUND_CARRIES, i1)),
    loops.TASK_SLOTS: _loop_mark(_array(loops.TASK_SLOTS, i64)),
    tasks.MANUAL_DEP: Mark(
        "what makes a tensor",
        lambda op: op.name in ("ptensor.create", "ptensor.full"),
        _flag(tasks.MANUAL_DEP),
    ),
}
"""The name of each mark -> where it stands and what it says."""
