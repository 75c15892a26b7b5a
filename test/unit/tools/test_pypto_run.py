"""What `pypto-run` says of bad input: one line each, the right exit status, no traceback."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pypto_xdsl.tools.pypto_run import main

KERNEL = """\
orch.func opaque @kernel(in %x : tensor<4xf32>, in %n : i32, out %y : tensor<4xf32>) -> i32 {
  %t = tile.load %x[0] : tensor<4xf32> -> !tile.tile<4xf32>
  %r = tile.store %t, %y[0] : !tile.tile<4xf32>, tensor<4xf32>
  orch.return %n : i32
}
"""
SYMBOLIC = """\
orch.func incore @kernel(in %x : tensor<?x4xf32, #ptensor.view<dims = [M, _]>>,
                         inout %y : tensor<?xbf16, #ptensor.view<dims = [M]>>) {
  orch.return
}
orch.func incore @other() { orch.return }
"""


@pytest.fixture
def kernel(tmp_path: Path) -> str:
    path = tmp_path / "kernel.mlir"
    path.write_text(KERNEL)
    return str(path)


@pytest.fixture
def symbolic(tmp_path: Path) -> str:
    path = tmp_path / "symbolic.mlir"
    path.write_text(SYMBOLIC)
    return str(path)


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the tool; exit status, stdout and stderr."""

    def call(*args: object) -> tuple[int, str, str]:
        status = main([str(arg) for arg in args])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


def save(path: Path, array: np.ndarray) -> Path:
    np.save(path, array)
    return path


