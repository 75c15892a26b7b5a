"""What is wrong with a program: one error at its place, and nothing else."""

import time

import pytest
from xdsl.dialects.builtin import ModuleOp

from pypto_xdsl.diagnostics import Diagnostic, DiagnosticsError, collecting
from pypto_xdsl.frontend.pl import read_program, read_source, statements
from pypto_xdsl.frontend.pl.discovery import choose, find_programs
from pypto_xdsl.properties.holding import derive

KERNEL = """\
import pypto.language as pl
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, x: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX],
          out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
"""
"""The lines before a body, which starts on line 7 at column 9."""


def read(text: str) -> ModuleOp:
    """The module of the only program of a text."""
    source = read_source(text.encode(), "p.py")
    return read_program(source, choose(source, find_programs(source), None))


def errors_of(text: str) -> tuple[Diagnostic, ...]:
    """What reading a text reports."""
    with pytest.raises(DiagnosticsError) as caught:
        read(text)
    return caught.value.diagnostics


def errors_in(name: str, module: ModuleOp) -> list[Diagnostic]:
    """Where a property does not hold."""
    with collecting():
        return list(derive(name, module))


def check(text: str, line: int, column: int, message: str) -> None:
    (found,) = errors_of(text)
    assert (found.file, found.line, found.column) == ("p.py", line, column), str(found)
    assert message in found.message


def body(*lines: str) -> str:
    return KERNEL + "".join(f"        {line}\n" for line in lines)


