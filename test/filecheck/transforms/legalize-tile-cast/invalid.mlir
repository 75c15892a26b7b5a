// Conversions that nothing on the target computes.

// RUN: pypto-opt --legalize-tile-cast='backend=ascend910b' --verify-diagnostics %s

orch.func incore @none(in %x : tensor<16x16xi32>) {
  %t = tile.load %x[0, 0] : tensor<16x16xi32> -> !tile.tile<16x16xi32>
  // expected-error @+1 {{'tile.cast' op converts i32 to ui16, for which ascend910b has no instruction nor any chain of them that keeps the values}}
  %a = tile.cast %t, target_type = ui16, mode = rint : !tile.tile<16x16xi32> -> !tile.tile<16x16xui16>
  orch.return
}
