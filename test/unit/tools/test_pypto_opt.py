"""The manners of `pypto-opt`: exit status, one-line errors, no traceback, whatever the input."""

from __future__ import annotations

import io
import os
import shlex
import signal
import subprocess
import sys
from codecs import BOM_UTF8
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.passes import ModulePass
from xdsl.universe import Universe
from xdsl.utils.exceptions import PassFailedException, ShrinkException
from xdsl.utils.frontend import Frontend

from pypto_xdsl import pipelines
from pypto_xdsl.diagnostics import Diagnostic, DiagnosticsError, OpError, diagnose, remark, warn
from pypto_xdsl.properties import registry
from pypto_xdsl.properties.checked_pass import CheckedPass
from pypto_xdsl.properties.registry import Property
from pypto_xdsl.tools import pypto_opt
from pypto_xdsl.universe import PYPTO_UNIVERSE

VALID = "func.func @f(%a: i32) -> i32 {\n  func.return %a : i32\n}\n"


@dataclass
class Run:
    """What a run of the tool did."""

    status: int
    out: str
    err: str


RunTool = Callable[..., Run]


@pytest.fixture
def run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> RunTool:
    """Runs the tool in a directory of its own; `program` is written to `a.mlir` first."""
    monkeypatch.chdir(tmp_path)

    def run_tool(*args: str, program: str | bytes = VALID, stdin: str = "") -> Run:
        content = program.encode() if isinstance(program, str) else program
        Path("a.mlir").write_bytes(content)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        try:
            status = pypto_opt.main(args)
        except SystemExit as e:
            status = int(str(e.code))
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return Run(status, captured.out, captured.err)

    return run_tool


def offer(monkeypatch: pytest.MonkeyPatch, *passes: type[ModulePass]) -> None:
    """Let the tool know some passes of a test."""
    multiverse = Universe.get_multiverse()
    multiverse.all_passes.update({p.name: lambda p=p: p for p in passes})
    monkeypatch.setattr(Universe, "get_multiverse", lambda: multiverse)


# Wrong command lines


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["nofile.mlir"], "cannot open 'nofile.mlir': no such file or directory"),
        (["."], "cannot open '.': is a directory"),
        (["--canonicalise", "a.mlir"], "unknown flag '--canonicalise'; did you mean '--canonic"),
        (["--print-ir-after-al", "a.mlir"], "did you mean '--print-ir-after-all'?"),
        (["--print-ir-after", "a.mlir"], "unknown flag '--print-ir-after'"),
        (["-x", "a.mlir"], "unknown flag '-x'"),
        (["-p", "csee", "a.mlir"], "unknown pass 'csee'; did you mean 'cse'?"),
        (["-p", "cse{a=", "a.mlir"], "bad pass specification 'cse{a=':"),
        (["-p", "cse cse", "a.mlir"], "bad pass specification 'cse cse':"),
        (["--verify-property=SSAFrom", "a.mlir"], "unknown property 'SSAFrom'; did you mean 'S"),
        (["--verify-property=zzz", "a.mlir"], "unknown property 'zzz'; there are "),
        (["--verify-property", "a.mlir"], "requires argument"),
        (["a.mlir", "b.mlir"], "unexpected argument 'b.mlir': one input at a time"),
        (["-", "-"], "unexpected argument '-': one input at a time"),
        (["a.mlir", "--program", "p"], "--program is about Python programs; 'a.mlir' holds mlir"),
        (["a.mlir", "--define", "N=3"], "--define is about Python programs"),
        (["a.mlir", "--arg-type", "x=3"], "--arg-type is about Python programs"),
        (["a.mlir", "--list-programs"], "--list-programs is about Python programs"),
        (["-o", "no/such/place", "a.mlir"], "cannot write 'no/such/place': no such file"),
        (["-o", ".", "a.mlir"], "cannot write '.': is a directory"),
        (["-t", "mlri", "a.mlir"], "unknown target 'mlri'; did you mean 'mlir'?"),
        (["-t", "mlir{x=", "a.mlir"], "bad pass specification"),
        (["-t", "pto{gramar='0.27'}", "a.mlir"], "bad pass specification"),
        (["-t", "pto{gramar=0.27}", "a.mlir"], "no option 'gramar'; did you mean 'grammar'?"),
        (
            ["-t", "pto{grammar=0.27}", "a.mlir"],
            "target 'pto': option 'grammar' expects '0.27' or '0.57' or '0.60', got 0.27; "
            "a string needs quotes",
        ),
        (["-f", "x", "a.mlir"], "unknown frontend 'x'; there are "),
        (["-o"], "argument -o/--output-file: expected one argument"),
    ],
)
def test_a_wrong_command_line_is_status_2(run: RunTool, args: list[str], message: str):
    result = run(*args)
    assert (result.status, result.out) == (2, "")
    (line,) = result.err.splitlines()
    assert line.startswith("pypto-opt: error: ")
    assert message in line