BODIES = [
    ("t = pl.lod(x, [0, 0], [16, 16])", 13, "there is no op 'pl.lod'; did you mean 'load'?"),
    ("t = pl.load(x, [0, 0], [16, 16], valid=[1, 1])", 48, "no argument 'valid'"),
    ("t = pl.load(x, [0], [16, 16])", 24, "'offsets' lists 1 dimensions, expected 2"),
    ("t = pl.load(x, [0, 0])", 13, "needs an argument 'shapes'"),
    ("t = pl.load(n, [0, 0], [16, 16])", 21, "should be a tensor, got pl.Scalar[pl.INDEX]"),
    ("t = pl.load(y, [0, 0], [16, 16])", 21, "'y' is not defined here"),
    ("t = x % 2", 13, "there is no '%' of pl.Tensor[[64, 64], pl.FP32]; use pl.fmod(...)"),
    ("t = x ** 2", 13, "there is no '**' of pl.Tensor[[64, 64], pl.FP32]"),
    ("t = 1.0 / x", 13, "'/' takes the tensor or tile first, got a float"),
    ("t = x + (1, 2)", 17, "'+': 'rhs' should be a"),
    ("t = x + pl.load(x, [0, 0], [16, 16])", 17, "'+' mixes a tile and a tensor"),
    ("t = not x", 13, "there is no such operator on pl.Tensor[[64, 64], pl.FP32]"),
    ("t = n + 1.0", 13, "mixes pl.Scalar[pl.INDEX] and pl.Scalar[pl.FP32]; cast one"),
    ("t = n ** 2", 13, "'**' of run-time scalars is not part of the DSL"),
    ("t = 1 < n < 3", 13, "a chain of comparisons"),
    ("t = n if n > 3 else 0", 13, "a conditional expression is not part of the DSL"),
    ("t = lambda: n", 13, "a lambda is not part of the DSL"),
    ("t = [i for i in n]", 13, "a comprehension is not part of the DSL"),
    ("t = __import__('os')", 13, "'__import__' is not defined here"),
    ("t = open('/etc/passwd')", 13, "'open' is not defined here"),
    ("print(n)", 9, "Python's print(...) is not part of the DSL"),
    ("del n", 9, "'del' is not part of the DSL"),
    ("assert n", 9, "'assert' is not part of the DSL; use pl.static_assert"),
    ("import os", 9, "'import' is not part of the DSL"),
    ("t = u = n", 9, "a chain of assignments"),
    ("t, u = n", 16, "cannot unpack pl.Scalar[pl.INDEX]"),
    ("t: pl.Tensor[[32, 64], pl.FP32] = x", 43, "declared pl.Tensor[[32, 64], pl.FP32]"),
    ("t: pl.Scalar[pl.INT32] = 2.5", 34, "declared pl.Scalar[pl.INT32]"),
    ("t: pl.Tensr[[4], pl.FP32] = x", 12, "cannot read type 'pl.Tensr'; did you mean 'Tensor'?"),
    ("t: pl.Tensor[[4], pl.FP23] = x", 27, "unknown dtype 'pl.FP23'; did you mean 'FP32'?"),
    ("x = n", 9, "'x' is pl.Tensor[[64, 64], pl.FP32] and cannot become pl.Scalar[pl.INDEX]"),
    ("if n:\n            pass", 12, "expected a truth value, got pl.Scalar[pl.INDEX]; write"),
    ("for i in range(4):\n            pass", 18, "use pl.range(...)"),
    ("for i in pl.rnge(4):\n            pass", 18, "did you mean 'range'?"),
    ("for i in pl.range(0, 4, 0):\n            pass", 33, "the step of a loop is not 0"),
    (
        "for i in pl.range(0, 4, n):\n            pass",
        33,
        "this step, known at run time only, may be 0 or negative",
    ),
    ("for i in pl.range(4, stage=2):\n            pass", 36, "pl.range has no argument 'stage'"),
    ("for i in pl.pipeline(4):\n            pass", 18, "pl.pipeline needs stage="),
    ("for i in pl.unroll(n):\n            pass", 28, "the bounds of pl.unroll are constants"),
    ("for i in pl.unroll(10**9):\n            pass", 18, "a loop of 1000000000 iterations"),
    ("for i, (a,) in pl.range(4):\n            pass", 13, "a loop with init_values is"),
    (
        "for i, (a, b) in pl.range(4, init_values=(n,)):\n            pass",
        16,
        "2 names for 1 init_values",
    ),
    (
        "for i, (a,) in pl.range(4, init_values=(n,)):\n            b, c = pl.yield_(a, a)",
        9,
        "the loop has 1 init_values and yields 2 values",
    ),
    ("for i in pl.range(4):\n            t = i\n        u = i", None, ""),
    ("t = pl.reshape(x, [16, 256], input=x)", 44, "pl.reshape is given 'input' twice"),
    ("t = pl.batch_matmul(x, x)", 13, "no op 'pl.batch_matmul' on tensors, only on tiles"),
    # D-T14, D-T15.
    (
        "t = pl.tensor.gather(x, index=x, kvalue=1.0)",
        49,
        "index, mask_pattern, kvalue are mutually exclusive, and 'index' is given already",
    ),
    ("t = pl.tensor.gather(x, 0, x, kvalue=1.0)", 46, "'index' is given already"),
    (
        "t = pl.tensor.gather(x, mask_pattern=pl.MaskPattern.P0101, kvalue=1.0)",
        75,
        "'mask_pattern' is given already",
    ),
    ("break", 9, "'break' outside a loop"),
    ("for i in pl.parallel(4):\n            break", 9, "cannot leave a pl.parallel loop"),
    ("with pl.at(level=pl.Level.CORE_GRUP):\n            pass", 26, "did you mean 'CORE_GROUP'?"),
    ("with open('f'):\n            pass", 14, "a 'with' opens a scope like pl.at(...)"),
    ("with pl.spmd(0):\n            pass", 22, "an spmd scope needs a positive width"),
    ("with pl.scope():\n            pass", 14, "pl.scope() needs @pl.function(auto_scope=False)"),
    ("for i in pl.split_aiv(3, mode=pl.SplitMode.NONE):\n            pass", 18, "2 vector cores"),
    ("out = pl.load(x, [0, 0], [64, 64])", 9, "cannot become pl.Tile[[64, 64], pl.FP32]"),
    (
        "out = pl.create_tensor([64, 64], dtype=pl.FP32)",
        9,
        "this gives 'out' another tensor, and nothing writes the parameter",
    ),
    ("t = self.missing(x)", 13, "the program has no function 'missing'"),
    ("t = self.k(x)", 13, "'k' calls itself"),
    ("t = x[0:64:2, :]", 20, "a slice with a step is not part of the DSL"),
    ("t = x[0:-1, :]", 17, "a negative bound -1 is not part of the DSL"),
    ("t = x[32:16, :]", 18, "a slice of -16 elements"),
    ("t = x[99, 0]", 15, "index 99 lies outside an extent of 64"),
    ("t = x[0, 0, 0]", 15, "3 indices into 2 dimensions"),
    ("x[0, 0] = n", 9, "one element of a tensor is written by pl.write(...)"),
    ("x[0:32, :] = x", 9, "a window of 32 elements is written from 64"),
    ("t = pl.add(pl.load(x, [0, 0], [16, 16]), x)", 50, "mixes a tile and a tensor"),
    ("pl.yield_(n)", 9, "pl.yield_ belongs at the end of a loop or branch"),
    ("pl.static_assert(1 > 2, 'no')", 9, "static assertion fails: no"),
    ("t = pl.const(300, pl.INT8)", 13, "300 does not fit pl.INT8"),
    ("t = pl.cast(x, pl.FP32)", 13, "a cast from f32 to itself changes nothing"),
    ("t = 2 ** 10 ** 10", 13, "makes an integer of more than"),
    ("t = 1 / 0", 13, "division by zero"),
]


