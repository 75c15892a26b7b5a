"""
The C++ of orchestration functions compiles without a warning, and submits what their task graphs
say.

It is compiled against a runtime that only records. The graph follows the same function op by op and
knows nothing of C++: tasks, their arguments with buffer, window and direction, dependencies and
scopes have to agree.
"""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest
from fuzz.test_generated_orchestrations import programs
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from support.orchestration_cpp import (
    COMPILER,
    assert_same_tasks,
    generate,
    orchestrations,
    submitted,
)
from support.programs import context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import PassPipeline
from xdsl.universe import Universe

from pypto_xdsl.diagnostics import DiagnosticsError, collecting
from pypto_xdsl.dialects.ptensor.types import is_tensor_type
from pypto_xdsl.frontend.pl import PlFrontend
from pypto_xdsl.pipelines import expand_pipelines
from pypto_xdsl.syntax.parser import parse_module

EXAMPLES = Path(__file__).parent.parent.parent / "docs" / "examples"
NO_COMPILER = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler (g++ or clang++) here")
SCOPES = "materialize-runtime-scopes,classify-iter-arg-carry"


def after(passes: str, text: str, name: str) -> ModuleOp:
    """A program after passes. Raises `DiagnosticsError` if it is wrong."""
    module = parse_module(context(), text, name)
    with collecting():
        known = Universe.get_multiverse().all_passes
        PassPipeline.parse_spec(known, expand_pipelines(passes)).apply(context(), module)
    return module


def compare(module: ModuleOp, scratch: Path, scalar: int) -> int:
    """Run the C++ of each function with a value for its scalars; the number of tasks compared."""
    tasks = 0
    for function in orchestrations(module):
        scalars = {
            parameter.name_hint or f"arg{position}": scalar
            for position, parameter in enumerate(function.parameters)
            if not is_tensor_type(parameter.type)
        }
        text = generate(module, function.sym_name.data)
        log = submitted(text, function, scratch, scalars)
        tasks += assert_same_tasks(module, function, log, scalars)
    return tasks


# The examples.

COMPARED = {
    "call_directions.mlir": 4,
    "column_accumulate.mlir": 1,
    "flash_attention.py": 1,
    "flash_attention_tasks.py": 0,  # Its loops have extents of arguments as bounds.
    "gather_compare.mlir": 1,
    "if_yield.mlir": 1,
    "jit.py": 2,
    "loop_carry.mlir": 1,
    "matrix_layout_move.mlir": 1,
    "mixed_kernel.py": 1,
    "operators.py": 2,
    "return_order.mlir": 2,
    "runtime_scopes.py": 2,
    "scopes_as_tasks.py": 2,
    "several_results.py": 2,
    "shared_buffers.py": 8,
    "softmax.mlir": 1,
    "softmax.py": 0,  # How often its loop runs only a run knows.
    "spmd.py": 2,
    "standalone_functions.py": 1,
    "submit.py": 7,
    "vector_add.mlir": 1,
    "vector_add.py": 1,
}
"""The examples with orchestration functions, and how many tasks each launches."""


REFUSED = {
    "levels.py": "calls 'main_chip_0', which is a function of kind opaque",
    "outline.mlir": "computes on tensors, which orchestration does not",
}
"""The examples whose orchestration functions do what no orchestrator does, and what is said."""


def lowered(name: str) -> ModuleOp:
    path = EXAMPLES / name
    text = path.read_text()
    if path.suffix == ".py":
        text = str(PlFrontend().parse(context(), BytesIO(path.read_bytes()), name))
    return after("default-pipeline", text, name)


@NO_COMPILER
@pytest.mark.parametrize("name", COMPARED)
def test_examples(name: str, tmp_path: Path) -> None:
    assert compare(lowered(name), tmp_path, scalar=2) == COMPARED[name]


@pytest.mark.parametrize("name", REFUSED)
def test_refused_examples(name: str) -> None:
    module = lowered(name)
    with pytest.raises(DiagnosticsError, match=REFUSED[name]):
        generate(module)


