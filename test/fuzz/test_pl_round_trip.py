"""
Generated modules, written in the DSL and read back: they are the same and compute the same numbers,
and the text of what is read is the text that was written.

The modules are those of the other fuzzers: scalars, kernels, orchestration, scopes; and constants
of any bits, functions of any names. What the DSL has no words for in them is told by an error at
its op, and each test says what that may be.
"""

from __future__ import annotations

import builtins
from keyword import kwlist, softkwlist

from check_pypto_pairs import same
from fuzz import test_generated_kernels as kernels
from fuzz import test_generated_orchestrations as orchestrations
from fuzz import test_generated_scalars as scalars
from fuzz import test_generated_scopes as scopes
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.dsl_round_trip import assert_comes_back, read
from support.programs import program
from xdsl.dialects.builtin import ModuleOp, StringAttr, i32
from xdsl.ir import SSAValue

from pypto_xdsl.analysis.verification import verify
from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.dialects import orch
from pypto_xdsl.dialects.orch.attributes import Direction, FunctionKind
from pypto_xdsl.interpreters.differential import assert_same_run, compare_runs
from pypto_xdsl.interpreters.run import run
from pypto_xdsl.properties.no_stale_read import stale_reads_in
from pypto_xdsl.targets.pl.program import program_text

FUZZING = settings(
    max_examples=25,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


REWRITTEN = ("arith.select", "arith.ceildivsi")
"""Ops that the DSL says by others."""


def there_and_back(text: str, *unspelled: str) -> tuple[ModuleOp, ModuleOp] | None:
    """A module and what comes back of it; None where one of `unspelled` has no words in the DSL."""
    before = program(text)
    try:
        written = program_text(before)
    except DiagnosticsError as e:
        if not any(f"{words} has no spelling in the DSL" in str(e) for words in unspelled):
            raise
        return None
    after = read(written)
    if not any(stale_reads_in(before)):
        # To names that are older than a write the reader gives their next names.
        assert program_text(after) == written, text
        if not any(op in text for op in REWRITTEN):
            assert same(before, after), text
    return before, after


@FUZZING
@given(text=scalars.programs())
def test_scalars(text: str) -> None:
    # Signed integers compared as unsigned ones, and exclusive or.
    pair = there_and_back(text, "'arith.xori' op", "'arith.cmpi' op")
    if pair is None:
        return
    before, after = pair
    for n in (0, 1, 3, 7):
        for m in (-2, 4):
            assert run(after, "main", [n, m]).results == run(before, "main", [n, m]).results


@FUZZING
@given(drawn=kernels.programs())
def test_kernels(drawn: tuple[str, str]) -> None:
    dtype, text = drawn
    pair = there_and_back(text)
    assert pair is not None
    before, after = pair
    for trips in (0, 4):
        arguments = kernels.arguments(dtype, trips)
        same = compare_runs(run(after, "main", arguments), run(before, "main", arguments))
        assert same is None


@FUZZING
@given(text=orchestrations.programs())
def test_orchestrations(text: str) -> None:
    # A loop to unroll that carries something.
    same_numbers(there_and_back(text, "'scf.for' op"))


@FUZZING
@given(text=scopes.programs())
def test_scopes(text: str) -> None:
    # A scope of tasks inside another.
    same_numbers(there_and_back(text, "'orch.task_scope' op"))


@FUZZING
@given(text=scopes.programs(hierarchy=True))
def test_scopes_of_levels(text: str) -> None:
    same_numbers(there_and_back(text, "'orch.task_scope' op"))


FLOATS = {"f16": (16, 10), "bf16": (16, 7), "f32": (32, 23)}
"""Of each type its bits, and those of the mantissa among them."""


@FUZZING
@given(data=st.data(), type=st.sampled_from(sorted(FLOATS)))
def test_floats(data: st.DataObject, type: str) -> None:
    """All bits come back but those of NaNs that are not the usual one."""
    width, mantissa = FLOATS[type]
    bits = data.draw(st.integers(0, 2**width - 1))
    exponent = (1 << width - 1) - (1 << mantissa)
    is_nan = bits & exponent == exponent and bits & ((1 << mantissa) - 1) != 0
    is_usual = bits == exponent | 1 << mantissa - 1
    message = ""
    try:
        assert_comes_back(program(constant(type, f"0x{bits:0{width // 4}X}")))
    except DiagnosticsError as e:
        message = str(e)
    if is_nan and not is_usual:
        assert message == "" or "a NaN with bits of its own" in message
    else:
        assert message == ""


@FUZZING
@given(data=st.data(), type=st.sampled_from(["i8", "i16", "i32", "i64", "index"]))
def test_integers(data: st.DataObject, type: str) -> None:
    width = 64 if type == "index" else int(type[1:])
    value = data.draw(st.integers(-(2 ** (width - 1)), 2 ** (width - 1) - 1))
    assert_comes_back(program(constant(type, str(value))))


def constant(type: str, value: str) -> str:
    """A function that returns a constant, on its own and among others."""
    return (
        f"orch.func opaque @f(in %n : index) -> ({type}, {type}) {{\n"
        f"  %c = arith.constant {value} : {type}\n"
        "  %zero = arith.constant 0 : index\n"
        "  %one = arith.constant 1 : index\n"
        f"  %r = scf.for %i = %zero to %n step %one iter_args(%k = %c) -> ({type}) {{\n"
        f"    scf.yield %k : {type}\n"
        "  }\n"
        f"  orch.return %c, %r : {type}, {type}\n"
        "}"
    )


WORDS = st.sampled_from(
    [*kwlist, *softkwlist, *dir(builtins), "pl", "pld", "self", "nan", "Program"]
)
NAMES = st.one_of(WORDS, st.text("_aZ9é -.$", min_size=1, max_size=6))


@FUZZING
@given(program_name=NAMES, functions=st.lists(NAMES, min_size=1, max_size=5, unique=True))
def test_names(program_name: str, functions: list[str]) -> None:
    """Whatever functions are called, and values, which are called as the next of them."""
    ops: list[orch.FuncOp] = []
    for name, value in zip(functions, [*functions[1:], "x"], strict=True):
        function = orch.FuncOp(name, FunctionKind.OPAQUE, [(Direction.IN, i32)], [i32])
        block = function.body.block
        if SSAValue.is_valid_name(value) and value.strip("_0123456789"):
            block.args[0].name_hint = value
        call = orch.CallOp(functions[0], block.args, [i32])
        if ops:
            block.add_op(call)
        block.add_op(orch.ReturnOp(*(call.results if ops else block.args)))
        ops.append(function)
    module = ModuleOp(list(ops))
    module.sym_name = StringAttr(program_name)
    assert verify(module) == []
    assert_comes_back(module)


def same_numbers(pair: tuple[ModuleOp, ModuleOp] | None) -> None:
    """Run both, as long as there are two."""
    if pair is not None:
        for n in (0, 1, 3):
            assert_same_run(*pair, "main", seeds=[n], given={"n": n})