@pytest.mark.parametrize(
    ("lines", "column", "message"), [case for case in BODIES if case[1] is not None]
)
def test_one_error_at_its_place(lines: str, column: int, message: str) -> None:
    check(body(lines, "return out"), 7, column, message)


def test_names_that_part_in_a_loop_are_not_written_before() -> None:
    text = body(
        "acc = out",
        "for i in pl.range(4):",
        "    pl.tensor.write(acc, [0, i], 1.0)",
        "    acc = pl.create_tensor([64, 64], pl.FP32)",
        "    pl.tensor.write(out, [0, i], acc[0, 0])",
        "return out",
    )
    check(text, 8, 9, "the tensor is written in between")


def test_two_ways_to_split_one_scope() -> None:
    """E-T62, E-T63: even a split that is none says that it is none."""
    text = body(
        "with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.NONE)]):",
        "    for i in pl.split_aiv(2, mode=pl.SplitMode.NONE):",
        "        pass",
        "return out",
    )
    check(text, 8, 22, "a scope with pl.split(...) holds no pl.split_aiv")
    check(text, 8, 22, "set the number of slots by pl.cross_core_slot(slot_num=N)")


def test_a_write_that_a_branch_saves_is_not_lost() -> None:
    text = body(
        "if n > 3:",
        "    pl.tensor.write(out, [0, 0], 1.0)",
        "out = pl.create_tensor([64, 64], dtype=pl.FP32)",
        "return out",
    )
    read(text)


def test_a_read_after_the_buffer_was_written_through_another_name() -> None:
    text = body(
        "old = pl.slice(out, [64, 64], [0, 0])",
        "out[:, :] = x",
        "out[:, :] = pl.add(old, x)",
        "return out",
    )
    # A kernel may have loaded the view where it was made.
    found = errors_in("NoStaleRead", read(text))
    assert [(d.line, d.column) for d in found] == [(9, 21)]
    assert "older than a write" in found[0].message
    # Elsewhere it sees what was written.
    text = text.replace("pl.FunctionType.InCore", "pl.FunctionType.Orchestration")
    assert not list(errors_in("NoStaleRead", read(text)))


