"""
What a function says about itself to later passes, as discardable attributes:

    orch.func incore @kernel(in %x : tensor<16xf32>) attributes {orch.split = #orch<split up_down>}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeGuard

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, i64
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.orch.attributes import (
    CachePolicy,
    CachePolicyAttr,
    FunctionKind,
    SplitMode,
    SplitModeAttr,
)
from pypto_xdsl.dialects.orch.functions import FuncOp

SPLIT = "orch.split"
"""How the two vector cores share the kernel's work; absent: they do not."""
SPLIT_AIV = "orch.split_aiv"
"""The kernel has regions written for one vector core each."""
SLOT_NUM = "orch.slot_num"
"""How many slots the ring between cube and vector cores has."""
DUAL_AIV_DISPATCH = "orch.dual_aiv_dispatch"
"""Both vector cores of a group run the kernel, without a split; it tells them apart itself."""
DEFERRED_COMPLETION_WAITER = "orch.deferred_completion_waiter"
WINDOWIZE = "orch.windowize"
CACHE_POLICY = "orch.cache_policy"
"""How loads of parameters go through the cache, by their positions, ascending."""
SPMD_UNWRAPPED = "orch.spmd_unwrapped"
"""The group runs as the body of the spmd scope that it held; its launch has the width."""
MANUAL_LAYER = "orch.manual_layer"
"""All order of the function's tasks is named: one manual scope around its body will do."""

_PARAMETER = "parameter"
_POLICY = "policy"


def split_mode(function: FuncOp) -> SplitMode | None:
    """How the two vector cores share the kernel's work, None if they do not."""
    attribute = function.attributes.get(SPLIT)
    if attribute is None:
        return None
    if not isinstance(attribute, SplitModeAttr):
        raise VerifyException(f"{SPLIT} should be a split mode, got {attribute}")
    return attribute.data


def is_for_both(function: FuncOp) -> bool:
    """Whether a function says that both vector cores of a group take part in it."""
    marks = {SPLIT_AIV, DUAL_AIV_DISPATCH} & function.attributes.keys()
    return bool(marks) or split_mode(function) is not None


def runs_on_both(function: FuncOp) -> bool:
    """Whether both vector cores of a group run a vector kernel, each with its own index."""
    return function.kind.data is FunctionKind.AIV and is_for_both(function)


def cache_policies(function: FuncOp) -> dict[int, CachePolicy]:
    """The cache policy of each parameter that has one, by its position."""
    attribute = function.attributes.get(CACHE_POLICY)
    if attribute is None:
        return {}
    found: dict[int, CachePolicy] = {}
    for entry in attribute if _is_list(attribute) else (attribute,):
        parts: Mapping[str, Attribute] = entry.data if isinstance(entry, DictionaryAttr) else {}
        place, policy = parts.get(_PARAMETER), parts.get(_POLICY)
        if not isinstance(place, IntegerAttr) or not isinstance(policy, CachePolicyAttr):
            raise VerifyException(f"{CACHE_POLICY} should list parameters with policies")
        found[place.value.data] = policy.data
    return found


def _is_list(attribute: Attribute) -> TypeGuard[ArrayAttr[Attribute]]:
    return isinstance(attribute, ArrayAttr)


def set_cache_policies(function: FuncOp, policies: Iterable[tuple[int, CachePolicy]]) -> None:
    """Replace the cache policies, given as positions of parameters with their policies."""
    function.attributes[CACHE_POLICY] = ArrayAttr(
        DictionaryAttr({_PARAMETER: IntegerAttr(place, i64), _POLICY: CachePolicyAttr(policy)})
        for place, policy in sorted(policies)
    )
