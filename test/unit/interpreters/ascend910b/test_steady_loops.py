"""
Loops whose iterations do the same to the checks of a core run as what is left of them. Nobody can
tell: the arrays, the errors with their lines and notes, and what is found after the loop are those
of a run in which every iteration is checked.
"""

from __future__ import annotations

import warnings
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.machine_programs import parsed
from xdsl.dialects import func
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp, f32

from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.dialects.ascend910b import EventOp
from pypto_xdsl.interpreters.ascend910b import steady_loops
from pypto_xdsl.interpreters.ascend910b.loop_code import BoundLoop
from pypto_xdsl.interpreters.core_settings import Check, CoreSettings
from pypto_xdsl.interpreters.elements import element_of
from pypto_xdsl.interpreters.pto import run_kernel
from pypto_xdsl.interpreters.pto.globals import Pointer
from pypto_xdsl.interpreters.run import machine_for, running

T = "!pto.tile_buf<vec, 16x64xf32>"
C = "!pto.tile_buf<vec, 16x1xf32, blayout=col_major>"
P = "!pto.partition_tensor_view<16x64xf32>"
V = "!pto.tensor_view<?x?xf32>"
ADDRESSES = (0, 4096, 8192, 2048)
"""Of the tiles `t0`, `t1`, ...; the last one overlaps two of them."""

Outcome = tuple[dict[str, np.ndarray[Any, Any]], list[str]]


def program(body: str, after: str = "", first: int = 0) -> str:
    """A kernel that loops over 16 rows of `x` and `y` at a time, from a row on."""
    tiles = "\n".join(
        f"%a{k} = arith.constant {address} : i64\n%t{k} = pto.alloc_tile addr = %a{k} : {T}"
        for k, address in enumerate(ADDRESSES)
    )
    return f"""
module attributes {{pto.target_arch = "a2a3"}} {{
func.func @kernel(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %n: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %first = arith.constant {first} : index
  %two = arith.constant 2.0 : f32
  %rows = arith.muli %n, %c16 : index
  %sa = arith.constant 16384 : i64
  %s = pto.alloc_tile addr = %sa : {C}
  {tiles}
  %xv = pto.make_tensor_view %x, shape = [%rows, %c64], strides = [%c64, %c1] : {V}
  %yv = pto.make_tensor_view %y, shape = [%rows, %c64], strides = [%c64, %c1] : {V}
  %fixed = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c16, %c64] : {V} -> {P}
  pto.tload ins(%fixed : {P}) outs(%t0 : {T})
  pto.tload ins(%fixed : {P}) outs(%t1 : {T})
  pto.tload ins(%fixed : {P}) outs(%t2 : {T})
  %end = scf.for %i = %first to %rows step %c16 iter_args(%k = %first) -> (index) {{
    %k1 = arith.addi %k, %c16 : index
    %xi = pto.partition_view %xv, offsets = [%i, %c0], sizes = [%c16, %c64] : {V} -> {P}
    %yi = pto.partition_view %yv, offsets = [%i, %c0], sizes = [%c16, %c64] : {V} -> {P}
    {body}
    scf.yield %k1 : index
  }}
  {after}
  return
}}
}}
"""


LOADS = ("xi", "yi", "fixed", "next")
STORES = ("yi", "xi")


@st.composite
def instructions(draw: st.DrawFn, most: int = 6) -> str:
    """Some instructions on the tiles, one a line."""
    lines: list[str] = []
    for _ in range(draw(st.integers(1, most))):
        a, b, c = (draw(st.integers(0, 3)) for _ in range(3))
        match draw(st.sampled_from(["load", "load", "store", "add", "muls", "sum", "move"])):
            case "load":
                source = draw(st.sampled_from(LOADS))
                lines.append(f"pto.tload ins(%{source} : {P}) outs(%t{a} : {T})")
            case "store":
                target = draw(st.sampled_from(STORES))
                lines.append(f"pto.tstore ins(%t{a} : {T}) outs(%{target} : {P})")
            case "add":
                lines.append(f"pto.tadd ins(%t{a}, %t{b} : {T}, {T}) outs(%t{c} : {T})")
            case "muls":
                lines.append(f"pto.tmuls ins(%t{a}, %two : {T}, f32) outs(%t{b} : {T})")
            case "sum":
                lines.append(f"pto.trowsum ins(%t{a}, %t{b} : {T}, {T}) outs(%s : {C})")
            case _:
                lines.append(f"pto.tmov ins(%t{a} : {T}) outs(%t{b} : {T})")
    return "\n    ".join(lines)


NEXT = f"%next = pto.partition_view %xv, offsets = [%k, %c0], sizes = [%c16, %c64] : {V} -> {P}"
"""Where it starts differs from the index where a loop does not begin at zero."""


