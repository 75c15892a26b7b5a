"""The ops of an orchestration function, each written by what knows its kind."""

from __future__ import annotations

from xdsl.dialects import arith, scf
from xdsl.ir import Operation

from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.targets.orchestration import arrays, control_flow, tasks, tensors
from pypto_xdsl.targets.orchestration.body import Body, Writers
from pypto_xdsl.targets.orchestration.names import base_name
from pypto_xdsl.targets.orchestration.scalars import constant, expression, repeats_operands

LONGEST_INLINE = 60
"""Longer expressions get a name: text that repeats itself would grow beyond the program."""

_WRITERS: Writers = {
    **control_flow.WRITERS,
    **tensors.WRITERS,
    **tasks.WRITERS,
    **arrays.WRITERS,
}


def write_op(body: Body, op: Operation) -> None:
    """Write an op. Raises `OpError` for what orchestration cannot do."""
    writer = _WRITERS.get(type(op))
    if writer is not None:
        writer(body, op)
    elif isinstance(op, arith.ConstantOp):
        body.bind(op.result, constant(op))
    elif op.name.startswith("arith.") and len(op.results) == 1:
        _scalar(body, op)
    elif isinstance(op, DeclaredOp):
        raise OpError(
            op, "computes on tensors, which orchestration does not: put it into an in-core scope"
        )
    else:
        raise OpError(op, "does not run in an orchestration function: it has no spelling in C++")


def _scalar(body: Body, op: Operation) -> None:
    (result,) = op.results
    text = expression(op, body.of, body.ranges)
    if _is_inline(op) and len(text) <= LONGEST_INLINE:
        body.bind(result, text)
        return
    name = body.declare(base_name(result))
    body.line(f"{body.type_of(result)} {name} = {text};")
    body.bind(result, name)


def _is_inline(op: Operation) -> bool:
    """Whether an op is written where it is used: nobody named it, and it is used there once."""
    (result,) = op.results
    if result.name_hint is not None or not result.has_one_use():
        return False
    user = next(iter(result.uses)).operation
    if user.parent is not op.parent:
        return False
    if user.name.startswith("arith."):
        return not repeats_operands(user)
    return isinstance(user, scf.IfOp | scf.ConditionOp) or user.name.startswith("ptensor.")
