"""Tiles of numbers that the vector unit does not fill with have the bits of one that it does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.lowering_levels import assert_gives, levels

from pypto_xdsl.dialects import pto

DTYPES: dict[str, Any] = {
    "bf16": np.uint16,
    "f16": np.float16,
    "f32": np.float32,
    "i16": np.int16,
    "i32": np.int32,
    "ui16": np.uint16,
    "ui32": np.uint32,
}


@pytest.mark.parametrize(
    ("dtype", "number", "made"),
    [
        ("f32", "-1.5", "f32"),
        ("f16", "-1.5", "f16"),
        ("bf16", "-1.5", "i16"),
        ("bf16", "0.0", "i16"),
        ("i32", "-7", "i32"),
        ("ui16", "65535", "i16"),
        ("ui32", "7", "i32"),
    ],
)
def test_full(dtype: str, number: str, made: str):
    whole = f"tensor<16x64x{dtype}>"
    signed = dtype.removeprefix("u")
    constant = (
        f"%s = arith.constant {number} : {signed}\n%n = arith.bitcast %s : {signed} to {dtype}"
        if dtype.startswith("u")
        else f"%n = arith.constant {number} : {dtype}"
    )
    text = f"""
    builtin.module attributes {{pto.target_arch = "a2a3"}} {{
    orch.func incore @k(out %o : {whole}) -> {whole} {{
      {constant}
      %t = ptensor.full %n : {dtype} -> {whole}
      %r = ptensor.assemble %t, %o[0, 0] : {whole}
      orch.return %r : {whole}
    }}
    }}
    """
    wanted = np.full((16, 64), float(number)).astype(DTYPES[dtype])
    if dtype == "bf16":
        # Arrays hold the bits, which are the upper half of those of an f32.
        wanted[:] = np.float32(number).view(np.uint32) >> 16
    assert_gives(text, [np.zeros((16, 64), DTYPES[dtype])], wanted)
    *_, (_, module) = levels(text)
    (fill,) = [op for op in module.walk() if isinstance(op, pto.TExpandSOp)]
    assert str(fill.operands[0].type) == made
