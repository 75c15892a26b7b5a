"""What lit cannot say of normalize-return-order: its interface, its errors, and its growth."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import IndexType, ModuleOp, TensorType, f32
from xdsl.dialects.scf import ForOp, YieldOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.universe import Universe

from pypto_xdsl.diagnostics import DiagnosticsError, collecting
from pypto_xdsl.dialects.orch import Direction, FuncOp, FunctionKind, ReturnOp
from pypto_xdsl.syntax.parser import parse_module
from pypto_xdsl.transforms.normalize_return_order import NormalizeReturnOrderPass

T = "tensor<16xf32>"


def context() -> Context:
    ctx = Context()
    for name, factory in Universe.get_multiverse().all_dialects.items():
        ctx.register_dialect(name, factory)
    return ctx


def normalized(text: str) -> ModuleOp:
    ctx = context()
    module = parse_module(ctx, text, "a.mlir")
    with collecting():
        NormalizeReturnOrderPass().apply(ctx, module)
    module.verify()
    return module


def functions(module: ModuleOp) -> dict[str, FuncOp]:
    return {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}


def returned(function: FuncOp) -> list[int | None]:
    """Which parameter each result is, by identity."""
    assert function.return_op is not None
    parameters: list[SSAValue] = list(function.parameters)
    return [
        parameters.index(value) if value in parameters else None
        for value in function.return_op.values
    ]


def test_interface() -> None:
    """A-T11 to A-T14."""
    assert NormalizeReturnOrderPass.name == "normalize-return-order"
    assert set(NormalizeReturnOrderPass.required) == {"SplitIncoreOrch", "IncoreTileOps"}
    assert set(NormalizeReturnOrderPass.produced) == {"ReturnParamsExplicit"}
    assert NormalizeReturnOrderPass.invalidated == ()


def test_results_that_do_not_fit() -> None:
    """A.6: all uses whose results cannot be told apart are named, before anything changes."""
    ctx = context()
    module = parse_module(
        ctx,
        f"""
orch.func incore @kernel(out %a : {T}, out %b : {T}) -> ({T}, {T}) {{
  orch.return %b, %a : {T}, {T}
}}
orch.func orchestration @main(out %a : {T}, out %b : {T}) {{
  %r = orch.call @kernel(%a, %b) : ({T}, {T}) -> {T}
  %t = orch.submit @kernel(%a, %b) : ({T}, {T}) -> !orch.task_id
  orch.return
}}""",
        "a.mlir",
    )
    before = str(module)
    with pytest.raises(DiagnosticsError) as raised:
        NormalizeReturnOrderPass().apply(ctx, module)
    assert str(module) == before
    lines = str(raised.value).splitlines()
    assert lines == [
        "a.mlir:6:8: error: 'orch.call' op in function 'main' has 1 results of 'kernel', "
        "which returns 2",
        "a.mlir:2:1: note: 'kernel' is defined here",
        "a.mlir:7:8: error: 'orch.submit' op in function 'main' has 0 results of 'kernel', "
        "which returns 2",
        "a.mlir:2:1: note: 'kernel' is defined here",
    ]


def test_scalars_stay() -> None:
    """A-T33, R12: a scalar result is no buffer, keeps its place, and may stand in the way."""
    module = normalized(
        f"""
orch.func incore @behind(out %a : {T}, out %b : {T}, in %s : f32) -> ({T}, {T}, f32) {{
  orch.return %b, %a, %s : {T}, {T}, f32
}}
orch.func incore @before(in %s : f32, out %a : {T}, out %b : {T}) -> (f32, {T}, {T}) {{
  orch.return %s, %b, %a : f32, {T}, {T}
}}"""
    )
    assert returned(functions(module)["behind"]) == [0, 1, 2]
    assert returned(functions(module)["before"]) == [0, 2, 1]


def merges(count: int) -> str:
    """A kernel that writes its parameter in `count` branches, one after the other (A-T27)."""
    lines = [f"orch.func aiv @merges(in %c : i1, in %x : {T}, out %v0 : {T}) -> {T} {{"]
    lines.append(f"  %t = tile.load %x[0] : {T} -> !tile.tile<16xf32>")
    for k in range(count):
        lines.append(
            f"""  %v{k + 1} = scf.if %c -> ({T}) {{
    %w{k} = tile.store %t, %v{k}[0] : !tile.tile<16xf32>, {T}
    scf.yield %w{k} : {T}
  }} else {{
    scf.yield %v{k} : {T}
  }}"""
        )
    lines.append(f"  orch.return %v{count} : {T}\n}}")
    return "\n".join(lines)


@pytest.mark.parametrize("count", [48, 1_000])
def test_merges_in_sequence(count: int) -> None:
    assert returned(functions(normalized(merges(count)))["merges"]) == [2]


def wrappers(count: int) -> str:
    """Wrappers that swap two parameters, each around the one before."""
    lines = [f"orch.func aiv @w0(out %a : {T}, out %b : {T}) -> ({T}, {T}) {{"]
    lines.append(f"  orch.return %b, %a : {T}, {T}\n}}")
    for k in range(count):
        lines.append(
            f"""orch.func group @w{k + 1}(out %a : {T}, out %b : {T}) -> ({T}, {T}) {{
  %r:2 = orch.call @w{k}(%b, %a) : ({T}, {T}) -> ({T}, {T})
  orch.return %r#0, %r#1 : {T}, {T}
}}"""
        )
    return "\n".join(lines)


def test_wrappers_around_wrappers() -> None:
    """A long chain of calls is no recursion of Python's."""
    found = functions(normalized(wrappers(1_500)))
    # The kernel is reordered; wrapper k keeps what it returned: the kernel's %b, swapped k times.
    assert returned(found["w0"]) == [0, 1]
    assert returned(found["w1"]) == [0, 1]
    assert returned(found["w2"]) == [1, 0]
    assert returned(found["w1500"]) == [1, 0]


def loops(depth: int) -> ModuleOp:
    """A kernel that hands its parameter through `depth` loops, one inside the other."""
    index, tensor = IndexType(), TensorType(f32, [16])
    function = FuncOp(
        "loops", FunctionKind.AIV, [(Direction.IN, index), (Direction.OUT, tensor)], [tensor]
    )
    block, (bound, value) = function.body.block, function.parameters
    ends: list[Callable[[SSAValue | Operation], Operation]] = [ReturnOp]
    blocks = [block]
    for _ in range(depth):
        inner = Block(arg_types=[index, tensor])
        loop = ForOp(bound, bound, bound, [value], inner)
        blocks[-1].add_op(loop)
        blocks.append(inner)
        ends.append(YieldOp)
        value = inner.args[1]
    for block, end in zip(reversed(blocks), reversed(ends), strict=True):
        block.add_op(end(value) if block.last_op is None else end(block.last_op))
    return ModuleOp([function])


def test_loops_in_loops() -> None:
    """Nor is a deep nest."""
    module = loops(3_000)
    NormalizeReturnOrderPass().apply(context(), module)
    assert returned(functions(module)["loops"]) == [1]


@pytest.mark.parametrize("text", [merges(3), wrappers(3)])
def test_idempotent(text: str) -> None:
    """A-T34."""
    once = str(normalized(text))
    assert str(normalized(once)) == once
