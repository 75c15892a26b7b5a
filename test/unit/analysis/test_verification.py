"""Verification reports everything, at the op at fault, at any depth."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager

from xdsl.context import Context
from xdsl.dialects import test
from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.ir import Block, Operation, Region
from xdsl.universe import XDSL_UNIVERSE

from pypto_xdsl.analysis.verification import verify
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.syntax.parser import parse_module


def parse(text: str) -> ModuleOp:
    ctx = Context()
    for name, factory in XDSL_UNIVERSE.all_dialects.items():
        ctx.register_dialect(name, factory)
    return parse_module(ctx, text, "a.mlir")


def messages(text: str) -> list[tuple[int, str]]:
    return [(diagnostic.line, diagnostic.message) for diagnostic in verify(parse(text))]


@contextmanager
def recursion_limit(limit: int) -> Generator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(limit)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def test_valid_program():
    assert messages("func.func @f(%a: i32) -> i32 { func.return %a : i32 }") == []


def test_dominance_over_blocks():
    # bb3 joins two branches: what only one of them defines does not reach it.
    text = """
func.func @f(%c: i1) {
  %d = "test.op"() : () -> i32
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %x = "test.op"(%d) : (i32) -> i32
  cf.br ^bb3
^bb2:
  cf.br ^bb3
^bb3:
  "test.op"(%d, %x) : (i32, i32) -> ()
  func.return
}"""
    assert messages(text) == [(11, "'test.op' op operand #1 (%x) does not dominate this use")]


def test_each_operand_that_is_not_dominated_is_told_once():
    text = """
%y = "test.op"(%x, %x) : (i32, i32) -> i32
%x = "test.op"() : () -> i32"""
    expected = "'test.op' op operand #{} (%x) does not dominate this use"
    assert messages(text) == [(2, expected.format(0)), (2, expected.format(1))]


def test_dominance_around_a_loop():
    # A value of the loop header reaches the body and the exit, one of the body only the body.
    text = """
func.func @f(%c: i1) {
  cf.br ^head
^head:
  %h = "test.op"() : () -> i32
  cf.cond_br %c, ^body, ^exit
^body:
  %b = "test.op"(%h) : (i32) -> i32
  cf.br ^head
^exit:
  "test.op"(%h, %b) : (i32, i32) -> ()
  func.return
}"""
    assert messages(text) == [(11, "'test.op' op operand #1 (%b) does not dominate this use")]


def test_unreachable_blocks_are_not_checked():
    text = """
func.func @f() {
  func.return
^dead:
  "test.op"(%x) : (i32) -> ()
  %x = "test.op"() : () -> i32
  func.return
}"""
    assert messages(text) == []


def test_results_are_not_visible_in_the_regions_of_their_op():
    text = """
%x = "test.op"() ({
  "test.termop"(%x) : (i32) -> ()
}) : () -> i32
"test.op"(%x) : (i32) -> ()"""
    assert messages(text) == [(3, "'test.termop' op operand #0 (%x) does not dominate this use")]


def test_isolated_ops_do_not_see_values_around():
    text = """
%x = "test.op"() : () -> i32
func.func @f() {
  "test.op"(%x) : (i32) -> ()
  func.return
}"""
    assert messages(text) == [(4, "'test.op' op operand #0 (%x) does not dominate this use")]


def test_all_errors_in_the_order_of_the_text():
    text = """
func.func @f(%a: i32) {
  %b = "arith.addi"(%a) : (i32) -> i32
}
func.func @f() -> i32 {
  func.return
}"""
    assert [line for line, _ in messages(text)] == [3, 3, 5, 6]


def test_erased_values():
    producer = test.TestOp(result_types=[i32])
    user = test.TestOp(operands=[producer.results[0]])
    module = ModuleOp([user])
    producer.erase(safe_erase=False)
    assert [d.message for d in verify(module)] == ["'test.op' op uses a value whose op was erased"]


def nest(depth: int) -> ModuleOp:
    inner: Operation = test.TestTermOp()
    for _ in range(depth):
        inner = test.TestTermOp(regions=[Region(Block([inner]))])
    return ModuleOp([inner])


def test_deep_nests_need_no_recursion():
    module = nest(5_000)
    with recursion_limit(1_000):
        assert sum(1 for _ in walk(module)) == 5_002
        assert verify(module) == []


def test_walk_survives_erasing_the_op_at_hand():
    module = ModuleOp([test.TestOp(), test.TestOp(), test.TestOp()])
    for op in walk(module):
        if isinstance(op, test.TestOp):
            op.detach()
            op.erase()
    assert list(module.body.block.ops) == []
