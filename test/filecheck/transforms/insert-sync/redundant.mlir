// An event of the program that orders nothing is reported; one that is needed is kept in silence.

// RUN: pypto-opt --insert-sync --verify-diagnostics %s

func.func @kernel(%p : !pto.partition_tensor_view<8x64xf32>) attributes {ascend910b.core = #ascend910b<core aiv>} {
  %a = ascend910b.view ub[0] : !pto.tile_buf<vec, 8x64xf32>
  %b = ascend910b.view ub[2048] : !pto.tile_buf<vec, 8x64xf32>
  pto.tload ins(%p : !pto.partition_tensor_view<8x64xf32>) outs(%a : !pto.tile_buf<vec, 8x64xf32>)
  ascend910b.set_flag MTE2 -> V, 0
  // expected-note @+1 {{this sets the event}}
  ascend910b.set_flag MTE2 -> V, 1
  ascend910b.wait_flag MTE2 -> V, 0
  pto.tabs ins(%a : !pto.tile_buf<vec, 8x64xf32>) outs(%b : !pto.tile_buf<vec, 8x64xf32>)
  // What it waits for, the event before has ordered.
  // expected-remark @+1 {{is redundant: what it orders is ordered without it, or touches no common byte}}
  ascend910b.wait_flag MTE2 -> V, 1
  pto.tabs ins(%a : !pto.tile_buf<vec, 8x64xf32>) outs(%a : !pto.tile_buf<vec, 8x64xf32>)
  func.return
}
