"""Asking where a value comes from agrees with asking where values go."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue
from xdsl.universe import Universe

from pypto_xdsl.analysis.control_flow import (
    Shape,
    constant_trip_count,
    forwarded,
    forwarding,
    is_merge,
    runs_for_certain,
    shape_of,
)
from pypto_xdsl.analysis.walk import Event, blocks_inside, tour, walk
from pypto_xdsl.syntax.parser import parse_module

TEXT = """
orch.func opaque @f(in %c : i1, in %n : index, in %x : f32, in %y : f32) -> f32 {
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %r:2 = scf.for %i = %zero to %n step %two iter_args(%p = %x, %q = %y) -> (f32, f32) {
    %m:2 = scf.if %c -> (f32, f32) {
      scf.yield %q, %p : f32, f32
    } else {
      scf.yield %p, %q : f32, f32
    }
    scf.yield %m#0, %m#1 : f32, f32
  }
  %s:2 = scf.while (%b0 = %x, %b1 = %y) : (f32, f32) -> (f32, f32) {
    scf.condition(%c) %b1, %b0 : f32, f32
  } do {
  ^bb0(%a0 : f32, %a1 : f32):
    scf.yield %a0, %a1 : f32, f32
  }
  %t, %task = orch.incore -> (f32) as task {
    orch.yield %x : f32
  }
  %u = scf.index_switch %n -> f32
  case 1 {
    scf.yield %x : f32
  }
  default {
    scf.yield %y : f32
  }
  %w = scf.for %i = %zero to %three step %two iter_args(%p = %x) -> (f32) {
    scf.yield %y : f32
  }
  %v = scf.for %i = %three to %zero step %two iter_args(%p = %x) -> (f32) {
    scf.yield %y : f32
  }
  orch.return %w : f32
}"""


def module_of(text: str) -> ModuleOp:
    ctx = Context()
    for name, factory in Universe.get_multiverse().all_dialects.items():
        ctx.register_dialect(name, factory)
    return parse_module(ctx, text, "a.mlir")


def values(module: ModuleOp) -> list[SSAValue]:
    found: list[SSAValue] = []
    for op in walk(module):
        found.extend(op.results)
        for block in blocks_inside(op):
            found.extend(block.args)
    return found


def test_backward_is_forward_reversed() -> None:
    module = module_of(TEXT)
    sources: dict[SSAValue, list[SSAValue]] = {}
    for op in walk(module):
        for step in forwarding(op):
            sources.setdefault(step.target, []).append(step.source)
    count = 0
    for value in values(module):
        expected = sources.get(value, [])
        if value.name_hint == "w":
            # This loop certainly runs, so that its init does not reach the result.
            expected = expected[1:]
        assert list(forwarded(value)) == expected
        count += bool(expected)
    assert count == 18


def named(module: ModuleOp) -> dict[str, SSAValue]:
    return {value.name_hint: value for value in values(module) if value.name_hint}


def test_merges_and_trips() -> None:
    names = named(module_of(TEXT))
    merges = {name for name, value in names.items() if is_merge(value)}
    assert merges == {"m", "u"}
    loops = {name: names[name].owner for name in ("w", "v")}
    assert not any(isinstance(loop, Block) for loop in loops.values())
    trips = {n: constant_trip_count(o) for n, o in loops.items() if not isinstance(o, Block)}
    # 0 and 2 below 3; nothing from 3 up to 0.
    assert trips == {"w": 2, "v": 0}
    certain = {n: runs_for_certain(o) for n, o in loops.items() if not isinstance(o, Block)}
    assert certain == {"w": True, "v": False}


def test_shapes() -> None:
    module = module_of(TEXT)
    shapes = {op.name: shape_of(op) for op in walk(module)}
    assert shapes["builtin.module"] is shapes["orch.func"] is Shape.DEFINITION
    assert shapes["scf.for"] is shapes["scf.while"] is Shape.LOOP
    assert shapes["scf.if"] is shapes["scf.index_switch"] is Shape.BRANCH
    assert shapes["orch.incore"] is Shape.SEQUENCE
    assert shapes["arith.constant"] is Shape.UNKNOWN


def test_tour() -> None:
    """Each op with regions is left, and each region entered and left, around what is inside."""
    module = module_of(TEXT)
    entered = [op for event, op, _ in tour(module) if event is Event.ENTER]
    assert entered == list(walk(module))
    depth = 0
    open_ops: list[object] = []
    for event, op, region in tour(module):
        if event is Event.ENTER and op.regions:
            open_ops.append(op)
        elif event is Event.ENTER_REGION:
            assert region in op.regions
            assert open_ops[-1] is op
            depth += 1
        elif event is Event.LEAVE_REGION:
            depth -= 1
        elif event is Event.LEAVE:
            assert open_ops.pop() is op
    assert depth == 0
    assert not open_ops
