"""
The PTO assembler reads what we print.

For every op form of `test/filecheck/dialects/pto` a kernel of that op, and what its operands
need, is given to the `ptoas` on PATH: at level2, where the assembler plans memory, and at level3,
where the producer has. Its version chooses the spelling.
"""

from __future__ import annotations

import io
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from pto_programs import FORMS, context
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue
from xdsl.passes import PassPipeline
from xdsl.universe import Universe

from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.dialects import pto
from pypto_xdsl.syntax.parser import parse_module
from pypto_xdsl.targets.pto import PtoTarget, level_problem, units_of

PTOAS = shutil.which("ptoas") or ""
NEWER = re.compile(
    r"custom op '[^']*' is unknown|unknown attribute `\w+` in dialect `pto`"
    r"|unknown type `\w+` in dialect `pto`"
    # What 0.27 says of forms that ops gained since: a base of flags in a
    # pointer, padding in loads, windows of vector tiles.
    r"|'pto.set_ffts' invalid kind of type"
    r"|operand count \(2\) does not match with the total size"
    r"|A2/A3 textract src to use loc=mat|A2/A3 tinsert src to use loc=acc"
    r"|expects src0/src1/tmp/dst to have the same shape|mscatter is only supported on A5"
    r"|expected SSA operand"
)
"""What an older assembler says of a form that came after it."""

INTERNAL = ("queue_handles.pto",)
"""Files of forms that the assembler makes itself, out of those that programs have."""

NOT_LOWERED = (pto.TSyncOp, pto.TAddReluOp)
"""Ops that the assembler reads and has no code for."""

WHOLE = ("functions.pto", "queue.pto", "queue_depth.pto")
"""Files whose functions mean nothing without each other."""

if not PTOAS:
    pytest.skip("there is no ptoas on PATH", allow_module_level=True)


@dataclass(frozen=True)
class Form:
    """One op of a test file."""

    file: str
    function: str
    number: int
    name: str

    def __str__(self) -> str:
        return f"{self.file}:{self.function}:{self.number}:{self.name}"


@cache
def program(file: str) -> ModuleOp:
    path = FORMS / file
    return parse_module(context(), path.read_text(), str(path))


def functions(file: str) -> Iterator[FuncOp]:
    for op in program(file).body.ops:
        if isinstance(op, FuncOp) and not op.is_declaration:
            yield op


def forms() -> list[Form]:
    """The ops that are not there only to give the others operands."""
    return [
        Form(path.name, function.sym_name.data, number, op.name)
        for path in sorted(FORMS.glob("*.pto"))
        if path.name not in (*WHOLE, *INTERNAL) and not path.name.startswith("invalid_")
        for function in functions(path.name)
        for number, op in enumerate(function.body.block.ops)
        if not isinstance(op, (ConstantOp, ReturnOp, *NOT_LOWERED))
    ]


