// Every function of instructions says which core of a 910B runs it.

// RUN: pypto-opt --verify-diagnostics --verify-property=OnCores %s

func.func @on_a_core(%p : !pto.partition_tensor_view<8x64xf32>) attributes {ascend910b.core = #ascend910b<core aiv>} {
  %t = ascend910b.view ub[0] : !pto.tile_buf<vec, 8x64xf32>
  pto.tload ins(%p : !pto.partition_tensor_view<8x64xf32>) outs(%t : !pto.tile_buf<vec, 8x64xf32>)
  func.return
}

// One without instructions runs anywhere.
func.func @half(%n : index) -> index {
  %c2 = arith.constant 2 : index
  %half = arith.divsi %n, %c2 : index
  func.return %half : index
}

// expected-error @+1 {{'on_no_core' does not say which core of a 910B runs it}}
func.func @on_no_core(%p : !pto.partition_tensor_view<8x64xf32>) {
  %t = pto.alloc_tile : !pto.tile_buf<vec, 8x64xf32>
  pto.tload ins(%p : !pto.partition_tensor_view<8x64xf32>) outs(%t : !pto.tile_buf<vec, 8x64xf32>)
  func.return
}
