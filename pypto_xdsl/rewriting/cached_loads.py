"""
How loads go through the cache, as a kernel says of its parameters.

A scope says it of tensors, and the outlined function of parameters by their positions; where
kernels load their tensors, each load of such a parameter, or of a part of it, says it for itself,
and the function no more.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, SSAValue

from pypto_xdsl.analysis.buffer_roots import BufferRoots
from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.analysis.return_lineage import ReturnLineage
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.dialects import tile
from pypto_xdsl.dialects.orch import FuncOp
from pypto_xdsl.dialects.orch.function_marks import CACHE_POLICY, cache_policies
from pypto_xdsl.dialects.tile.attributes import CachePolicy, CachePolicyAttr


def give_loads_their_cache_policies(module: ModuleOp, kernels: Iterable[FuncOp]) -> None:
    """Move the cache policies of kernels to their loads; what is declared only keeps them."""
    lineage: ReturnLineage | None = None
    for kernel in kernels:
        if CACHE_POLICY not in kernel.attributes or kernel.is_declaration:
            continue
        lineage = lineage or ReturnLineage(CallGraph(module))
        _give(kernel, BufferRoots(kernel, lineage))


def _give(kernel: FuncOp, roots: BufferRoots) -> None:
    policies = cache_policies(kernel)
    block = kernel.body.first_block

    def policy(root: SSAValue) -> CachePolicy:
        if isinstance(root, BlockArgument) and root.owner is block:
            return policies.get(root.index, CachePolicy.DEFAULT)
        return CachePolicy.DEFAULT

    for op in walk(kernel):
        if isinstance(op, tile.LoadOp) and op.cache is None:
            place = roots.of(op.source)
            found = {policy(root) for root in place.roots}
            # One load has one policy: what may be of another buffer goes the usual way.
            if place.is_complete and found == {CachePolicy.BYPASS}:
                op.cache = CachePolicyAttr(CachePolicy.BYPASS)
    del kernel.attributes[CACHE_POLICY]