def kernel(form: Form, level: str) -> ModuleOp:
    """A module with the op of a form and what it needs."""
    function = next(f for f in functions(form.file) if f.sym_name.data == form.function)
    block = function.body.block
    ops = list(block.ops)
    needed: set[Operation] = set()
    waiting = [ops[form.number]]
    while waiting:
        op = waiting.pop()
        if op in needed:
            continue
        needed.add(op)
        for value in (v for part in op.walk() for v in part.operands):
            if isinstance(value, OpResult) and value.op.parent is block:
                waiting.append(value.op)
        # What the flags between cores stand on: no operand shows it.
        if isinstance(op, pto.SyncSetOp | pto.SyncWaitOp):
            waiting += [other for other in ops if isinstance(other, pto.SetFftsOp)]
    copy = Block(arg_types=block.arg_types)
    values: dict[SSAValue, SSAValue] = dict(zip(block.args, copy.args, strict=True))
    next_free: dict[str, int] = {}
    for op in ops:
        if op not in needed:
            continue
        clone = op.clone(values)
        if level == "level3" and isinstance(clone, pto.AllocTileOp) and clone.addr is None:
            tile = clone.result.type
            assert isinstance(tile, pto.TileBufType)
            start = next_free.get(tile.space, 0)
            next_free[tile.space] = start + -(-tile.size_in_bytes // 1024) * 1024
            address = ConstantOp(IntegerAttr(start, i64))
            copy.add_op(address)
            clone = pto.AllocTileOp(
                addr=address.result,
                valid_row=clone.valid_row,
                valid_col=clone.valid_col,
                result_types=clone.result_types,
            )
            values[op.results[0]] = clone.results[0]
        copy.add_op(clone)
    copy.add_op(ReturnOp())
    new = FuncOp(function.sym_name.data, function.function_type, Region(copy))
    new.attributes.update(function.attributes)
    unit = ModuleOp([new], dict(program(form.file).attributes))
    unit.verify()
    return unit


@cache
def grammar() -> str:
    """The newest spelling that the assembler on PATH reads."""
    said = subprocess.run([PTOAS, "--version"], capture_output=True, text=True, check=True).stdout
    match = re.search(r"(\d+)\.(\d+)", said)
    assert match is not None, said
    version = (int(match[1]), int(match[2]))
    return "0.27" if version < (0, 57) else "0.57" if version < (0, 60) else "0.60"


def assemble(text: str, level: str, directory: Path) -> str:
    """What the assembler has against a text; empty if nothing."""
    source = directory / "kernel.pto"
    source.write_text(text)
    run = subprocess.run(
        [
            PTOAS,
            str(source),
            "-o",
            str(directory / "kernel.cpp"),
            f"--pto-level={level}",
            "--pto-arch=a3",
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return "" if run.returncode == 0 else run.stderr


def check(unit: ModuleOp, level: str, directory: Path) -> None:
    """The assembler takes what is printed of a module, unless it is older than the forms there."""
    if any(level_problem(op, level) for op in unit.walk()):
        pytest.skip(f"not a form of {level}")
    text = io.StringIO()
    try:
        PtoTarget(grammar=grammar(), level=level).emit(context(), unit, text)  # pyright: ignore[reportArgumentType]
    except DiagnosticsError as error:
        pytest.skip(str(error))
    problem = assemble(text.getvalue(), level, directory)
    if (newer := NEWER.search(problem)) is not None and grammar() == "0.27":
        pytest.skip(f"newer than this ptoas: {newer[0]}")
    assert not problem, text.getvalue()


@pytest.mark.parametrize("level", ["level2", "level3"])
@pytest.mark.parametrize("form", forms(), ids=str)
def test_assembler_reads_form(form: Form, level: str, tmp_path: Path) -> None:
    check(kernel(form, level), level, tmp_path)


@pytest.mark.parametrize("level", ["level2", "level3"])
@pytest.mark.parametrize("file", WHOLE)
def test_assembler_reads_program(file: str, level: str, tmp_path: Path) -> None:
    check(program(file), level, tmp_path)


LOWERED = FORMS.parents[1] / "transforms" / "convert-tile-to-pto"
"""Kernels on tiles, as tests of their lowering have them."""
LOWERING = "convert-tile-to-pto{backend=ascend910b},memory-reuse"
PLACED = LOWERING + ",allocate-memory-addr"


def units(file: str, level: str) -> Iterator[ModuleOp]:
    """The kernels of a file, lowered, each as a module of its own."""
    passes = Universe.get_multiverse().all_passes
    for number, text in enumerate((LOWERED / file).read_text().split("// -----")):
        module = parse_module(context(), text, f"{file}:{number}")
        spec = PLACED if level == "level3" else LOWERING
        for step in PassPipeline.parse_spec(passes, spec).passes:
            step.apply(context(), module)
        yield from units_of(module)


@pytest.mark.parametrize("level", ["level2", "level3"])
@pytest.mark.parametrize(
    "file",
    sorted(path.name for path in LOWERED.glob("*.mlir") if not path.name.startswith("invalid")),
)
def test_assembler_reads_lowered_kernels(file: str, level: str, tmp_path: Path) -> None:
    """But for what is newer than it is."""
    read = 0
    for unit in units(file, level):
        try:
            check(unit, level, tmp_path)
            read += 1
        except pytest.skip.Exception:
            pass
    if not read:
        pytest.skip(f"all kernels of {file} are newer than this ptoas")