def test_a_read_of_what_a_function_was_given_to_write() -> None:
    """The function says that it gives the tensor back, and does not."""
    text = """import pypto.language as pl


@pl.program
class P:
    @pl.function
    def fill(self, a: pl.InOut[pl.Tensor[[64], pl.FP32]]) -> pl.Tensor[[64], pl.FP32]:
        return pl.add(a, a)

    @pl.function
    def main(self, x: pl.Tensor[[64], pl.FP32]) -> pl.Tensor[[64], pl.FP32]:
        y = self.fill(x)
        return pl.add(x, y)
"""
    found = errors_in("NoStaleRead", read(text))
    assert [(d.line, d.column) for d in found] == [(13, 16)]
    assert "reads %x, which is older than a write" in found[0].message


def test_a_loop_variable_has_no_value_after_its_loop() -> None:
    text = body("for i in pl.range(4):", "    t = i", "u = i + 1", "return out")
    check(text, 9, 13, "'i' is a loop variable and has no value after the loop")


def test_a_name_of_one_branch_only() -> None:
    text = body("if n > 3:", "    t = n + 1", "u = t + 1", "return out")
    check(text, 9, 13, "'t' is assigned in one branch of an 'if' only")


def test_branches_that_yield_differently() -> None:
    text = body("if n > 3:", "    t = pl.yield_(n)", "else:", "    u = n + 1", "return out")
    check(text, 7, 9, "both branches of an 'if' yield, or none")


def test_a_carried_name_that_changes_its_shape() -> None:
    text = body(
        "t = pl.load(x, [0, 0], [16, 16])",
        "for i, (a,) in pl.range(4, init_values=(t,)):",
        "    b = pl.yield_(pl.load(x, [0, 0], [32, 32]))",
        "out = pl.store(b, [0, 0], out)",
        "return out",
    )
    check(text, 8, 9, "enters the loop as pl.Tile[[16, 16], pl.FP32] and becomes")


def test_types_that_read_alike_are_told_apart() -> None:
    text = body(
        "if n > 3:",
        "    t = pl.load(x, [0, 0], [16, 16], target_memory=pl.Mem.Mat)",
        "else:",
        "    t = pl.load(x, [0, 0], [16, 16], target_memory=pl.Mem.Vec)",
        "out = pl.store(t, [0, 0], out)",
        "return out",
    )
    check(
        text,
        7,
        9,
        "'t' is pl.Tile[[16, 16], pl.FP32] (!tile.tile<16x16xf32, mat>) after one branch "
        "and pl.Tile[[16, 16], pl.FP32] (!tile.tile<16x16xf32, vec>) after the other",
    )


def test_a_tile_as_parameter() -> None:
    text = KERNEL.replace("x: pl.Tensor[[64, 64], pl.FP32]", "x: pl.Tile[[64, 64], pl.FP32]")
    check(text + "        return out\n", 5, 17, "parameter 'x' cannot be a tile")


def test_a_parameter_without_type() -> None:
    text = KERNEL.replace("n: pl.Scalar[pl.INDEX]", "n")
    check(text + "        return out\n", 5, 50, "parameter 'n' needs a type")


def test_results_that_are_not_returned() -> None:
    check(body("t = n + 1"), 5, 5, "declares 1 results but does not return")


def test_the_wrong_number_of_results() -> None:
    check(body("return out, out"), 7, 16, "declares 1 results, got 2")


def test_statements_after_a_return() -> None:
    check(body("return out", "t = n"), 8, 9, "this is never reached")


def test_recursion_through_another_function() -> None:
    text = (
        "import pypto.language as pl\n"
        "@pl.program\n"
        "class P:\n"
        "    @pl.function\n"
        "    def f(self, x: pl.Tensor[[4], pl.FP32]) -> pl.Tensor[[4], pl.FP32]:\n"
        "        return self.g(x)\n"
        "    @pl.function\n"
        "    def g(self, x: pl.Tensor[[4], pl.FP32]) -> pl.Tensor[[4], pl.FP32]:\n"
        "        return self.f(x)\n"
    )
    check(text, 9, 16, "function 'f' calls itself, through 'g'")


