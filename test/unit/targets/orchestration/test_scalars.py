"""Numbers and arithmetic in the C++ of orchestration functions keep their bits."""

from __future__ import annotations

import math
import struct
from pathlib import Path

import pytest
from support.orchestration_cpp import COMPILER, generate, orchestrations, submitted
from support.programs import context, program
from xdsl.dialects.builtin import BFloat16Type, IndexType, f16, f32, f64, i1, i8, i32, i64
from xdsl.ir import Attribute

from pypto_xdsl.dialects.element_types import UI8, UI32
from pypto_xdsl.targets.orchestration.scalars import float_literal, integer_literal
from pypto_xdsl.transforms.classify_iter_arg_carry import ClassifyIterArgCarryPass
from pypto_xdsl.transforms.derive_call_directions import DeriveCallDirectionsPass
from pypto_xdsl.transforms.materialize_runtime_scopes import MaterializeRuntimeScopesPass

INDEX = IndexType()


@pytest.mark.parametrize(
    ("value", "type", "literal"),
    [
        (7, INDEX, "7"),
        (-7, i32, "-7"),
        (255, i8, "-1"),
        (255, UI8, "255u"),
        (-1, UI32, "4294967295u"),
        (1 << 31, INDEX, "INT64_C(2147483648)"),
        (-(1 << 31), i32, "INT32_MIN"),
        (-(1 << 63), i64, "INT64_MIN"),
        (1, i1, "true"),
        (-1, i1, "true"),
        (0, i1, "false"),
    ],
)
def test_integers(value: int, type: Attribute, literal: str) -> None:
    assert integer_literal(value, type) == literal


@pytest.mark.parametrize(
    ("value", "type", "literal"),
    [
        (1.0, f32, "1.0f"),
        (0.1, f32, "0.1f"),
        (16777217.0, f64, "16777217.0"),
        (3.4028234663852886e38, f32, "3.4028235e+38f"),
        (1.401298464324817e-45, f32, "1e-45f"),
        (-0.0, f32, "-0.0f"),
        (1e20, f32, "1e+20f"),
        (0.1, f64, "0.1"),
        (math.inf, f32, "from_u64<float>(UINT64_C(0x7f800000))"),
        (-math.inf, f64, "from_u64<double>(UINT64_C(0xfff0000000000000))"),
        (1.5, f16, "0x3e00u"),
        (-2.0, BFloat16Type(), "0xc000u"),
    ],
)
def test_floats(value: float, type: Attribute, literal: str) -> None:
    assert float_literal(value, type) == literal


def test_every_float_of_some_bits_is_read_back() -> None:
    """The literal, read as the nearest float of 32 bits, has the bits that it was made of."""
    for seed in range(2_000):
        bits = (seed * 2654435761) & 0xFFFFFFFF
        (value,) = struct.unpack("<f", struct.pack("<I", bits))
        if math.isfinite(value):
            text = float_literal(value, f32)
            assert struct.pack("<f", float(text.removesuffix("f"))) == struct.pack("<f", value)


def bits_of(value: float, width: int) -> int:
    if isinstance(value, float):
        return int.from_bytes(struct.pack("<f" if width == 32 else "<d", value), "little")
    return value & ((1 << width) - 1)


