"""What lit cannot say of derive-call-directions: its interface, its builders, its growth."""

from __future__ import annotations

import pytest
from xdsl.context import Context
from xdsl.dialects import test
from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.universe import Universe
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.dialects.orch import ArgDirection, CallOp, DispatchOp, FuncOp, SubmitOp
from pypto_xdsl.syntax.parser import parse_module
from pypto_xdsl.transforms.derive_call_directions import DeriveCallDirectionsPass

T = "tensor<64xf32>"
KERNEL = f"orch.func incore @kernel(in {T}, out {T}) -> {T} returns [1]\n"


def context() -> Context:
    ctx = Context()
    for name, factory in Universe.get_multiverse().all_dialects.items():
        ctx.register_dialect(name, factory)
    return ctx


def derived(text: str) -> ModuleOp:
    ctx = context()
    module = parse_module(ctx, text, "a.mlir")
    DeriveCallDirectionsPass().apply(ctx, module)
    return module


def directions(module: ModuleOp) -> list[str]:
    """The directions of each use, as the text has them."""
    found: list[str] = []
    for op in module.walk():
        if isinstance(op, DispatchOp):
            assert op.directions is not None
            found.append(" ".join(direction.value for direction in op.directions))
    return found


def test_interface() -> None:
    assert DeriveCallDirectionsPass.name == "derive-call-directions"
    assert set(DeriveCallDirectionsPass.required) == {"SplitIncoreOrch"}
    assert set(DeriveCallDirectionsPass.produced) == {"CallDirectionsResolved"}
    assert DeriveCallDirectionsPass.invalidated == ()


def test_uses_that_do_not_fit_are_left_and_told() -> None:
    """C.8: a wrong number of arguments is told by the property; an unknown function is not its."""
    text = f"""{KERNEL}
orch.func orchestration @main(in %x : {T}) {{
  %r = orch.call @kernel(%x) : ({T}) -> {T}
  %s, %t = orch.submit @kernel(%x, %x, %x) : ({T}, {T}, {T}) -> ({T}, !orch.task_id)
  orch.call @nobody(%x) : ({T}) -> ()
  orch.return
}}"""
    with pytest.raises(DiagnosticsError) as raised:
        derived(text)
    reason = "pass 'derive-call-directions' did not establish property CallDirectionsResolved: "
    use = "op in function 'main', use of 'kernel' has no directions of its arguments"
    assert [d.message for d in raised.value.diagnostics] == [
        f"{reason}'orch.call' {use}: it has 1 arguments for 2 parameters",
        f"{reason}'orch.submit' {use}: it has 3 arguments for 2 parameters",
    ]


def test_builders_take_directions() -> None:
    """Calls and submits are built with explicit directions, which the op checks."""
    tensor = TensorType(f32, [64])
    x, y = test.TestOp(result_types=[tensor, tensor]).results
    call = CallOp(
        "kernel",
        [x, y],
        [tensor],
        arg_directions=(ArgDirection.NO_DEP, ArgDirection.OUTPUT),
        no_dep=[0],
    )
    call.verify()
    assert call.directions == (ArgDirection.NO_DEP, ArgDirection.OUTPUT)
    submit = SubmitOp("kernel", [x], [tensor], arg_directions=[ArgDirection.INPUT])
    submit.verify()
    assert submit.directions == (ArgDirection.INPUT,)
    wrong = CallOp("kernel", [x, y], [tensor], arg_directions=[ArgDirection.INPUT])
    with pytest.raises(VerifyException, match="'kernel' is given 2 arguments and 1 directions"):
        wrong.verify()


def test_a_copied_vector_stays() -> None:
    """Directions are authoritative: whoever changes the arguments has to drop them."""
    module = derived(
        f"""{KERNEL}
orch.func orchestration @main(in %x : {T}, out %o : {T}) {{
  %r = orch.call @kernel(input %x, inout %o) : ({T}, {T}) -> {T}
  orch.return
}}"""
    )
    assert directions(module) == ["input inout"]
    use = next(op for op in module.walk() if isinstance(op, CallOp))
    use.set_directions(None)
    DeriveCallDirectionsPass().apply(context(), module)
    assert directions(module) == ["input output_existing"]


def rings(count: int) -> str:
    """Wrappers in one ring, the last of which uses a kernel that writes."""
    parts = [KERNEL]
    for k in range(count):
        used = f"@w{(k + 1) % count}(%x, %o)"
        parts.append(
            f"""orch.func group @w{k}(in %x : {T}, in %o : {T}) {{
  orch.call {used} : ({T}, {T}) -> ()
"""
        )
        if k == count - 1:
            parts.append(f"  %r = orch.call @kernel(%x, %o) : ({T}, {T}) -> {T}\n")
        parts.append("  orch.return\n}\n")
    return "".join(parts)


def test_a_ring_of_wrappers() -> None:
    """D9: recursion of any length ends in the least fixed point, without recursion of Python's."""
    module = derived(rings(1_200))
    wrappers = [op for op in module.ops if isinstance(op, FuncOp) and not op.is_declaration]
    assert {tuple(d.value for d in w.parameter_directions) for w in wrappers} == {("in", "out")}


def test_many_windows_of_one_buffer() -> None:
    """So many windows are told apart; after that, waiting is the safe answer."""
    count = 40
    lines = [
        "orch.func incore @half(out tensor<4xf32>) -> tensor<4xf32> returns [0]",
        f"orch.func orchestration @main(out %o : tensor<{4 * count}xf32>) {{",
    ]
    for k in range(count):
        lines.append(
            f"  %w{k} = ptensor.slice %o[{4 * k}] : tensor<{4 * count}xf32> -> tensor<4xf32>\n"
            f"  %r{k} = orch.call @half(%w{k}) : (tensor<4xf32>) -> tensor<4xf32>"
        )
    lines.append("  orch.return\n}")
    found = directions(derived("\n".join(lines)))
    assert found[:16] == ["output_existing"] * 16
    assert set(found[20:]) == {"inout"}