def outcome(
    module: ModuleOp, count: int, undefined: int | None, cores: CoreSettings, times: int = 1
) -> Outcome:
    """The arrays after a kernel has run, as far as they are defined, or the errors."""
    function = next(op for op in module.walk() if isinstance(op, func.FuncOp))
    machine = machine_for(module, cores=cores)
    element = element_of(f32)
    x = np.random.default_rng(0).integers(0, 50, (16 * count, 64)).astype(np.float32)
    defined = np.ones(x.shape, np.bool_)
    if undefined is not None:
        defined[undefined] = False
    tensors = {
        "x": machine.new_tensor(x, element, defined),
        "y": machine.undefined_tensor(x.shape, element),
    }
    values = (*map(Pointer.to, tensors.values()), IntegerAttr(count, IndexType()))
    found: list[str] = []
    with warnings.catch_warnings(record=True), running():
        for _ in range(times):
            try:
                run_kernel(machine, function, values)
            except DiagnosticsError as error:
                found = [str(diagnostic) for diagnostic in error.diagnostics]
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    for name, tensor in tensors.items():
        mask = tensor.defined_mask()
        arrays[name] = tensor.array if mask is None else np.where(mask, tensor.array, -1)
    return arrays, found


@contextmanager
def every_iteration_checked() -> Generator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steady_loops, "_FEWEST", 1 << 30)
        yield


def assert_same(text: str | ModuleOp, count: int, undefined: int | None = None, **named: Any):
    module = parsed(text, PASSES) if isinstance(text, str) else text
    cores = CoreSettings(**named)
    with every_iteration_checked():
        arrays, errors = outcome(module, count, undefined, cores, times=2)
    got, found = outcome(module, count, undefined, cores, times=2)
    assert found == errors
    for name, array in arrays.items():
        np.testing.assert_array_equal(got[name], array)


PASSES = "convert-pto-to-ascend910b,insert-sync"


@contextmanager
def counted(iterations: list[int]) -> Generator[None]:
    """Notes how many iterations at a time run as what is left of them."""
    run = BoundLoop.run

    def counting(self: BoundLoop, *args: Any) -> Any:
        found = run(self, *args)
        iterations.append(found[0])
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BoundLoop, "run", counting)
        yield


LOAD = f"pto.tload ins(%xi : {P}) outs(%t0 : {T})\n"
DOUBLE = f"pto.tadd ins(%t0, %t0 : {T}, {T}) outs(%t1 : {T})\n"
STORE = f"pto.tstore ins(%t1 : {T}) outs(%yi : {P})\n"


def inner_loop(body: str) -> str:
    """A loop inside over four windows of `x`, called `xi` too."""
    return f"""scf.for %j = %c0 to %c64 step %c16 {{
      %xj = pto.partition_view %xv, offsets = [%j, %c0], sizes = [%c16, %c64] : {V} -> {P}
      {body.replace("%xi", "%xj").replace("%next", "%xj")}
    }}"""


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(
    body=instructions(),
    inner=st.none() | instructions(most=3),
    last=st.just("") | instructions(most=2),
    after=instructions(most=3),
    first=st.sampled_from([0, 16, -16]),
    drops=st.lists(st.integers(0, 40), max_size=2),
    count=st.sampled_from([24, 5, 6, 7, 8, 9]),
    undefined=st.none() | st.integers(0, 16 * 24 - 1),
    lenient=st.booleans(),
)
def test_any_loop_does_what_it_does_when_every_iteration_is_checked(
    body: str,
    inner: str | None,
    last: str,
    after: str,
    first: int,
    drops: list[int],
    count: int,
    undefined: int | None,
    lenient: bool,
) -> None:
    """Some with events dropped, with undefined rows, or outside of what there is."""
    after = after.replace("%xi", "%fixed").replace("%yi", "%fixed").replace("%next", "%fixed")
    if inner is not None:
        body = f"{body}\n{inner_loop(inner)}\n{last}"
    module = parsed(program(f"{NEXT}\n    {body}", after, first), PASSES)
    events = [op for op in module.walk() if isinstance(op, EventOp)]
    for place in drops:
        if place < len(events) and events[place].parent is not None:
            events[place].detach()
    checks = frozenset({Check.ORDER, Check.UNDEFINED}) if lenient else frozenset[Check]()
    if undefined is not None:
        undefined %= 16 * count
    assert_same(module, count, undefined, lenient=checks)


def test_a_loop_over_blocks_is_steady() -> None:
    iterations: list[int] = []
    module = parsed(program(LOAD + DOUBLE + STORE), PASSES)
    with counted(iterations):
        arrays, errors = outcome(module, 40, None, CoreSettings())
    assert not errors
    np.testing.assert_array_equal(arrays["y"], 2 * arrays["x"])
    # All but those that found out.
    assert iterations == [37]