OTHERS = sorted({path.name for path in EXAMPLES.iterdir()} - COMPARED.keys() - REFUSED.keys())


@pytest.mark.parametrize("name", OTHERS)
def test_no_example_is_left_out(name: str) -> None:
    """The other examples have no orchestration function, or the pipeline does not lower them."""
    try:
        module = lowered(name)
    except DiagnosticsError:
        return
    assert not orchestrations(module)


# Generated programs: loops of all kinds, whiles, branches, scopes, exchanged buffers, groups.


@NO_COMPILER
@settings(
    max_examples=15,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    database=None,
)
@given(text=programs(), n=st.integers(0, 2), named=st.booleans())
def test_generated_programs(
    text: str, n: int, named: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    directions = "normalize-return-order,derive-call-directions"
    if named:
        directions += ",auto-derive-task-dependencies"
    module = after(f"{directions},{SCOPES}", text, "generated")
    try:
        compare(module, tmp_path_factory.mktemp("generated"), n)
    except DiagnosticsError as error:
        # The orchestrator copies no buffers, and calls no fragments.
        if "copies a buffer" not in str(error) and "of kind graph" not in str(error):
            raise
        reject()


# What each construct submits.

T = "tensor<16xf32>"
M = "tensor<64x32xf32>"
ID = "!orch.task_id"
KERNELS = f"""
orch.func incore @copy(in {T}, out {T}) -> {T} returns [1]
orch.func incore @update(in {T}, inout {T}) -> {T} returns [1]
orch.func incore @rows(in tensor<16x32xf32>, out tensor<16x32xf32>) -> tensor<16x32xf32> returns [1]
orch.func incore @row(in tensor<32xf32>, inout {T}) -> {T} returns [1]
orch.func incore @scaled(in {T}, out {T}, in index, in f32) -> {T} returns [1]
"""
CONSTANTS = "\n".join(
    f"  %c{number} = arith.constant {number} : index" for number in (0, 1, 2, 3, 4, 16, 32)
)

PROGRAMS: dict[str, tuple[str, int]] = {
    # A manual scope: the identity that a parallel loop hands on is one a trip.
    "parallel_loop_in_manual_scope": (
        f"""
orch.func orchestration @main(in %x : {T}, out %o : {T}, in %n : index) {{
{CONSTANTS}
  orch.task_scope manual {{
    %none = orch.task_invalid
    %last = scf.for %i = %c0 to %c4 step %c1 iter_args(%t = %none) -> ({ID}) {{
      %o1, %t1 = orch.submit @copy(%x, %o) : ({T}, {T}) -> ({T}, {ID})
      scf.yield %t1 : {ID}
    }} {{orch.loop = #orch<loop parallel>}}
    %o2, %t2 = orch.submit @update(%x, %o) deps [%last] : ({T}, {T}) -> ({T}, {ID})
    orch.yield
  }}
  orch.return
}}""",
        5,
    ),
    # Loops around one another: the outer carries as many tasks as the inner has trips.
    "sequential_phases_of_parallel_tasks": (
        f"""
orch.func orchestration @main(in %x : {T}, inout %o : {T}) {{
{CONSTANTS}
  orch.task_scope manual {{
    %none = orch.task_invalid
    %all = scf.for %p = %c0 to %c3 step %c1 iter_args(%before = %none) -> ({ID}) {{
      %phase = scf.for %i = %c4 to %c16 step %c4 iter_args(%t = %none) -> ({ID}) {{
        %o1, %t1 = orch.submit @update(%x, %o) deps [%before] : ({T}, {T}) -> ({T}, {ID})
        scf.yield %t1 : {ID}
      }} {{orch.loop = #orch<loop parallel>}}
      scf.yield %phase : {ID}
    }}
    %d = orch.task_dummy deps [%all]
    %o2, %t2 = orch.submit @update(%x, %o) deps [%d] : ({T}, {T}) -> ({T}, {ID})
    orch.yield
  }}
  orch.return
}}""",
        11,
    ),
    # Arrays are values: an update of one that is still read goes into a copy.
    "arrays": (
        f"""
orch.func orchestration @main(in %x : {T}, inout %o : {T}, in %n : index) {{
{CONSTANTS}
  %a = orch.array.create : !orch.array<4x{ID}>
  %o1, %t1 = orch.submit @update(%x, %o) : ({T}, {T}) -> ({T}, {ID})
  %b = orch.array.update_element %t1, %a[%c1] : {ID}, !orch.array<4x{ID}>
  %o2, %t2 = orch.submit @update(%x, %o1) deps [%a : !orch.array<4x{ID}>]
      : ({T}, {T}) -> ({T}, {ID})
  %c, %o3 = scf.for %i = %c0 to %c4 step %c1 iter_args(%ids = %b, %it = %o2)
      -> (!orch.array<4x{ID}>, {T}) {{
    %old = orch.array.get_element %ids[%i] : !orch.array<4x{ID}>
    %it1, %t = orch.submit @update(%x, %it) deps [%old] : ({T}, {T}) -> ({T}, {ID})
    %ids1 = orch.array.update_element %t, %ids[%i] : {ID}, !orch.array<4x{ID}>
    scf.yield %ids1, %it1 : !orch.array<4x{ID}>, {T}
  }}
  %first = arith.cmpi slt, %n, %c1 : index
  %d = scf.if %first -> (!orch.array<4x{ID}>) {{
    %d1 = orch.array.update_element %t2, %c[%c0] : {ID}, !orch.array<4x{ID}>
    scf.yield %d1 : !orch.array<4x{ID}>
  }} else {{
    scf.yield %b : !orch.array<4x{ID}>
  }}
  %o4, %t4 = orch.submit @update(%x, %o3)
      deps [%d : !orch.array<4x{ID}>, %c : !orch.array<4x{ID}>, %b : !orch.array<4x{ID}>]
      : ({T}, {T}) -> ({T}, {ID})
  orch.return
}}""",
        7,
    ),
    # Windows that move, lose dimensions, are seen in another shape and transposed.
    "views": (
        f"""
orch.func orchestration @main(in %x : {M}, out %o : {M}, inout %s : {T}) -> {M} {{
{CONSTANTS}
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%it = %o) -> ({M}) {{
    %row = arith.muli %i, %c16 : index
    %a = ptensor.slice %x[%row, 0] : {M} -> tensor<16x32xf32>
    %b = ptensor.slice %it[%row, 0] : {M} -> tensor<16x32xf32>
    %b1 = orch.call @rows(%a, %b) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %it1 = ptensor.assemble %b1, %it[%row, 0] : tensor<16x32xf32>, {M}
    scf.yield %it1 : {M}
  }}
  %line = ptensor.slice %r[3, 0] : {M} -> tensor<32xf32>
  %s1 = orch.call @row(%line, %s) : (tensor<32xf32>, {T}) -> {T}
  %wide = ptensor.reshape %r : {M} -> tensor<4x16x32xf32>
  %block = ptensor.slice %wide[2, 0, 0] : tensor<4x16x32xf32> -> tensor<16x32xf32>
  %c = ptensor.slice %o[48, 0] : {M} -> tensor<16x32xf32>
  %c1 = orch.call @rows(%block, %c) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
  orch.return %r : {M}
}}""".replace("  %c1 = orch.call", "  %done = orch.call"),
        6,
    ),
    # What a kernel allocates itself, what is created and filled, and what scalars are passed.
    "buffers_and_scalars": (
        f"""
orch.func orchestration @main(in %x : {T}, out %o : {T}, in %n : index, in %f : f32) -> {T} {{
{CONSTANTS}
  %zero = arith.constant 0.0 : f32
  %full = ptensor.full %zero : f32 -> tensor<16xf32>
  %made, %t = orch.submit @copy(%x) : ({T}) -> ({T}, {ID})
  %full1 = orch.call @update(%made, %full) : ({T}, {T}) -> {T}
  %m = arith.addi %n, %c3 : index
  %o1 = orch.call @scaled(%full1, %o, %m, %f) launch %m : ({T}, {T}, index, f32) -> {T}
  orch.return %o1 : {T}
}}""",
        3,
    ),
    # An extent comes out of a branch, and so does a number that a loop carries.
    "extents_of_branches": (
        f"""
orch.func incore @any(inout tensor<?xf32>) -> tensor<?xf32> returns [0]
orch.func orchestration @main(in %x : {T}, out %o : {T}, in %n : index, in %f : f32) {{
{CONSTANTS}
  %small = arith.cmpi slt, %n, %c1 : index
  %m = scf.if %small -> (index) {{
    scf.yield %c16 : index
  }} else {{
    scf.yield %n : index
  }}
  %t = ptensor.create sizes = [%m] : tensor<?xf32>
  %t1 = orch.call @any(%t) : (tensor<?xf32>) -> tensor<?xf32>
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%k = %n, %it = %o) -> (index, {T}) {{
    %it1 = orch.call @scaled(%x, %it, %k, %f) : ({T}, {T}, index, f32) -> {T}
    scf.yield %i, %it1 : index, {T}
  }}
  %o1 = orch.call @scaled(%x, %r#1, %r#0, %f) : ({T}, {T}, index, f32) -> {T}
  orch.return
}}""",
        5,
    ),
    # A while hands on buffers and numbers; branches choose between both.
    "while_and_branches": (
        f"""
orch.func orchestration @main(in %x : {T}, inout %a : {T}, inout %b : {T}, in %n : index)
    -> ({T}, {T}) {{
{CONSTANTS}
  %k, %p, %q = scf.while (%i = %c0, %u = %a, %v = %b)
      : (index, {T}, {T}) -> (index, {T}, {T}) {{
    %go = arith.cmpi slt, %i, %c3 : index
    scf.condition(%go) %i, %u, %v : index, {T}, {T}
  }} do {{
  ^bb0(%i : index, %u : {T}, %v : {T}):
    %next = arith.addi %i, %c1 : index
    %v1 = orch.call @update(%u, %v) : ({T}, {T}) -> {T}
    %odd = arith.remsi %i, %c2 : index
    %is_odd = arith.cmpi eq, %odd, %c1 : index
    %w, %z = scf.if %is_odd -> ({T}, {T}) {{
      scf.yield %v1, %u : {T}, {T}
    }} else {{
      %u1 = orch.call @update(%x, %u) : ({T}, {T}) -> {T}
      scf.yield %u1, %v1 : {T}, {T}
    }}
    scf.yield %next, %z, %w : index, {T}, {T}
  }}
  %p1 = orch.call @scaled(%x, %p, %k, %f) : ({T}, {T}, index, f32) -> {T}
  orch.return %p1, %q : {T}, {T}
}}""".replace("in %n : index)", "in %n : index, in %f : f32)"),
        6,
    ),
}


@NO_COMPILER
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("scalar", [0, 2])
def test_programs(name: str, scalar: int, tmp_path: Path) -> None:
    text, tasks = PROGRAMS[name]
    module = after(f"derive-call-directions,{SCOPES}", KERNELS + text, f"{name}.mlir")
    assert compare(module, tmp_path, scalar) == tasks


def test_it_is_the_same_every_time() -> None:
    """The text depends on the program alone."""
    text, _ = PROGRAMS["views"]
    modules = [after(f"derive-call-directions,{SCOPES}", KERNELS + text, "a") for _ in range(2)]
    assert generate(modules[0]) == generate(modules[1])
    # Writing it changes nothing.
    before = str(modules[0])
    generate(modules[0])
    assert str(modules[0]) == before


def test_it_needs_what_the_passes_find_out() -> None:
    text, _ = PROGRAMS["views"]
    module = parse_module(context(), KERNELS + text, "a.mlir")
    with pytest.raises(DiagnosticsError, match="requires property CallDirectionsResolved"):
        generate(module)
