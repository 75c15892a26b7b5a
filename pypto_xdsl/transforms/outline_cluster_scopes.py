"""
outline-cluster-scopes: turns cluster and spmd scopes into wrappers that launch as one task.

    %y = orch.cluster -> (tensor<64xf32>) {
      orch.spmd launch %n -> ... {
        %y1 = orch.call @kernel(%x, %out) : ...
        orch.yield %y1 : tensor<64xf32>
      }
      ...
    }

becomes

    orch.func group @main_cluster_0(in %x : tensor<64xf32>, out %out : tensor<64xf32>)
        -> tensor<64xf32> attributes {orch.spmd_unwrapped} {
      %y1 = orch.call @kernel(%x, %out) : ...
      orch.return %out : tensor<64xf32>
    }
    ...
    %y = orch.call @main_cluster_0(%x, %out) launch %n : ...

How scopes become functions is said in `rewriting/outlining`. A cluster becomes a group; an spmd
scope that stands in no cluster becomes an spmd function. The launch width belongs to the launch,
not to the function, which does not know on how many cores it runs; an spmd scope inside a cluster
gives the group's launch its width and is unwrapped. The function around keeps its kind.

PyPTO's pass OutlineClusterScopes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Operation, SSAValue

from pypto_xdsl.analysis.scalar_computation import is_constant
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import OpError, note
from pypto_xdsl.dialects.orch import (
    ClusterOp,
    FuncOp,
    FunctionKind,
    LaunchingOp,
    OutlinableScopeOp,
    SpmdOp,
)
from pypto_xdsl.dialects.orch.function_marks import SPMD_UNWRAPPED
from pypto_xdsl.properties.checked_pass import CheckedPass
from pypto_xdsl.rewriting.outlining import Launch, Outliner, OutliningRules, own_launch


def _prepare_cluster(scope: OutlinableScopeOp, name: str) -> Launch:
    _check_is_one_task(scope)
    found = [op for op in walk(scope) if isinstance(op, SpmdOp)]
    if not found:
        return Launch()
    spmd, *others = found
    if others:
        raise OpError(
            others[0],
            "is the second spmd scope in one cluster, which has one launch width: "
            "put the kernels of both into one spmd scope, or each into a cluster of its own",
            [note(spmd, "the first is here"), note(scope, "the cluster is here")],
        )
    return _unwrap(scope, spmd)


def _prepare_spmd(scope: OutlinableScopeOp, name: str) -> Launch:
    _check_is_one_task(scope)
    return own_launch(scope, name)


def _check_is_one_task(scope: OutlinableScopeOp) -> None:
    """Nothing inside may ask for a task of its own."""
    for op in walk(scope):
        if isinstance(op, LaunchingOp) and op is not scope and (op.needs_task or _has_task(op)):
            raise OpError(
                op,
                f"asks for a task of its own inside '{scope.name}', which is one task: "
                "its dependencies, predicate, early_resolve and identity would be ignored; "
                f"put them on the '{scope.name}' instead",
                [note(scope, "this is the task")],
            )


def _has_task(op: LaunchingOp) -> bool:
    return isinstance(op, OutlinableScopeOp) and op.task is not None


def _unwrap(cluster: OutlinableScopeOp, spmd: SpmdOp) -> Launch:
    """Put the body of an spmd scope in its place in the cluster; its launch is the cluster's."""
    body = cluster.body.block
    if spmd.parent is not body:
        around = spmd.parent_op()
        assert around is not None
        raise OpError(
            spmd,
            f"stands in '{around.name}' in a cluster, which is launched once: "
            "put the spmd scope directly in the cluster, and what is around it inside",
            [note(cluster, "the cluster is here")],
        )
    if spmd.no_dep or spmd.dump or spmd.cached:
        raise OpError(
            spmd,
            "lists tensors for no_dep, dump or cache inside a cluster, which is the task: "
            "list them on the cluster",
            [note(cluster, "the cluster is here")],
        )
    width = _width_outside(cluster, spmd)
    for op in tuple(spmd.body.block.ops):
        if op is not spmd.yield_op:
            op.detach()
            body.insert_op_before(op, spmd)
    for output, value in zip(spmd.outputs, spmd.yield_op.values, strict=True):
        output.replace_all_uses_with(value)
    sync_start = spmd.sync_start is not None
    inside = spmd.launch
    body.erase_op(spmd)
    if inside is not None and inside is not width and inside.first_use is None:
        assert isinstance(inside.owner, Operation)
        body.erase_op(inside.owner)
    cluster.attributes[SPMD_UNWRAPPED] = UnitAttr()
    return Launch(width, sync_start)


def _width_outside(cluster: OutlinableScopeOp, spmd: SpmdOp) -> SSAValue:
    """The launch width, as the cluster's surroundings know it."""
    width = spmd.launch
    assert width is not None
    owner = width.owner
    if not isinstance(owner, Operation) or owner.parent is not cluster.body.block:
        return width
    if not is_constant(owner):
        name = f"%{width.name_hint}" if width.name_hint else "its launch width"
        raise OpError(
            spmd,
            f"is launched on {name} cores, which is computed inside the cluster, but the cluster "
            "as a whole is launched: compute the width before the cluster",
            [note(owner, "it is computed here"), note(cluster, "the cluster is here")],
        )
    constant = owner.clone()
    assert cluster.parent is not None
    cluster.parent.insert_op_before(constant, cluster)
    return constant.results[0]


def _mark_group(scope: OutlinableScopeOp, function: FuncOp) -> None:
    if SPMD_UNWRAPPED in scope.attributes:
        function.attributes[SPMD_UNWRAPPED] = UnitAttr()


CLUSTER = OutliningRules(
    ClusterOp,
    FunctionKind.GROUP,
    lambda scope: "_cluster_",
    prepare=_prepare_cluster,
    mark=_mark_group,
)
SPMD = OutliningRules(SpmdOp, FunctionKind.SPMD, lambda scope: "_spmd_", prepare=_prepare_spmd)


@dataclass(frozen=True)
class OutlineClusterScopesPass(CheckedPass):
    """Turn cluster and spmd scopes into wrappers and launches of them."""

    name = "outline-cluster-scopes"
    required: ClassVar[tuple[str, ...]] = ("SSAForm",)
    produced: ClassVar[tuple[str, ...]] = ("SSAForm", "ClusterOutlined")

    def run(self, ctx: Context, module: ModuleOp) -> None:
        outliner = Outliner(module)
        for function in outliner.functions:
            kind = function.kind.data
            if kind is FunctionKind.OPAQUE or kind.is_orchestration_like:
                outliner.outline(function, CLUSTER, SPMD)
        outliner.finish()
