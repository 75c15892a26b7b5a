"""Names, and the text as a whole: nothing hides anything, and every file compiles."""

from __future__ import annotations

import cProfile
import pstats
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from support.orchestration_cpp import COMPILER, check_syntax, generate, orchestrations
from support.programs import context, program
from xdsl.dialects import test
from xdsl.dialects.builtin import ModuleOp, TensorType, f32

from pypto_xdsl.diagnostics import collecting
from pypto_xdsl.dialects.orch import TASK_ID
from pypto_xdsl.targets.orchestration.names import Names, base_name
from pypto_xdsl.transforms.classify_iter_arg_carry import ClassifyIterArgCarryPass
from pypto_xdsl.transforms.derive_call_directions import DeriveCallDirectionsPass
from pypto_xdsl.transforms.materialize_runtime_scopes import MaterializeRuntimeScopesPass

CASES = Path(__file__).parents[3] / "filecheck" / "targets" / "orchestration"
NO_COMPILER = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler (g++ or clang++) here")


def prepared(text: str) -> ModuleOp:
    """A program as the target wants it."""
    module = program(text)
    with collecting():
        DeriveCallDirectionsPass().apply(context(), module)
        MaterializeRuntimeScopesPass().apply(context(), module)
        ClassifyIterArgCarryPass().apply(context(), module)
    return module


def test_comments_stay_one_line():
    text = """
    orch.func incore @"k \\5C"(in tensor<16xf32>, out tensor<16xf32>) -> tensor<16xf32> returns [1]
    orch.func orchestration @"a\\0A#b \\C3\\A9"(in %x : tensor<16xf32>, out %y : tensor<16xf32>) {
      %0 = orch.call @"k \\5C"(%x, %y) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
      orch.return
    }
    """
    lines = generate(prepared(text)).splitlines()
    assert lines[0] == "// Orchestration of @a\\n#b \u00e9."
    assert "        // Task 0: k \\." in lines


@NO_COMPILER
@pytest.mark.parametrize("name", ["entry", "tasks", "tensors", "control_flow"])
def test_cases_compile(name: str, tmp_path: Path) -> None:
    module = prepared((CASES / f"{name}.mlir").read_text())
    for function in orchestrations(module):
        check_syntax(generate(module, function.sym_name.data), tmp_path)


def test_names_are_given_once() -> None:
    names = Names()
    given = [names.fresh(base) for base in ("a", "a", "a_1", "a", "while", "int64_t", "orch_args")]
    assert given == ["a", "a_1", "a_1_1", "a_2", "while_1", "int64_t_1", "orch_args_1"]


@pytest.mark.parametrize(
    ("hint", "name"),
    [
        ("row", "row"),
        ("row_1", "row"),
        ("cur__ssa_v4", "cur"),
        ("__private", "private"),
        ("two.words", "two_words"),
        ("3d", "v_3d"),
        ("rt_submit_task", "v_rt_submit_task"),
        ("PTO2_SCOPE", "v_PTO2_SCOPE"),
        ("", "tensor"),
        ("\u00e4", "tensor"),
    ],
)
def test_hints(hint: str, name: str) -> None:
    op = test.TestOp(result_types=[TensorType(f32, [4])])
    # Not through the setter, which refuses some: a frontend's hints come from other languages.
    op.results[0]._name = hint  # pyright: ignore[reportPrivateUsage]
    assert base_name(op.results[0]) == name


def test_a_task_without_a_name() -> None:
    assert base_name(test.TestOp(result_types=[TASK_ID]).results[0]) == "task"


@NO_COMPILER
def test_names_that_mean_something_in_cpp(tmp_path: Path) -> None:
    """What is called as C++, the runtime or the text itself call things gets another name."""
    words = (
        "class",
        "while",
        "double",
        "main",
        "params_t",
        "orch_args",
        "alloc",
        "std",
        "k",
        "to_u64",
    )
    scalars = ", ".join(f"in %{word} : index" for word in words)
    calls = "\n".join(
        f"  %params_t{n} = arith.addi %{word}, %{word} : index\n"
        f"  %o{n} = orch.call @k(%x, %params_t{n}) : (tensor<4xf32>, index) -> tensor<4xf32>"
        for n, word in enumerate(words)
    )
    module = prepared(
        f"""
orch.func incore @k(out tensor<4xf32>, in index) -> tensor<4xf32> returns [0]
orch.func orchestration @main(out %x : tensor<4xf32>, {scalars}) {{
{calls}
  %int = ptensor.create : tensor<4xf32>
  %r = orch.call @k(%int, %class) : (tensor<4xf32>, index) -> tensor<4xf32>
  orch.return
}}"""
    )
    text = generate(module)
    check_syntax(text, tmp_path)
    declared = re.findall(r"^ *(?:const )?\w+[&]? (\w+)(?: =|;|\[|\()", text, re.MULTILINE)
    assert len(declared) == len(set(declared))


def chain(calls: int) -> ModuleOp:
    """As many calls, each in a loop of its own, with buffers and numbers in between."""
    t = "tensor<16xf32>"
    lines: list[str] = []
    for n in range(calls):
        lines += (
            f"%n{n + 1} = arith.addi %n{n}, %one : index",
            f"%t{n} = ptensor.create : {t}",
            f"%o{n + 1} = scf.for %i = %zero to %n0 step %one iter_args(%it = %o{n}) -> ({t}) {{",
            f"  %r = orch.call @k(%x, %it, %n{n}) : ({t}, {t}, index) -> {t}",
            f"  scf.yield %r : {t}",
            "}",
            f"%f{n} = orch.call @f(%x, %t{n}) : ({t}, {t}) -> {t}",
        )
    body = "\n".join(lines)
    return prepared(
        f"""
orch.func incore @k(in {t}, inout {t}, in index) -> {t} returns [1]
orch.func incore @f(in {t}, out {t}) -> {t} returns [1]
orch.func orchestration @main(in %x : {t}, inout %o0 : {t}, in %n0 : index) {{
%zero = arith.constant 0 : index
%one = arith.constant 1 : index
{body}
orch.return
}}"""
    )


def versions(count: int) -> ModuleOp:
    """As many versions of one array, each made from the first and waited for."""
    t, ids = "tensor<16xf32>", "!orch.array<4x!orch.task_id>"
    lines: list[str] = []
    for n in range(count):
        lines += (
            f"%f{n}, %t{n} = orch.submit @f(%x) : ({t}) -> ({t}, !orch.task_id)",
            f"%a{n} = orch.array.update_element %t{n}, %first[%zero] : !orch.task_id, {ids}",
            f"%d{n} = orch.task_dummy deps [%a{n} : {ids}, %first : {ids}]",
        )
    body = "\n".join(lines)
    return prepared(
        f"""
orch.func incore @f(in {t}, out {t}) -> {t} returns [1]
orch.func orchestration @main(in %x : {t}) {{
%zero = arith.constant 0 : index
%first = orch.array.create : {ids}
{body}
orch.return
}}"""
    )


@pytest.mark.parametrize("build", [chain, versions])
def test_work_grows_linearly(build: Callable[[int], ModuleOp]) -> None:
    """Eight times the program costs less than ten times the calls of Python functions."""

    def calls(size: int) -> int:
        module = build(size)
        profile = cProfile.Profile()
        profile.runcall(generate, module)
        return pstats.Stats(profile).total_calls  # pyright: ignore[reportAttributeAccessIssue,reportUnknownMemberType,reportUnknownVariableType]

    generate(build(1))
    small, large = calls(60), calls(480)
    assert small > 60
    assert large < 10 * small
