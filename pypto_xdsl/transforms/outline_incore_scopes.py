"""
outline-incore-scopes: turns in-core scopes into kernels.

    orch.func opaque @main(in %x : tensor<64xf32>) -> tensor<64xf32> {
      %r = orch.incore -> (tensor<64xf32>) {
        %t = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
        %x1 = tile.store %t, %x[0] : !tile.tile<64xf32>, tensor<64xf32>
        orch.yield %x1 : tensor<64xf32>
      }
      orch.return %r : tensor<64xf32>
    }

becomes

    orch.func incore @main_incore_0(inout %x : tensor<64xf32>) -> tensor<64xf32> {
      %t = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
      %x1 = tile.store %t, %x[0] : !tile.tile<64xf32>, tensor<64xf32>
      orch.return %x : tensor<64xf32>
    }
    orch.func orchestration @main(in %x : tensor<64xf32>) -> tensor<64xf32> {
      %r = orch.call @main_incore_0(%x) : (tensor<64xf32>) -> tensor<64xf32>
      orch.return %r : tensor<64xf32>
    }

How scopes become functions is said in `rewriting/outlining`. In-core scopes of all functions are
outlined but of kernels, which have none, and of inline functions, which are to be spliced in
first. An opaque function that had one launches a kernel now, and so is an orchestration function.

In an opaque function that becomes one, each symbol of the signature gets one name first: reads
of an extent with that symbol are replaced by one read of the first parameter that has it, so that
what is computed from equal extents is equal (`rewriting/symbol_extents`).

PyPTO's pass OutlineIncoreScopes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, UnitAttr, i64

from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import OpError, note
from pypto_xdsl.dialects.orch import (
    FuncOp,
    FunctionKind,
    FunctionKindAttr,
    IncoreOp,
    OutlinableScopeOp,
    SplitAivOp,
    SplitMode,
    SplitModeAttr,
)
from pypto_xdsl.dialects.orch.attributes import Level
from pypto_xdsl.dialects.orch.function_marks import SLOT_NUM, SPLIT, SPLIT_AIV, WINDOWIZE
from pypto_xdsl.properties.checked_pass import CheckedPass
from pypto_xdsl.rewriting.outlining import Launch, Outliner, OutliningRules
from pypto_xdsl.rewriting.symbol_extents import name_symbols_once


def _suffix(scope: OutlinableScopeOp) -> str:
    return "_incore_"


def _check_split(scope: OutlinableScopeOp, name: str) -> Launch:
    assert isinstance(scope, IncoreOp)
    if scope.split is not None:
        for op in walk(scope):
            if isinstance(op, SplitAivOp):
                raise OpError(
                    scope,
                    f"is split {scope.split.data.value} by the compiler and has a region that is "
                    "split by hand: drop one of the two; the number of slots between the cores "
                    "can be set with either, by `slots`",
                    [note(op, "this is the region")],
                )
    return Launch()


def _mark(scope: OutlinableScopeOp, function: FuncOp) -> None:
    assert isinstance(scope, IncoreOp)
    attributes = function.attributes
    regions = [op for op in walk(function) if isinstance(op, SplitAivOp)]
    if regions:
        attributes[SPLIT_AIV] = UnitAttr()
        modes = {region.mode.data for region in regions}
        if len(modes) == 1 and SplitMode.NONE not in modes:
            # The mode of all of them stands for the kernel; each keeps its own.
            attributes[SPLIT] = SplitModeAttr(*modes)
    if scope.split is not None:
        attributes[SPLIT] = scope.split
    if scope.slot_num is not None:
        attributes[SLOT_NUM] = IntegerAttr(scope.slot_num.value.data, i64)
    if scope.windowize is not None:
        attributes[WINDOWIZE] = UnitAttr()


INCORE = OutliningRules(
    IncoreOp,
    FunctionKind.INCORE,
    _suffix,
    may_nest=False,
    orders_results=True,
    prepare=_check_split,
    mark=_mark,
)


@dataclass(frozen=True)
class OutlineIncoreScopesPass(CheckedPass):
    """Turn in-core scopes into kernels and calls of them."""

    name = "outline-incore-scopes"
    required: ClassVar[tuple[str, ...]] = ("SSAForm",)
    produced: ClassVar[tuple[str, ...]] = ("SSAForm", "SplitIncoreOrch", "AivSplitValid")

    def run(self, ctx: Context, module: ModuleOp) -> None:
        outliner = Outliner(module)
        for function in outliner.functions:
            kind = function.kind.data
            if kind.is_in_core or kind is FunctionKind.INLINE:
                continue
            promoted = kind is FunctionKind.OPAQUE and any(
                isinstance(op, IncoreOp) for op in walk(function)
            )
            if promoted:
                name_symbols_once(function)
                function.kind = FunctionKindAttr(FunctionKind.ORCHESTRATION)
                if function.level is not None and function.level.data is Level.CHIP:
                    # The kind says so.
                    function.level = function.role = None
            outliner.outline(function, INCORE)
        outliner.finish()
