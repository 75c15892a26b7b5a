"""
NormalizedStmtStructure: no statement sequence inside another, none of a single element.

A block is one flat list of ops, so what is left to check is that a body is one block: PyPTO has no
jumps, and control flow is loops and branches with bodies of their own. Jumps between blocks
(xDSL's dialect `cf`) may stand in functions that compute on scalars for `.pto` kernels; where tiles
live, and in which order pipes work, is told of structured control flow only.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp
from xdsl.dialects.func import FuncOp as LoweredFuncOp
from xdsl.ir import Block, Operation

from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import Diagnostic, diagnose
from pypto_xdsl.dialects.orch.functions import FuncOp
from pypto_xdsl.properties.registry import Property

_ON_CORES = frozenset(("pto", "ascend910b", "tile"))
"""The dialects of what runs on cores."""


def _jumps(module: ModuleOp) -> Iterable[Diagnostic]:
    on_core: dict[Operation, bool] = {}
    for op in walk(module):
        for region in op.regions:
            if region.first_block is region.last_block:
                continue
            function = _function(op)
            if function is None:
                continue
            if function not in on_core:
                on_core[function] = isinstance(function, FuncOp) or _is_of_a_core(function)
            if on_core[function]:
                assert region.first_block is not None
                yield _tell(op, region.first_block)


def _function(op: Operation | None) -> Operation | None:
    while op is not None and not isinstance(op, FuncOp | LoweredFuncOp):
        op = op.parent_op()
    return op


def _is_of_a_core(function: Operation) -> bool:
    """Whether a function does more than to compute on scalars, or calls what may."""
    return any(
        isinstance(op, CallOp) or op.name.partition(".")[0] in _ON_CORES for op in walk(function)
    )


def _tell(op: Operation, first: Block) -> Diagnostic:
    jump = first.last_op
    if jump is None or not jump.successors:
        return diagnose(op, "has a body of several blocks")
    return diagnose(
        jump, "jumps to another block: loops and branches are scf.for, scf.while, scf.if"
    )


PROPERTY = Property(
    "NormalizedStmtStructure", "a body is one flat sequence of statements, without jumps", _jumps
)