def test_an_unknown_ending(run: RunTool):
    Path("a.txt").write_text(VALID)
    result = run("a.txt")
    assert result.status == 2
    assert result.err.startswith("pypto-opt: error: cannot tell the language of 'a.txt'")
    assert run("-f", "mlir", "a.txt").out == run("a.mlir").out


def test_help_and_version(run: RunTool):
    assert run("--help").out.startswith("usage: pypto-opt [option]... ")
    assert run("--version").out == "pypto-opt 0.1.0 on xDSL 0.75.0\n"
    listed = run("--list-passes")
    assert listed.status == 0
    assert "  --verify-property: Check that the module has a property.\n" in listed.out
    assert all(f"  --{name}" in listed.out for name in PYPTO_UNIVERSE.all_passes)
    assert "  --canonicalize\n" in listed.out


# Wrong programs


@pytest.mark.parametrize(
    ("program", "error"),
    [
        ("", "a.mlir:1:1: error: expected at least one op"),
        # Some editors begin a file with a byte order mark, which is no text.
        (BOM_UTF8 + b"foo.bar", "a.mlir:1:1: error: unknown op 'foo.bar'"),
        (b"\x00\xff\x12", "a.mlir:1:2: error: byte 0xff is not UTF-8 text"),
        (VALID.encode() + b"// caf\xe9", "a.mlir:4:7: error: byte 0xe9 is not UTF-8 text"),
        ("\x00\x01\x02", "a.mlir:1:1: error: Unexpected character"),
        ("func.func @f(", "a.mlir:1:14: error: "),
        ("func.func @f() { func.return", "a.mlir:1:29: error: "),
        ("foo.bar", "a.mlir:1:1: error: unknown op 'foo.bar'"),
        ('"func.call"() {callee = @g} : () -> ()', "a.mlir:1:1: error: 'func.call' op '@g' could"),
        ("func.func @f() { func.return }\nfunc.func @f() { func.return }", "a.mlir:2:1: error: 'f"),
        (
            "func.func private @g(i32)\nfunc.func @f() {\n  func.call @g() : () -> ()\n"
            "  func.return\n}",
            "a.mlir:3:3: error: 'func.call' op ",
        ),
    ],
)
def test_a_wrong_program_is_status_1(run: RunTool, program: str | bytes, error: str):
    for flags in ([], ["--canonicalize"], ["--split-input-file"]):
        result = run(*flags, "a.mlir", program=program)
        assert (result.status, result.out) == (1, "")
        assert result.err.startswith(error)


def test_errors_of_parsing_can_be_what_is_wanted(run: RunTool):
    result = run("--parsing-diagnostics", "a.mlir", program="foo.bar")
    assert (result.status, result.err) == (0, "")
    assert result.out == "a.mlir:1:1: error: unknown op 'foo.bar'\n"


