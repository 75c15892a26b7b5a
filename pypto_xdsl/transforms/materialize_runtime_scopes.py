"""
materialize-runtime-scopes: puts the scopes of the runtime where it opens and closes them.

Buffers that the runtime creates live until the scope around them ends and the tasks that use them
are done, so a function has one scope around its body, one around the body of each loop, and one
around each arm of each branch:

    scf.for %i ... iter_args(%it = %x) -> (T) {     scf.for %i ... iter_args(%it = %x) -> (T) {
      %y = orch.call @k(input %a, inout %it)          %s = orch.task_scope auto -> (T) {
      scf.yield %y                                      %y = orch.call @k(input %a, inout %it)
    }                                                   orch.yield %y
                                                      }
                                                      scf.yield %s
                                                    }

Functions of kind `orchestration` only. A function that says `auto_scope = false` has its scopes
already, from the user or from this pass, which says it when it is done. A body that is one auto
scope gets no second one, and inside a manual scope there are none: the runtime does not nest auto
in manual. The bodies of a while have none either. A function with `orch.manual_layer`, in which
all order of tasks is named, gets one manual scope around its body.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import BoolAttr, ModuleOp
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from pypto_xdsl.analysis.walk import blocks_inside, walk
from pypto_xdsl.dialects.orch import FuncOp, ScopeMode, TaskScopeOp, YieldOp
from pypto_xdsl.dialects.orch.function_marks import MANUAL_LAYER
from pypto_xdsl.properties.checked_pass import CheckedPass
from pypto_xdsl.properties.runtime_scopes_materialized import AUTO_SCOPE, has_auto_scope
from pypto_xdsl.rewriting.locating import at


@dataclass(frozen=True)
class MaterializeRuntimeScopesPass(CheckedPass):
    """Put auto task scopes around the bodies of orchestration functions, loops and branches."""

    name = "materialize-runtime-scopes"
    required = ("SplitIncoreOrch", "CallDirectionsResolved")
    produced = ("RuntimeScopesMaterialized",)

    def run(self, ctx: Context, module: ModuleOp) -> None:
        functions = [
            op
            for op in walk(module)
            if isinstance(op, FuncOp) and op.is_orchestration and has_auto_scope(op)
        ]
        for function in functions:
            if function.attributes.pop(MANUAL_LAYER, None) is not None:
                wrap(function.body.block, ScopeMode.MANUAL)
            else:
                for block in list(_bodies(function)):
                    wrap(block)
            function.attributes[AUTO_SCOPE] = BoolAttr.from_bool(False)


def _bodies(function: FuncOp) -> Iterator[Block]:
    """The blocks that get a scope, inner ones first."""
    in_manual: set[Operation] = set()
    found: list[Block] = []
    for op in walk(function):
        parent = op.parent_op()
        is_manual = isinstance(op, TaskScopeOp) and op.mode.data is ScopeMode.MANUAL
        if op.regions and (is_manual or (parent is not None and parent in in_manual)):
            in_manual.add(op)
        if op in in_manual or not isinstance(op, FuncOp | scf.ForOp | scf.IfOp):
            continue
        found += [block for block in blocks_inside(op) if not _is_auto_scope(block)]
    return reversed(found)


def _is_auto_scope(block: Block) -> bool:
    """Whether a body is one auto scope and its end, or nothing but its end."""
    first, end = block.first_op, block.last_op
    if first is None or first is end:
        return True
    return (
        isinstance(first, TaskScopeOp)
        and first.mode.data is ScopeMode.AUTO
        and first.next_op is end
    )


def wrap(block: Block, mode: ScopeMode = ScopeMode.AUTO) -> None:
    """Put all of a block but its end into a scope, which yields what the end needs."""
    end = block.last_op
    assert end is not None
    origin = block.first_op
    assert origin is not None
    inner = Block()
    while (op := block.first_op) is not end:
        assert op is not None
        op.detach()
        inner.add_op(op)
    handed_on: dict[SSAValue, None] = {
        operand: None
        for operand in end.operands
        if isinstance(operand, OpResult) and operand.op.parent is inner
    }
    inner.add_op(at(end, YieldOp(*handed_on)))
    types = [value.type for value in handed_on]
    scope = at(origin, TaskScopeOp(mode, types, Region(inner)))
    for result, value in zip(scope.outputs, handed_on, strict=True):
        result.name_hint = value.name_hint
    Rewriter().insert_op(scope, InsertPoint.before(end))
    results = dict(zip(handed_on, scope.outputs, strict=True))
    end.operands = [results.get(operand, operand) for operand in end.operands]
