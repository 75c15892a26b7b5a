// What the target runs passes, and is left as it is.

// RUN: pypto-opt --verify-target %s | filecheck %s
// RUN: pypto-opt --verify-target='backend=ascend910b' %s | filecheck %s

builtin.module attributes {pto.target_arch = "a2a3"} {

// CHECK-LABEL: orch.func incore @vector
orch.func incore @vector(in %x : tensor<16x64xf32>, out %y : tensor<16x1xf32>, in %k : f32) -> tensor<16x1xf32> {
  %t = tile.load %x[0, 0] : tensor<16x64xf32> -> !tile.tile<16x64xf32, vec>
  %e = tile.exp %t : !tile.tile<16x64xf32, vec>
  %tmp = tile.create : !tile.tile<16x64xf32, vec>
  %s = tile.row_sum %e, %tmp : !tile.tile<16x64xf32, vec> -> !tile.tile<16x1xf32, vec>
  %d = tile.row_expand_div %e, %s : !tile.tile<16x64xf32, vec>, !tile.tile<16x1xf32, vec>
  %h = tile.cast %d, target_type = f16 : !tile.tile<16x64xf32, vec> -> !tile.tile<16x64xf16, vec>
  %y1 = tile.store %s, %y[0, 0] : !tile.tile<16x1xf32, vec>, tensor<16x1xf32>
  orch.return %y1 : tensor<16x1xf32>
}

// Before mixed kernels are expanded, a cube core's result may be moved to the vector core.
// CHECK-LABEL: orch.func incore @mixed
orch.func incore @mixed(in %x : tensor<16x64xf16>, in %w : tensor<64x32xf16>) {
  %a = tile.load %x[0, 0] : tensor<16x64xf16> -> !tile.tile<16x64xf16, mat>
  %b = tile.load %w[0, 0] : tensor<64x32xf16> -> !tile.tile<64x32xf16, mat>
  %l = tile.move %a : !tile.tile<16x64xf16, mat> -> !tile.tile<16x64xf16, left>
  %r = tile.move %b : !tile.tile<64x32xf16, mat> -> !tile.tile<64x32xf16, right>
  %m = tile.matmul %l, %r : !tile.tile<16x64xf16, left>, !tile.tile<64x32xf16, right> -> !tile.tile<16x32xf32, acc>
  %v = tile.move %m : !tile.tile<16x32xf32, acc> -> !tile.tile<16x32xf32, vec>
  orch.return
}

}