def test_all_errors_are_reported(run: RunTool):
    program = "func.func @f(%a: i32) {\n  %b = arith.addi %a, %a : i32\n}\n" * 2
    result = run(program=program, stdin=program)
    assert result.err.splitlines() == [
        "<stdin>:2:8: error: 'arith.addi' op is at the end of a block, but is not a terminator",
        "<stdin>:4:1: error: 'func.func' op redefines symbol '@f'",
        "<stdin>:1:1: note: '@f' is first defined here",
        "<stdin>:5:8: error: 'arith.addi' op is at the end of a block, but is not a terminator",
    ]


def test_nothing_is_written_over_a_file_for_a_wrong_program(run: RunTool):
    Path("out.mlir").write_text("precious")
    assert run("-o", "out.mlir", "a.mlir", program="foo.bar").status == 1
    assert Path("out.mlir").read_text() == "precious"
    assert run("-o", "out.mlir", "a.mlir").out == ""
    assert "func.func @f" in Path("out.mlir").read_text()


def test_parts_of_a_file_are_independent(run: RunTool):
    program = f"// nothing here\n// -----\n{VALID}// -----\nfoo.bar\n// -----\n{VALID}// -----\n"
    result = run("--split-input-file", "a.mlir", program=program)
    assert result.status == 1
    assert result.err == "a.mlir:7:1: error: unknown op 'foo.bar'\n"
    assert result.out.count("func.func @f") == 2
    assert result.out.count("// -----") == 1
    assert run("--split-input-file", "a.mlir", program="  // -----\n" + VALID).status == 0


@pytest.mark.parametrize("depth", [1_000, 3_000])
def test_deep_nests(run: RunTool, depth: int):
    program = "func.func @f(%c: i1) {\n" + "scf.if %c {\n" * depth
    program += '"test.op"() : () -> ()\n' + "}\n" * depth + "func.return\n}\n"
    result = run("--verify-property=SSAForm", "--verify-each", "a.mlir", program=program)
    assert (result.status, result.err) == (0, "")
    assert result.out.count("scf.if") == depth
    assert run("--print-op-generic", "a.mlir", program=program).status == 0


def test_too_deep_a_nest_is_an_error(run: RunTool):
    depth = 50_000
    result = run("a.mlir", program='"test.op"() ({\n' * depth)
    assert result.status == 1
    assert "error: the program is nested too deeply" in result.err


# Passes that complain, or break


@dataclass(frozen=True)
class Complain(ModulePass):
    """Ends in the way its option says."""

    name = "complain"
    how: str

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        func = op.body.block.first_op
        assert func is not None
        match self.how:
            case "one":
                raise OpError(func, "is wrong")
            case "several":
                raise DiagnosticsError([diagnose(func, "is wrong"), diagnose(op, "is as well")])
            case "plain":
                raise PassFailedException("no place known")
            case "at hand":
                self.look_at(func, PassFailedException("no place said"))
            case "warn":
                warn(func, "is odd")
                remark(func, "was seen")
            case "bug":
                self.look_at(func)
            case "shrink":
                raise ShrinkException
            case "interrupt":
                raise KeyboardInterrupt
            case _:
                op.body.block.insert_op_after(func.clone(), func)

    def look_at(self, op: object, error: Exception | None = None) -> None:
        raise error or KeyError("missing")


