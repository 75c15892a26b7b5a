"""Plans of memory: what is in use at one time does not overlap."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from support.machine_programs import parsed
from xdsl.dialects.builtin import f32

from pypto_xdsl.analysis.buffer_liveness import Buffer, peak
from pypto_xdsl.dialects import pto
from pypto_xdsl.dialects.pto import AddressSpace, TileBufType
from pypto_xdsl.dialects.pto.syntax import build
from pypto_xdsl.interpreters.run import run
from pypto_xdsl.transforms.allocate_memory_addr import first_fit
from pypto_xdsl.transforms.memory_reuse import share


@st.composite
def buffers(draw: st.DrawFn) -> list[Buffer]:
    found: list[Buffer] = []
    for _ in range(draw(st.integers(0, 12))):
        start = draw(st.integers(0, 30))
        rows = draw(st.sampled_from((1, 2, 4, 16)))
        type = TileBufType((rows, 8), f32, AddressSpace.VEC)
        op = build(pto.AllocTileOp, {}, {}, (type,))
        live = (start, start + draw(st.integers(0, 10)))
        found.append(Buffer(op, AddressSpace.VEC, 32 * rows, live))
    return found


def together(left: Buffer, right: Buffer) -> bool:
    return left.live[0] <= right.live[1] and right.live[0] <= left.live[1]


@given(buffers())
def test_buffers_that_share_are_not_in_use_together(given: list[Buffer]) -> None:
    groups = share(given)
    assert sorted(map(id, given)) == sorted(id(buffer) for group in groups for buffer in group)
    for group in groups:
        for place, left in enumerate(group):
            assert not any(together(left, right) for right in group[place + 1 :])


@given(buffers(), st.sampled_from((32, 512)), st.sampled_from((0, 48)))
def test_first_fit(given: list[Buffer], alignment: int, floor: int) -> None:
    addresses, end = first_fit(given, alignment, floor)
    assert set(addresses) == set(given)
    for place, left in enumerate(given):
        start = addresses[left]
        assert start % alignment == 0
        assert floor <= start
        assert start + left.size <= end
        for right in given[place + 1 :]:
            if together(left, right):
                other = addresses[right]
                assert start + left.size <= other or other + right.size <= start


@given(buffers())
def test_peak(given: list[Buffer]) -> None:
    time, live = peak(given)
    most = max(
        (sum(b.size for b in given if b.live[0] <= moment <= b.live[1]) for moment in range(50)),
        default=0,
    )
    assert sum(buffer.size for buffer in live) == most
    assert all(buffer.live[0] <= time <= buffer.live[1] for buffer in live)


CONVERTED = """builtin.module attributes {pto.target_arch = "a2a3"} {
  orch.func incore @k(in %x : tensor<128x256xi32>, out %y : tensor<128x256xf16>)
      -> tensor<128x256xf16> {
    %t = tile.load %x[0, 0] : tensor<128x256xi32> -> !tile.tile<128x256xi32>
    %f = tile.cast %t, target_type = f32, mode = none
        : !tile.tile<128x256xi32> -> !tile.tile<128x256xf32>
    %h = tile.cast %f, target_type = f16, mode = rint
        : !tile.tile<128x256xf32> -> !tile.tile<128x256xf16>
    %z = tile.store %h, %y[0, 0] : !tile.tile<128x256xf16>, tensor<128x256xf16>
    orch.return %z : tensor<128x256xf16>
  }
  orch.func orchestration @main(in %x : tensor<128x256xi32>, out %y : tensor<128x256xf16>)
      -> tensor<128x256xf16> {
    %z = orch.call @k(%x, %y) : (tensor<128x256xi32>, tensor<128x256xf16>) -> tensor<128x256xf16>
    orch.return %z : tensor<128x256xf16>
  }
}"""
"""Three tiles of 128, 128 and 64 KiB, where the vector buffer has 184 KiB."""


def test_conversions_write_over_their_operands() -> None:
    module = parsed(CONVERTED, "default-pipeline,ascend910b-pipeline")
    x = np.random.default_rng(0).integers(-5000, 5000, (128, 256)).astype(np.int32)
    after = run(module, "main", {"x": x, "y": np.zeros((128, 256), np.float16)})
    np.testing.assert_array_equal(after.parameters["y"], x.astype(np.float32).astype(np.float16))
