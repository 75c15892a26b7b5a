"""
Generated matrix products run to the same numbers at every level and on the pipes of cores.

A program multiplies matrices of any type that the cube core takes, whole or valid in part, with
extents known at run time only, transposed or not, in sums of several products, and computes on the
result with the vector core. Elements are small integers, so that sums are exact in any order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.programs import context
from xdsl.passes import PassPipeline
from xdsl.universe import Universe

from pypto_xdsl.dialects import tile
from pypto_xdsl.interpreters.core_settings import CoreSettings
from pypto_xdsl.interpreters.differential import compare_runs
from pypto_xdsl.interpreters.elements import bfloat16_bits
from pypto_xdsl.interpreters.run import RunResult, run
from pypto_xdsl.pipelines import expand_pipelines
from pypto_xdsl.syntax.parser import parse_module

ACCUMULATED = {"f16": "f32", "bf16": "f32", "f32": "f32", "i8": "i32"}
EXTENTS = (16, 32, 48, 64)
MACHINE = "convert-pto-to-ascend910b,insert-sync"
Program = tuple[str, tuple[int, int, int], str]


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """The element type, the extents of the product, and the text of a program."""
    dtype = draw(st.sampled_from(tuple(ACCUMULATED)))
    sums = ACCUMULATED[dtype]
    m, k, n = (draw(st.sampled_from(EXTENTS)) for _ in range(3))
    if dtype == "i8":
        # Boxes of bytes are 32 wide.
        k, n = (32 * -(-extent // 32) for extent in (k, n))
    rows = draw(st.sampled_from(("all", "%few", str(m // 2), "1")))
    flipped = draw(st.booleans()) and dtype not in ("i8",)
    terms = draw(st.integers(1, 3))
    a_type, b_type = f"tensor<{m}x{k}x{dtype}>", f"tensor<{k}x{n}x{dtype}>"
    given_b = f"tensor<{n}x{k}x{dtype}>" if flipped else b_type
    c_type = f"tensor<{m}x{n}x{sums}>"
    lines: list[str] = []
    left, left_type = "%a", a_type
    valid_type = c_type
    if rows != "all":
        extent = "?" if rows.startswith("%") else rows
        left_type = f"{a_type[:-1]}, #ptensor.view<valid = [{extent}, {k}]>>"
        valid_type = f"{c_type[:-1]}, #ptensor.view<valid = [{extent}, {n}]>>"
        left = "%part"
        lines.append(
            f"%part = ptensor.set_validshape %a, valid = [{rows}, {k}] : {a_type} -> {left_type}"
        )
    flags = ", b_trans = true" if flipped else ""
    types = f"{left_type}, {given_b} -> {valid_type}"
    lines.append(f"%s0 = ptensor.matmul {left}, %b, out_dtype = {sums}{flags} : {types}")
    for term in range(1, terms):
        lines.append(
            f"%s{term} = ptensor.matmul_acc %s{term - 1}, {left}, %b{flags} : "
            f"{valid_type}, {left_type}, {given_b}"
        )
    result = f"%s{terms - 1}"
    if valid_type == c_type:
        lines.append(f"%r = ptensor.maximums {result}, %low : {c_type}, {sums}")
        result = "%r"
    low = "-9" if sums == "i32" else "-9.0"
    body = "\n".join(f"    {line}" for line in lines)
    return (
        dtype,
        (m, k, n),
        f"""orch.func orchestration @main(in %a : {a_type}, in %b : {given_b}, in %n : index)
    -> ({valid_type}) {{
  %o = orch.incore "kernel" -> ({valid_type}) {{
    %c3 = arith.constant 3 : index
    %few = arith.addi %n, %c3 : index
    %low = arith.constant {low} : {sums}
{body}
    orch.yield {result} : {valid_type}
  }}
  orch.return %o : {valid_type}
}}
""",
    )


def arguments(program: Program, count: int) -> list[Any]:
    dtype, (m, k, n), text = program
    rng = np.random.default_rng(3)
    shapes = [(m, k), (n, k) if "b_trans" in text else (k, n)]
    whole = [rng.integers(-3, 4, shape) for shape in shapes]
    match dtype:
        case "bf16":
            arrays = [bfloat16_bits(array.astype(np.float32)) for array in whole]
        case "i8":
            arrays = [array.astype(np.int8) for array in whole]
        case _:
            kind = {"f16": np.float16, "f32": np.float32}[dtype]
            arrays = [array.astype(kind) for array in whole]
    return [*arrays, count]


def expected(program: Program, count: int) -> np.ndarray[Any, Any]:
    """By numpy alone."""
    _, (m, k, n), text = program
    rng = np.random.default_rng(3)
    flipped = "b_trans" in text
    a = rng.integers(-3, 4, (m, k))
    b = rng.integers(-3, 4, (n, k) if flipped else (k, n))
    rows = m
    if "valid = [%few" in text:
        rows = count + 3
    elif "valid = [" in text:
        rows = int(text.split("valid = [")[1].split(",")[0])
    found = (a @ (b.T if flipped else b)) * (1 + text.count("matmul_acc"))
    return found[:rows] if rows < m else np.maximum(found, -9)


@settings(
    max_examples=20,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(programs())
def test_every_level_and_schedule_agrees(program: Program) -> None:
    ctx, text = context(), program[2]
    module = parse_module(ctx, text, "generated.mlir")
    counts = (0, 5)
    wanted: dict[int, RunResult] = {c: run(module, "main", arguments(program, c)) for c in counts}
    for count, reference in wanted.items():
        exact = expected(program, count)
        np.testing.assert_array_equal(np.asarray(reference.results[0])[: len(exact)], exact)
    passes = Universe.get_multiverse().all_passes
    spec = f"{expand_pipelines('default-pipeline')},{MACHINE}"
    for one in PassPipeline.parse_spec(passes, spec).passes:
        one.apply(ctx, module)
        module.verify()
        if any(isinstance(op, tile.ImportPeerBufferOp) for op in module.walk()):
            # Tiles in queues are run on the cores of a group only.
            continue
        for count, reference in wanted.items():
            got = run(module, "main", arguments(program, count))
            assert compare_runs(got, reference) is None, f"{one.name}, {count}:\n{text}"
    for seed in (1, 2):
        for count, reference in wanted.items():
            got = run(module, "main", arguments(program, count), cores=CoreSettings(seed))
            assert compare_runs(got, reference) is None, f"seed {seed}, {count}:\n{text}"
