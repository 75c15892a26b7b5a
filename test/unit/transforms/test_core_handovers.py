"""
Halves of mixed kernels that do something to the same tensor, on the cores of a group under random
schedules: with what the pass puts between them they compute what the whole kernel does, and the
machine finds each of the programs in which some of it is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count, islice
from typing import Any

import numpy as np
import pytest
from support.machine_programs import parsed
from support.programs import context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import PassPipeline
from xdsl.universe import Universe

from pypto_xdsl.analysis.buffer_roots import BufferRoots
from pypto_xdsl.analysis.core_handovers import Handover, Order, core_orders
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.dialects import tile
from pypto_xdsl.dialects.orch import FuncOp
from pypto_xdsl.dialects.tile.cross_core import RingOp
from pypto_xdsl.interpreters.core_settings import CoreSettings
from pypto_xdsl.interpreters.run import run
from pypto_xdsl.transforms import expand_mixed_kernel

M = "!tile.tile<32x32xf32>"
T = "tensor<32x32xf32>"

HALVES = "infer-tile-memory-space,resolve-backend-op-layouts,expand-mixed-kernel"
LOWERED = (
    "verify-target,inject-gm-pipe-buffer,convert-tile-to-pto,memory-reuse,allocate-memory-addr,"
    "derive-call-directions"
)
MACHINE = f"{LOWERED},ascend910b-pipeline"
SEEDS = (None, *range(6))


@dataclass(frozen=True)
class Shared:
    """A kernel of `a`, `b` and `c` that writes `s` and `y`, and what these are afterwards."""

    body: str
    compute: Callable[[Any, Any, Any, Any, Any], tuple[Any, Any]]
    attributes: str = ""
    follows: bool = True
    """Whether pipes wait for each other by what they do, so that `settles` and `waits` add nothing
    here."""

    @property
    def text(self) -> str:
        parameters = ", ".join(f"in %{name} : {T}" for name in "abc")
        types = ", ".join([T] * 5)
        return f"""builtin.module attributes {{pto.target_arch = "a2a3"}} {{
          orch.func incore @mixed({parameters}, inout %s : {T}, inout %y : {T}) -> ({T}, {T})
              {self.attributes} {{
            %ta = tile.load %a[0, 0] : {T} -> {M}
            %tb = tile.load %b[0, 0] : {T} -> {M}
            %c0 = arith.constant 0 : index
            %c1 = arith.constant 1 : index
            %c3 = arith.constant 3 : index
            {self.body}
            orch.return %s_end, %y_end : {T}, {T}
          }}
          orch.func orchestration @main({parameters}, inout %s : {T}, inout %y : {T})
              -> ({T}, {T}) {{
            %z:2 = orch.call @mixed(%a, %b, %c, %s, %y) : ({types}) -> ({T}, {T})
            orch.return %z#0, %z#1 : {T}, {T}
          }}
        }}"""


CUBE_TO_VECTOR = f"""
  %p = tile.matmul %ta, %tb : {M}
  %s_end = tile.store %p, %s[0, 0] : {M}, {T}
  %v = tile.load %s_end[0, 0] : {T} -> {M}
  %n = tile.neg %v : {M}
  %y_end = tile.store %n, %y[0, 0] : {M}, {T}
"""
"""`s = a @ b`, and `y = -s` by the vector core."""

VECTOR_TO_CUBE = f"""
  %tc = tile.load %c[0, 0] : {T} -> {M}
  %n = tile.neg %tc : {M}
  %s_end = tile.store %n, %s[0, 0] : {M}, {T}
  %v = tile.load %s_end[0, 0] : {T} -> {M}
  %p = tile.matmul %v, %tb : {M}
  %y_end = tile.store %p, %y[0, 0] : {M}, {T}
"""
"""`s = -c` by the vector core, and `y = s @ b`."""

WRITTEN_TWICE = f"""
  %p = tile.matmul %ta, %tb : {M}
  %s1 = tile.store %p, %s[0, 0] : {M}, {T}
  %tc = tile.load %c[0, 0] : {T} -> !tile.tile<32x32xf32>
  %n = tile.neg %tc : {M}
  %s_end = tile.store %n, %s1[0, 0] : {M}, {T}
  %q = tile.matmul %ta, %ta : {M}
  %y1 = tile.store %n, %y[0, 0] : {M}, {T}
  %y_end = tile.store %q, %y1[0, 0] : {M}, {T}
