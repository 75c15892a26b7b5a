"""`pypto-run` on programs of a core: which checks only warn, and how its pipes take turns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pypto_xdsl.tools.pypto_run import main

T = "!pto.tile_buf<vec, 16x64xf32>"
P = "!pto.partition_tensor_view<16x64xf32>"
V = "!pto.tensor_view<?x?xf32>"
PROGRAM = f"""
func.func @double(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>)
    attributes {{ascend910b.core = #ascend910b<core aiv>}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %xv = pto.make_tensor_view %x, shape = [%c16, %c64], strides = [%c64, %c1] : {V}
  %yv = pto.make_tensor_view %y, shape = [%c16, %c64], strides = [%c64, %c1] : {V}
  %xp = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c16, %c64] : {V} -> {P}
  %yp = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c16, %c64] : {V} -> {P}
  %t = ascend910b.view ub[0] : {T}
  %u = ascend910b.view ub[4096] : {T}
  pto.tload ins(%xp : {P}) outs(%t : {T})
  ascend910b.set_flag MTE2 -> V, 0
  ascend910b.wait_flag MTE2 -> V, 0
  pto.tadd ins(%t, %t : {T}, {T}) outs(%u : {T})
  ascend910b.set_flag V -> MTE3, 0
  ascend910b.wait_flag V -> MTE3, 0
  pto.tstore ins(%u : {T}) outs(%yp : {P})
  return
}}
"""
UNORDERED = "\n".join(line for line in PROGRAM.split("\n") if "MTE2 -> V" not in line)


Result = np.ndarray[tuple[int, ...], np.dtype[np.float32]]
Run = Callable[..., tuple[int, Result]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def run(text: str, *flags: str) -> tuple[int, Result]:
        source, result = tmp_path / "program.mlir", tmp_path / "y.npy"
        source.write_text(text)
        result.unlink(missing_ok=True)
        status = main(
            [
                str(source),
                "--arg=x=ones:16x64",
                "--arg=y=zeros:16x64",
                f"--save=y={result}",
                *flags,
            ]
        )
        return status, np.load(result) if result.exists() else np.zeros(0, np.float32)

    return run


def test_schedules(run: Run) -> None:
    for flags in ((), ("--schedule=in-order",), ("--schedule=random:4",)):
        status, y = run(PROGRAM, *flags)
        assert status == 0
        assert (y == 2).all()


def test_a_check_that_only_warns(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(UNORDERED)[0] == 1
    assert "error: 'pto.tadd' op reads bytes 0..4096 of ub" in capsys.readouterr().err
    # Another check does not help.
    assert run(UNORDERED, "--lenient=event,bounds")[0] == 1
    capsys.readouterr()
    status, y = run(UNORDERED, "--lenient=order")
    assert status == 0
    assert (y == 2).all()
    assert "warning: 'pto.tadd' op reads bytes 0..4096 of ub" in capsys.readouterr().err


def test_some_order_shows_what_goes_wrong(run: Run) -> None:
    """Where nothing orders the load and the sum, some order of the pipes adds what was there."""
    results = [
        run(UNORDERED, "--lenient=order,undefined", f"--schedule=random:{seed}")[1]
        for seed in range(24)
    ]
    right = [bool((y == 2).all()) for y in results]
    assert any(right)
    assert not all(right)


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        ("--schedule=any", "expected in-order or random:SEED, got 'any'"),
        ("--lenient=speed", "unknown check 'speed'; there are all, undefined, bounds"),
    ],
)
def test_wrong_flags(run: Run, flag: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(PROGRAM, flag)[0] == 2
    assert message in capsys.readouterr().err
