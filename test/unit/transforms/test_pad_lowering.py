"""What is not valid of a tile is padded the same on tiles, on bytes and on the pipes of a core."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.lowering_levels import TO_CORE, assert_gives, levels, on_910b

from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.dialects import pto

DTYPES: dict[str, Any] = {"f32": np.float32, "f16": np.float16, "i32": np.int32, "i8": np.int8}
RNG = np.random.default_rng(31)


def pad(kind: str, dtype: Any) -> Any:
    """The element that a word stands for: the infinities of floats."""
    if kind == "zero":
        return 0
    if np.issubdtype(dtype, np.floating):
        return np.inf if kind == "max" else -np.inf
    return getattr(np.iinfo(dtype), kind)


@pytest.mark.parametrize("op", ["fillpad", "fillpad_inplace", "fillpad_expand"])
@pytest.mark.parametrize("kind", ["zero", "max", "min"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_padding(dtype: str, kind: str, op: str):
    """All but the valid region is the pad value, in a larger tile too."""
    rows, columns = (32, 128) if op == "fillpad_expand" else (16, 64)
    source = f"!tile.tile<16x64x{dtype}, valid = [9, 30]>"
    result = f"!tile.tile<{rows}x{columns}x{dtype}, pad = {kind}>"
    where = f"tensor<{rows}x{columns}x{dtype}>"
    text = on_910b(
        f"""
        orch.func incore @k(in %x : tensor<16x64x{dtype}>, out %o : {where}) -> {where} {{
          %t = tile.load %x[0, 0] : tensor<16x64x{dtype}> -> {source}
          %a = tile.{op} %t, pad_value = {kind} : {source} -> {result}
          %r = tile.store %a, %o[0, 0] : {result}, {where}
          orch.return %r : {where}
        }}
        """
    )
    x = RNG.integers(-50, 50, (16, 64)).astype(DTYPES[dtype])
    wanted = np.full((rows, columns), pad(kind, DTYPES[dtype])).astype(DTYPES[dtype])
    wanted[:9, :30] = x[:9, :30]
    assert_gives(text, [x, np.zeros_like(wanted)], wanted, pipelines=TO_CORE)


PART, WHOLE = "!tile.tile<16x64xf32, valid = [?, 30]>", "!tile.tile<16x64xf32, pad = max>"


@pytest.mark.parametrize("needed", [False, True])
def test_in_place_unless_needed(*, needed: bool):
    """What is still needed as it was is padded into another tile; nothing is copied for it."""
    ending = (
        f"""
        %b = tile.fillpad %t : {PART} -> !tile.tile<16x64xf32, pad = zero>
        %c = tile.minimum %a, %b
          : {WHOLE}, !tile.tile<16x64xf32, pad = zero> -> {WHOLE}
        """
        if needed
        else f"%c = tile.abs %a : {WHOLE}"
    )
    text = on_910b(
        f"""
        orch.func incore @k(in %x : tensor<16x64xf32>, in %n : index, out %o : tensor<16x64xf32>)
            -> tensor<16x64xf32> {{
          %t = tile.load %x[0, 0], valid = [%n, 30] : tensor<16x64xf32> -> {PART}
          %a = tile.fillpad_inplace %t, pad_value = max : {PART} -> {WHOLE}
          {ending}
          %r = tile.store %c, %o[0, 0] : {WHOLE}, tensor<16x64xf32>
          orch.return %r : tensor<16x64xf32>
        }}
        """
    )
    x = RNG.integers(0, 50, (16, 64)).astype(np.float32)
    wanted = np.full((16, 64), 0.0 if needed else np.inf, np.float32)
    wanted[:11, :30] = x[:11, :30]
    assert_gives(text, [x, 11, np.zeros((16, 64), np.float32)], wanted, pipelines=TO_CORE)
    lowered = dict(levels(text))["convert-tile-to-pto"]
    names = [op.name for op in lowered.walk() if isinstance(op, pto.PtoOp)]
    assert names.count("pto.tfillpad_inplace") == (0 if needed else 1)
    assert "pto.tmov" not in names


@pytest.mark.parametrize("op", ["fillpad", "fillpad_inplace"])
def test_in_l1(op: str):
    """The cube core pads where the tile is: with zeros, which do not show in a product."""
    part, whole = (
        "!tile.tile<16x32xf16, mat, valid = [16, 16]>",
        "!tile.tile<16x32xf16, mat, pad = zero>",
    )
    text = on_910b(
        f"""
        orch.func incore @k(in %x : tensor<16x32xf16>, in %y : tensor<32x16xf16>,
            out %o : tensor<16x16xf32>) -> tensor<16x16xf32> {{
          %t = tile.load %x[0, 0] : tensor<16x32xf16> -> {part}
          %a = tile.{op} %t : {part} -> {whole}
          %b = tile.load %y[0, 0] : tensor<32x16xf16> -> !tile.tile<32x16xf16, mat>
          %p = tile.matmul %a, %b
            : {whole}, !tile.tile<32x16xf16, mat> -> !tile.tile<16x16xf32>
          %r = tile.store %p, %o[0, 0] : !tile.tile<16x16xf32>, tensor<16x16xf32>
          orch.return %r : tensor<16x16xf32>
        }}
        """
    )
    x, y = RNG.integers(-3, 4, (16, 32)), RNG.integers(-3, 4, (32, 16))
    arguments = [x.astype(np.float16), y.astype(np.float16), np.zeros((16, 16), np.float32)]
    if op == "fillpad":
        with pytest.raises(DiagnosticsError, match="mat is padded in place: use"):
            list(levels(text))
        return
    wanted = (x[:, :16] @ y[:16]).astype(np.float32)
    assert_gives(text, arguments, wanted, pipelines=TO_CORE)