def test_a_nest_of_loops_is_steady_as_a_whole() -> None:
    add = f"pto.tadd ins(%t0, %t1 : {T}, {T}) outs(%t1 : {T})\n"
    zero = f"pto.tsub ins(%t1, %t1 : {T}, {T}) outs(%t1 : {T})\n"
    iterations: list[int] = []
    module = parsed(program(zero + inner_loop(LOAD + add) + STORE), PASSES)
    with counted(iterations):
        arrays, errors = outcome(module, 40, None, CoreSettings())
    assert not errors
    wanted = arrays["x"][:64].reshape(4, 16, 64).sum(axis=0)
    np.testing.assert_array_equal(arrays["y"], np.tile(wanted, (40, 1)))
    assert iterations == [38]


def test_a_sum_over_the_iterations_is_kept_on_the_core() -> None:
    text = program(
        f"{LOAD}pto.tadd ins(%t0, %t1 : {T}, {T}) outs(%t1 : {T})\n", STORE.replace("%yi", "%fixed")
    )
    iterations: list[int] = []
    with counted(iterations):
        arrays, errors = outcome(parsed(text, PASSES), 40, None, CoreSettings())
    assert not errors
    assert sum(iterations) > 30
    x = np.random.default_rng(0).integers(0, 50, (640, 64)).astype(np.float32)
    total = x[:16] + x.reshape(40, 16, 64).sum(axis=0)
    np.testing.assert_array_equal(arrays["x"][:16], total)


def test_an_array_is_changed_in_place() -> None:
    assert_same(program(LOAD + DOUBLE + STORE.replace("%yi", "%xi")), 40)


def test_a_row_that_nobody_wrote_is_found_in_its_iteration() -> None:
    module = parsed(program(LOAD + DOUBLE + STORE), PASSES)
    iterations: list[int] = []
    with counted(iterations):
        arrays, errors = outcome(module, 40, 16 * 30 + 5, CoreSettings())
    assert iterations == [27]
    (error,) = errors
    assert "reads bytes 1280..1284 of ub, which nobody wrote: element [5, 0] of [16, 64]" in error
    assert "pto.tadd" in module_line(module, error)
    np.testing.assert_array_equal(arrays["y"][: 16 * 30], 2 * arrays["x"][: 16 * 30])
    assert (arrays["y"][16 * 30 :] == -1).all()


def module_line(module: ModuleOp, error: str) -> str:
    """The name of the op at the line of an error."""
    line = int(error.split(":")[1])
    return program(LOAD + DOUBLE + STORE).split("\n")[line - 1]


BY_HAND = f"""
func.func @kernel(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %n: index)
    attributes {{ascend910b.core = #ascend910b<core aiv>}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %rows = arith.muli %n, %c16 : index
  %end = arith.subi %rows, %c16 : index
  %xv = pto.make_tensor_view %x, shape = [%rows, %c64], strides = [%c64, %c1] : {V}
  %yv = pto.make_tensor_view %y, shape = [%rows, %c64], strides = [%c64, %c1] : {V}
  %first = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c16, %c64] : {V} -> {P}
  %last = pto.partition_view %yv, offsets = [%end, %c0], sizes = [%c16, %c64] : {V} -> {P}
  %t = ascend910b.view ub[0] : {T}
  %u = ascend910b.view ub[4096] : {T}
  %free = ascend910b.view ub[8192] : {T}
  ascend910b.set_flag V -> MTE2, 0
  ascend910b.set_flag MTE3 -> V, 0
  scf.for %i = %c0 to %end step %c16 {{
    %xp = pto.partition_view %xv, offsets = [%i, %c0], sizes = [%c16, %c64] : {V} -> {P}
    %yp = pto.partition_view %yv, offsets = [%i, %c0], sizes = [%c16, %c64] : {V} -> {P}
    ascend910b.wait_flag V -> MTE2, 0
    pto.tload ins(%xp : {P}) outs(%t : {T})  // load
    ascend910b.set_flag MTE2 -> V, 0
    ascend910b.wait_flag MTE2 -> V, 0
    ascend910b.wait_flag MTE3 -> V, 0
    pto.tadd ins(%t, %t : {T}, {T}) outs(%u : {T})  // add
    ascend910b.set_flag V -> MTE2, 0
    ascend910b.set_flag V -> MTE3, 0
    ascend910b.wait_flag V -> MTE3, 0
    pto.tstore ins(%u : {T}) outs(%yp : {P})  // store
    ascend910b.set_flag MTE3 -> V, 0
  }}
  AFTER
  ascend910b.wait_flag MTE3 -> V, 0
  ascend910b.wait_flag V -> MTE2, 0
  return
}}
"""

