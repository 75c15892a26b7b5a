// Events are of one core's program: a kernel that has not become one is reported, not left alone.

// RUN: pypto-opt --insert-sync --verify-diagnostics --split-input-file %s

// expected-error @+3 {{pass 'insert-sync' requires property OnCores: 'func.func' op 'kernel' does not say which core of a 910B runs it}}
// expected-note @+2 {{property OnCores holds if every function of instructions says which core of a 910B runs it}}
// expected-note @+1 {{run 'convert-pto-to-ascend910b' first}}
func.func @kernel(%p : !pto.partition_tensor_view<8x64xf32>) {
  %t = pto.alloc_tile : !pto.tile_buf<vec, 8x64xf32>
  pto.tload ins(%p : !pto.partition_tensor_view<8x64xf32>) outs(%t : !pto.tile_buf<vec, 8x64xf32>)
  func.return
}

// -----

// expected-error @+3 {{pass 'insert-sync' requires property KernelsLowered: 'orch.func' op kernel 'kernel' computes on tensors or tiles}}
// expected-note @+2 {{property KernelsLowered holds if no kernel computes on tensors or tiles any more}}
// expected-note @+1 {{run 'convert-tile-to-pto' first}}
orch.func incore @kernel(in %x : tensor<8x64xf32>, out %y : tensor<8x64xf32>) -> tensor<8x64xf32> {
  %t = tile.load %x[0, 0] : tensor<8x64xf32> -> !tile.tile<8x64xf32>
  %y1 = tile.store %t, %y[0, 0] : !tile.tile<8x64xf32>, tensor<8x64xf32>
  orch.return %y1 : tensor<8x64xf32>
}