@pytest.mark.parametrize(
    ("how", "status", "errors"),
    [
        ("one", 1, ["a.mlir:1:1: error: 'func.func' op is wrong"]),
        (
            "several",
            1,
            [
                "a.mlir:1:1: error: 'func.func' op is wrong",
                "a.mlir:1:1: error: 'builtin.module' op is as well",
            ],
        ),
        ("plain", 1, ["a.mlir:0:0: error: pass 'complain': no place known"]),
        ("'at hand'", 1, ["a.mlir:1:1: error: pass 'complain': no place said"]),
        (
            "warn",
            0,
            [
                "a.mlir:1:1: warning: 'func.func' op is odd",
                "a.mlir:1:1: remark: 'func.func' op was seen",
            ],
        ),
        (
            "bug",
            1,
            [
                "a.mlir:1:1: error: internal error in pass 'complain': KeyError: 'missing'",
                "a.mlir:1:1: note: set PYPTO_TRACEBACK=1 to see the traceback",
            ],
        ),
        (
            "invalid",
            1,
            [
                "a.mlir:1:1: error: 'func.func' op redefines symbol '@f'",
                "a.mlir:1:1: note: '@f' is first defined here",
                "a.mlir:1:1: note: the IR is not valid after pass 'complain'",
            ],
        ),
        ("interrupt", 130, ["pypto-opt: error: interrupted"]),
    ],
)
def test_passes_that_complain(
    run: RunTool, monkeypatch: pytest.MonkeyPatch, how: str, status: int, errors: list[str]
):
    offer(monkeypatch, Complain)
    result = run(f"--complain={how}", "--cse", "a.mlir")
    assert (result.status, result.err.splitlines()) == (status, errors)
    assert (result.out == "") == (status != 0)


def test_warnings_and_remarks_can_be_expected(run: RunTool, monkeypatch: pytest.MonkeyPatch):
    offer(monkeypatch, Complain)
    comments = "// expected-warning @+2 {{is odd}}\n// expected-remark @+1 {{was seen}}\n"
    assert run("--complain=warn", "--verify-diagnostics", "a.mlir", program=comments + VALID) == (
        Run(0, run("a.mlir").out, "")
    )
    result = run("--complain=warn", "--verify-diagnostics", "a.mlir")
    assert result.status == 1
    assert result.err.startswith("a.mlir:1:1: error: unexpected warning: 'func.func' op is odd\n")


def test_shrinking(run: RunTool, monkeypatch: pytest.MonkeyPatch):
    offer(monkeypatch, Complain)
    assert run("--complain=shrink", "--shrink", "a.mlir").status == 0
    assert run("--complain=warn", "--shrink", "a.mlir").status == 1


def test_the_traceback_of_an_internal_error_can_be_seen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    offer(monkeypatch, Complain)
    monkeypatch.setenv("PYPTO_TRACEBACK", "1")
    source = tmp_path / "a.mlir"
    source.write_text(VALID)
    assert pypto_opt.main(["--complain=bug", str(source)]) == 1
    assert "in look_at" in capsys.readouterr().err


# Properties


@dataclass(frozen=True)
class Rename(CheckedPass):
    """Gives the first function another name."""

    name = "rename"
    required = ("NoFunctionNamedF",)
    to: str = "f"

    def run(self, ctx: Context, module: ModuleOp) -> None:
        from xdsl.dialects.builtin import StringAttr

        func = module.body.block.first_op
        assert func is not None
        func.properties["sym_name"] = StringAttr(self.to)


@pytest.fixture
def structural(monkeypatch: pytest.MonkeyPatch) -> None:
    """A structural property: no function is called f."""
    found = Property(
        "NoFunctionNamedF",
        "no function is called f",
        lambda module: [
            diagnose(op, "is called f")
            for op in module.body.block.ops
            if str(op.properties["sym_name"]) == '"f"'
        ],
    )
    monkeypatch.setitem(registry.PROPERTIES, "NoFunctionNamedF", lambda: found)
    monkeypatch.setattr(pypto_opt, "structural_properties", lambda: ("NoFunctionNamedF",))
    offer(monkeypatch, Rename)


@pytest.mark.usefixtures("structural")
def test_structural_properties_are_checked_at_the_start(run: RunTool):
    result = run("a.mlir")
    assert result.err.splitlines() == [
        "a.mlir:1:1: error: 'func.func' op is called f",
        "a.mlir:1:1: note: structural property NoFunctionNamedF does not hold",
    ]
    assert result.status == 1


