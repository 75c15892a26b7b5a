"""Ops made while rewriting come from where the ops they replace came from."""

from __future__ import annotations

from xdsl.dialects import test
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    FileLineColLoc,
    IntAttr,
    ModuleOp,
    StringAttr,
    i32,
)
from xdsl.ir import Block, Operation, Region
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriterListener,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.utils.hints import isa

from pypto_xdsl.rewriting.locating import at, rewrite


def location(line: int) -> FileLineColLoc:
    return FileLineColLoc(StringAttr("a.mlir"), IntAttr(line), IntAttr(1))


def test_an_op_at_another():
    old = test.TestOp(result_types=[i32, i32])
    old.location = location(3)
    old.results[0].name_hint = "x"
    old.results[1].name_hint = "y"
    inner = test.TestTermOp()
    own = test.TestOp()
    own.location = location(9)
    new = test.TestOp(result_types=[i32, i32, i32], regions=[Region(Block([own, inner]))])
    new.results[1].name_hint = "own"
    assert at(old, new) is new
    assert new.location is inner.location is old.location
    assert own.location == location(9)
    assert [result.name_hint for result in new.results] == ["x", "own", None]


class ReplaceTestOp(RewritePattern):
    """test.op -> test.pureop, over another op without results."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: test.TestOp, rewriter: PatternRewriter):
        rewriter.insert(test.TestTermOp())
        rewriter.replace(op, test.TestPureOp(result_types=op.result_types))


def program() -> ModuleOp:
    ops: list[Operation] = []
    for line in (1, 2):
        op = test.TestOp(result_types=[i32])
        op.location = location(line)
        op.results[0].name_hint = f"v{'ab'[line - 1]}"
        ops.append(op)
    return ModuleOp(ops)


def test_patterns_keep_locations():
    module = program()
    inserted: list[str] = []
    listener = PatternRewriterListener(
        operation_insertion_handler=[lambda op: inserted.append(op.name)]
    )
    assert rewrite(module, ReplaceTestOp(), listener=listener)
    ops = list(module.body.block.ops)
    assert [op.name for op in ops] == ["test.termop", "test.pureop"] * 2
    assert [op.location for op in ops] == [location(1), location(1), location(2), location(2)]
    assert ops[1].results[0].name_hint == "va"
    assert inserted == ["test.termop", "test.pureop"] * 2
    # The second sweep finds nothing to do.
    assert not rewrite(module, ReplaceTestOp())


def test_dead_ops_stay_unless_asked():
    module = ModuleOp([test.TestPureOp(result_types=[i32])])
    assert not rewrite(module)
    assert rewrite(module, erase_dead=True)
    assert list(module.body.block.ops) == []


def test_recursively_also_over_new_ops():
    class CountDown(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: test.TestOp, rewriter: PatternRewriter):
            count = op.attributes["n"]
            assert isa(count, IntAttr[int])
            if count.data:
                rewriter.replace(op, test.TestOp(attributes={"n": IntAttr(count.data - 1)}))

    for recursively, left in ((False, 2), (True, 0)):
        op = test.TestOp(attributes={"n": IntAttr(3)})
        module = ModuleOp([op])
        assert rewrite(module, CountDown(), recursively=recursively)
        (only,) = module.body.block.ops
        assert only.attributes["n"] == IntAttr(left)
        assert only.location is UNKNOWN_LOC
