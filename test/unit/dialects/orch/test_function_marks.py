"""What functions say about themselves, written and read back."""

from __future__ import annotations

import pytest
from support.programs import program
from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.orch import CachePolicy, FuncOp, FunctionKind, SplitMode, SplitModeAttr
from pypto_xdsl.dialects.orch.function_marks import (
    CACHE_POLICY,
    SPLIT,
    cache_policies,
    set_cache_policies,
    split_mode,
)


def kernel() -> FuncOp:
    return FuncOp("k", FunctionKind.INCORE, [], [])


def test_absent() -> None:
    assert cache_policies(kernel()) == {}
    assert split_mode(kernel()) is None


def test_cache_policies() -> None:
    """In the order of the parameters, whatever order they are given in; also through the text."""
    function = kernel()
    set_cache_policies(function, [(2, CachePolicy.DEFAULT), (0, CachePolicy.BYPASS)])
    assert list(cache_policies(function).items()) == [
        (0, CachePolicy.BYPASS),
        (2, CachePolicy.DEFAULT),
    ]
    text = (
        "orch.func incore @k() attributes {orch.cache_policy = "
        "[{parameter = 3 : i64, policy = #orch<cache bypass>}]} { orch.return }"
    )
    (read,) = program(text).ops
    assert isinstance(read, FuncOp)
    assert cache_policies(read) == {3: CachePolicy.BYPASS}


def test_split_mode() -> None:
    function = kernel()
    function.attributes[SPLIT] = SplitModeAttr(SplitMode.LEFT_RIGHT)
    assert split_mode(function) is SplitMode.LEFT_RIGHT


@pytest.mark.parametrize("wrong", [StringAttr("bypass"), ArrayAttr([StringAttr("bypass")])])
def test_malformed(wrong: StringAttr | ArrayAttr[StringAttr]) -> None:
    function = kernel()
    function.attributes[CACHE_POLICY] = wrong
    function.attributes[SPLIT] = wrong
    with pytest.raises(VerifyException, match=r"orch\.cache_policy should list parameters"):
        cache_policies(function)
    with pytest.raises(VerifyException, match=r"orch\.split should be a split mode"):
        split_mode(function)
