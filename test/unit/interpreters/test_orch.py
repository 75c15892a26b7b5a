"""Calls, submits, scopes, tasks and control flow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.programs import program
from xdsl.interpreter import PythonValues

from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.interpreters.arguments import ArgumentError
from pypto_xdsl.interpreters.machine import Machine
from pypto_xdsl.interpreters.run import RunResult, find_function, run
from pypto_xdsl.interpreters.tasks import Launch, Task

KERNEL = """
orch.func incore @fill(in %v : i32, out %y : tensor<8xi32>) -> tensor<8xi32> {
  %b = tile.get_block_idx : index
  %i = arith.index_cast %b : index to i32
  %s = arith.addi %v, %i : i32
  %y1 = ptensor.write %s, %y[%b] : i32, tensor<8xi32>
  orch.return %y1 : tensor<8xi32>
}
"""


def run_text(text: str, *arguments: Any, function: str = "main", **options: Any) -> RunResult:
    return run(program(text), function, arguments, **options)


def test_calls_write_through_their_arguments():
    result = run_text(
        KERNEL
        + """
        orch.func orchestration @main(out %y : tensor<8xi32>) -> tensor<8xi32> {
          %c = arith.constant 5 : i32
          %r = orch.call @fill(%c, %y) : (i32, tensor<8xi32>) -> tensor<8xi32>
          orch.return %r : tensor<8xi32>
        }
        """,
        None,
    )
    assert result.parameters["y"][0] == 5
    assert result.returned_parameters == (0,)


def test_an_spmd_launch_runs_each_block():
    result = run_text(
        KERNEL
        + """
        orch.func orchestration @main(out %y : tensor<8xi32>, in %n : index) -> tensor<8xi32> {
          %c = arith.constant 10 : i32
          %r = orch.call @fill(%c, %y) launch %n : (i32, tensor<8xi32>) -> tensor<8xi32>
          orch.return %r : tensor<8xi32>
        }
        """,
        None,
        8,
    )
    assert result.parameters["y"].tolist() == list(range(10, 18))


def test_scopes_run_where_they_stand_and_blocks_know_their_number():
    result = run_text(
        """
        orch.func opaque @main(inout %y : tensor<4xindex>, in %n : index) {
          %r = orch.spmd "k" launch %n -> (tensor<4xindex>) {
            %b = tile.get_block_idx : index
            %count = tile.get_block_num : index
            %z = orch.incore -> (tensor<4xindex>) {
              %y1 = ptensor.write %count, %y[%b] : index, tensor<4xindex>
              orch.yield %y1 : tensor<4xindex>
            }
            orch.yield %z : tensor<4xindex>
          }
          %after = tile.get_block_num : index
          %zero = arith.constant 0 : index
          %y2 = ptensor.write %after, %r[%zero] : index, tensor<4xindex>
          orch.return
        }
        """,
        np.zeros(4, np.int64),
        3,
    )
    assert result.parameters["y"].tolist() == [1, 3, 3, 0]


def test_both_vector_cores_run_a_split_region():
    result = run_text(
        """
        orch.func incore @main(in %x : tensor<4x2xf32>, out %y : tensor<4x2xf32>) {
          %t = tile.load %x[0, 0] : tensor<4x2xf32> -> !tile.tile<4x2xf32>
          %two = arith.constant 2 : index
          orch.split_aiv %core mode up_down {
            %sub = tile.get_subblock_idx : index
            %half = tile.aiv_shard %t, split = up_down : !tile.tile<4x2xf32> -> !tile.tile<2x2xf32>
            %row = arith.muli %sub, %two : index
            %u = tile.add %half, %half : !tile.tile<2x2xf32>
            %y1 = tile.store %u, %y[%row, 0] : !tile.tile<2x2xf32>, tensor<4x2xf32>
          }
          orch.return
        }
        """,
        np.arange(8, dtype=np.float32).reshape(4, 2),
        None,
    )
    assert result.parameters["y"].ravel().tolist() == [0, 2, 4, 6, 8, 10, 12, 14]


def test_a_gather_has_the_parts_of_both_vector_cores():
    result = run_text(
        """
        orch.func incore @main(in %x : tensor<4x2xf32>, out %y : tensor<4x2xf32>) {
          %two = arith.constant 2 : index
          %whole = orch.split_aiv %core mode up_down -> (!tile.tile<4x2xf32>) {
            %row = arith.muli %core, %two : index
            %t = tile.load %x[%row, 0] : tensor<4x2xf32> -> !tile.tile<2x2xf32>
            %u = tile.neg %t : !tile.tile<2x2xf32>
            %g = tile.aic_gather %u, split = up_down : !tile.tile<2x2xf32> -> !tile.tile<4x2xf32>
            orch.yield %g : !tile.tile<4x2xf32>
          }
          %y1 = tile.store %whole, %y[0, 0] : !tile.tile<4x2xf32>, tensor<4x2xf32>
          orch.return
        }
        """,
        np.arange(8, dtype=np.float32).reshape(4, 2),
        None,
    )
    np.testing.assert_array_equal(
        result.parameters["y"], -np.arange(8, dtype=np.float32).reshape(4, 2)
    )


SUBMIT = (
    KERNEL
    + """
    orch.func orchestration @main(out %y : tensor<8xi32>, in %flag : tensor<2xi32>) -> i1 {
      %c = arith.constant 7 : i32
      %none = orch.task_invalid
      %dummy = orch.task_dummy deps [%none]
      %r, %t = orch.submit @fill(%c, %y) deps [%dummy] predicate(%flag[1] ge 3 : tensor<2xi32>)
          : (i32, tensor<8xi32>) -> (tensor<8xi32>, !orch.task_id)
      %i = arith.constant 1 : index
      %ids = orch.array.create : !orch.array<2x!orch.task_id>
      %ids1 = orch.array.update_element %t, %ids[%i] : !orch.task_id, !orch.array<2x!orch.task_id>
      %back = orch.array.get_element %ids1[%i] : !orch.array<2x!orch.task_id>
      %zero = arith.constant 0 : index
      %other = orch.array.get_element %ids1[%zero] : !orch.array<2x!orch.task_id>
      %valid = orch.task_is_valid %back
      %empty = orch.task_is_valid %other
      %true = arith.constant true
      %no = arith.xori %empty, %true : i1
      %both = arith.andi %valid, %no : i1
      %y1 = ptensor.write %c, %r[%i] : i32, tensor<8xi32>
      orch.return %both : i1
    }
    """
)


@pytest.mark.parametrize(("flag", "first"), [(3, 7), (2, None)])
def test_a_predicate_decides_whether_a_task_runs(flag: int, first: int | None):
    result = run_text(SUBMIT, None, np.array([9, flag], np.int32))
    assert bool(result.results[0])
    # The result names the parameter whether or not the task ran.
    assert result.parameters["y"][1] == 7
    defined = result.tensors["y"].defined
    assert defined is not None
    assert defined[:3].tolist() == [first is not None, True, False]


def test_a_skipped_scope_leaves_what_it_captured():
    result = run_text(
        """
        orch.func opaque @main(inout %y : tensor<2xi32>, in %flag : tensor<1xi32>, in %v : i32) {
          %r = orch.incore predicate(%flag[0] ne 0 : tensor<1xi32>) -> (tensor<2xi32>) {
            %y1 = ptensor.write %v, %y[0] : i32, tensor<2xi32>
            orch.yield %y1 : tensor<2xi32>
          }
          %r1 = ptensor.write %v, %r[1] : i32, tensor<2xi32>
          orch.return
        }
        """,
        np.zeros(2, np.int32),
        np.zeros(1, np.int32),
        4,
    )
    assert result.parameters["y"].tolist() == [0, 4]


def test_a_skipped_task_has_no_computed_result():
    text = """
        orch.func incore @k(in %x : tensor<2xi32>) -> tensor<2xi32> {
          %y = ptensor.add %x, %x : tensor<2xi32>
          orch.return %y : tensor<2xi32>
        }
        orch.func orchestration @main(in %x : tensor<2xi32>) {
          %r, %t = orch.submit @k(%x) predicate(%x[0] eq 1 : tensor<2xi32>)
              : (tensor<2xi32>) -> (tensor<2xi32>, !orch.task_id)
          orch.return
        }
        """
    run_text(text, np.array([1, 2], np.int32))
    with pytest.raises(DiagnosticsError, match="its result 0, which names no argument, has no val"):
        run_text(text, np.array([0, 2], np.int32))


def test_omitted_out_parameters_are_allocated():
    result = run_text(
        """
        orch.func incore @k(in %x : tensor<?xi32, #ptensor.view<dims = [M]>>,
                            out %y : tensor<?xi32, #ptensor.view<dims = [M]>>)
            -> tensor<?xi32, #ptensor.view<dims = [M]>> {
          %y1 = ptensor.assemble %x, %y[0]
              : tensor<?xi32, #ptensor.view<dims = [M]>>, tensor<?xi32, #ptensor.view<dims = [M]>>
          orch.return %y1 : tensor<?xi32, #ptensor.view<dims = [M]>>
        }
        orch.func orchestration @main(in %x : tensor<3xi32>) -> tensor<3xi32> {
          %d = ptensor.type_cast %x : tensor<3xi32> -> tensor<?xi32, #ptensor.view<dims = [M]>>
          %r, %t = orch.submit @k(%d) : (tensor<?xi32, #ptensor.view<dims = [M]>>)
              -> (tensor<?xi32, #ptensor.view<dims = [M]>>, !orch.task_id)
          %s = ptensor.type_cast %r : tensor<?xi32, #ptensor.view<dims = [M]>> -> tensor<3xi32>
          orch.return %s : tensor<3xi32>
        }
        """,
        np.array([4, 5, 6], np.int32),
    )
    assert result.results[0].tolist() == [4, 5, 6]


def test_control_flow_carries_values_and_tensors():
    result = run_text(
        """
        orch.func opaque @main(inout %y : tensor<8xi32>, in %n : index) -> (i32, index) {
          %zero = arith.constant 0 : index
          %one = arith.constant 1 : index
          %start = arith.constant 0 : i32
          %r, %sum = scf.for %i = %zero to %n step %one
              iter_args(%it = %y, %s = %start) -> (tensor<8xi32>, i32) {
            %v = arith.index_cast %i : index to i32
            %odd = arith.trunci %v : i32 to i1
            %next, %s1 = scf.if %odd -> (tensor<8xi32>, i32) {
              %it1 = ptensor.write %v, %it[%i] : i32, tensor<8xi32>
              %added = arith.addi %s, %v : i32
              scf.yield %it1, %added : tensor<8xi32>, i32
            } else {
              scf.yield %it, %s : tensor<8xi32>, i32
            }
            scf.yield %next, %s1 : tensor<8xi32>, i32
          } {orch.loop = #orch<loop parallel>}
          %k = scf.while (%w = %n) : (index) -> index {
            %more = arith.cmpi sgt, %w, %one : index
            scf.condition(%more) %w : index
          } do {
          ^bb0(%w : index):
            %two = arith.constant 2 : index
            %half = arith.divsi %w, %two : index
            scf.yield %half : index
          }
          orch.return %sum, %k : i32, index
        }
        """,
        np.zeros(8, np.int32),
        8,
    )
    assert result.parameters["y"].tolist() == [0, 1, 0, 3, 0, 5, 0, 7]
    assert result.results == (16, 1)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("%q = arith.divsi %n, %zero : index", "6:8: error: 'arith.divsi' op divides by zero"),
        ("%q = arith.remui %n, %zero : index", "'arith.remui' op divides by zero"),
        ("scf.for %i = %zero to %n step %zero { }", "'scf.for' op needs a positive step, got 0"),
        (
            "%low = arith.constant -9223372036854775808 : index\n"
            "%high = arith.constant 9223372036854775807 : index\n"
            "%one = arith.constant 1 : index\n"
            "scf.for %i = %low to %high step %one { }",
            "'scf.for' op has 18446744073709551615 iterations, which no run gets through",
        ),
        ("%q = arith.shli %n, %big : index", "'arith.shli' op shifts 64 bits by 64"),
        ("%q = arith.fptosi %nan : f32 to i32", "'arith.fptosi' op converts nan, which i32 does"),
        (
            "%a = orch.array.create : !orch.array<4xi32>\n"
            "%e = orch.array.get_element %a[%big] : !orch.array<4xi32>",
            "index 64 lies outside an array of 4",
        ),
        (
            "%e = orch.call @declared(%n) : (index) -> index",
            "'declared' is a declaration, there is no body to run",
        ),
        ("orch.call @main(%n) : (index) -> ()", "calls nest more than 250 deep"),
        (
            "orch.spmd launch %zero { }",
            "'orch.spmd' op launches on 0 cores, expected at least one",
        ),
    ],
)
def test_errors_stand_at_the_op(body: str, message: str):
    text = f"""orch.func private incore @declared(in index) -> index
orch.func opaque @main(in %n : index) {{
  %zero = arith.constant 0 : index
  %big = arith.constant 64 : index
  %nan = arith.constant 0x7FC00000 : f32
  {body}
  orch.return
}}"""
    with pytest.raises(DiagnosticsError, match=message):
        run_text(text, 3)


def test_an_error_names_the_calls_that_led_to_it():
    text = """orch.func incore @k(in %x : tensor<4xf32>, in %i : index) {
  %t = tile.load %x[%i] : tensor<4xf32> -> !tile.tile<4xf32>
  orch.return
}
orch.func orchestration @main(in %x : tensor<4xf32>, in %i : index) {
  orch.call @k(%x, %i) : (tensor<4xf32>, index) -> ()
  orch.return
}"""
    with pytest.raises(DiagnosticsError) as caught:
        run_text(text, np.zeros(4, np.float32), 1)
    assert str(caught.value).splitlines() == [
        "program.mlir:2:8: error: 'tile.load' op a window of [4] at [1] lies outside the tensor "
        "of [4]",
        "program.mlir:6:3: note: while running 'k', called from here",
    ]


def test_functions_are_found_without_their_name():
    only = program("orch.func incore @k() { orch.return }")
    assert find_function(only).sym_name.data == "k"
    entry = program(
        "orch.func incore @k() { orch.return } orch.func opaque @main() "
        "{ orch.call @k() : () -> () orch.return }"
    )
    assert find_function(entry).sym_name.data == "main"
    two = program("orch.func incore @a() { orch.return } orch.func incore @b() { orch.return }")
    with pytest.raises(ArgumentError, match="several functions can be run; there are a, b"):
        find_function(two)


class Reversed:
    """A scheduler that only writes down what it is given."""

    def __init__(self) -> None:
        self.launches: list[Launch] = []

    def launch(self, machine: Machine, launch: Launch) -> PythonValues:
        self.launches.append(launch)
        return launch.run()

    def finish(self, machine: Machine) -> None:
        return None


def test_a_scheduler_is_given_every_launch():
    scheduler = Reversed()
    run_text(SUBMIT, None, np.array([9, 3], np.int32), scheduler=scheduler)
    (launch,) = scheduler.launches
    assert launch.callee is not None
    assert launch.callee.sym_name.data == "fill"
    assert launch.task == Task(1)
    assert launch.dependencies == (Task(0),)


def test_deep_nests_run():
    depth = 300
    body = "".join(f"%r{i} = scf.if %c -> (i32) {{\n" for i in range(depth))
    body += "%v = arith.constant 1 : i32\nscf.yield %v : i32\n"
    for i in reversed(range(depth)):
        body += "} else { scf.yield %z : i32 }\n"
        body += f"scf.yield %r{i} : i32\n" if i else ""
    text = (
        "orch.func opaque @main(in %c : i1) -> i32 {\n%z = arith.constant 0 : i32\n"
        + body
        + "orch.return %r0 : i32 }"
    )
    import sys

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    try:
        assert run_text(text, True).results == (1,)
    finally:
        sys.setrecursionlimit(limit)
