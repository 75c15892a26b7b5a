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

// An event that a loop carries is one with its set before the loop and its wait after it: they go
// together or not at all. Of two that order the same, one is needed.
func.func @carried(%p : !pto.partition_tensor_view<8x64xf32>, %n : index) attributes {ascend910b.core = #ascend910b<core aiv>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = ascend910b.view ub[0] : !pto.tile_buf<vec, 8x64xf32>
  ascend910b.set_flag V -> MTE2, 0
  // expected-note @+1 {{this sets the event}}
  ascend910b.set_flag V -> MTE2, 1
  scf.for %i = %c0 to %n step %c1 {
    ascend910b.wait_flag V -> MTE2, 0
    // expected-remark @+1 {{is redundant: what it orders is ordered without it, or touches no common byte}}
    ascend910b.wait_flag V -> MTE2, 1
    pto.tload ins(%p : !pto.partition_tensor_view<8x64xf32>) outs(%a : !pto.tile_buf<vec, 8x64xf32>)
    ascend910b.set_flag MTE2 -> V, 0
    ascend910b.wait_flag MTE2 -> V, 0
    pto.tabs ins(%a : !pto.tile_buf<vec, 8x64xf32>) outs(%a : !pto.tile_buf<vec, 8x64xf32>)
    ascend910b.set_flag V -> MTE2, 0
    // expected-note @+1 {{this sets the event}}
    ascend910b.set_flag V -> MTE2, 1
  }
  ascend910b.wait_flag V -> MTE2, 0
  // expected-note @+1 {{this waits for it too}}
  ascend910b.wait_flag V -> MTE2, 1
  func.return
}

// A barrier of all pipes is redundant where events have ordered all, or nothing is to be ordered. A
// barrier of one pipe and one that ends the program are left alone.
func.func @barriers(%p : !pto.partition_tensor_view<8x64xf32>, %q : !pto.partition_tensor_view<8x64xf32>) attributes {ascend910b.core = #ascend910b<core aiv>} {
  %a = ascend910b.view ub[0] : !pto.tile_buf<vec, 8x64xf32>
  pto.tload ins(%p : !pto.partition_tensor_view<8x64xf32>) outs(%a : !pto.tile_buf<vec, 8x64xf32>)
  ascend910b.barrier ALL
  pto.tabs ins(%a : !pto.tile_buf<vec, 8x64xf32>) outs(%a : !pto.tile_buf<vec, 8x64xf32>)
  ascend910b.barrier V
  pto.tabs ins(%a : !pto.tile_buf<vec, 8x64xf32>) outs(%a : !pto.tile_buf<vec, 8x64xf32>)
  ascend910b.set_flag V -> MTE3, 0
  ascend910b.wait_flag V -> MTE3, 0
  // expected-remark @+1 {{'ascend910b.barrier' op is redundant}}
  ascend910b.barrier ALL
  pto.tstore ins(%a : !pto.tile_buf<vec, 8x64xf32>) outs(%q : !pto.partition_tensor_view<8x64xf32>)
  ascend910b.barrier ALL
  func.return
}

// What a pipe has waited for is told to other cores by a flag that it raises, and what other cores
// told it is told on by events: neither is redundant, whatever bytes this core touches itself.
func.func @other_cores(%p : !pto.partition_tensor_view<8x64xf32>, %q : !pto.partition_tensor_view<8x64xf32>) attributes {ascend910b.core = #ascend910b<core aiv>} {
  %a = ascend910b.view ub[0] : !pto.tile_buf<vec, 8x64xf32>
  ascend910b.wait_cross_flag MTE2, 1
  ascend910b.set_flag MTE2 -> MTE3, 0
  ascend910b.wait_flag MTE2 -> MTE3, 0
  pto.tstore ins(%a : !pto.tile_buf<vec, 8x64xf32>) outs(%q : !pto.partition_tensor_view<8x64xf32>)
  pto.tload ins(%p : !pto.partition_tensor_view<8x64xf32>) outs(%a : !pto.tile_buf<vec, 8x64xf32>)
  ascend910b.set_flag MTE2 -> V, 0
  ascend910b.wait_flag MTE2 -> V, 0
  ascend910b.set_cross_flag V, 2
  func.return
}