def test_a_name_outside_that_nothing_settles() -> None:
    text = (
        "import pypto.language as pl\n"
        "def build(n):\n"
        "    @pl.program\n"
        "    class P:\n"
        "        @pl.function\n"
        "        def f(self, x: pl.Tensor[[n, 4], pl.FP32]) -> pl.Tensor[[n, 4], pl.FP32]:\n"
        "            return x\n"
        "    return P\n"
    )
    check(text, 6, 35, "'n' is a parameter of the function around")
    source = read_source(text.encode(), "p.py")
    (candidate,) = find_programs(source)
    assert "tensor<8x4xf32>" in str(read_program(source, candidate, {"n": 8}))


def test_several_programs_need_a_choice() -> None:
    text = "import pypto.language as pl\n" + "".join(
        f"@pl.program\nclass P{i}:\n    pass\n" for i in range(3)
    )
    check(text, 1, 1, "the file holds 3 programs: choose one with --program NAME, of P0, P1, P2")


def test_no_program_at_all() -> None:
    check("x = 1\n", 1, 1, "the file holds no program")


# Text that is no program


def test_invalid_python() -> None:
    check("class P:\n  def f(:\n", 2, 9, "invalid Python: invalid syntax")


def test_null_bytes() -> None:
    check("x = '\0'\n", 1, 1, "invalid Python: source code string cannot contain null bytes")


def test_what_is_not_utf8() -> None:
    with pytest.raises(UnicodeDecodeError):
        read_source(b"x = '\xff'\n", "p.py")


def test_columns_count_characters() -> None:
    check(body("t = ('é', y)", "return out"), 7, 19, "'y' is not defined here")


@pytest.mark.parametrize(
    "expression",
    ["-" * 400 + "n", "pl.abs(" * 180 + "x" + ")" * 180],
    ids=["signs", "calls"],
)
def test_deep_nesting_is_one_error(expression: str) -> None:
    text = body(f"t = {expression}", "return out")
    assert len(errors_of(text)) == 1


@pytest.mark.parametrize(
    "expression", ["(" * 90 + "n" + ")" * 90, "[" * 90 + "]" * 90], ids=["parentheses", "lists"]
)
def test_nesting_that_means_nothing_reads(expression: str) -> None:
    read(body(f"t = {expression}", "return out")).verify()


def test_a_long_sum_is_no_deep_nesting() -> None:
    text = body(f"t = {' + '.join(['n'] * 2000)}", "return out")
    assert str(read(text)).count("arith.addi") == 1999


@pytest.mark.parametrize("branches", [200, 3000])
def test_a_chain_of_branches_is_bounded(branches: int) -> None:
    """Each `elif` is an `if` in the one before; Python itself does not count them as nested."""
    lines = [f"elif n > {i}:\n            pass" for i in range(branches)]
    start = time.perf_counter()
    (found,) = errors_of(body("if n > 0:\n            pass", *lines, "return out"))
    assert "nested too deeply" in found.message
    assert time.perf_counter() - start < 5


def test_a_number_with_more_digits_than_python_reads() -> None:
    check(body(f"t = {'9' * 5000}"), 7, 1, "invalid Python: Exceeds the limit")


def test_loops_unrolled_inside_loops_are_bounded() -> None:
    lines = [f"{' ' * (4 * i)}for i{i} in pl.unroll(1000):" for i in range(6)]
    (found,) = errors_of(body(*lines, f"{' ' * 24}pass", "return out"))
    assert "too large a program" in found.message