NAN = math.nan
WIDTHS = {"index": 64, "i64": 64, "i32": 32, "i8": 8, "i1": 1, "ui32": 32, "f32": 32}
CASES: list[tuple[str, str, tuple[float, ...], float]] = [
    # op, types of operands and result, operands, result
    ("arith.addi", "index index", (5, -7), -2),
    ("arith.subi", "i32 i32", (-5, 7), -12),
    ("arith.muli", "i8 i8", (100, 3), 44),
    ("arith.addi", "i8 i8", (127, 1), -128),
    ("arith.divsi", "index index", (-7, 2), -3),
    ("arith.remsi", "index index", (-7, 2), -1),
    ("arith.floordivsi", "index index", (-7, 2), -4),
    ("arith.floordivsi", "index index", (7, -2), -4),
    ("arith.floordivsi", "index index", (-7, -2), 3),
    ("arith.floordivsi", "index index", (-8, 2), -4),
    ("arith.ceildivsi", "index index", (7, 2), 4),
    ("arith.ceildivsi", "index index", (-7, 2), -3),
    ("arith.ceildivsi", "index index", (-7, -2), 4),
    ("arith.divui", "i32 i32", (-1, 2), 0x7FFFFFFF),
    ("arith.remui", "i32 i32", (-1, 10), 0xFFFFFFFF % 10),
    ("arith.ceildivui", "index index", (7, 2), 4),
    ("arith.minsi", "i32 i32", (-1, 2), -1),
    ("arith.minui", "i32 i32", (-1, 2), 2),
    ("arith.maxsi", "index index", (-1, 2), 2),
    ("arith.maxui", "index index", (-1, 2), -1),
    ("arith.andi", "i32 i32", (12, 10), 8),
    ("arith.ori", "i32 i32", (12, 10), 14),
    ("arith.xori", "i32 i32", (12, 10), 6),
    ("arith.andi", "i1 i1", (1, 0), 0),
    ("arith.ori", "i1 i1", (1, 0), 1),
    ("arith.xori", "i1 i1", (1, 1), 0),
    ("arith.shli", "i32 i32", (-3, 2), -12),
    ("arith.shrsi", "i32 i32", (-12, 2), -3),
    ("arith.shrui", "i32 i32", (-1, 28), 15),
    ("arith.cmpi slt,", "i32 i1", (-1, 1), 1),
    ("arith.cmpi ult,", "i32 i1", (-1, 1), 0),
    ("arith.cmpi sge,", "index i1", (3, 3), 1),
    ("arith.cmpi ugt,", "index i1", (-1, 3), 1),
    ("arith.cmpi eq,", "i8 i1", (-1, -1), 1),
    ("arith.addf", "f32 f32", (0.5, 0.25), 0.75),
    ("arith.divf", "f32 f32", (1.0, 3.0), struct.unpack("<f", struct.pack("<f", 1 / 3))[0]),
    ("arith.minimumf", "f32 f32", (1.0, 2.0), 1.0),
    ("arith.minimumf", "f32 f32", (1.0, NAN), NAN),
    ("arith.minimumf", "f32 f32", (NAN, 1.0), NAN),
    ("arith.maximumf", "f32 f32", (1.0, 2.0), 2.0),
    ("arith.cmpf olt,", "f32 i1", (1.0, NAN), 0),
    ("arith.cmpf ult,", "f32 i1", (1.0, NAN), 1),
    ("arith.cmpf one,", "f32 i1", (1.0, 2.0), 1),
    ("arith.cmpf ueq,", "f32 i1", (1.0, NAN), 1),
    ("arith.cmpf uno,", "f32 i1", (1.0, 2.0), 0),
    ("arith.cmpf ord,", "f32 i1", (1.0, 2.0), 1),
    ("arith.extsi", "i8 -> i32", (-3,), -3),
    ("arith.extui", "i8 -> i32", (-3,), 253),
    ("arith.extui", "i1 -> i32", (1,), 1),
    ("arith.extsi", "i1 -> i32", (1,), -1),
    ("arith.trunci", "i32 -> i8", (300,), 44),
    ("arith.trunci", "i32 -> i1", (3,), 1),
    ("arith.index_cast", "i32 -> index", (-3,), -3),
    ("arith.sitofp", "i32 -> f32", (-3,), -3.0),
    ("arith.uitofp", "i8 -> f32", (-3,), 253.0),
    ("arith.fptosi", "f32 -> i32", (-3.75,), -3),
    ("arith.negf", "f32 f32", (1.5,), -1.5),
    ("arith.bitcast", "f32 -> i32", (1.0,), 0x3F800000),
]


@pytest.mark.skipif(COMPILER is None, reason="no C++ compiler (g++ or clang++) here")
def test_arithmetic(tmp_path: Path) -> None:
    """Each op on parameters gives what it gives on paper."""
    parameters: list[str] = []
    lines: list[str] = []
    kernels: dict[str, str] = {}
    scalars: dict[str, int] = {}
    wanted: list[tuple[str, int, int]] = []
    for number, (op, types, operands, result) in enumerate(CASES):
        operand_type, result_type = types.replace("-> ", "").split()
        names = [f"%{side}{number}" for side in "ab"[: len(operands)]]
        for name, value in zip(names, operands, strict=True):
            parameters.append(f"in {name} : {operand_type}")
            scalars[name.removeprefix("%")] = bits_of(value, WIDTHS[operand_type])
        shown = f"{operand_type} to {result_type}" if "->" in types else operand_type
        lines.append(f"  %r{number} = {op} {', '.join(names)} : {shown}")
        kernel = f"@take_{result_type}"
        kernels[kernel] = f"orch.func incore {kernel}(in {result_type})"
        lines.append(f"  orch.call {kernel}(%r{number}) : ({result_type}) -> ()")
        wanted.append((op, bits_of(result, WIDTHS[result_type]), WIDTHS[result_type]))
    text = "\n".join(
        [
            *kernels.values(),
            f"orch.func orchestration @main({', '.join(parameters)}) {{",
            *lines,
            "  orch.return",
            "}",
        ]
    )
    module = program(text)
    for step in (
        DeriveCallDirectionsPass(),
        MaterializeRuntimeScopesPass(),
        ClassifyIterArgCarryPass(),
    ):
        step.apply(context(), module)
    (function,) = orchestrations(module)
    log = submitted(generate(module), function, tmp_path, scalars)
    got = [entry["scalars"][0] for entry in log]
    assert len(got) == len(wanted)
    for number, (value, (op, bits, width)) in enumerate(zip(got, wanted, strict=True)):
        if width == 32 and isinstance(CASES[number][3], float) and math.isnan(CASES[number][3]):
            assert value & 0x7F800000 == 0x7F800000, op
            assert value & 0x7FFFFF, op
        else:
            assert value & ((1 << width) - 1) == bits, (number, op, CASES[number])
