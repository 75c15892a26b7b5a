"""Plans of memory: what is in use at one time does not overlap."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import f32

from pypto_xdsl.analysis.buffer_liveness import Buffer, peak
from pypto_xdsl.dialects import pto
from pypto_xdsl.dialects.pto import AddressSpace, TileBufType
from pypto_xdsl.dialects.pto.syntax import build
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