"""
"""What the one stores, the other writes over: `s = -c`, `y = a @ a`."""

READ_BEFORE = f"""
  %v = tile.load %s[0, 0] : {T} -> {M}
  %p = tile.matmul %ta, %tb : {M}
  %s_end = tile.store %p, %s[0, 0] : {M}, {T}
  %n = tile.neg %v : {M}
  %y_end = tile.store %n, %y[0, 0] : {M}, {T}
"""
"""`y` is what `s` was, negated; then `s = a @ b`."""

TO_AND_FRO = f"""
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%s0 = %s, %y0 = %y) -> ({T}, {T}) {{
    %ts = tile.load %s0[0, 0] : {T} -> {M}
    %p = tile.matmul %ts, %tb : {M}
    %s1 = tile.store %p, %s0[0, 0] : {M}, {T}
    %v = tile.load %s1[0, 0] : {T} -> {M}
    %n = tile.neg %v : {M}
    %m = tile.maximum %v, %n : {M}
    %s2 = tile.store %m, %s1[0, 0] : {M}, {T}
    %y1 = tile.store %n, %y0[0, 0] : {M}, {T}
    scf.yield %s2, %y1 : {T}, {T}
  }}
  %s_end = ptensor.updated %r#0 : {T}
  %y_end = ptensor.updated %r#1 : {T}
"""
"""`p = s @ b; s = |p|; y = -p`, three times."""

BEFORE_A_LOOP = f"""
  %p = tile.matmul %ta, %tb : {M}
  %s_end = tile.store %p, %s[0, 0] : {M}, {T}
  %tc = tile.load %c[0, 0] : {T} -> {M}
  %sum = scf.for %i = %c0 to %c3 step %c1 iter_args(%t = %tc) -> ({M}) {{
    %v = tile.load %s_end[0, 0] : {T} -> {M}
    %u = tile.add %t, %v : {M}
    scf.yield %u : {M}
  }}
  %y_end = tile.store %sum, %y[0, 0] : {M}, {T}
"""
"""`s = a @ b; y = c + 3 s`."""

ON_ONE_WAY = f"""
  %c2 = arith.constant 2 : index
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%s0 = %s, %y0 = %y) -> ({T}, {T}) {{
    %even = arith.remsi %i, %c2 : index
    %is_even = arith.cmpi eq, %even, %c0 : index
    %s2 = scf.if %is_even -> ({T}) {{
      %p = tile.matmul %ta, %tb : {M}
      %s1 = tile.store %p, %s0[0, 0] : {M}, {T}
      scf.yield %s1 : {T}
    }} else {{
      %v = tile.load %s0[0, 0] : {T} -> {M}
      %n = tile.neg %v : {M}
      %s1 = tile.store %n, %s0[0, 0] : {M}, {T}
      scf.yield %s1 : {T}
    }}
    scf.yield %s2, %y0 : {T}, {T}
  }}
  %tc = tile.load %c[0, 0] : {T} -> {M}
  %s_end = ptensor.updated %r#0 : {T}
  %y_end = tile.store %tc, %r#1[0, 0] : {M}, {T}
"""
"""`s` is written by the cores in turns: last `s = a @ b`; `y = c`."""


BY_ONE_HALF = f"""
  %p = tile.matmul %ta, %tb : {M}
  %s_end = tile.store %p, %s[0, 0] : {M}, {T}
  %tc = tile.load %c[0, 0] : {T} -> !tile.tile<32x32xf32>
  %e = tile.read %tc[0, 0] : !tile.tile<32x32xf32> -> f32
  %n = arith.fptosi %e : f32 to i32
  %c0_i32 = arith.constant 0 : i32
  %more = arith.cmpi sgt, %n, %c0_i32 : i32
  %y1 = scf.if %more -> ({T}) {{
    %v = tile.load %s_end[0, 0] : {T} -> {M}
    %y2 = tile.store %v, %y[0, 0] : {M}, {T}
    scf.yield %y2 : {T}
  }} else {{
    %y2 = tile.store %tc, %y[0, 0] : !tile.tile<32x32xf32>, {T}
    scf.yield %y2 : {T}
  }}
  %y_end = ptensor.updated %y1 : {T}
