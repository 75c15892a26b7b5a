"""
Runs public `.pto` samples that have numpy references, at machine level, and tables the results.

    python tools/run_golden_samples.py path/to/PTOAS/test/samples [--only Qwen3DecodeA3] [--seed 3]

A sample is a `.pto` file, or a script that builds one (`builder_bindings.py` stands in for the
bindings that it imports), beside a `<name>_golden.py`. That script writes the inputs and the
wanted outputs; it reads sizes from the `main.cpp` of a test bench, for which a stand-in is
written. How large the memory behind a pointer must be is measured by a first run. Nothing is kept:
all files are written to a temporary folder.

Of some samples the program or the reference is wrong for A2/A3: `JUDGED` says of each why. They are
run and shown as well, and do not count as wrong.

Scripts of the samples are foreign code, run as they are: point this only at a checkout whose
scripts you would run yourself.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp, StringAttr, UnitAttr, i32, i64
from xdsl.ir import Block, Region, SSAValue
from xdsl.passes import PassPipeline
from xdsl.universe import Universe

from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.dialects import pto
from pypto_xdsl.dialects.pto import PtrType
from pypto_xdsl.dialects.pto.queue import QueueOp
from pypto_xdsl.dialects.pto.rules import constant_value
from pypto_xdsl.interpreters.core_settings import Check, CoreSettings
from pypto_xdsl.interpreters.elements import (
    Array,
    Mask,
    bfloat16_values,
    element_of,
    float_value,
)
from pypto_xdsl.interpreters.pto import run_kernel
from pypto_xdsl.interpreters.pto.globals import Pointer
from pypto_xdsl.interpreters.run import machine_for, running
from pypto_xdsl.interpreters.values import Buffer, Tensor
from pypto_xdsl.syntax.parser import parse_module

PASSES = "memory-reuse,allocate-memory-addr,convert-pto-to-ascend910b,insert-sync"
_HOST_TYPES = {
    "f32": "float",
    "f16": "half",
    "bf16": "bfloat16_t",
    "i8": "int8_t",
    "i16": "int16_t",
    "i32": "int32_t",
    "i64": "int64_t",
    "ui8": "uint8_t",
    "ui16": "uint16_t",
    "ui32": "uint32_t",
    "ui64": "uint64_t",
}


_BUILDER_SECONDS = 60


JUDGED: Mapping[str, str] = {
    "down_proj_residual": "the reference has the half of one vector core; both run, and its half "
    "agrees",
    "movfp_fixpipe_reuse": "it loads into the fixpipe buffer, where A2/A3 only moves from L1",
    "out_proj_residual": "the reference has the half of one vector core; both run, and its half "
    "agrees",
    "partmin": "the reference is rounded to f16, and compared as f16; the program computes in f32",
    "prelu": "its scratch has 32 rows of bytes; tprelu on A2/A3 needs a row more than the result",
    "quant": "its scales are a tile of 32 columns, of which the reference reads 8; tquant on A2/A3 "
    "takes one a row",
    "quant_asym": "its scales are a tile of 32 columns, of which the reference reads 8; tquant on "
    "A2/A3 takes one a row",
    "qwen3_decode_incore_4": "the reference takes the parameters of the low halves of cosine and "
    "sine for those of the high halves, and the reverse; with them exchanged it agrees",
    "rowexpanddiv": "its divisors are a whole matrix; A2/A3 takes a column, or a block a row",
    "rowexpandmul": "its factors are a whole matrix; A2/A3 takes a column, or a block a row",
    "rowexpandsub": "its second operand is a whole matrix; A2/A3 takes a column, or a block a row",
    "scatter": "the reference takes indices for rows; tscatter on A2/A3 counts elements",
    "sels": "the reference takes the scalar for a mode that selects a whole source; on A2/A3 bits "
    "of the mask select between the source and the scalar",
    "test_dynamic_valid_shape": "it asks for 33 valid columns of a tile that has 32",
}
"""Why samples whose results differ, or that do not run, are at fault themselves."""


class BuilderError(Exception):
    """A script builds no module."""


@dataclass(frozen=True)
class Sample:
    """One program and its reference."""

    program: Path
    """A `.pto` file, or a script that prints one."""
    reference: Path

    @property
    def name(self) -> str:
        return self.reference.stem.removesuffix("_golden")

    @cached_property
    def text(self) -> str:
        """The program. Raises `BuilderError`."""
        if self.program.suffix == ".pto":
            return self.program.read_text()
        bindings = Path(__file__).with_name("builder_bindings.py")
        done = subprocess.run(
            [sys.executable, str(bindings), str(self.program)],
            capture_output=True,
            text=True,
            check=False,
            timeout=_BUILDER_SECONDS,
        )
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if "Error" in line or "Exc" in line]
            raise BuilderError((lines or ["the builder fails"])[-1].partition(": ")[2])
        return done.stdout


def samples(root: Path, only: str | None) -> Iterator[Sample]:
    """Every sample below a folder."""
    for reference in sorted(root.resolve().rglob("*_golden.py")):
        if only is not None and only not in str(reference.relative_to(root.resolve())):
            continue
        name = reference.stem.removesuffix("_golden")
        beside = reference.parent
        found = [
            *beside.glob(f"{name}.pto"),
            *beside.glob(f"{name}-pto.pto"),
            *beside.rglob(f"{name}.pto"),
            beside / f"{name}.py",
        ]
        program = found[0]
        # Kernels of another chip have no meaning here.
        if program.exists() and 'target_arch = "a5"' not in program.read_text():
            yield Sample(program, reference)


class _Anywhere(Buffer):
    """What views of a pointer that is measured are said to lie in."""

    def mark_written(self, view: Array, defined: Mask | None = None) -> None:
        """What of it is defined does not matter."""


@dataclass(eq=False)
class _Measuring(Pointer):
    """A pointer to memory that is as large as it must be."""

    reached: list[int] = field(default_factory=lambda: [0])
    """How many elements were needed."""

    def moved(self, elements: int) -> Pointer:
        return replace(self, offset=self.offset + elements)

    def view(self, what: str, shape: Sequence[int], strides: Sequence[int]) -> Array:
        last = sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
        self.reached[0] = max(self.reached[0], self.offset + last + 1)
        return np.zeros(tuple(shape), self.element.storage)

    def tensor(self, what: str, shape: Sequence[int], strides: Sequence[int]) -> Tensor:
        array = self.view(what, shape, strides)
        return Tensor(array, self.element, Buffer(array))


_NUMBERS = """
import json, runpy, sys
names = runpy.run_path(sys.argv[1], run_name="bench")
by_case = names.get("CASE_INT_SCALAR_DEFAULTS", {})
print(json.dumps([by_case, names.get("SAMPLE_CASE_INT_SCALAR_DEFAULTS", {})]))
"""


@dataclass(frozen=True)
class Numbers:
    """What the samples' own test bench gives integers, where that is not 1."""

    by_case: Mapping[str, Mapping[str, int]]
    by_sample: Mapping[str, Mapping[str, Mapping[str, int]]]

    @classmethod
    def of(cls, root: Path) -> Numbers:
        """Those that the bench beside the folder of samples has, if there is one."""
        script = root.resolve().parent / "npu_validation" / "scripts" / "generate_testcase.py"
        if not script.exists():
            return cls({}, {})
        command = [sys.executable, "-c", _NUMBERS, str(script)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return cls(*json.loads(done.stdout))

    def for_sample(self, sample: Sample) -> Mapping[str, int]:
        """By parameter."""
        folder = sample.program.parent.name.lower()
        of_case = self.by_case.get(sample.name, {})
        return {**of_case, **self.by_sample.get(folder, {}).get(sample.name, {})}


def _load(sample: Sample, passes: str) -> ModuleOp:
    ctx = Context()
    for name, factory in Universe.get_multiverse().all_dialects.items():
        ctx.register_dialect(name, factory)
    module = parse_module(ctx, sample.text, sample.program.name)
    module.verify()
    module.attributes.setdefault("pto.target_arch", StringAttr("a2a3"))
    _join_halves(module)
    if passes:
        PassPipeline.parse_spec(Universe.get_multiverse().all_passes, passes).apply(ctx, module)
        module.verify()
    return module


def _join_halves(module: ModuleOp) -> None:
    """Call the halves of a kernel, one of each kind of core, from an entry: the runtime does so."""
    functions = {op.sym_name.data: op for op in module.body.ops if isinstance(op, func.FuncOp)}
    for name, cube in functions.items():
        vector = functions.get(name.removesuffix("_aic") + "_aiv")
        if not name.endswith("_aic") or vector is None or "pto.entry" in cube.attributes:
            continue
        block = Block(arg_types=cube.function_type.inputs)
        extra = len(vector.function_type.inputs) - len(block.args)
        ends: list[SSAValue] = [*block.args]
        if extra:
            # Without it, nothing tells two vector cores apart, and one runs.
            place = pto.GetSubBlockIdxOp(result_types=[i64])
            number = arith.TruncIOp(place.results[0], i32)
            block.add_ops([place, number])
            ends += [number.result] * extra
        block.add_ops(
            [
                func.CallOp(name, [*block.args], []),
                func.CallOp(vector.sym_name.data, ends, []),
                func.ReturnOp(),
            ]
        )
        entry = func.FuncOp("entry", (list(cube.function_type.inputs), []), Region(block))
        entry.attributes["pto.entry"] = UnitAttr()
        module.body.block.add_op(entry)


def _kernel(module: ModuleOp) -> func.FuncOp:
    found = [op for op in module.walk() if isinstance(op, func.FuncOp) and op.body.first_block]
    entries = [op for op in found if "pto.entry" in op.attributes]
    return (entries or found)[0]


def _scalar(type: Any, value: int) -> Any:
    if isinstance(type, IndexType):
        return IntegerAttr(value, type)
    if hasattr(type, "width"):
        return IntegerAttr(value, type)
    return float_value(float(value), type)


@dataclass(frozen=True)
class Outcome:
    """What a sample computed."""

    outputs: tuple[tuple[str, Array, Array, str], ...]
    """Name, result, reference and element type of each."""
    is_right: bool | None
    """By the sample's own comparison, where it has one; None: the reference has no results."""


def run_sample(
    sample: Sample, ints: Mapping[str, int], settings: CoreSettings, last: Sequence[int] = ()
) -> Outcome:
    """
    Run a sample on inputs that its reference makes. `ints` are numbers by parameter, `last` those
    of the last parameters that are numbers.
    """
    module = _load(sample, "")
    kernel = _kernel(module)
    types = kernel.function_type.inputs.data
    names = [f"v{place + 1}" for place in range(len(types))]
    numbers = {
        name: ints.get(name, 1)
        for name, type in zip(names, types, strict=True)
        if not isinstance(type, PtrType)
    }
    if len(numbers) >= len(last):
        numbers.update(zip(list(numbers)[len(numbers) - len(last) :], last, strict=True))
    sizes, written = _measure(module, kernel, names, numbers)
    with tempfile.TemporaryDirectory() as folder:
        _write_bench(Path(folder), names, types, sizes, numbers, written)
        done = _run_script(sample.reference, folder)
        if done.returncode:
            raise RuntimeError(f"the reference fails: {done.stderr.strip().splitlines()[-1]}")
        module = _load(sample, PASSES)
        kernel = _kernel(module)
        machine = machine_for(module, cores=settings)
        tensors: dict[str, Tensor] = {}
        values: list[Any] = []
        for name, type in zip(names, types, strict=True):
            if isinstance(type, PtrType):
                element = element_of(type.element_type)
                file = Path(folder) / f"{name}.bin"
                if file.exists():
                    array = np.fromfile(file, element.storage)
                else:
                    array = np.zeros(max(sizes[name], 1), element.storage)
                tensors[name] = machine.new_tensor(array, element)
                values.append(Pointer.to(tensors[name]))
            else:
                values.append(_scalar(type, numbers[name]))
        with running():
            run_kernel(machine, kernel, tuple(values))
        outputs: list[tuple[str, Array, Array, str]] = []
        for name in written:
            tensor = tensors[name]
            golden = Path(folder) / f"golden_{name}.bin"
            if not golden.exists():
                return Outcome((), None)
            wanted = np.fromfile(golden, tensor.element.storage)
            outputs.append((name, tensor.array, wanted, tensor.element.name))
            tensor.array.tofile(Path(folder) / f"{name}.bin")
        comparison = sample.reference.with_name(f"{sample.name}_compare.py")
        if comparison.exists():
            is_right = _run_script(comparison, folder).returncode == 0
        else:
            is_right = all(difference(got, want, kind)[1] for _, got, want, kind in outputs)
        return Outcome(tuple(outputs), is_right)


def _run_script(script: Path, folder: str) -> subprocess.CompletedProcess[str]:
    """Run a script of a sample where its files are."""
    environment = {**os.environ, "PYTHONPATH": str(script.parent.parent)}
    return subprocess.run(
        [sys.executable, str(script)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def _results(
    sample: Sample, ints: Mapping[str, int], settings: CoreSettings
) -> tuple[Outcome, str]:
    """What was computed, and a remark on how."""
    # The bench gives ones, mostly; as the row of a tensor with no row to spare, or as the extent of
    # one, that is out of bounds. The last number is often how many cores there are.
    names = [f"v{place}" for place in range(1, 32)]
    zeros, extents = dict.fromkeys(names, 0), dict.fromkeys(names, 64)
    first: DiagnosticsError | None = None
    for remark, given, last in (
        ("", ints, ()),
        ("; numbers are 0", zeros, ()),
        ("; numbers are 0, the last is 1", zeros, (1,)),
        ("; numbers are 64", extents, ()),
        ("; numbers are 64, the last are 0 and 1", extents, (0, 1)),
    ):
        try:
            return run_sample(sample, given, settings, last), remark
        except DiagnosticsError as e:
            if "which nobody wrote" in str(e):
                # Some samples store a whole tile of which they compute a part.
                lenient = replace(settings, lenient=settings.lenient | {Check.UNDEFINED})
                with redirect_stderr(io.StringIO()):
                    found = run_sample(sample, given, lenient, last)
                return found, f"{remark}; stores bytes that nobody wrote"
            first = first or e
    assert first is not None
    raise first


def _measure(
    module: ModuleOp, kernel: func.FuncOp, names: Sequence[str], numbers: Mapping[str, int]
) -> tuple[dict[str, int], list[str]]:
    """How many elements each pointer needs, and which of them are written."""
    machine = machine_for(module, strict=False)
    pointers: dict[str, _Measuring] = {}
    values: list[Any] = []
    for name, type in zip(names, kernel.function_type.inputs.data, strict=True):
        if isinstance(type, PtrType):
            element = element_of(type.element_type)
            empty = np.zeros(1, element.storage)
            pointers[name] = _Measuring(_Anywhere(empty), element, 0)
            values.append(pointers[name])
        else:
            values.append(_scalar(type, numbers[name]))
    holders = _holders(module, kernel, names)
    written = list(_written(module, holders, names))
    if any(isinstance(op, QueueOp | pto.SyncSetOp) for op in module.walk()):
        # Its cores wait for each other: it has no run without them.
        return _declared_sizes(module, holders, names), written
    with running():
        run_kernel(machine, kernel, tuple(values))
    return {name: p.reached[0] for name, p in pointers.items()}, written


_SIZE_OF_A_RING = 1 << 16
"""Elements of what no view tells the size of."""


def _holders(module: ModuleOp, kernel: func.FuncOp, names: Sequence[str]) -> dict[SSAValue, str]:
    """The names of parameters, by what they are in the kernel and in what it calls."""
    found: dict[SSAValue, str] = dict(zip(kernel.body.block.args, names, strict=True))
    functions = {op.sym_name.data: op for op in module.walk() if isinstance(op, func.FuncOp)}
    for call in kernel.walk():
        if isinstance(call, func.CallOp):
            inner = functions[call.callee.string_value()].body.block.args
            passed = zip(call.arguments, inner, strict=True)
            found.update({own: found[given] for given, own in passed if given in found})
    return found


def _declared_sizes(
    module: ModuleOp, holders: Mapping[SSAValue, str], names: Sequence[str]
) -> dict[str, int]:
    """How many elements the views of each pointer have."""
    sizes: dict[str, int] = {}
    for op in module.walk():
        if isinstance(op, pto.MakeTensorViewOp) and op.operand("ptr") in holders:
            shape, strides = (
                [constant_value(value) for value in op.operands_of(what)]
                for what in ("shape", "strides")
            )
            pairs = [(n, s) for n, s in zip(shape, strides, strict=True) if n and s]
            size = sum((n - 1) * s for n, s in pairs) + 1
            if len(pairs) < len(shape):
                size = max(size, _SIZE_OF_A_RING)
            name = holders[op.operand("ptr")]
            sizes[name] = max(sizes.get(name, 0), size)
    return {name: sizes.get(name, _SIZE_OF_A_RING) for name in names}


def _written(
    module: ModuleOp, holders: Mapping[SSAValue, str], names: Sequence[str]
) -> Iterator[str]:
    from pypto_xdsl.analysis.pipe_accesses import PipeAccesses

    accesses = PipeAccesses()
    memories = {
        access.place.memory
        for op in module.walk()
        if isinstance(op, pto.PtoOp)
        for access in accesses.of(op)
        if access.is_write
    }
    found = {name for value, name in holders.items() if value in memories}
    yield from (name for name in names if name in found)


def _write_bench(
    folder: Path,
    names: Sequence[str],
    types: Sequence[Any],
    sizes: Mapping[str, int],
    numbers: Mapping[str, int],
    written: Sequence[str],
) -> None:
    """The declarations that references read."""
    lines: list[str] = []
    for name, type in zip(names, types, strict=True):
        if isinstance(type, PtrType):
            host = _HOST_TYPES[element_of(type.element_type).name]
            lines += [
                f"size_t elemCount_{name} = {sizes[name]};",
                f"size_t fileSize_{name} = elemCount_{name} * sizeof({host});",
                f'ReadFile("./{name}.bin", fileSize_{name}, {name}Host, fileSize_{name});',
            ]
        elif isinstance(type, IndexType) or hasattr(type, "width"):
            lines.append(f"int32_t {name} = {numbers[name]};")
        else:
            lines.append(f"float {name} = {numbers[name]}.0f;")
    (folder / "main.cpp").write_text("\n".join(lines))
    (folder / "outputs.txt").write_text("\n".join(written))


def difference(got: Array, wanted: Array, element: str) -> tuple[float, bool]:
    """The largest error, and whether it is within what the type promises."""
    if element == "bf16":
        got, wanted = bfloat16_values(got), bfloat16_values(wanted)
    if got.dtype.kind != "f":
        error = int(np.abs(got.astype(np.int64) - wanted.astype(np.int64)).max(initial=0))
        return error, error == 0
    with np.errstate(all="ignore"):
        got, wanted = got.astype(np.float64), wanted.astype(np.float64)
        same = (got == wanted) | (np.isnan(got) & np.isnan(wanted))
        errors = np.where(same, 0.0, np.abs(got - wanted))
        allowed = {"bf16": 2**-7, "f16": 2**-9}.get(element, 1e-5) * np.abs(wanted) + 1e-5
    return float(errors.max(initial=0.0)), bool((errors <= allowed).all())


_VERDICTS = {True: "agrees", False: "differs", None: "runs; the reference has no results"}


def main() -> int:
    """Run the samples; the exit status is 1 if one is wrong."""
    parser = argparse.ArgumentParser(description="Runs public samples at machine level.")
    parser.add_argument("samples", type=Path, help="the folder test/samples of a PTOAS checkout")
    parser.add_argument("--only", help="a part of the path of the samples to run")
    parser.add_argument("--seed", type=int, help="of the order in which pipes go on")
    parser.add_argument("--lenient", action="store_true", help="only warn")
    options = parser.parse_args()
    lenient = frozenset(Check) if options.lenient else frozenset[Check]()
    settings = CoreSettings(options.seed, lenient)
    numbers = Numbers.of(options.samples)
    wrong = 0
    print("| sample | outputs | largest error | seconds | verdict |")
    print("|---|---|---|---|---|")
    for sample in samples(options.samples, options.only):
        start = time.perf_counter()
        try:
            found, given = _results(sample, numbers.for_sample(sample), settings)
        except Exception as e:
            wrong += sample.name not in JUDGED
            message = str(e).splitlines()[0][:160]
            if sample.name in JUDGED:
                message = f"{message}; at fault: {JUDGED[sample.name]}"
            print(f"| {sample.name} | | | {time.perf_counter() - start:.1f} | {message} |")
            continue
        results = [difference(got, wanted, element) for _, got, wanted, element in found.outputs]
        changed = sum(int((got != 0).sum()) for _, got, _, _ in found.outputs)
        is_wrong = found.is_right is False
        wrong += is_wrong and sample.name not in JUDGED
        worst = max((error for error, _ in results), default=0.0)
        seconds = time.perf_counter() - start
        verdict = _VERDICTS[found.is_right]
        if is_wrong and sample.name in JUDGED:
            verdict = f"{verdict}; at fault: {JUDGED[sample.name]}"
        shown = f"{len(results)} ({changed} elements not 0{given})"
        print(
            f"| {sample.name} | {shown} | {worst:.3g} | {seconds:.1f} | {verdict} |",
            flush=True,
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
