"""
unroll-loops: turns loops that are to be unrolled into copies of their bodies.

    %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %x) -> (tensor<64xf32>) {
      %b = ptensor.assemble %p, %a[%i] : ...
      scf.yield %b : tensor<64xf32>
    } {orch.loop = #orch<loop unroll>}

becomes

    %i = arith.constant 0 : index
    %b = ptensor.assemble %p, %x[%i] : ...
    %i_1 = arith.constant 1 : index
    %b_1 = ptensor.assemble %p, %b[%i_1] : ...

An outer loop is unrolled before those inside, whose bounds may be its counter. What is computed
from the counter is left to `simplify`.

PyPTO's pass UnrollLoops.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import FixedBitwidthType, IntegerAttr, ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue

from pypto_xdsl.analysis.control_flow import constant_integer, constant_trip_count, terminator
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import Diagnostic, DiagnosticsError, OpError
from pypto_xdsl.dialects.orch import LoopKind, loop_kind
from pypto_xdsl.properties.checked_pass import CheckedPass

MOST_COPIES = 1024
"""Of the body of one loop; PyPTO's limit."""
MOST_OPS = 200_000
"""That one loop becomes, with the loops inside that are unrolled too."""


@dataclass(frozen=True)
class UnrollLoopsPass(CheckedPass):
    """Unroll the loops that say so."""

    name = "unroll-loops"
    required: ClassVar[tuple[str, ...]] = ("SSAForm",)
    produced: ClassVar[tuple[str, ...]] = ("SSAForm", "UnrollResolved")

    def run(self, ctx: Context, module: ModuleOp) -> None:
        errors: list[Diagnostic] = []
        for outermost in _outermost(module):
            try:
                _unroll_all(outermost)
            except DiagnosticsError as error:
                errors += error.diagnostics
        if errors:
            raise DiagnosticsError(errors)


def _unroll_all(outermost: scf.ForOp) -> None:
    """Unroll a loop and those inside; all that cannot be is told."""
    _check(outermost)
    too_many = OpError(
        outermost,
        f"is to be unrolled to more than {MOST_OPS} ops, with the loops inside: leave one of them "
        "a loop",
    )
    if _least_ops(outermost) > MOST_OPS:
        raise too_many
    errors: dict[Diagnostic, None] = {}
    ops, todo = 0, [outermost]
    while todo:
        loop = todo.pop()
        try:
            _check(loop)
        except OpError as error:
            errors |= dict.fromkeys(error.diagnostics)
            continue
        copies = _unroll(loop)
        ops += sum(1 for copy in copies for _ in walk(copy))
        if ops > MOST_OPS:
            raise too_many
        todo += [inner for copy in copies for inner in _outermost(copy)]
    if errors:
        raise DiagnosticsError(errors)


def _least_ops(op: Operation) -> int:
    """How many ops one becomes, as far as bounds are constant."""
    inside = sum(
        _least_ops(inner)
        for region in op.regions
        for block in region.blocks
        for inner in block.ops
        if inner.next_op is not None or inner.regions
    )
    if isinstance(op, scf.ForOp) and loop_kind(op) is LoopKind.UNROLL:
        return inside * (constant_trip_count(op) or 1)
    return 1 + inside


def _outermost(op: Operation) -> list[scf.ForOp]:
    """The loops in an op, itself too, that are to be unrolled and are in no other such loop."""
    found: list[scf.ForOp] = []
    inside = set[Operation]()
    for inner in walk(op):
        if inner is not op and inner.parent_op() in inside:
            inside.add(inner)
        elif isinstance(inner, scf.ForOp) and loop_kind(inner) is LoopKind.UNROLL:
            found.append(inner)
            inside.add(inner)
    return found


def _check(loop: scf.ForOp) -> None:
    trips = constant_trip_count(loop)
    if trips is None:
        step = constant_integer(loop.step)
        if step is not None and step <= 0:
            raise OpError(loop, f"counts in steps of {step}, but a loop counts upwards")
        raise OpError(
            loop,
            "is to be unrolled, but its bounds are not constant: make them so, or leave it a "
            "loop, by range in place of unroll",
        )
    if trips > MOST_COPIES:
        raise OpError(
            loop,
            f"is to be unrolled to {trips} copies, more than {MOST_COPIES}: leave it a loop, or "
            "unroll a loop of fewer rounds inside",
        )


def _number(value: int, type: Attribute) -> ConstantOp:
    if isinstance(type, FixedBitwidthType):
        return ConstantOp.from_int_and_width(value, type.bitwidth)
    return ConstantOp(IntegerAttr.from_index_int_value(value))


def _unroll(loop: scf.ForOp) -> list[Operation]:
    """Put copies of the body in the place of a loop; the copies of its ops."""
    block, body = loop.parent, loop.body.block
    assert block is not None
    end = terminator(loop.body)
    lower, step = constant_integer(loop.lb), constant_integer(loop.step)
    trips = constant_trip_count(loop)
    assert lower is not None
    assert step is not None
    assert trips is not None
    counter, *carried = body.args
    current: list[SSAValue] = list(loop.iter_args)
    copies: list[Operation] = []
    for trip in range(trips):
        values: dict[SSAValue, SSAValue] = dict(zip(carried, current, strict=True))
        if counter.first_use is not None:
            number = _number(lower + trip * step, counter.type)
            number.location = loop.location
            number.result.name_hint = counter.name_hint
            block.insert_op_before(number, loop)
            values[counter] = number.result
        for op in body.ops:
            if op is end:
                break
            copy = op.clone(values)
            block.insert_op_before(copy, loop)
            copies.append(copy)
        current = [values.get(value, value) for value in end.operands]
    for result, value in zip(loop.results, current, strict=True):
        result.replace_all_uses_with(value)
    block.erase_op(loop)
    return copies