AFTER: dict[str, tuple[str, str, str | None]] = {
    "the vector pipe has waited for the last load": (
        f"pto.tadd ins(%t, %t : {T}, {T}) outs(%free : {T})",
        "",
        None,
    ),
    "and so has what waited for the vector pipe": (
        f"pto.tstore ins(%t : {T}) outs(%last : {P})",
        "",
        None,
    ),
    "the last store may still read what is computed over": (
        f"pto.tadd ins(%t, %t : {T}, {T}) outs(%u : {T})",
        "writes bytes 4096..8192 of ub on pipe V of the vector core that pipe MTE3 of the vector "
        "core may still have to read",
        "// store",
    ),
    "the last addition may still read what is loaded over": (
        f"pto.tload ins(%first : {P}) outs(%t : {T})",
        "writes bytes 0..4096 of ub on pipe MTE2 of the vector core that pipe V of the vector core "
        "may still have to read",
        "// add",
    ),
    "the last addition may not have written what is loaded over": (
        f"pto.tload ins(%first : {P}) outs(%u : {T})",
        "writes bytes 4096..8192 of ub on pipe MTE2 of the vector core that pipe V of the vector "
        "core may still have to write",
        "// add",
    ),
    "the last store may not have reached global memory": (
        "%c32 = arith.constant 32 : index\n  %before = arith.subi %rows, %c32 : index\n"
        "  %stored = pto.partition_view %yv, offsets = [%before, %c0], sizes = [%c16, %c64] : "
        f"{V} -> {P}\n  pto.tload ins(%stored : {P}) outs(%free : {T})",
        "reads global memory on pipe MTE2 of the vector core that pipe MTE3 of the vector core may "
        "still have to write",
        "// store",
    ),
    "nor may a store of an iteration before": (
        "%stored = pto.partition_view %yv, offsets = [%c16, %c0], sizes = [%c16, %c64] : "
        f"{V} -> {P}\n  pto.tload ins(%stored : {P}) outs(%free : {T})",
        "",
        None,
    ),
    "a row that the loop does not write": (
        "%z = arith.constant 0.0 : f32\n  ascend910b.barrier ALL\n  %stored = "
        "pto.partition_view %yv, offsets = [%end, %c0], sizes = [%c16, %c64] : "
        f"{V} -> {P}\n  pto.tload ins(%stored : {P}) outs(%free : {T})\n"
        f"  ascend910b.barrier ALL\n  pto.tadd ins(%free, %free : {T}, {T}) outs(%free : {T})",
        "which nobody wrote",
        "pto.tload ins(%stored",
    ),
    "the event of the last iteration is still set": (
        "ascend910b.set_flag MTE3 -> V, 0",
        "sets an event that is still set",
        "    ascend910b.set_flag MTE3 -> V, 0",
    ),
}


AGAIN = """scf.for %again = %c16 to %c64 step %c16 {
  %is_first = arith.cmpi eq, %again, %c16 : index
  scf.if %is_first {
  }
  scf.for %i"""
"""A loop whose iterations differ, around one whose iterations do not."""


@pytest.mark.parametrize("is_repeated", [False, True])
@pytest.mark.parametrize("case", AFTER)
def test_what_comes_after_the_loop_is_checked_against_its_last_iterations(
    case: str, is_repeated: bool
) -> None:
    after, message, where = AFTER[case]
    text = BY_HAND.replace("AFTER", after)
    if is_repeated:
        text = text.replace("scf.for %i", AGAIN).replace("  }\n  " + after, "  }\n  }\n  " + after)
    module = parsed(text)
    assert_same(module, 24)
    iterations: list[int] = []
    with counted(iterations):
        _, errors = outcome(module, 24, None, CoreSettings())
    assert sum(iterations) > 16
    if not message:
        assert errors == []
        return
    (error,) = errors
    assert message in error
    if where is not None:
        lines = [n for n, line in enumerate(text.split("\n"), 1) if where in line]
        assert f"program.mlir:{lines[0]}:" in error


def test_progress_counts_every_iteration() -> None:
    class Counter:
        iterations = 0
        entered: list[int] = []

        def enter(self, loop: Any, count: int) -> None:
            self.entered.append(count)

        def advance(self) -> None:
            self.iterations += 1

        def leave(self) -> None: ...

        def launch(self, op: Any, name: str) -> None: ...

    module = parsed(program(LOAD + DOUBLE + STORE), PASSES)
    function = next(op for op in module.walk() if isinstance(op, func.FuncOp))
    progress = Counter()
    machine = machine_for(module, progress=progress)
    element = element_of(f32)
    tensors = [machine.new_tensor(np.ones((640, 64), np.float32), element) for _ in range(2)]
    with running():
        run_kernel(machine, function, (*map(Pointer.to, tensors), IntegerAttr(40, IndexType())))
    assert progress.entered == [40]
    assert progress.iterations == 40