BAD_ARGUMENTS: list[tuple[list[str], str]] = [
    ([], "argument 'x' of type tensor<4xf32> is missing"),
    (["--arg", "x=ones"], "argument 'n' of type i32 is missing"),
    (["--arg", "x"], "--arg expects name=value, got 'x'"),
    (["--arg", "z=ones"], "'kernel' has no parameter 'z'; it has x, n, y"),
    (["--arg", "7=ones"], "'kernel' has no parameter '7'; it has x, n, y"),
    (["--arg", "x=ones", "--arg", "0=zeros"], "argument 'x' is given twice"),
    (
        ["--arg", "x=once"],
        "neither a .npy file, a number nor a generator (zeros, ones, full, arange, "
        "randn, uniform, randint, undefined); did you mean 'ones'?",
    ),
    (["--arg", "x=3"], "should be an array for tensor<4xf32>, got '3'; full:3 fills one"),
    (["--arg", "x=undefined"], "argument 'x' is read, it cannot be undefined"),
    (["--arg", "x=ones", "--arg", "n=ones"], "'n' should be a number of type i32, got 'ones'"),
    (["--arg", "x=ones", "--arg", "n=1.5"], "'n' should be a number of type i32, got 1.5"),
    (
        ["--arg", "x=ones", "--arg", "n=4294967296"],
        "'n' of type i32 cannot be 4294967296, which is out of range",
    ),
    (["--arg", "x=ones:5xf32"], "dimension 0 of argument 'x' is 5, tensor<4xf32> says 4"),
    (["--arg", "x=ones:4x1"], "argument 'x' has 2 dimensions, tensor<4xf32> has 1"),
    (["--arg", "x=ones:4xf16"], "'ones:4xf16' holds f16, expected f32"),
    (["--arg", "x=ones:4:5"], "'5' is neither a shape nor an option"),
    (["--arg", "x=randn:sed=1"], "randn has no option 'sed'; it has seed"),
    (["--arg", "x=randn:seed=-1"], "seed cannot be '-1'"),
    (["--arg", "x=full"], "full needs a value, as in full:1.5"),
    (["--arg", "x=randint:low=3:high=3"], "no integer lies from 3 to below 3"),
    (["--function", "kernal"], "there is no function 'kernal'; there are kernel"),
    (["--arg", "x=missing.npy"], "cannot open 'missing.npy': no such file or directory"),
    (["--frob"], "unknown flag '--frob'"),
    (["--bisect-passes"], "--bisect-passes needs passes, as in --default-pipeline"),
    (["other.mlir"], "unexpected argument 'other.mlir': one input at a time"),
    (["--functoin=kernel"], "unknown flag '--functoin'; did you mean '--function'?"),
    (["--normalize-return-ordr"], "did you mean '--normalize-return-order'?"),
    (["--rtol", "much"], "argument --rtol: expected a number from 0 up, got 'much'"),
    (["--rtol", "-1"], "argument --rtol: expected a number from 0 up, got '-1'"),
    (["--atol", "nan"], "argument --atol: expected a number from 0 up, got 'nan'"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD_ARGUMENTS)
def test_bad_arguments(run: Run, kernel: str, arguments: list[str], message: str):
    status, out, err = run(kernel, *arguments)
    assert (status, out) == (2, "")
    assert err.startswith("pypto-run: error: ")
    assert err.count("\n") == 1
    assert message in err


def test_bad_files(run: Run, kernel: str, tmp_path: Path):
    good = save(tmp_path / "good.npy", np.ones(4, np.float32))
    truncated = tmp_path / "truncated.npy"
    truncated.write_bytes(good.read_bytes()[:-3])
    header = tmp_path / "header.npy"
    header.write_bytes(good.read_bytes()[:20])
    text = tmp_path / "text.npy"
    text.write_text("1, 2, 3")
    pickled = tmp_path / "pickled.npy"
    np.save(pickled, np.array([{}], object), allow_pickle=True)
    huge = tmp_path / "huge.npy"
    huge.write_bytes(
        good.read_bytes().replace(b"(4,), }" + b" " * 14, b"(999999999999999999,),}", 1)
    )
    cases = {
        truncated: f"cannot read '{truncated}': it is truncated",
        header: f"cannot read '{header}': its header is damaged",
        text: f"'{text}' is not a .npy file",
        pickled: f"cannot read '{pickled}': it holds pickled Python objects",
        huge: f"cannot read '{huge}': it",
        save(
            tmp_path / "wide.npy", np.ones(4)
        ): "'x' should hold float32 for tensor<4xf32>, got float64",
        save(tmp_path / "long.npy", np.ones(5, np.float32)): "dimension 0 of argument 'x' is 5",
        save(tmp_path / "words.npy", np.array(["a"])): "holds <U1, not numbers",
        tmp_path.with_suffix(".npy"): "no such file or directory",
    }
    directory = tmp_path / "directory.npy"
    directory.mkdir()
    cases[directory] = f"cannot open '{directory}': is a directory"
    for path, message in cases.items():
        status, out, err = run(kernel, "--arg", f"x={path}", "--arg", "n=1")
        assert (status, out, err.count("\n")) == (2, "", 1), (path, err)
        assert message in err


def test_good_files(run: Run, kernel: str, tmp_path: Path):
    array = np.array([1.5, -2.0, np.inf, np.nan], np.float32)
    # Other byte orders are read as the numbers they are.
    path = save(tmp_path / "x.npy", array.astype(">f4"))
    out = tmp_path / "out.npy"
    status, text, err = run(kernel, "--arg", f"x={path}", "--arg", "n=-7", "--save", f"y={out}")
    assert (status, text, err) == (0, "", "")
    np.testing.assert_array_equal(np.load(out), array)
    arguments = (kernel, "--arg", f"x={out}", "--arg", "n=0x10")
    assert run(*arguments, "--expect", f"y={path}", "--expect", "result0=16") == (0, "", "")


def test_unexpected_values(run: Run, kernel: str):
    arguments = (kernel, "--arg", "x=full:2", "--arg", "n=5")
    assert run(*arguments, "--expect", "y=full:2", "--expect", "result0=5") == (0, "", "")
    status, out, err = run(*arguments, "--expect", "y=arange", "--expect", "result0=6")
    assert (status, out) == (1, "")
    assert err.splitlines() == [
        "pypto-run: error: 'y' differs in 3 of 4 elements; the first, at [0], is 2.0, "
        "expected 0.0; the largest difference is 2",
        "pypto-run: error: 'result0' is 5, expected 6",
    ]
    assert run(*arguments, "--expect", "y=full:2.5", "--atol", "0.5")[0] == 0
    assert run(*arguments, "--expect", "y=full:2.5", "--rtol", "0.2")[0] == 0
    assert run(*arguments, "--expect", "y=full:2.5", "--rtol", "0.19")[0] == 1
    for expected, message in (
        ("z=ones", "nothing that is written or returned is called 'z'; there is y, result0"),
        ("y=1", "'y' is an array, '1' is a number"),
        ("result0=ones", "'result0' is a number, 'ones' is an array"),
    ):
        status, _, err = run(*arguments, "--expect", expected)
        assert status == 2
        assert message in err


def test_undefined_elements_are_not_what_is_expected(run: Run, tmp_path: Path):
    path = tmp_path / "half.mlir"
    path.write_text(
        KERNEL.replace("-> !tile.tile<4xf32>", "-> !tile.tile<4xf32, valid = [2]>").replace(
            " : !tile.tile<4xf32>,", " : !tile.tile<4xf32, valid = [2]>,"
        )
    )
    arguments = (path, "--arg", "x=ones", "--arg", "n=1")
    status, out, _ = run(*arguments)
    assert (status, out.splitlines()[0]) == (0, "y : tensor<4xf32> = [1, 1, ?, ?]")
    status, _, err = run(*arguments, "--expect", "y=ones")
    assert status == 1
    assert "'y' is undefined at [2], expected defined; 2 of 4 elements differ so" in err
    status, _, err = run(*arguments, "--save", f"y={tmp_path / 'y.npy'}")
    assert (status, err) == (0, "pypto-run: warning: 2 of 4 elements of 'y' are undefined\n")


def test_symbols_are_solved_from_arguments(run: Run, symbolic: str, tmp_path: Path):
    bits = save(tmp_path / "bits.npy", np.full(3, 0x3F80, np.uint16))
    status, out, err = run(
        symbolic, "--function", "kernel", "--arg", "x=ones", "--arg", f"y={bits}"
    )
    assert (status, err) == (0, "")
    assert out == "y : tensor<?xbf16, #ptensor.view<dims = [M]>> = [1., 1., 1.]\n"
    status, _, err = run(
        symbolic, "--function", "kernel", "--arg", "x=ones:5x4", "--arg", f"y={bits}"
    )
    assert status == 2
    assert "dimension 0 of argument 'y' is 3, but M is 5 by argument 'x'" in err
    status, _, err = run(symbolic, "--function", "kernel", "--default-arg", "ones")
    assert status == 2
    assert "nothing tells the extent of dimension 0 of parameter 'x'" in err
    assert "say it, as in x=ones:16x16" in err
    status, _, err = run(symbolic, "--default-arg", "ones")
    assert (status, err) == (
        2,
        "pypto-run: error: several functions can be run; there are kernel, other\n",
    )


def test_shapes_beyond_memory(run: Run, symbolic: str):
    status, _, err = run(
        symbolic, "--function", "kernel", "--arg", "x=randn:99999999999x4", "--default-arg", "ones"
    )
    assert (status, err.count("\n")) == (2, 1)
    assert "needs 1 TiB for 99999999999x4xf32, more than the memory of this machine" in err


def test_wrong_programs(run: Run, tmp_path: Path, kernel: str):
    path = tmp_path / "wrong.mlir"
    path.write_text(KERNEL.replace("tile.load %x", "tile.laod %x"))
    status, out, err = run(path, "--arg", "x=ones")
    assert (status, out) == (1, "")
    assert err.startswith(f"{path}:2:8: error: ")
    assert "did you mean 'tile.load'?" in err
    path.write_bytes(b"\xff\xfe\x00")
    assert run(path)[0] == 1
    path.write_text("builtin.module {}")
    assert run(path) == (2, "", "pypto-run: error: there is no function to run\n")
    assert run(tmp_path / "none.mlir")[0] == 2
    assert run(tmp_path)[0] == 2
    path.write_text("orch.func incore @k(in tensor<4xf32>)")
    status, _, err = run(path, "--function", "k")
    assert (status, err) == (
        2,
        "pypto-run: error: function 'k' is a declaration, there is no body to run\n",
    )


def test_unwritable_output(run: Run, kernel: str, tmp_path: Path):
    target = tmp_path / "no" / "y.npy"
    status, _, err = run(kernel, "--arg", "x=ones", "--arg", "n=1", "--save", f"y={target}")
    assert (status, err) == (
        2,
        f"pypto-run: error: cannot write '{target}': no such file or directory\n",
    )
    assert run(kernel, "--arg", "x=ones", "--arg", "n=1", "--save", "y")[0] == 2


def test_a_pass_that_breaks_the_program_is_named(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    # `dce` would keep the stores; this replacement drops the last one.
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.transforms.dead_code_elimination import DeadCodeElimination

    from pypto_xdsl.dialects import tile

    def drop_store(self: DeadCodeElimination, ctx: Context, op: ModuleOp) -> None:
        *_, store = (inner for inner in op.walk() if isinstance(inner, tile.StoreOp))
        store.result.replace_all_uses_with(store.destination)
        store.detach()
        store.erase()

    monkeypatch.setattr(DeadCodeElimination, "apply", drop_store)
    path = tmp_path / "kernel.mlir"
    path.write_text(KERNEL)
    status, out, err = run(
        path, "--default-arg", "randn", "--arg", "n=1", "--bisect-passes", "--cse", "--dce", "--cse"
    )
    assert (status, out) == (1, "")
    assert err == (
        f"{path}:0:0: error: pass 'dce' changes what 'kernel' does: parameter 'y' is undefined at "
        f"[0], expected defined; 4 of 4 elements differ so\n"
    )


def test_other_tools_do_not_pay_for_numpy():
    """The interpreters are imported when something runs, not before."""
    code = (
        "import sys, pypto_xdsl.tools.pypto_opt, pypto_xdsl.tools.pypto_run as tool\n"
        "status = tool.main(['--function'])\n"
        "assert status == 2\n"
        "assert not any(m == 'numpy' or m.startswith('xdsl.interpreters') for m in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_recursion_ends_with_an_error(run: Run, tmp_path: Path):
    path = tmp_path / "endless.mlir"
    path.write_text(
        "orch.func opaque @main() {\n  orch.call @main() : () -> ()\n  orch.return\n}\n"
    )
    status, _, err = run(path)
    assert status == 1
    first, *notes = err.splitlines()
    assert first == f"{path}:2:3: error: 'orch.call' op calls nest more than 250 deep"
    assert len(notes) == 8


def test_numbers_are_printed_as_such(run: Run, kernel: str):
    status, out, _ = run(kernel, "--arg", "x=arange", "--arg", "n=-3")
    assert status == 0
    assert out == "y : tensor<4xf32> = [0., 1., 2., 3.]\nresult0 = -3\n"


def test_what_is_true_is_one(run: Run, tmp_path: Path):
    path = tmp_path / "flag.mlir"
    path.write_text("orch.func opaque @main(in %a: i1) -> i1 {\n  orch.return %a : i1\n}\n")
    assert run(path, "--arg", "a=true") == (0, "result0 = 1\n", "")
    assert run(path, "--arg", "a=1", "--expect", "result0=true", "-q")[0] == 0
    assert run(path, "--arg", "a=0", "--expect", "result0=true", "-q")[0] == 1


def test_tasks_are_no_results(run: Run, tmp_path: Path):
    path = tmp_path / "task.mlir"
    path.write_text(
        "orch.func opaque @main() -> !orch.task_id {\n  %t = orch.task_dummy\n"
        "  orch.return %t : !orch.task_id\n}\n"
    )
    status, _, err = run(path)
    assert (status, err) == (
        1,
        f"{path}:1:1: error: 'orch.func' op returns !orch.task_id as result 0, but a run gives "
        "tensors and numbers\n",
    )


PROGRAM = """\
import pypto.language as pl

@pl.program
class Program:
    @pl.function(type=pl.FunctionType.InCore)
    def add(
        self,
        a: pl.Tensor[[2, 2], pl.FP32],
        b: pl.Tensor[[2, 2], pl.FP32],
        out: pl.Out[pl.Tensor[[2, 2], pl.FP32]],
    ) -> pl.Tensor[[2, 2], pl.FP32]:
        left = pl.load(a, [0, 0], [2, 2])
        right = pl.load(b, [0, 0], [2, 2])
        return pl.store(pl.add(left, right), [0, 0], out)
"""


def test_a_program_of_the_python_dsl_runs(run: Run, tmp_path: Path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    arguments = ("--arg", "a=arange", "--arg", "b=full:10")
    status, out, err = run(path, "--program", "Program", *arguments)
    assert (status, err) == (0, "")
    assert run(path, *arguments) == (status, out, err)
    assert out == (
        "out : tensor<2x2xf32> =\n[[10., 11.],\n [12., 13.]]\nresult0 : tensor<2x2xf32> is out\n"
    )


def test_the_only_value_needs_no_name(run: Run, tmp_path: Path):
    path = tmp_path / "one.mlir"
    path.write_text(KERNEL.replace(" -> i32 {", " {").replace("%n : i32\n}", "\n}"))
    saved = tmp_path / "y.npy"
    arguments = (path, "--arg", "x=arange", "--arg", "n=1")
    assert run(*arguments, "--save", saved) == (0, "", "")
    assert run(*arguments, "--expect", saved) == (0, "", "")
    status, _, err = run(*arguments, "--expect", "randn:seed=1")
    assert status == 1
    assert err.startswith("pypto-run: error: 'y' differs in 4 of 4 elements")


def test_one_of_several_values_needs_its_name(run: Run, kernel: str):
    status, _, err = run(kernel, "--arg", "x=ones", "--arg", "n=1", "--expect", "ones")
    assert (status, err) == (2, "pypto-run: error: --expect expects name=value, got 'ones'\n")


LOWERED_NAMES = """\
orch.func incore @scaled(in %x : tensor<8x64xf32>, in %by : f32, out %y : tensor<8x64xf32>)
    -> tensor<8x64xf32> {
  %t = tile.load %x[0, 0] : tensor<8x64xf32> -> !tile.tile<8x64xf32>
  %u = tile.muls %t, %by : !tile.tile<8x64xf32>, f32
  %y1 = tile.store %u, %y[0, 0] : !tile.tile<8x64xf32>, tensor<8x64xf32>
  orch.return %y1 : tensor<8x64xf32>
}
"""


@pytest.mark.parametrize("passes", [[], ["--default-pipeline"]])
def test_arguments_keep_their_names_when_kernels_are_lowered(
    run: Run, tmp_path: Path, passes: list[str]
):
    """A kernel on pointers takes the numbers last, whatever the order of the parameters."""
    path = tmp_path / "scaled.mlir"
    path.write_text(LOWERED_NAMES)
    arguments = ["--arg", "x=ones", "--arg", "by=3.0", "--expect", "y=full:3.0", "-q"]
    assert run(path, *passes, *arguments) == (0, "", "")
    status, _, err = run(path, *passes, "--arg", "x=ones", "--arg", "z=1")
    assert (status, err) == (
        2,
        "pypto-run: error: 'scaled' has no parameter 'z'; it has x, by, y\n",
    )
