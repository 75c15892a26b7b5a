"""Which cores a kernel needs: what it says itself, else the memories of its tiles."""

from __future__ import annotations

from support.programs import program
from xdsl.dialects import func
from xdsl.ir import Operation

from pypto_xdsl.analysis.kernel_cores import cores_of_kernel
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.dialects.ascend910b import Core
from pypto_xdsl.dialects.orch import FuncOp

TEXT = """
orch.func incore @adds(in %x : tensor<16x16xf32>, out %o : tensor<16x16xf32>) {
  %t = tile.load %x[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32>
  %u = tile.add %t, %t : !tile.tile<16x16xf32>
  %o1 = tile.store %u, %o[0, 0] : !tile.tile<16x16xf32>, tensor<16x16xf32>
  orch.return
}
orch.func incore @multiplies(in %x : tensor<16x16xf32>) {
  %l = tile.create : !tile.tile<16x16xf16, left>
  %r = tile.create : !tile.tile<16x16xf16, right>
  %m = tile.matmul %l, %r : !tile.tile<16x16xf16, left>, !tile.tile<16x16xf16, right>
      -> !tile.tile<16x16xf32, acc>
  orch.return
}
orch.func incore @does_both(in %x : tensor<16x16xf32>) {
  %l = tile.create : !tile.tile<16x16xf16, left>
  %r = tile.create : !tile.tile<16x16xf16, right>
  %m = tile.matmul %l, %r : !tile.tile<16x16xf16, left>, !tile.tile<16x16xf16, right>
      -> !tile.tile<16x16xf32, acc>
  %t = tile.load %x[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32>
  %u = tile.add %t, %t : !tile.tile<16x16xf32>
  orch.return
}
orch.func incore @unknown(in tensor<16x16xf32>)
orch.func aic @says_so(in tensor<16x16xf32>)
func.func @vector() {
  %t = "pto.alloc_tile"() <{operandSegmentSizes = array<i32: 0, 0, 0>}>
      : () -> !pto.tile_buf<vec, 16x16xf32>
  func.return
}
func.func @cube() {
  %t = "pto.alloc_tile"() <{operandSegmentSizes = array<i32: 0, 0, 0>}>
      : () -> !pto.tile_buf<acc, 16x16xf32>
  func.return
}
func.func @kind() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  func.return
}
"""


def functions() -> dict[str, Operation]:
    module = program(TEXT)
    return {op.sym_name.data: op for op in walk(module) if isinstance(op, FuncOp | func.FuncOp)}


def cores(name: str, lowered: str | None = None) -> list[Core]:
    found = functions()
    kernel, code = found[name], found[lowered] if lowered else None
    assert isinstance(kernel, FuncOp)
    assert code is None or isinstance(code, func.FuncOp)
    return list(cores_of_kernel(kernel, code))


def test_kernels_on_tiles() -> None:
    assert cores("adds") == [Core.AIV]
    assert cores("multiplies") == [Core.AIC]
    assert cores("does_both") == [Core.AIC, Core.AIV]


def test_kernels_without_a_body() -> None:
    """Nothing is known of it: a vector core, as for one that has no tile."""
    assert cores("unknown") == [Core.AIV]
    assert cores("says_so") == [Core.AIC]


def test_lowered_kernels() -> None:
    assert cores("unknown", "vector") == [Core.AIV]
    assert cores("unknown", "cube") == [Core.AIC]
    assert cores("unknown", "kind") == [Core.AIC]
    # What the kernel says counts.
    assert cores("says_so", "vector") == [Core.AIC]
