"""
outline-hierarchy-scopes: turns work of another level of the machine into a function of that level.

    %y = orch.hierarchy host sub_worker -> (tensor<64xf32>) {
      %y1 = ptensor.add %x, %x : tensor<64xf32>
      orch.yield %y1 : tensor<64xf32>
    }

becomes

    orch.func opaque level host role sub_worker @main_host_sub_worker_0(in %x : tensor<64xf32>)
        -> tensor<64xf32> {
      %y1 = ptensor.add %x, %x : tensor<64xf32>
      orch.return %y1 : tensor<64xf32>
    }
    ...
    %y = orch.call @main_host_sub_worker_0(%x) : (tensor<64xf32>) -> tensor<64xf32>

How scopes become functions is said in `rewriting/outlining`. Scopes of opaque functions are
outlined, and these keep their kind. The function is no kernel: it may return scalars, and a
tensor that it writes is visible to its caller anyway, so that only what is used afterwards comes
back, and the destination of a plain `tile.store` stays an `in` parameter.

PyPTO's pass OutlineHierarchyScopes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from pypto_xdsl.analysis.tensor_accesses import is_store
from pypto_xdsl.dialects.declared_op import Effect
from pypto_xdsl.dialects.orch import FunctionKind, HierarchyOp, Level, OutlinableScopeOp, Role
from pypto_xdsl.properties.checked_pass import CheckedPass
from pypto_xdsl.rewriting.outlining import Outliner, OutliningRules

_ROLE_WORDS = {Role.ORCHESTRATOR: "orch", Role.SUB_WORKER: "sub_worker"}


def _suffix(scope: OutlinableScopeOp) -> str:
    level, role = _level(scope)
    words = [level.value] if role is None else [level.value, _ROLE_WORDS[role]]
    return f"_{'_'.join(words)}_"


def _level(scope: OutlinableScopeOp) -> tuple[Level, Role | None]:
    assert isinstance(scope, HierarchyOp)
    return scope.level.data, None if scope.role is None else scope.role.data


def _is_write(op: Operation, effect: Effect) -> bool:
    return effect is not Effect.WRITE or not is_store(op)


HIERARCHY = OutliningRules(
    HierarchyOp,
    FunctionKind.OPAQUE,
    _suffix,
    exports_writes=False,
    returns_scalars=True,
    is_write=_is_write,
    level=_level,
)


@dataclass(frozen=True)
class OutlineHierarchyScopesPass(CheckedPass):
    """Turn hierarchy scopes into functions of their level and calls of them."""

    name = "outline-hierarchy-scopes"
    required: ClassVar[tuple[str, ...]] = ("SSAForm",)
    produced: ClassVar[tuple[str, ...]] = (
        "SSAForm",
        "HierarchyOutlined",
        "OrchestrationReferencesResolved",
    )

    def run(self, ctx: Context, module: ModuleOp) -> None:
        outliner = Outliner(module)
        for function in outliner.functions:
            if function.kind.data is FunctionKind.OPAQUE:
                outliner.outline(function, HIERARCHY)
        outliner.finish()
