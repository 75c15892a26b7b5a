"""The stand-in for MLIR's Python bindings runs scripts that build `pto` modules."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import builder_bindings

SCRIPT = """
from mlir.dialects import arith, func, pto
from mlir.ir import Attribute, Context, F32Type, IndexType, InsertionPoint, IntegerType
from mlir.ir import Location, Module, UnitAttr

with Context() as ctx, Location.unknown(ctx):
    pto.register_dialect(ctx, load=True)
    module = Module.create()
    f32, i16 = F32Type.get(ctx), IntegerType.get_signless(16, ctx)
    config = pto.TileBufConfigAttr.get(
        pto.BLayoutAttr.get(pto.BLayout.RowMajor, ctx),
        pto.SLayoutAttr.get(pto.SLayout.NoneBox, ctx),
        pto.TileConfig.fractalABSize,
        pto.PadValueAttr.get(pto.PadValue.Max, ctx),
        ctx,
    )
    space = pto.AddressSpaceAttr.get(pto.AddressSpace.VEC, ctx)
    floats = pto.TileBufType.get([8, 16], f32, space, [8, 10], config, ctx)
    shorts = pto.TileBufType.get([8, 16], i16, space, [8, 10], config, ctx)
    with InsertionPoint(module.body):
        kernel = func.FuncOp("kernel", func.FunctionType.get([pto.PtrType.get(f32, ctx)], []))
        kernel.operation.attributes["pto.entry"] = UnitAttr.get(ctx)
        kernel.operation.attributes["pto.kernel_kind"] = Attribute.parse(
            "#pto.kernel_kind<vector>", ctx
        )
        entry = kernel.add_entry_block()
    with InsertionPoint(entry):
        (pointer,) = entry.arguments
        zero, one, eight, ten = (
            arith.ConstantOp(IndexType.get(ctx), n).result for n in (0, 1, 8, 10)
        )
        view = pto.MakeTensorViewOp(
            pto.TensorViewType.get(2, f32, ctx), pointer, [eight, ten], [ten, one]
        ).result
        part = pto.PartitionViewOp(
            pto.PartitionTensorViewType.get([8, 10], f32, ctx),
            view,
            offsets=[zero, zero],
            sizes=[pto.GetTensorViewDimOp(view, zero).result, ten],
        ).result
        source, target, scratch = (pto.AllocTileOp(t).result for t in (floats, shorts, floats))
        pto.TLoadOp(None, part, source)
        pto.TMulSOp(source, arith.ConstantOp(f32, 2.5), source)
        pto.TCvtOp(
            source,
            target,
            tmp=scratch,
            rmode=pto.RoundModeAttr.get(pto.RoundMode.TRUNC, ctx),
            sat_mode=pto.SaturationModeAttr.get(pto.SaturationMode.ON, ctx),
        )
        func.ReturnOp([])
    module.operation.verify()
    print(module)
"""

TILE = "loc=vec, dtype={}, rows=8, cols=16, v_row=8, v_col=10, blayout=row_major, slayout=none_box"
WINDOW = "!pto.partition_tensor_view<8x10xf32>"


def run(script: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    path = tmp_path / "builder.py"
    path.write_text(script)
    command = [sys.executable, str(Path(builder_bindings.__file__)), str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_module_is_built(tmp_path: Path) -> None:
    done = run(SCRIPT, tmp_path)
    assert done.returncode == 0, done.stderr
    floats = f"!pto.tile_buf<{TILE.format('f32')}, fractal=512, pad=2>"
    shorts = f"!pto.tile_buf<{TILE.format('i16')}, fractal=512, pad=2>"
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert lines[1] == (
        "func.func @kernel(%0: !pto.ptr<f32>) attributes "
        "{pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>} {"
    )
    assert "%6 = pto.get_tensor_view_dim %5, %1 : !pto.tensor_view<?x?xf32> -> index" in lines
    assert lines[8] == (
        "%7 = pto.partition_view %5, offsets = [%1, %1], sizes = [%6, %4] : "
        f"!pto.tensor_view<?x?xf32> -> {WINDOW}"
    )
    assert lines[12] == f"pto.tload ins(%7 : {WINDOW}) outs(%8 : {floats})"
    assert lines[14:16] == [
        f"pto.tmuls ins(%8, %11 : {floats}, f32) outs(%8 : {floats})",
        f"pto.tcvt ins(%8, %10 {{rmode = #pto<round_mode TRUNC>, sat_mode = "
        f"#pto<saturation_mode ON>}} : {floats}, {floats}) outs(%9 : {shorts})",
    ]


def test_what_is_not_stood_in_for_is_named(tmp_path: Path) -> None:
    done = run("from mlir.dialects import pto\npto.TFrobOp()\n", tmp_path)
    assert done.returncode != 0
    assert "mlir.dialects.pto has no TFrobOp: it is not stood in for" in done.stderr