def test_inline_functions_that_call_each_other_twice_are_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Thirty of them, written out, would be a billion statements."""
    monkeypatch.setattr(statements, "MAX_STATEMENTS", 20_000)
    text = "import pypto.language as pl\n@pl.jit.inline\ndef f0(a):\n    return a\n" + "".join(
        f"@pl.jit.inline\ndef f{i}(a):\n    a = f{i - 1}(a)\n    return f{i - 1}(a)\n"
        for i in range(1, 31)
    )
    text += "@pl.jit\ndef entry(a: pl.Tensor[[4], pl.FP32]):\n    return f30(a)\n"
    start = time.perf_counter()
    (found,) = errors_of(text)
    assert "more than 20000 statements" in found.message
    assert time.perf_counter() - start < 10


@pytest.mark.parametrize(
    ("statement", "column", "message"),
    [
        ("t = pl.load(x, [10 ** 30, 0], [1, 16])", 25, "is out of reach"),
        ("t = pl.create_tensor([10 ** 20], dtype=pl.FP32)", 31, "is out of reach"),
        ("t = pl.create_tensor([4, -5], dtype=pl.FP32)", 34, "an extent is not negative, got -5"),
        ("t = pl.load(x, [0, 0], [-1, 16])", 33, "an extent is not negative, got -1"),
        ("t = pl.load(x, [0, 0], [0, 16])", 13, "tile extents are positive, got 0"),
        ("t = pl.array.create(10 ** 30, pl.INT32)", 29, "is out of reach"),
        ("t = pl.full([4], pl.BF16, value=10 ** 400)", 41, "does not fit pl.Scalar[pl.BF16]"),
        ("with pl.spmd(10 ** 30): pass", 22, "is out of reach"),
        ("for i in pl.range(10 ** 30): pass", 18, "is out of reach"),
        ("for i in pl.pipeline(5, stage=10 ** 30): pass", 39, "is out of reach"),
        ("t: pl.Tensor[[-7, 4], pl.FP32] = x", 23, "extent '-7' is out of reach"),
    ],
)
def test_numbers_out_of_reach(statement: str, column: int, message: str) -> None:
    (found,) = errors_of(body(statement, "return out"))
    assert (found.line, found.column) == (7, column), str(found)
    assert message in found.message


def test_two_parameters_of_one_name() -> None:
    check(
        KERNEL.replace("n: pl", "x: pl") + "        return out\n", 5, 50, "two parameters are 'x'"
    )


@pytest.mark.parametrize(
    ("options", "column", "message"),
    [("5", 13, "options of a program are keywords"), ("**x", 15, "'**' is not part of the DSL")],
)
def test_options_of_a_program(options: str, column: int, message: str) -> None:
    text = KERNEL.replace("@pl.program", f"@pl.program({options})") + "        return out\n"
    check(text, 2, column, message)


def test_a_million_lines_are_refused_at_once() -> None:
    start = time.perf_counter()
    check("x = 1\n" * 1_000_000, 200_000, 1, "the file has more than 200000 lines")
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize(
    ("constant", "message"),
    [
        ("2 ** 2 ** 40", "makes an integer of more than"),
        ("1 << 10 ** 9", "makes an integer of more than"),
        ("[0] * 10 ** 9", "makes a sequence of more than"),
        ("'a' * 10 ** 9", "makes a sequence of more than"),
        ("sum(range(10 ** 9))", "makes a sequence of more than"),
        ("[a for a in range(60000) for b in range(60000)]", "makes a sequence of more than"),
        ("N + 1", "'N' is defined by itself"),
        ("(lambda: 4)()", "a lambda is not evaluated at compile time"),
        ("__import__('os').system('true')", "'__import__' is not defined"),
        ("().__class__", "attribute '__class__' is not evaluated"),
        ("'{0.__class__}'.format(1)", "not evaluated"),
        ("open('/etc/passwd').read()", "'open' is not defined"),
    ],
)
def test_compile_time_python_is_bounded_and_harmless(constant: str, message: str) -> None:
    text = KERNEL.replace("@pl.program", f"N = {constant}\n@pl.program")
    start = time.perf_counter()
    (found,) = errors_of(text + "        t = n + N\n        return out\n")
    assert message in found.message, str(found)
    assert time.perf_counter() - start < 5


def test_factories_that_call_themselves() -> None:
    text = KERNEL.replace("@pl.program", "def f(n):\n    return f(n + 1)\nN = f(0)\n@pl.program")
    (found,) = errors_of(text + "        t = n + N\n        return out\n")
    assert "too deeply" in found.message or "not known" in found.message