@pytest.mark.usefixtures("structural")
def test_structural_properties_after_each_pass(run: RunTool):
    program = VALID.replace("@f", "@g")
    assert run("--rename", "a.mlir", program=program).status == 0
    assert run("--rename=to=h", "--verify-each", "a.mlir", program=program).status == 0
    result = run("--rename", "--verify-each", "--cse", "a.mlir", program=program)
    assert result.err.splitlines() == [
        "a.mlir:1:1: error: 'func.func' op is called f",
        "a.mlir:1:1: note: structural property NoFunctionNamedF does not hold after pass 'rename'",
    ]


@pytest.mark.usefixtures("structural")
def test_a_required_property(run: RunTool):
    program = VALID.replace("@f", "@g")
    result = run("--rename", "--cse", "--rename", "a.mlir", program=program)
    assert result.status == 1
    assert result.err.splitlines() == [
        "a.mlir:1:1: error: pass 'rename' requires property NoFunctionNamedF: 'func.func' op is "
        "called f",
        "a.mlir:1:1: note: property NoFunctionNamedF holds if no function is called f",
    ]


@pytest.mark.usefixtures("structural")
def test_a_property_on_any_file_and_in_the_order_of_passes(run: RunTool):
    program = VALID.replace("@f", "@g")
    flag = "--verify-property=NoFunctionNamedF"
    assert run(flag, "--verify-property=SSAForm", "a.mlir", program=program).status == 0
    assert run(flag, "--rename", "a.mlir", program=program).status == 0
    result = run("--rename", flag, "a.mlir", program=program)
    assert result.err == "a.mlir:1:1: error: 'func.func' op is called f\n"