"""
"""`s = a @ b`; `y` is `s` or `c`, by the first element of `c`, which a vector core has alone."""


def region(part: str) -> str:
    """Each vector core stores its rows of a part to `s`; the cube core multiplies all of them."""
    return f"""
  %c16 = arith.constant 16 : index
  %p = tile.matmul %ta, %tb : {M}
  %s_end = orch.split_aiv %core mode up_down -> ({T}) {{
    %row = arith.muli %core, %c16 : index
    %h = {part} -> !tile.tile<16x32xf32>
    %s1 = tile.store %h, %s[%row, 0] : !tile.tile<16x32xf32>, {T}
    orch.yield %s1 : {T}
  }}
  %v = tile.load %s_end[0, 0] : {T} -> {M}
  %q = tile.matmul %v, %tb : {M}
  %y_end = tile.store %q, %y[0, 0] : {M}, {T}
"""


CASES: Mapping[str, Shared] = {
    "cube to vector": Shared(CUBE_TO_VECTOR, lambda a, b, c, s, y: (a @ b, -(a @ b))),
    "vector to cube": Shared(VECTOR_TO_CUBE, lambda a, b, c, s, y: (-c, -c @ b)),
    "written twice": Shared(WRITTEN_TWICE, lambda a, b, c, s, y: (-c, a @ a), follows=False),
    "read before": Shared(READ_BEFORE, lambda a, b, c, s, y: (a @ b, -s), follows=False),
    "to and fro": Shared(TO_AND_FRO, lambda a, b, c, s, y: _to_and_fro(s, b)),
    "before a loop": Shared(BEFORE_A_LOOP, lambda a, b, c, s, y: (a @ b, c + 3 * (a @ b))),
    "by one half": Shared(BY_ONE_HALF, lambda a, b, c, s, y: (a @ b, a @ b if c[0, 0] > 0 else c)),
    "on one way": Shared(ON_ONE_WAY, lambda a, b, c, s, y: (a @ b, c)),
}


def _to_and_fro(s: Any, b: Any) -> tuple[Any, Any]:
    p = s
    for _ in range(3):
        p = s @ b
        s = np.abs(p)
    return s, -p


def matrices() -> dict[str, Any]:
    """Small integers: sums are exact in any order."""
    rng = np.random.default_rng(0)
    found = {name: rng.integers(-2, 3, (32, 32)).astype(np.float32) for name in "abcsy"}
    found["b"] *= rng.random((32, 32)) < 0.1
    return found


def lowered(module: ModuleOp, passes: str) -> ModuleOp:
    PassPipeline.parse_spec(Universe.get_multiverse().all_passes, passes).apply(context(), module)
    module.verify()
    return module


def check(case: Shared, module: ModuleOp, seed: int | None) -> None:
    given = matrices()
    wanted = case.compute(*given.values())
    after = run(module, "main", given, cores=CoreSettings(seed)).parameters
    np.testing.assert_array_equal(after["s"], wanted[0])
    np.testing.assert_array_equal(after["y"], wanted[1])


@pytest.mark.parametrize("name", CASES)
def test_the_halves_do_what_the_whole_does(name: str):
    case = CASES[name]
    check(case, parsed(case.text), None)
    halves = parsed(case.text, HALVES)
    # On tiles too, before they are lowered.
    for passes in ("inject-gm-pipe-buffer", LOWERED, MACHINE):
        module = lowered(halves.clone(), passes)
        for seed in SEEDS:
            check(case, module, seed)


REGIONS: Mapping[str, Shared] = {
    "parts": Shared(
        region(f"tile.aiv_shard %p, split = up_down : {M}"),
        lambda a, b, c, s, y: (a @ b, a @ b @ b),
        "attributes {orch.split = #orch<split up_down>, orch.split_aiv}",
    ),
    "whole": Shared(
        region(f"tile.load %c[%row, 0] : {T}"),
        lambda a, b, c, s, y: (c, c @ b),
        "attributes {orch.split_aiv}",
    ),
}


@pytest.mark.parametrize("name", REGIONS)
def test_regions_for_one_core_each(name: str):
    case = REGIONS[name]
    module = parsed(case.text, f"{HALVES},{MACHINE}")
    for seed in SEEDS:
        check(case, module, seed)


SPLITS = {
    f"{name}, {split}": Shared(
        case.body, case.compute, f"attributes {{orch.split = #orch<split {split}>}}"
    )
    for name, case in CASES.items()
    # An element of a tile that is shared out is of one core.
    if "tile.read" not in case.body
    for split in ("up_down", "left_right")
}


@pytest.mark.parametrize("name", SPLITS)
def test_two_vector_cores_share_the_work(name: str):
    case = SPLITS[name]
    module = parsed(case.text, f"{HALVES},{MACHINE}")
    for seed in SEEDS:
        check(case, module, seed)


def _without(
    orders: Mapping[Operation, Order], *, pipes: bool
) -> Iterator[Mapping[Operation, Order]]:
    """The orders without one of the handovers; with `pipes`, or without one wait for all pipes."""
    for op, order in orders.items():
        for start, handover in order.handovers.items():
            others = {s: h for s, h in order.handovers.items() if s is not start}
            yield {**orders, op: Order(others, order.waits)}
            if handover.settles and pipes:
                yield {**orders, op: Order({**others, start: Handover(start)}, order.waits)}
        for half in order.waits if pipes else ():
            yield {**orders, op: Order(order.handovers, order.waits - {half})}


@pytest.mark.parametrize("name", CASES)
def test_what_is_missing_is_found(name: str, monkeypatch: pytest.MonkeyPatch):
    case = CASES[name]

    def less(place: int, kernel: FuncOp, roots: BufferRoots) -> Mapping[Operation, Order]:
        found = _without(core_orders(kernel, roots), pipes=not case.follows)
        return next(islice(found, place, None))

    for place in count():
        monkeypatch.setattr(expand_mixed_kernel, "core_orders", partial(less, place))
        try:
            halves = parsed(case.text, HALVES)
        except StopIteration:
            assert place > 0
            break
        if case.follows:
            # On tiles, whose pipes are not told apart, it is found at once.
            assert _is_found(case, halves, None), place
        module = lowered(halves, MACHINE)
        assert any(_is_found(case, module, seed) for seed in SEEDS), place


def _is_found(case: Shared, module: ModuleOp, seed: int | None) -> bool:
    try:
        check(case, module, seed)
    except DiagnosticsError as error:
        return "global memory" in error.diagnostics[0].message
    return False


def test_calls_that_order_the_cores_do():
    """Where the program lets all cores meet, nothing more is needed."""
    body = CUBE_TO_VECTOR.replace("%v =", "tile.syncall\n  %v =")
    case = Shared(body, CASES["cube to vector"].compute)
    halves = parsed(case.text, HALVES)
    assert not any(isinstance(op, RingOp) for op in walk(halves))
    for seed in SEEDS:
        check(case, lowered(halves.clone(), MACHINE), seed)


def test_tiles_that_pass_anyway_order_the_cores():
    """A product that passes after the store is taken before the load."""
    body = CUBE_TO_VECTOR.replace("%v =", f"%w = tile.neg %p : {M}\n  %v =").replace(
        "%n = tile.neg %v", "%n = tile.add %v, %w"
    )
    case = Shared(body, lambda a, b, c, s, y: (a @ b, np.zeros_like(a)))
    halves = parsed(case.text, HALVES)
    (push,) = [op for op in walk(halves) if isinstance(op, tile.TpushToAivOp)]
    assert push.tile.name_hint == "p"
    for seed in SEEDS:
        check(case, lowered(halves.clone(), MACHINE), seed)