def test_only_properties_of_imported_dialects_are_looked_at(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(registry, "STRUCTURAL", {"A": "some_dialect", "B": "other"})
    assert registry.structural_properties() == ()
    monkeypatch.setitem(sys.modules, "pypto_xdsl.dialects.other", registry)
    assert registry.structural_properties() == ("B",)


# Pipelines


def test_a_pipeline_is_a_flag(run: RunTool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(pipelines.PIPELINES, "clean", ("cse", "canonicalize"))
    multiverse = Universe.get_multiverse()
    multiverse.all_passes["clean"] = pipelines.pipeline_pass("clean")
    monkeypatch.setattr(Universe, "get_multiverse", lambda: multiverse)
    for flags in (["--clean", "--dce"], ["-p", "clean,dce"]):
        result = run(*flags, "--time-passes", "a.mlir")
        timed = [line.split("'")[1] for line in result.err.splitlines()]
        assert timed == ["cse", "canonicalize", "dce"]
    assert "  --clean: cse, canonicalize\n" in run("--list-passes").out


# Frontends


@dataclass(frozen=True)
class Lines(Frontend):
    """Reads each line as the name of a function; refuses some of them."""

    name = "lines"

    def parse(self, ctx: Context, input: IO[bytes], input_name: str) -> ModuleOp:
        ops: list[Operation] = []
        errors: list[Diagnostic] = []
        for number, line in enumerate(input.read().decode().splitlines(), start=1):
            match line:
                case "wrong":
                    errors.append(Diagnostic("wrong name", input_name, number, 1))
                case "plain":
                    Parser(ctx, "\n" * (number - 1) + "  plain", input_name).parse_operation()
                case "bug":
                    raise KeyError("bug")
                case "" | "  ":
                    pass
                case _:
                    ops.append(FuncOp.external(line, [], []))
        if errors:
            raise DiagnosticsError(errors)
        return ModuleOp(ops)


@pytest.mark.parametrize(
    ("text", "status", "errors"),
    [
        (b"f\ng", 0, []),
        (
            b"f\nwrong\ng\nwrong",
            1,
            ["a.lines:2:1: error: wrong name", "a.lines:4:1: error: wrong name"],
        ),
        (b"plain", 1, ["a.lines:1:8: error: Operation plain is not registered"]),
        (b"f\n  \xff", 1, ["a.lines:2:3: error: byte 0xff is not UTF-8 text"]),
        (
            b"bug",
            1,
            [
                "<unknown>:0:0: error: internal error in the parser: KeyError: 'bug'",
                "<unknown>:0:0: note: set PYPTO_TRACEBACK=1 to see the traceback",
            ],
        ),
    ],
)
def test_other_languages(
    run: RunTool, monkeypatch: pytest.MonkeyPatch, text: bytes, status: int, errors: list[str]
):
    multiverse = Universe.get_multiverse()
    multiverse.all_frontends["lines"] = lambda: Lines
    monkeypatch.setattr(Universe, "get_multiverse", lambda: multiverse)
    Path("a.lines").write_bytes(text)
    result = run("a.lines")
    assert (result.status, result.err.splitlines()) == (status, errors)
    assert result.out.count("func.func private") == (0 if status else 2)
    Path("b.mlir").write_bytes(text)
    assert run("-f", "lines", "b.mlir").status == status


def test_parts_of_other_languages(run: RunTool, monkeypatch: pytest.MonkeyPatch):
    multiverse = Universe.get_multiverse()
    multiverse.all_frontends["lines"] = lambda: Lines
    monkeypatch.setattr(Universe, "get_multiverse", lambda: multiverse)
    Path("a.lines").write_bytes(b"f\n// -----\nwrong\n// -----\nplain\n// -----\n  \xff\n")
    assert run("--split-input-file", "a.lines").err.splitlines() == [
        "a.lines:3:1: error: wrong name",
        "a.lines:5:8: error: Operation plain is not registered",
        "a.lines:7:3: error: byte 0xff is not UTF-8 text",
    ]


# What only a process of its own can show


def start(*args: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "pypto_xdsl.tools.pypto_opt", *args]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def test_a_closed_pipe():
    process = start()
    assert process.stdin
    assert process.stdout
    assert process.stderr
    process.stdout.close()
    process.stdin.write(VALID.encode())
    process.stdin.close()
    assert process.wait(timeout=60) == 141
    assert process.stderr.read() == b""
    process.stderr.close()


@pytest.mark.parametrize(
    ("closed", "status", "error"),
    [
        (">&-", 2, "pypto-opt: error: standard output is closed\n"),
        ("<&-", 2, "pypto-opt: error: standard input is closed\n"),
        # Nothing of it goes anywhere else.
        ("2>&- nofile.mlir", 2, ""),
    ],
)
def test_streams_that_the_caller_closed(closed: str, status: int, error: str):
    command = f"{shlex.quote(sys.executable)} -m pypto_xdsl.tools.pypto_opt {closed}"
    done = subprocess.run(
        command, shell=True, input=VALID, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (status, "", error)


def test_ctrl_c(tmp_path: Path):
    source = tmp_path / "a.mlir"
    os.mkfifo(source)
    process = start(str(source))
    # Opening the pipe returns when the tool has opened its end, and so waits for input.
    with source.open("wb") as pipe:
        pipe.write(b"func")
        pipe.flush()
        for _ in range(20):
            os.kill(process.pid, signal.SIGINT)
            # A signal that comes right before the tool goes to sleep in its read is not heard.
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=1)
                break
        assert process.poll() == 130
    assert process.stderr
    assert process.stderr.read() == b"pypto-opt: error: interrupted\n"
    for stream in (process.stdin, process.stdout, process.stderr):
        assert stream
        stream.close()


@pytest.mark.parametrize("tool", ["pypto_opt", "pypto_run"])
def test_ctrl_c_while_loading(tool: str):
    program = f"""
import sys
from codecs import BOM_UTF8
from pypto_xdsl.tools import console_scripts

class Interrupt:
    def find_spec(self, name, path, target=None):
        if name == "pypto_xdsl.tools.{tool}":
            raise KeyboardInterrupt

assert "xdsl" not in sys.modules
sys.meta_path.insert(0, Interrupt())
sys.exit(console_scripts.{tool}())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 130
    assert done.stderr == f"{tool.replace('_', '-')}: error: interrupted\n"
